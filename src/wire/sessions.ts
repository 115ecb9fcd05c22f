import { z } from 'zod';
import { uuid } from './fields.ts';

/** Sessions: the browsers in which a user has signed in. */

export const sessionParams = z.strictObject({ id: uuid });

export const sessionView = z
  .strictObject({
    id: z.guid(),
    signedInWith: z.enum(['personal_token', 'oidc', 'passkey', 'link']),
    createdAt: z.iso.datetime(),
    /** To the minute. */
    lastUsedAt: z.iso.datetime(),
    /** When it ends at the latest. */
    expiresAt: z.iso.datetime(),
    /** When it ends if it is not used again. */
    idleExpiresAt: z.iso.datetime(),
    /** When the user last proved who they are. Some actions need that within the last 5 minutes. */
    verifiedAt: z.iso.datetime().nullable(),
    sourceAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    /** Whether the request came in this session. */
    current: z.boolean(),
  })
  .meta({ id: 'Session' });

export const sessionListView = z
  .strictObject({
    sessions: z.array(sessionView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'SessionList' });

export type SessionListView = z.infer<typeof sessionListView>;
export type SessionView = z.infer<typeof sessionView>;
