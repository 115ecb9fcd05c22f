import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { Plaintext } from '../../../../domain/plaintext.ts';
import type { SizedKey } from '../../../../domain/secret-states.ts';
import type { SecretSyncSpec } from '../../../generated/secret-sync.ts';
import { type EncodedKey, chooseKeys, decodedBase64, neededBy } from './keys.ts';
import { type Source, fieldOf, inSource, keysFieldOf } from '../spec/source.ts';
import { type KeyFacts, type Template, type ValueSize, addSizes, composeValues, composedSize } from './template.ts';
import { unmetNeed } from './type-needs.ts';
import { maxPlannedKeys, maxSecretBytes } from '../model.ts';
import { hiddenTooLarge, namesTooLarge, tooManyKeys, valueNotBase64 } from '../source-messages.ts';
import type { Fingerprint } from '../../../backend/fingerprint.ts';

/** Values of environments on their way into a Secret; drop it with the reconcile that read it. */
export interface SecretData {
  /** The Secret's `data`: values in base64. */
  readonly data: Readonly<Record<string, string>>;
  /** The keys that come from environments: each from the last source that provides it. */
  readonly chosen: readonly PlacedKey[];
  /** Names of the keys that `spec.template` adds. */
  readonly composed: readonly string[];
  readonly fingerprint: Buffer;
  readonly count: number;
  /** Bytes of all values together, as Kubernetes counts them against its limit. */
  readonly bytes: number;
  /** What the Secret's type requires and these values lack, without values; undefined if they meet it. */
  readonly unmetNeed: string | undefined;
}

/** A key on its way into a Secret, with the name of the source that it comes from. */
export interface PlacedKey extends EncodedKey {
  readonly source: string | undefined;
}

/** What a spec makes of the values of its sources. */
export interface DataShape {
  readonly template?: Template | undefined;
  readonly type: SecretSyncSpec['target']['type'];
}

/** What one source provides, and its rules for keys. */
export interface SourcePart {
  readonly source: Pick<Source, 'name' | 'keys'>;
  readonly secrets: readonly SizedKey[];
}

/** What a Secret gets from its sources, decided before any value is read. */
export interface DataPlan {
  readonly shape: DataShape;
  readonly keyFacts: KeyFacts;
  /** The keys of environments that it gets: each from the last source that provides it. */
  readonly chosen: readonly PlacedKey[];
  /** The keys whose values must be read: the chosen ones, and the hidden ones that templates use. */
  readonly needed: readonly PlacedKey[];
  /** Names of the keys that `spec.template` adds. */
  readonly composed: readonly string[];
  /** Of all values together, as Kubernetes counts them. */
  readonly size: ValueSize;
  /** Bytes of the values that must be read. */
  readonly valueBytes: number;
}

/** The values of the chosen keys: by source, then by key. */
export type ChosenValues = ReadonlyMap<string | undefined, ReadonlyMap<string, Plaintext>>;

/**
 * Plans what a Secret gets from its sources. If several provide a key, the last one wins, also about whether it is hidden.
 * The other values are never read, nor are hidden ones that no template uses. Throws DomainError key_conflict, key_invalid,
 * target_too_large, and what `composedSize` throws.
 */
export function planSecretData(parts: readonly SourcePart[], shape: DataShape = { type: 'Opaque' }): DataPlan {
  const keysField = keysFieldOf(parts.map(({ source }) => source));
  const winners = winnersAmong(parts, keysField);
  const written = winners.filter(({ placed }) => !placed.isHidden);
  const hidden = winners.filter(({ placed }) => placed.isHidden);
  const isNeeded = neededBy(shape.template);
  const used = hidden.filter(({ placed }) => isNeeded(placed));
  const keyFacts = { keysField, hidden: new Set(hidden.map(({ placed }) => placed.name)) };
  const sizes = new Map([...written, ...used].map((choice) => [choice.placed.name, sizeOf(choice)]));
  const composed = composedSize(shape.template, sizes, maxSecretBytes, keyFacts);
  // The size of the Secret does not bound them.
  const hiddenBytes = bytesOfAll(used);
  if (hiddenBytes > maxSecretBytes) throw hiddenTooLarge(hiddenBytes, keysField, maxSecretBytes);
  return {
    shape,
    keyFacts,
    chosen: written.map(({ placed }) => placed),
    needed: [...written, ...used].map(({ placed }) => placed),
    composed: Object.keys(shape.template?.data ?? {}).toSorted(),
    size: written.map(sizeOf).reduce(addSizes, composed),
    valueBytes: bytesOfAll(written) + hiddenBytes,
  };
}

/**
 * What provides each name: the last source that has it. Ends with target_too_large as soon as the names alone exceed a Secret,
 * or the keys their limit, so that the work is bounded however many sources there are. Hidden names count only for the limit.
 */
function winnersAmong(parts: readonly SourcePart[], keysField: string): Choice[] {
  const winners = new Map<string, Choice>();
  let count = 0;
  for (const part of parts) {
    const choices = choicesOf(part);
    count += choices.length;
    if (count > maxPlannedKeys) throw tooManyKeys(keysField, maxPlannedKeys);
    for (const choice of choices) winners.set(choice.placed.name, choice);
    const bytes = nameBytes([...winners.values()].map(({ placed }) => placed));
    if (bytes > maxSecretBytes) throw namesTooLarge(bytes, keysField, maxSecretBytes);
  }
  return [...winners.values()];
}

/** Bytes of the names that the Secret gets. They are ASCII. */
function nameBytes(keys: readonly EncodedKey[]): number {
  return keys.reduce((total, { name, isHidden }) => total + (isHidden ? 0 : name.length), 0);
}

function bytesOfAll(choices: readonly Choice[]): number {
  return choices.reduce((total, { bytes }) => total + bytes, 0);
}

/**
 * Encodes the chosen values for a Secret. `context` binds the fingerprint to that Secret. Throws DomainError value_not_base64
 * and what `composeValues` throws.
 */
export function encodeSecretData(
  fingerprint: Fingerprint,
  context: string,
  { shape: { template, type }, keyFacts, chosen, needed, composed: composedNames }: DataPlan,
  values: ChosenValues,
): SecretData {
  const usable = needed.map((placed) => [placed.name, bytesOf(placed, values)] as const);
  const composed = composeValues(template, new Map(usable), maxSecretBytes, keyFacts);
  const entries = [...usable.filter(([name]) => !keyFacts.hidden.has(name)), ...composed];
  return {
    data: Object.fromEntries(entries.map(([name, bytes]) => [name, bytes.toString('base64')])),
    chosen,
    composed: composedNames,
    fingerprint: fingerprint(context, entries),
    count: entries.length,
    bytes: entries.reduce((total, [, bytes]) => total + bytes.length, 0),
    unmetNeed: unmetNeed(type, new Map(entries)),
  };
}

interface Choice {
  readonly placed: PlacedKey;
  /** Of the value in the environment. */
  readonly bytes: number;
}

function choicesOf({ source, secrets }: SourcePart): readonly Choice[] {
  const sizes = new Map(secrets.map(({ key, bytes }) => [key, bytes]));
  const chosen = choose(source, [...sizes.keys()]);
  return chosen.map((key) => ({ placed: { ...key, source: source.name }, bytes: sizes.get(key.key) ?? 0 }));
}

function choose(source: SourcePart['source'], keys: readonly string[]): readonly EncodedKey[] {
  try {
    return chooseKeys(source.keys, keys, fieldOf(source, 'keys'));
  } catch (error) {
    throw error instanceof DomainError ? inSource(source, error) : error;
  }
}

// The content of base64 has three quarters of its length, less its line breaks. No tool breaks lines after each character.
const minDecodedShare = 1 / 4;

function sizeOf({ placed: { isEncoded }, bytes }: Choice): ValueSize {
  return isEncoded ? { bytes: Math.floor(bytes * minDecodedShare), isExact: bytes === 0 } : { bytes, isExact: true };
}

function bytesOf({ key, isEncoded, source: name }: PlacedKey, values: ChosenValues): Buffer {
  const value = values.get(name)?.get(key);
  if (value === undefined) throw new Error('a chosen value was not read');
  const text = value.reveal();
  if (!isEncoded) return Buffer.from(text, 'utf8');
  const bytes = decodedBase64(text);
  if (bytes !== undefined) return bytes;
  throw inSource({ name }, valueNotBase64(key, fieldOf({ name }, 'keys.decodeBase64')));
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
