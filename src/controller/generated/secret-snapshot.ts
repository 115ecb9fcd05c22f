// Made from crds/keyframe.dev_secretsnapshots.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SecretSnapshot takes one snapshot of an environment of Keyframe, or adopts an existing one. An AccessGrant must allow it.
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
 * What to capture. Immutable, except suspend.
 */
export interface SecretSnapshotSpec {
  /**
   * What to capture: an environment, or an existing snapshot to adopt.
   */
  source: {
    /**
     * The environment to take one snapshot of. Required without snapshotId, and not allowed with it.
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
     * The UUID of an existing snapshot. This resource never deletes it. Required without environmentRef, and not allowed with it.
     */
    snapshotId?: string;
  };
  /**
   * The name of the snapshot, on one line. Default: the name of the resource.
   */
  name?: string;
  /**
   * What the snapshot is for, on one line. Default: none.
   */
  description?: string;
  /**
   * What happens to the snapshot when this resource is deleted. Retain: it stays. Delete: it is deleted. An adopted snapshot is always retained. Default: Retain.
   */
  deletionPolicy: 'Retain' | 'Delete';
  /**
   * How long after the snapshot was taken this resource deletes itself and the snapshot, such as 720h. Not allowed without deletionPolicy Delete. Default: never.
   */
  expiresIn?: string;
  /**
   * While true, no snapshot is taken or adopted, and none is deleted when it expires. Default: false.
   */
  suspend: boolean;
}
/**
 * The observed state. Only the controller writes it, and it is never used to authorize anything.
 */
export interface SecretSnapshotStatus {
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
   * The snapshot's environment, as organization/project/environment.
   */
  environment?: string;
  /**
   * The number of the revision that the snapshot captures; 0 for an environment that never had a change.
   */
  revision?: number;
  /**
   * The id of that revision. Compare this id, not the number.
   */
  revisionId?: string;
  /**
   * How many secrets the snapshot contains.
   */
  secretCount?: number;
  /**
   * SHA-256 of the keys and the ids of their versions. It is equal for equal snapshots and does not depend on values.
   */
  digest?: string;
  /**
   * When the snapshot was taken.
   */
  takenAt?: string;
  /**
   * When this resource deletes itself; absent if it never does.
   */
  expiresAt?: string;
  /**
   * Ready: the snapshot exists. Reconciling: the resource may become ready without help. Stalled: a user must act, and the message says how.
   *
   * @maxItems 16
   *
   * Items: A condition.
   */
  conditions?: Condition[];
}
