// Made from crds/keyframe.dev_secretsnapshots.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SecretSnapshot takes one snapshot of an environment of Keyframe, or stands for one that is there already. An AccessGrant must allow it.
 */
export interface SecretSnapshot {
  /**
   * The version of this resource's schema.
   */
  apiVersion: 'keyframe.dev/v1alpha1';
  /**
   * SecretSnapshot.
   */
  kind: 'SecretSnapshot';
  metadata: ObjectMeta;
  spec: SecretSnapshotSpec;
  status?: SecretSnapshotStatus;
}
/**
 * What to capture. It never changes, but for suspend.
 */
export interface SecretSnapshotSpec {
  /**
   * Either the environment to capture, or the snapshot to adopt.
   */
  source: {
    /**
     * The environment of which a snapshot is taken, once.
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
     * UUID of a snapshot that is there already. It is never deleted by this resource.
     */
    snapshotId?: string;
  };
  /**
   * Name of the snapshot, for people, on one line.
   */
  name?: string;
  /**
   * What the snapshot is for, on one line.
   */
  description?: string;
  /**
   * What becomes of the snapshot when this resource is deleted. Retain: it stays. Delete: it is deleted. An adopted snapshot is always retained.
   */
  deletionPolicy: 'Retain' | 'Delete';
  /**
   * How long after the snapshot was taken this resource deletes itself, and the snapshot with it. It needs deletionPolicy Delete.
   */
  expiresIn?: string;
  /**
   * While true, nothing is taken, adopted or deleted by age.
   */
  suspend: boolean;
}
/**
 * What was last seen and done. Written by the controller alone; it is told here and never read as authority.
 */
export interface SecretSnapshotStatus {
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
   * Where it lies, as organization/project/environment.
   */
  environment?: string;
  /**
   * Number of the revision that it stands for; 0 for an environment that had no change yet.
   */
  revision?: number;
  /**
   * Id of that revision. Compare this, not the number.
   */
  revisionId?: string;
  /**
   * How many secrets it names.
   */
  secretCount?: number;
  /**
   * SHA-256 over the keys and the ids of their versions: equal for equal snapshots, and made without values.
   */
  digest?: string;
  /**
   * When the snapshot was taken.
   */
  takenAt?: string;
  /**
   * When this resource deletes itself; absent where it does not.
   */
  expiresAt?: string;
  /**
   * Ready: the snapshot is there. Reconciling: the controller is not done and goes on by itself. Stalled: it goes on only when this resource is made anew.
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: Condition[];
}
