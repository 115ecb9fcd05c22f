import { z } from 'zod';
import { uuid } from './fields.ts';
import { tokenCreatorView } from './token-creator.ts';

/** Identities: the accounts at an issuer of OpenID Connect with which a user signs in. */

export const identityParams = z.strictObject({ id: uuid });

/** An identity of the user {id}. */
export const userIdentityParams = z.strictObject({ id: uuid, identity: uuid });

export const identityView = z
  .strictObject({
    id: z.guid(),
    issuer: z.string(),
    /** The user's id at the issuer. */
    subject: z.string(),
    createdAt: z.iso.datetime(),
    /** Null if the user has linked it and not signed in with it. */
    lastSignInAt: z.iso.datetime().nullable(),
    /** With whose token or link it was linked; `derived` is always true. Null if the user alone did. */
    createdBy: tokenCreatorView,
  })
  .meta({ id: 'Identity' });

export const identityListView = z
  .strictObject({
    identities: z.array(identityView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'IdentityList' });

export type IdentityView = z.infer<typeof identityView>;
