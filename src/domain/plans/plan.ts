/**
 * What plans of an environment have in common: a restore, a revert and a copy judge facts about keys and say what becomes
 * of each key. Pure: services read the facts, check the plan and write it as one revision.
 */

/** A version of a key, without its value. */
export interface KeyVersion {
  readonly versionId: string;
  readonly version: number;
  /** Keyed MAC of the value for the secret of the plan's environment; empty if the value was destroyed. */
  readonly valueMac: Uint8Array;
  /** Bytes of the value in UTF-8; 0 if it was destroyed. */
  readonly valueBytes: number;
  readonly isDestroyed: boolean;
}

/** A key as it is in the environment of the plan, under its lock. */
export interface PresentKey {
  /** Of a key that never existed: the id that it will get. */
  readonly secretId: string;
  readonly key: string;
  /** Number of its newest version, also of a deleted key; 0 for a key that never existed. */
  readonly version: number;
  /** What a read of the key returns now; null for a key that is deleted or never existed. */
  readonly live: KeyVersion | null;
}

/** What a plan does to the secret: it makes a version with the value of `source`, deletes the key, or does nothing. */
export type Effect = 'write' | 'delete' | 'none';

/** What becomes of one key. */
export interface PlannedKey<Action extends string = string> {
  readonly key: string;
  readonly action: Action;
  readonly effect: Effect;
  readonly present: PresentKey;
  /** The version that the key is to have the value of; null if it is to have none. */
  readonly source: KeyVersion | null;
}

/** What would be done to an environment at one revision. */
export interface Plan<Action extends string = string> {
  readonly revision: number;
  readonly revisionId: string;
  /** By key. */
  readonly keys: readonly PlannedKey<Action>[];
}

/** Number of secrets and bytes of their values. */
export interface PlannedSize {
  readonly secrets: number;
  readonly bytes: number;
}

/** Whether two versions hold the same value. A destroyed value is equal to none. */
export function holdSameValue(one: KeyVersion, other: KeyVersion): boolean {
  if (one.isDestroyed || other.isDestroyed || one.valueMac.length !== other.valueMac.length) return false;
  if (one.versionId === other.versionId) return true;
  // A loop, because a restore compares 10,000 pairs.
  for (let index = 0; index < one.valueMac.length; index += 1) {
    if (one.valueMac[index] !== other.valueMac[index]) return false;
  }
  return true;
}

/** The keys with one of these actions, in the order of the plan. */
export function keysWith<Action extends string>(
  { keys }: Pick<Plan<Action>, 'keys'>,
  ...actions: readonly Action[]
): string[] {
  return keys.filter(({ action }) => actions.includes(action)).map(({ key }) => key);
}

/** Whether a plan changes anything. One that does not makes no revision. */
export function isChange({ keys }: Pick<Plan, 'keys'>): boolean {
  return keys.some(({ effect }) => effect !== 'none');
}

/** Size of the present keys of a plan. It is that of the environment only if the plan covers every key. */
export function sizeOf({ keys }: Pick<Plan, 'keys'>): PlannedSize {
  const size = { secrets: 0, bytes: 0 };
  for (const { present } of keys) {
    size.secrets += Number(present.live !== null);
    size.bytes += bytesOf(present.live);
  }
  return size;
}

/** By how much the environment grows if the plan is carried out; negative if it shrinks. */
export function growthOf({ keys }: Pick<Plan, 'keys'>): PlannedSize {
  const growth = { secrets: 0, bytes: 0 };
  for (const { effect, present, source } of keys) {
    if (effect === 'none') continue;
    growth.secrets += Number(effect === 'write') - Number(present.live !== null);
    growth.bytes += (effect === 'write' ? bytesOf(source) : 0) - bytesOf(present.live);
  }
  return growth;
}

/**
 * The texts that the hash of a plan covers: a tag with the name and version of the kind of plan, the head (environment,
 * what it goes back to, options), and each key's action and versions. The head must have the same number of texts for
 * each plan with this tag, or begin each list with its length. Then no two plans have the same texts.
 */
export function hashedParts(tag: string, head: readonly string[], { keys }: Pick<Plan, 'keys'>): string[] {
  return [
    tag,
    ...head,
    ...keys.flatMap(({ key, action, present, source }) => [
      key,
      action,
      String(present.version),
      source === null ? '-' : String(source.version),
    ]),
  ];
}

function bytesOf(version: KeyVersion | null): number {
  return version?.valueBytes ?? 0;
}
