import { z } from 'zod';
import { Plaintext } from '../domain/plaintext.ts';
import { name } from './fields.ts';

/** Sign-in of the command in a browser (RFC 8252 with a code challenge of RFC 7636, and RFC 8628). */

/** SHA-256 of the code verifier, as base64url. */
const codeChallenge = z
  .string()
  .regex(/^[A-Za-z0-9_-]{43}$/, { error: 'must be the SHA-256 of the code verifier as base64url, 43 characters' })
  .transform(bytesOfBase64Url);
const codeVerifier = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{43,128}$/, { error: 'must be 43 to 128 letters, digits, or one of - . _ ~' })
  .transform((text) => new Plaintext(text));

export const beginLoginBody = z.strictObject({ codeChallenge });
/** The code that the page of the device shows; case, hyphens and spaces do not matter. */
export const userCodeBody = z.strictObject({ userCode: z.string().min(1).max(32) });
export const loginTokenBody = z.strictObject({ code: z.string().min(1).max(64), codeVerifier, name });

export const approvedLoginView = z
  .strictObject({ code: z.string(), expiresAt: z.iso.datetime() })
  .meta({ id: 'ApprovedLogin' });
export const deviceLoginView = z
  .strictObject({
    deviceCode: z.string(),
    userCode: z.string(),
    expiresAt: z.iso.datetime(),
    /** How often the command asks for its token. */
    intervalSeconds: z.int(),
  })
  .meta({ id: 'DeviceLogin' });
export const waitingDeviceView = z
  .strictObject({
    /** Where the command runs. */
    sourceAddress: z.string().nullable(),
    createdAt: z.iso.datetime(),
    expiresAt: z.iso.datetime(),
  })
  .meta({ id: 'WaitingDevice' });
export const pendingLoginView = z.strictObject({ status: z.literal('pending') }).meta({ id: 'PendingLogin' });

export type DeviceLoginView = z.infer<typeof deviceLoginView>;
export type ApprovedLoginView = z.infer<typeof approvedLoginView>;
export type WaitingDeviceView = z.infer<typeof waitingDeviceView>;

/** Browsers have no `Buffer`. */
function bytesOfBase64Url(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
