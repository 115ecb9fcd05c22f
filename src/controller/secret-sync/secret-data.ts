import type { Keyring } from '../../crypto/keyring.ts';
import { DomainError } from '../../domain/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { SecretSyncSpec } from '../generated/secret-sync.ts';
import { type ChosenKey, type KeyRules, chooseKeys, decodedBase64 } from './keys.ts';
import { type Template, composeValues } from './template.ts';
import { unmetNeed } from './type-needs.ts';

/** Makes a keyed digest of a Secret's whole data; see `Keyring.fingerprint`. */
export type Fingerprint = Keyring['fingerprint'];

/** An environment's values on their way into a Secret; drop it with the reconcile that read it. */
export interface SecretData {
  /** The Secret's `data`: values in base64. */
  readonly data: Readonly<Record<string, string>>;
  /** The environment's keys among its own. */
  readonly chosen: readonly ChosenKey[];
  /** Names of the keys that `spec.template` adds. */
  readonly composed: readonly string[];
  readonly fingerprint: Buffer;
  readonly count: number;
  /** Bytes of all values together, as Kubernetes counts them against its limit. */
  readonly bytes: number;
  /** What the Secret's type demands and these values lack, in names; undefined where they fit. */
  readonly unmetNeed: string | undefined;
}

/** What a spec makes of an environment's values. */
export interface DataShape {
  readonly keys?: KeyRules | undefined;
  readonly template?: Template | undefined;
  readonly type: SecretSyncSpec['target']['type'];
}

interface NamedSecret {
  readonly key: string;
  readonly value: Plaintext;
}

/** What Kubernetes allows the values of one Secret to come to. */
export const secretBytesLimit = 1024 * 1024;

/**
 * Encodes an environment's values for a Secret. `context` binds the fingerprint to the place of that Secret. Throws
 * DomainError key_conflict, value_not_base64 and what `composeValues` throws.
 */
export function encodeSecretData(
  fingerprint: Fingerprint,
  context: string,
  secrets: readonly NamedSecret[],
  { keys, template, type }: DataShape = { type: 'Opaque' },
): SecretData {
  const chosen = chooseKeys(
    keys,
    secrets.map(({ key }) => key),
  );
  const values = new Map(secrets.map(({ key, value }) => [key, value]));
  const synced = chosen.map((choice) => [choice.name, bytesOf(choice, values.get(choice.key))] as const);
  const composed = composeValues(template, new Map(synced), secretBytesLimit);
  const entries = [...synced, ...composed];
  return {
    data: Object.fromEntries(entries.map(([name, bytes]) => [name, bytes.toString('base64')])),
    chosen,
    composed: composed.map(([name]) => name),
    fingerprint: fingerprint(context, entries),
    count: entries.length,
    bytes: entries.reduce((total, [, bytes]) => total + bytes.length, 0),
    unmetNeed: unmetNeed(type, new Map(entries)),
  };
}

function bytesOf({ key, isEncoded }: ChosenKey, value: Plaintext | undefined): Buffer {
  const text = value?.reveal() ?? '';
  if (!isEncoded) return Buffer.from(text, 'utf8');
  const bytes = decodedBase64(text);
  if (bytes !== undefined) return bytes;
  throw new DomainError(
    'value_not_base64',
    `The value of ${key} is not base64, which spec.keys.decodeBase64 says it is; nothing is written. ` +
      'Put base64 (with padding) there, or take the key out of spec.keys.decodeBase64.',
  );
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
