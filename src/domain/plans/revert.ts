import {
  type Effect,
  hashedParts,
  holdSameValue,
  type KeyVersion,
  type Plan,
  type PlannedKey,
  type PresentKey,
} from './plan.ts';

/**
 * What a revert does with a key that the revision touched: `restore` makes a version with its value before the revision,
 * `recreate` does so for a key that is deleted now, `delete` deletes a key that did not exist before. `leave` finds the key
 * as it was before. `destroyed` passes over a key whose value before was destroyed.
 */
export type RevertAction = 'restore' | 'recreate' | 'delete' | 'leave' | 'destroyed';

/**
 * Why a key is in conflict: it is not as the revision left it (`changed`), or a value on one side was destroyed, so that it
 * cannot be compared or restored (`destroyed`).
 */
export type RevertConflict = 'changed' | 'destroyed';

/** A key that a revision touched. Null stands for a key that did not exist, or was deleted. */
export interface RevertFact extends PresentKey {
  /** Before the revision. */
  readonly before: KeyVersion | null;
  /** As the revision left it. */
  readonly after: KeyVersion | null;
}

/** The facts of a revert, of one moment. */
export interface RevertFacts {
  readonly revision: number;
  readonly revisionId: string;
  /** The revision that is to be reverted. */
  readonly reverted: { readonly revision: number; readonly revisionId: string };
  /** By key. */
  readonly keys: readonly RevertFact[];
}

export interface PlannedRevert extends PlannedKey<RevertAction> {
  /** Refuses the revert, unless it is to overwrite. Null for a key without one. */
  readonly conflict: RevertConflict | null;
}

export interface RevertPlan extends Plan<RevertAction>, Pick<RevertFacts, 'reverted'> {
  readonly keys: readonly PlannedRevert[];
}

const effects: Readonly<Record<RevertAction, Effect>> = {
  restore: 'write',
  recreate: 'write',
  delete: 'delete',
  leave: 'none',
  destroyed: 'none',
};

/**
 * Plans that every key that a revision touched returns to its state before the revision. The plan says what is done if
 * conflicts are overwritten. A destroyed value is never recreated.
 */
export function planRevert({ keys, ...place }: RevertFacts): RevertPlan {
  const planned = keys.map(({ before, after, ...present }) => {
    const { key, live } = present;
    const action = actionOf(live, before);
    const conflict = action === 'leave' ? null : conflictOf(live, before, after);
    return { key, action, effect: effects[action], present, source: before, conflict };
  });
  return { ...place, keys: planned };
}

function actionOf(live: KeyVersion | null, before: KeyVersion | null): RevertAction {
  if (isSameState(live, before)) return 'leave';
  if (before === null) return 'delete';
  if (before.isDestroyed) return 'destroyed';
  return live === null ? 'recreate' : 'restore';
}

function conflictOf(
  live: KeyVersion | null,
  before: KeyVersion | null,
  after: KeyVersion | null,
): RevertConflict | null {
  if (before?.isDestroyed === true || after?.isDestroyed === true) return 'destroyed';
  return isSameState(live, after) ? null : 'changed';
}

function isSameState(one: KeyVersion | null, other: KeyVersion | null): boolean {
  return one === null || other === null ? one === other : holdSameValue(one, other);
}

/** The texts that the hash of a revert's plan covers. */
export function revertParts(
  { environmentId, overwrite }: { readonly environmentId: string; readonly overwrite: boolean },
  plan: RevertPlan,
): string[] {
  const head = [environmentId, plan.revisionId, plan.reverted.revisionId, String(overwrite)];
  return hashedParts('keyframe revert plan 1', head, plan);
}
