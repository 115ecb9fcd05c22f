import { z } from 'zod';

/** GET /me: the user or service token behind the presented token. */

const named = z.strictObject({ id: z.guid(), slug: z.string() });
const common = {
  id: z.guid(),
  name: z.string(),
  expiresAt: z.iso.datetime().nullable(),
  /** An older server does not return it. */
  serverVersion: z.string().exactOptional(),
};

export const meUserView = z.strictObject({
  type: z.literal('user'),
  ...common,
  instanceAdmin: z.boolean(),
  organizations: z.array(
    z.strictObject({ id: z.guid(), slug: z.string(), role: z.enum(['owner', 'admin', 'developer', 'viewer']) }),
  ),
});

export const meServiceTokenView = z.strictObject({
  type: z.literal('service_token'),
  ...common,
  scope: z.enum(['organization', 'project', 'environment']),
  permission: z.enum(['read', 'read_write']),
  organization: named,
  project: named.nullable(),
  environment: named.nullable(),
});

export const meView = z.discriminatedUnion('type', [meUserView, meServiceTokenView]);

export type MeView = z.infer<typeof meView>;
