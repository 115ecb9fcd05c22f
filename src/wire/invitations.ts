import { z } from 'zod';
import { uuid } from './fields.ts';

/** Roles that wait for the consent of their user. */

export const invitationParams = z.strictObject({ id: uuid });

export const invitationView = z
  .strictObject({
    id: z.guid(),
    /** Slugs; project and environment are null for a membership, and the environment for a whole project. */
    organization: z.string(),
    project: z.string().nullable(),
    environment: z.string().nullable(),
    /** Who is invited; without an id while the address is no user's. */
    user: z.strictObject({ id: z.guid().nullable(), email: z.string(), displayName: z.string().nullable() }),
    role: z.enum(['owner', 'admin', 'developer', 'viewer']),
    invitedBy: z.strictObject({ id: z.guid(), email: z.string() }),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'Invitation' });
export const invitationListView = z
  .strictObject({
    invitations: z.array(invitationView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'InvitationList' });

export type InvitationView = z.infer<typeof invitationView>;
export type InvitationListView = z.infer<typeof invitationListView>;
