import { z } from 'zod';
import { name, uuid } from './fields.ts';
import { tokenCreatorView } from './token-creator.ts';

/** Passkeys: keys in the authenticators of users, with which they sign in (WebAuthn). */

export const passkeyParams = z.strictObject({ id: uuid });

/** A passkey of the user {id}. */
export const userPasskeyParams = z.strictObject({ id: uuid, passkey: uuid });

/** Bytes as base64url without padding. */
function base64url(maxLength: number) {
  return z
    .string()
    .max(maxLength)
    .regex(/^[A-Za-z0-9_-]+$/, { error: 'must be base64url without padding' });
}

const credentialId = base64url(1_364);
const clientDataJSON = base64url(4_096);
const transports = z.array(z.string().max(32)).max(16);

/** What `navigator.credentials.create` returned, as far as the server reads it. */
export const createPasskeyBody = z.strictObject({
  name,
  id: credentialId,
  response: z.strictObject({
    clientDataJSON,
    attestationObject: base64url(16_384),
    transports: transports.exactOptional(),
  }),
});

/** What `navigator.credentials.get` returned, as far as the server reads it. */
export const passkeySessionBody = z.strictObject({
  id: credentialId,
  response: z.strictObject({
    clientDataJSON,
    authenticatorData: base64url(4_096),
    signature: base64url(4_096),
    userHandle: base64url(88).exactOptional(),
  }),
});

/** The options of `navigator.credentials.create`, as `PublicKeyCredential.parseCreationOptionsFromJSON` reads them. */
export const passkeyCreationView = z
  .strictObject({
    challenge: z.string(),
    rp: z.strictObject({ id: z.string(), name: z.string() }),
    user: z.strictObject({ id: z.string(), name: z.string(), displayName: z.string() }),
    pubKeyCredParams: z.array(z.strictObject({ type: z.literal('public-key'), alg: z.int() })),
    /** Milliseconds. */
    timeout: z.int(),
    attestation: z.literal('none'),
    /** The passkeys of the user. An authenticator that has one of them registers no second one. */
    excludeCredentials: z.array(
      z.strictObject({ type: z.literal('public-key'), id: z.string(), transports: z.array(z.string()) }),
    ),
    authenticatorSelection: z.strictObject({
      residentKey: z.literal('required'),
      requireResidentKey: z.literal(true),
      userVerification: z.literal('required'),
    }),
  })
  .meta({ id: 'PasskeyCreation' });

/** The options of `navigator.credentials.get`, as `PublicKeyCredential.parseRequestOptionsFromJSON` reads them. */
export const passkeyRequestView = z
  .strictObject({
    challenge: z.string(),
    rpId: z.string(),
    /** Milliseconds. */
    timeout: z.int(),
    userVerification: z.literal('required'),
  })
  .meta({ id: 'PasskeyRequest' });

export const passkeyView = z
  .strictObject({
    id: z.guid(),
    name: z.string(),
    /** The host for which it was registered. */
    rpId: z.string(),
    /** Whether it is copied to other devices of the user. */
    backedUp: z.boolean(),
    createdAt: z.iso.datetime(),
    /** Null if the user has not signed in with it. */
    lastUsedAt: z.iso.datetime().nullable(),
    /** Since a restore from a backup, until it is confirmed; null for one that works. */
    unusableSince: z.iso.datetime().nullable(),
    /** With whose token or link it was registered; `derived` is always true. Null if the user alone did. */
    createdBy: tokenCreatorView,
  })
  .meta({ id: 'Passkey' });

export const passkeyListView = z
  .strictObject({
    passkeys: z.array(passkeyView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'PasskeyList' });

export type PasskeyView = z.infer<typeof passkeyView>;
export type PasskeyListView = z.infer<typeof passkeyListView>;
export type PasskeyCreationView = z.infer<typeof passkeyCreationView>;
export type PasskeyRequestView = z.infer<typeof passkeyRequestView>;
export type CreatePasskeyBody = z.input<typeof createPasskeyBody>;
export type PasskeySessionBody = z.input<typeof passkeySessionBody>;
