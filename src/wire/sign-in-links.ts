import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { Plaintext } from '../domain/plaintext.ts';
import { email, slug } from './fields.ts';
import { invitationView } from './invitations.ts';

/** Links with which a person signs in once (docs/interface.md 4, "Sign-in links"). */

const role = z.enum(['owner', 'admin', 'developer', 'viewer']);

export const createInvitationBody = z.strictObject({
  email,
  role,
  /** Slugs; without them the role counts in the whole organization. */
  project: slug.exactOptional(),
  environment: slug.exactOptional(),
});

/** A link, or what follows `#` in it, which is its secret. */
export const linkBody = z.strictObject({
  link: z
    .string()
    .min(1)
    .max(2_300)
    .transform((text) => new Plaintext(text.slice(text.lastIndexOf('#') + 1))),
});

const createdLink = {
  /** The address to open; only this response contains it. */
  link: z.string(),
  expiresAt: z.iso.datetime().meta({ description: `The link works for ${limits.signInLinkHours} hours.` }),
};

export const createdLinkView = z.strictObject(createdLink).meta({ id: 'CreatedSignInLink' });
export const createdInvitationView = z
  .strictObject({ ...createdLink, invitation: invitationView })
  .meta({ id: 'CreatedInvitation' });

/** What a link is for. */
export const linkView = z
  .strictObject({
    /** Who signs in with it. */
    email: z.string(),
    /** The user who created it. */
    createdBy: z.strictObject({ email: z.string() }),
    expiresAt: z.iso.datetime(),
    /** What a person accepts who is no user yet; null for the link of a user. */
    invitation: z
      .strictObject({
        organization: z.string(),
        project: z.string().nullable(),
        environment: z.string().nullable(),
        role,
      })
      .nullable(),
  })
  .meta({ id: 'SignInLink' });

export type CreatedLinkView = z.infer<typeof createdLinkView>;
export type CreatedInvitationView = z.infer<typeof createdInvitationView>;
export type LinkView = z.infer<typeof linkView>;
