import { type KeySelection, selectionTest } from '../key-globs.ts';
import { type Effect, hashedParts, holdSameValue, type KeyVersion, type Plan, type PresentKey } from './plan.ts';

/**
 * What a restore does with a key: `restore` makes a version with the value of the snapshot, `recreate` does so for a key
 * that was deleted since, `leave` finds it equal already. `skip` passes over a key that was deleted since, `destroyed` over
 * one whose value in the snapshot was destroyed. `prune` deletes and `keep` keeps a key that the snapshot does not have;
 * `keep` also keeps a key that is not selected.
 */
export type RestoreAction = 'restore' | 'recreate' | 'leave' | 'skip' | 'destroyed' | 'prune' | 'keep';

/** How an environment goes back to one of its snapshots. */
export interface RestoreOptions {
  /** Also deletes the present keys that the snapshot does not have. */
  readonly prune: boolean;
  /** Makes no version if the key has the value already. */
  readonly skipUnchanged: boolean;
  /** Also restores keys that were deleted since. */
  readonly includeDeleted: boolean;
  /** Only these keys are restored and pruned; undefined selects all. */
  readonly keys?: KeySelection | undefined;
}

/** A key that is in the environment or in the snapshot. */
export interface RestoreFact extends PresentKey {
  /** The version that the snapshot has; null if it has none. */
  readonly snapshot: KeyVersion | null;
}

export type RestorePlan = Plan<RestoreAction>;

/** The facts of a restore, of one moment. */
export interface RestoreFacts {
  readonly revision: number;
  readonly revisionId: string;
  /** By key: every present key, and the deleted ones that the snapshot has. */
  readonly keys: readonly RestoreFact[];
}

const effects: Readonly<Record<RestoreAction, Effect>> = {
  restore: 'write',
  recreate: 'write',
  leave: 'none',
  skip: 'none',
  destroyed: 'none',
  prune: 'delete',
  keep: 'none',
};

/** Plans a restore. Deleted keys that are not selected are not part of the plan. */
export function planRestore({ revision, revisionId, keys }: RestoreFacts, options: RestoreOptions): RestorePlan {
  const isSelected = selectionTest(options.keys);
  const planned = keys.flatMap((fact) => {
    const { key, snapshot: source, ...present } = fact;
    const action = isSelected(key) ? judge(fact, options) : unselected(fact);
    return action === undefined ? [] : [{ key, action, effect: effects[action], present: { key, ...present }, source }];
  });
  return { revision, revisionId, keys: planned };
}

function unselected({ live }: RestoreFact): RestoreAction | undefined {
  return live === null ? undefined : 'keep';
}

function judge({ live, snapshot }: RestoreFact, options: RestoreOptions): RestoreAction {
  if (snapshot === null) return options.prune ? 'prune' : 'keep';
  // By default, a deleted key is skipped whatever the snapshot has of it.
  if (live === null && !options.includeDeleted) return 'skip';
  if (snapshot.isDestroyed) return 'destroyed';
  if (live === null) return 'recreate';
  return options.skipUnchanged && holdSameValue(live, snapshot) ? 'leave' : 'restore';
}

/** What was asked for, as far as the hash of its plan covers it. */
export interface HashedRestore extends RestoreOptions {
  readonly environmentId: string;
  readonly snapshotId: string;
  /** Whether the present is kept in a snapshot first. */
  readonly backup: boolean;
}

/**
 * The texts that the hash of a restore's plan covers. Without `includeDeleted` and `keys` they are those of the release
 * that had neither, so that its servers and these have the same hashes while both run.
 */
export function restoreParts(request: HashedRestore, plan: Pick<RestorePlan, 'revisionId' | 'keys'>): string[] {
  const { environmentId, snapshotId, prune, skipUnchanged, backup, includeDeleted, keys } = request;
  const head = [environmentId, plan.revisionId, snapshotId, ...[prune, skipUnchanged, backup].map(String)];
  if (!includeDeleted && keys === undefined) return hashedParts('keyframe restore plan 1', head, plan);
  const selection = [keys?.include ?? ['*'], keys?.exclude ?? []];
  const options = [String(includeDeleted), ...selection.flatMap((globs) => [String(globs.length), ...globs])];
  return hashedParts('keyframe restore plan 2', [...head, ...options], plan);
}
