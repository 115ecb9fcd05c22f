/** What a user wants to change in an environment and has not saved yet. */

/** What becomes of a key. `baseVersion` is its version when the user began: 0 if it did not exist. */
export type DraftEntry =
  | { readonly kind: 'set'; readonly value: string; readonly baseVersion: number }
  | { readonly kind: 'delete'; readonly baseVersion: number };

/** By key. */
export type Draft = ReadonlyMap<string, DraftEntry>;

/** The versions of the keys that exist. */
export type Versions = ReadonlyMap<string, number>;

export const emptyDraft: Draft = new Map();

/** A change that the draft makes now. */
export interface PlannedChange {
  readonly key: string;
  readonly change: 'add' | 'set' | 'delete';
  readonly entry: DraftEntry;
  /** The present version; 0 if the key does not exist. */
  readonly version: number;
  /** Whether another user has changed the key since the user began. */
  readonly isConflict: boolean;
}

/** Sets a key. The version that the user began with stays that of the first time. */
export function setInDraft(draft: Draft, versions: Versions, values: ReadonlyMap<string, string>): Draft {
  const changed = new Map(draft);
  for (const [key, value] of values) {
    changed.set(key, { kind: 'set', value, baseVersion: baseOf(draft, versions, key) });
  }
  return changed;
}

/** Deletes keys. One that exists only in the draft just leaves it. */
export function deleteInDraft(draft: Draft, versions: Versions, keys: Iterable<string>): Draft {
  const changed = new Map(draft);
  for (const key of keys) {
    const baseVersion = baseOf(draft, versions, key);
    if (baseVersion === 0 && !versions.has(key)) changed.delete(key);
    else changed.set(key, { kind: 'delete', baseVersion });
  }
  return changed;
}

/** Leaves keys as they are in the environment. */
export function dropFromDraft(draft: Draft, keys: Iterable<string>): Draft {
  const changed = new Map(draft);
  for (const key of keys) changed.delete(key);
  return changed;
}

/** Keeps the user's change of a key, whatever others made of it up to this version. */
export function keepInDraft(draft: Draft, key: string, version: number): Draft {
  const entry = draft.get(key);
  return entry === undefined ? draft : new Map(draft).set(key, { ...entry, baseVersion: version });
}

/** What the draft changes in the present state: by key. Deleting what another user has deleted changes nothing. */
export function planOf(draft: Draft, versions: Versions): readonly PlannedChange[] {
  return [...draft]
    .flatMap(([key, entry]): PlannedChange[] => {
      const version = versions.get(key) ?? 0;
      if (entry.kind === 'delete' && version === 0) return [];
      const change = entry.kind === 'delete' ? 'delete' : version === 0 ? 'add' : 'set';
      return [{ key, change, entry, version, isConflict: version !== entry.baseVersion }];
    })
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
}

/** The fields of the request that saves a plan. */
export function requestOf(plan: readonly PlannedChange[]): {
  readonly set: Readonly<Record<string, string>>;
  readonly delete: readonly string[];
} {
  const set: [string, string][] = [];
  const deleted: string[] = [];
  for (const { key, entry } of plan) {
    if (entry.kind === 'set') set.push([key, entry.value]);
    else deleted.push(key);
  }
  return { set: Object.fromEntries(set), delete: deleted };
}

function baseOf(draft: Draft, versions: Versions, key: string): number {
  return draft.get(key)?.baseVersion ?? versions.get(key) ?? 0;
}
