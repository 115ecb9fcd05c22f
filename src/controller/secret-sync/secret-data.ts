import type { Keyring } from '../../crypto/keyring.ts';
import { DomainError } from '../../domain/domain-error.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { SecretSyncSpec } from '../generated/secret-sync.ts';
import { type ChosenKey, chooseKeys, decodedBase64 } from './keys.ts';
import { type Source, fieldOf, inSource, keysFieldOf } from './source.ts';
import { type Template, composeValues } from './template.ts';
import { unmetNeed } from './type-needs.ts';

/** Makes a keyed digest of a Secret's whole data; see `Keyring.fingerprint`. */
export type Fingerprint = Keyring['fingerprint'];

/** Values of environments on their way into a Secret; drop it with the reconcile that read it. */
export interface SecretData {
  /** The Secret's `data`: values in base64. */
  readonly data: Readonly<Record<string, string>>;
  /** The keys of environments among its own: each from the last source that gives it. */
  readonly chosen: readonly PlacedKey[];
  /** Names of the keys that `spec.template` adds. */
  readonly composed: readonly string[];
  readonly fingerprint: Buffer;
  readonly count: number;
  /** Bytes of all values together, as Kubernetes counts them against its limit. */
  readonly bytes: number;
  /** What the Secret's type demands and these values lack, in names; undefined where they fit. */
  readonly unmetNeed: string | undefined;
}

/** A key on its way into a Secret, with the name of the source that it comes from. */
export interface PlacedKey extends ChosenKey {
  readonly source: string | undefined;
}

/** What a spec makes of the values of its sources. */
export interface DataShape {
  readonly template?: Template | undefined;
  readonly type: SecretSyncSpec['target']['type'];
}

export interface NamedSecret {
  readonly key: string;
  readonly value: Plaintext;
}

/** What one source gives, and which of it is chosen. */
export interface SourcePart {
  readonly source: Pick<Source, 'name' | 'keys'>;
  readonly secrets: readonly NamedSecret[];
}

/** What Kubernetes allows the values of one Secret to come to. */
export const secretBytesLimit = 1024 * 1024;

/**
 * Encodes the values of one source or more for a Secret: where several give a key, the last of them wins. `context` binds
 * the fingerprint to the place of that Secret. Throws DomainError key_conflict, value_not_base64 and what `composeValues`
 * throws.
 */
export function encodeSecretData(
  fingerprint: Fingerprint,
  context: string,
  parts: readonly SourcePart[],
  { template, type }: DataShape = { type: 'Opaque' },
): SecretData {
  const winners = [...new Map(parts.flatMap(choicesOf).map((choice) => [choice.placed.name, choice])).values()];
  // What another source takes the place of may be what it likes.
  const synced = winners.map((choice) => [choice.placed.name, bytesOf(choice)] as const);
  const keysField = keysFieldOf(parts.map(({ source }) => source));
  const composed = composeValues(template, new Map(synced), secretBytesLimit, keysField);
  const entries = [...synced, ...composed];
  return {
    data: Object.fromEntries(entries.map(([name, bytes]) => [name, bytes.toString('base64')])),
    chosen: winners.map(({ placed }) => placed),
    composed: composed.map(([name]) => name),
    fingerprint: fingerprint(context, entries),
    count: entries.length,
    bytes: entries.reduce((total, [, bytes]) => total + bytes.length, 0),
    unmetNeed: unmetNeed(type, new Map(entries)),
  };
}

interface Choice {
  readonly placed: PlacedKey;
  readonly part: SourcePart;
  readonly value: Plaintext | undefined;
}

function choicesOf(part: SourcePart): readonly Choice[] {
  const { source, secrets } = part;
  const values = new Map(secrets.map(({ key, value }) => [key, value]));
  const chosen = choose(source, [...values.keys()]);
  return chosen.map((key) => ({ placed: { ...key, source: source.name }, part, value: values.get(key.key) }));
}

function choose(source: SourcePart['source'], keys: readonly string[]): readonly ChosenKey[] {
  try {
    return chooseKeys(source.keys, keys, fieldOf(source, 'keys'));
  } catch (error) {
    throw error instanceof DomainError ? inSource(source, error) : error;
  }
}

function bytesOf({ placed: { key, isEncoded }, part: { source }, value }: Choice): Buffer {
  const text = value?.reveal() ?? '';
  if (!isEncoded) return Buffer.from(text, 'utf8');
  const bytes = decodedBase64(text);
  if (bytes !== undefined) return bytes;
  const field = fieldOf(source, 'keys.decodeBase64');
  const fault = new DomainError(
    'value_not_base64',
    `The value of ${key} is not base64, which ${field} says it is; nothing is written. ` +
      `Put base64 (with padding) there, or take the key out of ${field}.`,
  );
  throw inSource(source, fault);
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
