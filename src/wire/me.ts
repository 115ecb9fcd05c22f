import { z } from 'zod';
import { boundRole } from './role-bindings.ts';

/** GET /me: the user or service token behind the presented token. */

const named = z.strictObject({ id: z.guid(), slug: z.string() });
const common = {
  id: z.guid(),
  name: z.string(),
  expiresAt: z.iso.datetime().nullable(),
  serverVersion: z.string(),
};

export const meUserView = z
  .strictObject({
    type: z.literal('user'),
    ...common,
    instanceAdmin: z.boolean(),
    /** The session of the request; null for a personal token. */
    session: z
      .strictObject({
        id: z.guid(),
        /** Whether the user signed in within the last 5 minutes, as some actions require. */
        recentSignIn: z.boolean(),
      })
      .nullable(),
    organizations: z.array(
      z.strictObject({ id: z.guid(), slug: z.string(), role: z.enum(['owner', 'admin', 'developer', 'viewer']) }),
    ),
    /** Roles by place that count now. */
    rolesByPlace: z.array(
      z.strictObject({
        organization: z.string(),
        project: z.string().nullable(),
        environment: z.string().nullable(),
        /** The group that has the role; null if the user has it. */
        group: z.string().nullable(),
        role: boundRole,
      }),
    ),
    /** Invitations that the user has neither accepted nor declined. */
    waitingInvitations: z.int(),
  })
  .meta({ id: 'MeUser' });

const meServiceTokenView = z
  .strictObject({
    type: z.literal('service_token'),
    ...common,
    scope: z.enum(['organization', 'project', 'environment']),
    permission: z.enum(['read', 'read_write']),
    organization: named,
    project: named.nullable(),
    environment: named.nullable(),
    /** The trusted issuer whose JWT was presented; absent for a token with a value. */
    federation: z.strictObject({ issuer: z.string() }).optional(),
  })
  .meta({ id: 'MeServiceToken' });

export const meView = z.discriminatedUnion('type', [meUserView, meServiceTokenView]).meta({ id: 'Me' });

export type MeView = z.infer<typeof meView>;
