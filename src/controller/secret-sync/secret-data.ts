import type { Keyring } from '../../crypto/keyring.ts';
import type { Plaintext } from '../../domain/plaintext.ts';

/** Makes a keyed digest of a Secret's whole data; see `Keyring.fingerprint`. */
export type Fingerprint = Keyring['fingerprint'];

/** An environment's values on their way into a Secret; drop it with the reconcile that read it. */
export interface SecretData {
  /** The Secret's `data`: values in base64. */
  readonly data: Readonly<Record<string, string>>;
  readonly fingerprint: Buffer;
  readonly count: number;
  /** Bytes of all values together, as Kubernetes counts them against its limit. */
  readonly bytes: number;
}

/** What Kubernetes allows the values of one Secret to come to. */
export const secretBytesLimit = 1024 * 1024;

/** Encodes an environment's values for a Secret. `context` binds the fingerprint to the place of that Secret. */
export function encodeSecretData(
  fingerprint: Fingerprint,
  context: string,
  secrets: readonly { readonly key: string; readonly value: Plaintext }[],
): SecretData {
  const entries = secrets.map(({ key, value }) => [key, Buffer.from(value.reveal(), 'utf8')] as const);
  return {
    data: Object.fromEntries(entries.map(([key, bytes]) => [key, bytes.toString('base64')])),
    fingerprint: fingerprint(context, entries),
    count: entries.length,
    bytes: entries.reduce((total, [, bytes]) => total + bytes.length, 0),
  };
}

/** The fingerprint of the data that a Secret holds. */
export function fingerprintOf(
  fingerprint: Fingerprint,
  context: string,
  data: Readonly<Record<string, string>> | null | undefined,
): Buffer {
  const entries = Object.entries(data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64')] as const);
  return fingerprint(context, entries);
}
