import type { CopyMode } from '../../../src/domain/plans/copy.ts';
import type { SnapshotDiff } from '../../../src/services/snapshots/snapshots.ts';

/** The value that a key has, and the number of its version. */
type Entry = readonly [value: string, version: number];
export type ModelState = ReadonlyMap<string, Entry>;

/** A version as the history shows it. */
export interface ModelVersion {
  readonly key: string;
  readonly version: number;
  readonly value: string;
  readonly changeType: 'created' | 'updated' | 'rolled_back';
  readonly changedBy: string;
  readonly comment: string | null;
  readonly revision: number;
}

/** Who makes a change, and what they say of it. */
export interface Authorship {
  readonly changedBy: string;
  readonly comment: string | null;
}

export interface ModelPatch {
  readonly set: ReadonlyMap<string, string>;
  readonly deleted: readonly string[];
  readonly skipUnchanged: boolean;
}

export interface ModelRestore {
  readonly snapshot: ModelState;
  readonly prune: boolean;
  readonly skipUnchanged: boolean;
  readonly includeDeleted: boolean;
  readonly isSelected: (key: string) => boolean;
}

export interface ModelCopy {
  readonly source: ModelState;
  readonly mode: CopyMode;
  readonly isSelected: (key: string) => boolean;
}

/** What becomes of each key; the lists are in the order of the request. */
export interface PatchLists {
  readonly set: readonly string[];
  readonly deleted: readonly string[];
  readonly unchanged: readonly string[];
}

/** All lists are by key. */
export interface RestoreLists {
  readonly restored: readonly string[];
  readonly recreated: readonly string[];
  readonly unchanged: readonly string[];
  readonly skipped: readonly string[];
  readonly destroyed: readonly string[];
  readonly pruned: readonly string[];
}

/** All lists are by key. */
export interface CopyLists {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  readonly unchanged: readonly string[];
  readonly kept: readonly string[];
  readonly deleted: readonly string[];
  readonly destroyed: readonly string[];
}

/** What a PATCH does to a state; undefined where a key to delete is not there. */
export function patchLists(state: ModelState, { set, deleted, skipUnchanged }: ModelPatch): PatchLists | undefined {
  if (deleted.some((key) => !state.has(key))) return undefined;
  const keys = [...set.keys()];
  const isEqual = (key: string): boolean => skipUnchanged && state.get(key)?.[0] === set.get(key);
  return {
    set: keys.filter((key) => !isEqual(key)),
    deleted,
    unchanged: keys.filter(isEqual),
  };
}

/** All lists are by key. */
export interface RevertLists {
  readonly restored: readonly string[];
  readonly recreated: readonly string[];
  readonly deleted: readonly string[];
  readonly unchanged: readonly string[];
  readonly destroyed: readonly string[];
  readonly conflicts: readonly { readonly key: string; readonly reason: 'changed' }[];
}

/** What a restore does to a state. */
export function restoreLists(state: ModelState, wish: ModelRestore): RestoreLists {
  const { snapshot, prune, skipUnchanged, includeDeleted, isSelected } = wish;
  const keys = [...snapshot.keys()].filter(isSelected).toSorted();
  const isEqual = (key: string): boolean => skipUnchanged && state.get(key)?.[0] === snapshot.get(key)?.[0];
  const absent = keys.filter((key) => !state.has(key));
  return {
    restored: keys.filter((key) => state.has(key) && !isEqual(key)),
    recreated: includeDeleted ? absent : [],
    unchanged: keys.filter((key) => state.has(key) && isEqual(key)),
    skipped: includeDeleted ? [] : absent,
    // The model destroys nothing.
    destroyed: [],
    pruned: prune ? [...state.keys()].filter((key) => isSelected(key) && !snapshot.has(key)).toSorted() : [],
  };
}

/** What the revert of a revision, between the states before and after it, does to a state. */
export function revertLists(state: ModelState, before: ModelState, after: ModelState): RevertLists {
  const valueIn = (one: ModelState, key: string): string | undefined => one.get(key)?.[0];
  const keys = [...new Set([...before.keys(), ...after.keys()])]
    .filter((key) => before.get(key)?.[1] !== after.get(key)?.[1])
    .toSorted();
  const isEqual = (key: string): boolean => valueIn(state, key) === valueIn(before, key);
  const others = keys.filter((key) => !isEqual(key));
  return {
    restored: others.filter((key) => before.has(key) && state.has(key)),
    recreated: others.filter((key) => before.has(key) && !state.has(key)),
    deleted: others.filter((key) => !before.has(key)),
    unchanged: keys.filter(isEqual),
    // The model destroys nothing.
    destroyed: [],
    conflicts: others
      .filter((key) => valueIn(state, key) !== valueIn(after, key))
      .map((key) => ({ key, reason: 'changed' })),
  };
}

/** What a copy does to the state of its destination. */
export function copyLists(state: ModelState, { source, mode, isSelected }: ModelCopy): CopyLists {
  const keys = [...source.keys()].filter(isSelected).toSorted();
  const present = keys.filter((key) => state.has(key));
  const isEqual = (key: string): boolean => state.get(key)?.[0] === source.get(key)?.[0];
  const others = present.filter((key) => !isEqual(key));
  return {
    created: keys.filter((key) => !state.has(key)),
    updated: mode === 'missing' ? [] : others,
    unchanged: present.filter(isEqual),
    kept: mode === 'missing' ? others : [],
    deleted: mode === 'mirror' ? [...state.keys()].filter((key) => isSelected(key) && !source.has(key)).toSorted() : [],
    // The model destroys nothing.
    destroyed: [],
  };
}

/**
 * An environment in memory, as a reader of docs/interface.md would keep it: what each revision left, and all
 * versions. Each method makes one revision.
 */
export class EnvironmentModel {
  /** What each revision left; the first is that of revision 0. */
  readonly states: ModelState[] = [new Map()];
  readonly #versions = new Map<string, ModelVersion[]>();

  get revision(): number {
    return this.states.length - 1;
  }

  /** What a revision left. */
  at(revision: number): ModelState {
    const state = this.states[revision];
    if (state === undefined) throw new Error(`there is no revision ${revision}`);
    return state;
  }

  get present(): ModelState {
    return this.at(this.revision);
  }

  /** By key and number. */
  get versions(): ModelVersion[] {
    return [...this.#versions.keys()].toSorted().flatMap((key) => this.#versions.get(key) ?? []);
  }

  /** The versions that a key had at a revision, oldest first. */
  versionsAt(revision: number, key: string): ModelVersion[] {
    return (this.#versions.get(key) ?? []).filter((made) => made.revision <= revision);
  }

  /** Sets keys and deletes others; answers the numbers of the new versions. */
  write(set: ReadonlyMap<string, string>, deleted: readonly string[], by: Authorship): Map<string, number> {
    const { present } = this;
    return this.#revise(deleted, (add) => {
      for (const [key, value] of set) {
        add({ key, value, changeType: present.has(key) ? 'updated' : 'created', ...by });
      }
    });
  }

  /** Answers the new version's number. */
  rollback(key: string, targetVersion: number, by: Authorship): number {
    const target = this.versionsAt(this.revision, key)[targetVersion - 1];
    if (target === undefined) throw new Error(`${key} cannot go back to ${targetVersion}`);
    const { value } = target;
    return this.#revise([], (add) => add({ key, value, changeType: 'rolled_back', ...by })).get(key) ?? 0;
  }

  /** Brings keys back to what they were in a state, and deletes others. */
  goBack(
    state: ModelState,
    { keys, deleted }: { readonly keys: readonly string[]; readonly deleted: readonly string[] },
    by: Authorship,
  ): void {
    this.#revise(deleted, (add) => {
      for (const key of keys) add({ key, value: state.get(key)?.[0] ?? '', changeType: 'rolled_back', ...by });
    });
  }

  #revise(deleted: readonly string[], fill: (add: (made: NewVersion) => void) => void): Map<string, number> {
    const next = new Map(this.present);
    const revision = this.revision + 1;
    const numbers = new Map<string, number>();
    fill((made) => {
      const { key, value } = made;
      const versions = this.#versions.get(key) ?? [];
      const version = versions.length + 1;
      this.#versions.set(key, [...versions, { ...made, version, revision }]);
      next.set(key, [value, version]);
      numbers.set(key, version);
    });
    for (const key of deleted) next.delete(key);
    this.states.push(next);
    return numbers;
  }
}

type NewVersion = Omit<ModelVersion, 'version' | 'revision'>;

/** What the comparison of two states must show. */
export function stateDiff(from: ModelState, to: ModelState): Pick<SnapshotDiff, 'added' | 'removed' | 'changed'> {
  const of = (state: ModelState, keys: readonly string[]): { key: string; version: number }[] =>
    keys.map((key) => ({ key, version: state.get(key)?.[1] ?? 0 }));
  const keys = [...new Set([...from.keys(), ...to.keys()])].toSorted();
  const changed = keys.flatMap((key) => {
    const [before, after] = [from.get(key), to.get(key)];
    if (before === undefined || after === undefined || before[1] === after[1]) return [];
    return [{ key, from: before[1], to: after[1], valueChanged: before[0] !== after[0] }];
  });
  return {
    added: of(
      to,
      keys.filter((key) => !from.has(key)),
    ),
    removed: of(
      from,
      keys.filter((key) => !to.has(key)),
    ),
    changed,
  };
}
