import { keysWith, type Plan } from '../../../domain/plans/plan.ts';
import type { RestoreAction } from '../../../domain/plans/restore.ts';
import { digestOf } from '../../kernel/plan-hash.ts';

/** What a restore does to each key, by key; without those that the snapshot does not have and that stay. */
export interface RestoreLists {
  readonly restored: readonly string[];
  /** Deleted since the snapshot was made, and restored because of `includeDeleted`. */
  readonly recreated: readonly string[];
  /** Left alone because of `skipUnchanged`. */
  readonly unchanged: readonly string[];
  /** Deleted since the snapshot was made. */
  readonly skipped: readonly string[];
  /** Left as they are, because their values of then were destroyed. */
  readonly destroyed: readonly string[];
  readonly pruned: readonly string[];
}

/** The keys of a plan by what becomes of them. */
export function listsOf(plan: Pick<Plan<RestoreAction>, 'keys'>): RestoreLists {
  return {
    restored: keysWith(plan, 'restore'),
    recreated: keysWith(plan, 'recreate'),
    unchanged: keysWith(plan, 'leave'),
    skipped: keysWith(plan, 'skip'),
    destroyed: keysWith(plan, 'destroyed'),
    pruned: keysWith(plan, 'prune'),
  };
}

/**
 * The hash of a plan as it is reported to a custom resource: bound to the resource itself, by its cluster and uid. So
 * what was approved for one resource is not valid for another, and a resource that is created again from the same
 * manifest, in a rebuilt cluster and whatever state its database is in, holds a hash that none of its plans ever has.
 */
export function resourcePlanHash(hash: string, { cluster, uid }: { cluster: string; uid: string }): string {
  return digestOf(['keyframe resource restore plan 1', cluster, uid, hash]);
}
