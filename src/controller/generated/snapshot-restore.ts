// Made from crds/keyframe.dev_snapshotrestores.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SnapshotRestore restores an environment of Keyframe from one of its snapshots, once, after a plan was approved. An AccessGrant must allow it.
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
 * What to restore. Immutable, except mode, planHash and suspend.
 */
export interface SnapshotRestoreSpec {
  /**
   * The SecretSnapshot in this namespace whose snapshot is restored. Required without snapshotId, and not allowed with it.
   */
  snapshotRef?: {
    /**
     * The name of the SecretSnapshot.
     */
    name: string;
    /**
     * The metadata.uid of the SecretSnapshot. A SecretSnapshot with another uid is refused. Required with allowUnplanned. Default: any uid.
     */
    uid?: string;
  };
  /**
   * The UUID of the snapshot that is restored. Required without snapshotRef, and not allowed with it.
   */
  snapshotId?: string;
  /**
   * The environment that is restored. A snapshot of another environment is refused. Required with allowUnplanned. Default: the environment of the snapshot.
   */
  environmentRef?: {
    /**
     * The slug of the organization.
     */
    organization: string;
    /**
     * The slug of the project.
     */
    project: string;
    /**
     * The slug of the environment.
     */
    name: string;
  };
  /**
   * Plan: report in the status what the restore would do, and change nothing. Apply: carry out the restore, once. Apply cannot be changed to Plan. Default: Plan.
   */
  mode: 'Plan' | 'Apply';
  /**
   * The status.planHash of the approved plan. Only that plan is carried out. If it is outdated, nothing is restored. Required with mode Apply, except with allowUnplanned.
   */
  planHash?: string;
  /**
   * Whether mode Apply is allowed without planHash: the restore then does whatever is needed at that moment. It needs environmentRef, backup, and snapshotId or snapshotRef.uid. The restore never waits: if it is not possible immediately, it is refused permanently. Default: false.
   */
  allowUnplanned: boolean;
  /**
   * Whether keys that are not in the snapshot are deleted. Default: false.
   */
  prune: boolean;
  /**
   * Whether a snapshot of the current state is taken first, in the same transaction. Default: true.
   */
  backup: boolean;
  /**
   * Whether keys that already have the value of the snapshot stay unchanged, instead of getting a new version with it. Default: true.
   */
  skipUnchanged: boolean;
  /**
   * Whether keys of the snapshot that were deleted later are restored too. Not allowed with allowUnplanned. Default: false.
   */
  includeDeleted: boolean;
  /**
   * Which keys are restored, and pruned with prune. The backup has all keys. Globs: "*" matches any characters, "?" matches one character. Not allowed with allowUnplanned. Default: all keys.
   */
  keys?: {
    /**
     * Globs of the keys that are restored. An empty list includes none. Default: all keys.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    include?: string[];
    /**
     * Globs of the keys that are not restored, even if they are included. Default: none.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    exclude?: string[];
  };
  /**
   * While true, nothing is planned or restored. Default: false.
   */
  suspend: boolean;
}
/**
 * The observed state. Only the controller writes it, and it is never used to authorize anything.
 */
export interface SnapshotRestoreStatus {
  /**
   * The generation of the spec that the status is for.
   */
  observedGeneration?: number;
  /**
   * The UUID of the snapshot in the API.
   */
  snapshotId?: string;
  /**
   * The UUID of the snapshot's environment.
   */
  environmentId?: string;
  /**
   * The environment that is restored, as organization/project/environment.
   */
  environment?: string;
  /**
   * The hash that approves the plan in spec.planHash. It is valid only for this resource, and until the environment changes.
   */
  planHash?: string;
  /**
   * What the restore does or did, and to which keys.
   */
  plan?: {
    /**
     * The number of the environment's revision before the restore.
     */
    revision: number;
    /**
     * The id of that revision. Compare this id, not the number.
     */
    revisionId: string;
    /**
     * The keys that get the value of the snapshot, each as a new version.
     */
    restored: {
      /**
       * The number of keys.
       */
      count: number;
      /**
       * The first 100 keys, sorted by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys of the snapshot that were deleted later and come back because of includeDeleted.
     */
    recreated?: {
      /**
       * The number of keys.
       */
      count: number;
      /**
       * The first 100 keys, sorted by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys that already have that value and stay unchanged because of skipUnchanged.
     */
    unchanged: {
      /**
       * The number of keys.
       */
      count: number;
      /**
       * The first 100 keys, sorted by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys of the snapshot that were deleted later. They stay deleted.
     */
    skipped: {
      /**
       * The number of keys.
       */
      count: number;
      /**
       * The first 100 keys, sorted by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys whose values in the snapshot were destroyed. They stay unchanged.
     */
    destroyed: {
      /**
       * The number of keys.
       */
      count: number;
      /**
       * The first 100 keys, sorted by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
    /**
     * The keys that are not in the snapshot and are deleted because of prune.
     */
    pruned: {
      /**
       * The number of keys.
       */
      count: number;
      /**
       * The first 100 keys, sorted by name.
       *
       * @maxItems 100
       *
       * Items: A key.
       */
      keys: string[];
    };
  };
  /**
   * The result of the restore.
   */
  result?: {
    /**
     * How many keys got the value of the snapshot.
     */
    restored: number;
    /**
     * How many deleted keys of the snapshot came back.
     */
    recreated?: number;
    /**
     * How many keys stayed unchanged because they already had that value.
     */
    unchanged: number;
    /**
     * How many keys of the snapshot stayed deleted.
     */
    skipped: number;
    /**
     * How many keys stayed unchanged because their values in the snapshot were destroyed.
     */
    destroyed: number;
    /**
     * How many keys were deleted.
     */
    pruned: number;
    /**
     * The number of the revision that the restore created, or of the previous revision if nothing changed.
     */
    revision: number;
    /**
     * The id of that revision. Compare this id, not the number.
     */
    revisionId: string;
  };
  /**
   * The UUID of the snapshot with the state before the restore; absent without backup, and if nothing changed.
   */
  backupSnapshotId?: string;
  /**
   * When the restore started.
   */
  startTime?: string;
  /**
   * When the restore was complete.
   */
  completionTime?: string;
  /**
   * Ready: the plan exists, or the restore is complete. Reconciling: the resource may become ready without help. Stalled: a user must act, and the message says how. Planned: the plan is valid for the current state of the environment. Complete: the restore was carried out. Failed: the restore will never be carried out.
   *
   * @maxItems 16
   *
   * Items: A condition.
   */
  conditions?: Condition[];
}
