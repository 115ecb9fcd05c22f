// Made from crds/keyframe.dev_accessgrants.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * AccessGrant lets the resources of some namespaces act on some environments of Keyframe. Without one, a SecretSync that names no token, a ServiceToken or a SecretSnapshot can do nothing. Whoever may create AccessGrants outranks every owner of an organization.
 */
export interface AccessGrant {
  /**
   * The version of this resource's schema.
   */
  apiVersion: 'keyframe.dev/v1alpha1';
  /**
   * AccessGrant.
   */
  kind: 'AccessGrant';
  metadata: ObjectMeta;
  spec: AccessGrantSpec;
  status?: AccessGrantStatus;
}
/**
 * Which namespaces may do what.
 */
export interface AccessGrantSpec {
  /**
   * Names of the namespaces; "*" alone stands for all of them. Either this or namespaceSelector.
   *
   * @minItems 1
   * @maxItems 256
   *
   * Items: Name of a namespace, or "*".
   */
  namespaces?: string[];
  /**
   * Selects namespaces by their labels. Either this or namespaces. An empty selector would select all: write namespaces ["*"] where that is meant.
   */
  namespaceSelector?: {
    /**
     * Labels that the namespace must have.
     */
    matchLabels?: {
      /**
       * Value of the label.
       */
      [k: string]: string;
    };
    /**
     * Conditions on the namespace's labels; all must hold.
     *
     * @maxItems 32
     *
     * Items: One condition.
     */
    matchExpressions?: {
      /**
       * Name of the label.
       */
      key: string;
      /**
       * How the label's value relates to values.
       */
      operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
      /**
       * Values for In and NotIn; absent for Exists and DoesNotExist.
       *
       * @maxItems 64
       *
       * Items: One value.
       */
      values?: string[];
    }[];
  };
  /**
   * What the namespaces may do; each rule stands for itself.
   *
   * @minItems 1
   * @maxItems 64
   *
   * Items: One rule.
   */
  rules: {
    /**
     * Slug of the organization.
     */
    organization: string;
    /**
     * Slug of the project, or "*" for all. Only "*", with environments ["*"], allows tokens of organization scope.
     */
    project: string;
    /**
     * Slugs of the environments; "*" alone stands for all. Only ["*"] allows tokens of project scope.
     *
     * @minItems 1
     * @maxItems 64
     *
     * Items: Slug of an environment, or "*".
     */
    environments: string[];
    /**
     * The most that may be asked for; Read if it is left out. ReadWrite includes Read; taking snapshots and restoring need ReadWrite.
     */
    permission: 'Read' | 'ReadWrite';
    /**
     * The kinds of resource that the rule is for: ServiceToken (the default), SecretSync, SecretSnapshot, SnapshotRestore, SnapshotSchedule. SecretSync is for SecretSyncs that name no token, and ServiceToken covers them too; a SnapshotSchedule needs SnapshotSchedule and SecretSnapshot.
     *
     * @minItems 1
     * @maxItems 8
     *
     * Items: A kind.
     */
    kinds: ('ServiceToken' | 'SecretSync' | 'SecretSnapshot' | 'SnapshotRestore' | 'SnapshotSchedule')[];
  }[];
}
/**
 * What was last seen and done. Written by the controller alone; it is told here and never read as authority.
 */
export interface AccessGrantStatus {
  /**
   * The generation of the spec that this status tells about.
   */
  observedGeneration?: number;
  /**
   * How many namespaces of the cluster the grant is for at present.
   */
  namespaceCount?: number;
  /**
   * Ready: the grant is in force. Stalled: it is in force only when it is changed.
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: Condition[];
}
