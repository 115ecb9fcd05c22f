// Made from crds/keyframe.dev_snapshotrestores.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SnapshotRestore brings an environment of Keyframe back to one of its snapshots, once, after a plan that somebody approved. An AccessGrant must allow it.
 */
export interface SnapshotRestore {
  /**
   * The version of this resource's schema.
   */
  apiVersion: 'keyframe.dev/v1alpha1';
  /**
   * SnapshotRestore.
   */
  kind: 'SnapshotRestore';
  metadata: ObjectMeta;
  spec: SnapshotRestoreSpec;
  status?: SnapshotRestoreStatus;
}
/**
 * What to restore. Nothing of it changes but mode, planHash and suspend.
 */
export interface SnapshotRestoreSpec {
  /**
   * The SecretSnapshot in this namespace whose snapshot is restored.
   */
  snapshotRef?: {
    /**
     * Name of the SecretSnapshot.
     */
    name: string;
    /**
     * metadata.uid of the SecretSnapshot. Another one of that name is refused. Needed with allowUnplanned.
     */
    uid?: string;
  };
  /**
   * Instead, UUID of the snapshot that is restored.
   */
  snapshotId?: string;
  /**
   * The environment that is restored. A snapshot of another one is refused. Needed with allowUnplanned.
   */
  environmentRef?: {
    /**
     * Slug of the organization.
     */
    organization: string;
    /**
     * Slug of the project.
     */
    project: string;
    /**
     * Slug of the environment.
     */
    name: string;
  };
  /**
   * Plan: tell in the status what would be done, and change nothing. Apply: do it, once. It never goes back to Plan.
   */
  mode: 'Plan' | 'Apply';
  /**
   * status.planHash of the plan that is approved. Nothing but that plan is carried out; where it does not hold any more, nothing is.
   */
  planHash?: string;
  /**
   * Whether mode Apply may go without planHash, and do whatever is to be done at that moment. Needs environmentRef, backup, and snapshotId or snapshotRef.uid. Nothing is waited for: what cannot be done at once is refused for good.
   */
  allowUnplanned: boolean;
  /**
   * Whether keys that the snapshot does not have are deleted.
   */
  prune: boolean;
  /**
   * Whether the present state is kept in a snapshot first, in the same transaction.
   */
  backup: boolean;
  /**
   * Whether keys that have the value of the snapshot already are left alone, instead of getting a new version with it.
   */
  skipUnchanged: boolean;
  /**
   * While true, nothing is planned or restored.
   */
  suspend: boolean;
}
/**
 * What was last seen and done. Written by the controller alone; it is told here and never read as authority.
 */
export interface SnapshotRestoreStatus {
  /**
   * The generation of the spec that this status tells about.
   */
  observedGeneration?: number;
  /**
   * UUID of the snapshot, as the API knows it.
   */
  snapshotId?: string;
  /**
   * UUID of its environment.
   */
  environmentId?: string;
  /**
   * What is restored, as organization/project/environment.
   */
  environment?: string;
  /**
   * What approves the plan, in spec.planHash. It holds until anything of the environment changes, and for this resource alone.
   */
  planHash?: string;
  /**
   * What the restore does to which keys, or did.
   */
  plan?: {
    /**
     * Number of the revision that the environment was at.
     */
    revision: number;
    /**
     * Id of that revision. Compare this, not the number.
     */
    revisionId: string;
    /**
     * The keys that get the value of the snapshot, each as a new version.
     */
    restored: {
      /**
       * How many keys these are.
       */
      count: number;
      /**
       * The first 100 of them, by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys that have that value already, and are left alone because of skipUnchanged.
     */
    unchanged: {
      /**
       * How many keys these are.
       */
      count: number;
      /**
       * The first 100 of them, by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys of the snapshot that were deleted since; they stay so.
     */
    skipped: {
      /**
       * How many keys these are.
       */
      count: number;
      /**
       * The first 100 of them, by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys whose values of then were destroyed; they stay as they are.
     */
    destroyed: {
      /**
       * How many keys these are.
       */
      count: number;
      /**
       * The first 100 of them, by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys that the snapshot does not have, and that are deleted because of prune.
     */
    pruned: {
      /**
       * How many keys these are.
       */
      count: number;
      /**
       * The first 100 of them, by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
  };
  /**
   * What was done.
   */
  result?: {
    /**
     * How many keys got the value of the snapshot.
     */
    restored: number;
    /**
     * How many keys were left alone because they had that value already.
     */
    unchanged: number;
    /**
     * How many keys of the snapshot stayed deleted.
     */
    skipped: number;
    /**
     * How many keys were left as they are because their values of then were destroyed.
     */
    destroyed: number;
    /**
     * How many keys were deleted.
     */
    pruned: number;
    /**
     * Number of the revision that the restore made; the one before where there was nothing to change.
     */
    revision: number;
    /**
     * Id of that revision. Compare this, not the number.
     */
    revisionId: string;
  };
  /**
   * UUID of the snapshot of what was before; absent without backup, and where there was nothing to change.
   */
  backupSnapshotId?: string;
  /**
   * When the restore began.
   */
  startTime?: string;
  /**
   * When the restore was done.
   */
  completionTime?: string;
  /**
   * Ready: the plan is there, or the restore done. Reconciling: the controller is not done and goes on by itself. Stalled: it goes on only when this resource changes. Planned: the plan holds for the environment as it is. Complete: the restore was carried out. Failed: it never will be.
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: Condition[];
}
