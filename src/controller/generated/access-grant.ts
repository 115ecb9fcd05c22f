// Made from crds/keyframe.dev_accessgrants.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * AccessGrant lets the resources of some namespaces act on some environments of Keyframe. Without one, a SecretSync that names no token, a ServiceToken or a SecretSnapshot can do nothing. Users who may create AccessGrants have more power than any owner of an organization.
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
 * Which namespaces the grant applies to, and what it allows.
 */
export interface AccessGrantSpec {
  /**
   * Names of the namespaces; "*" alone means all of them. Required without namespaceSelector, and not allowed with it.
   *
   * @minItems 1
   * @maxItems 256
   *
   * Items: The name of a namespace, or "*".
   */
  namespaces?: string[];
  /**
   * Selects namespaces by their labels. Required without namespaces, and not allowed with it. An empty selector is invalid: write namespaces ["*"] to select all.
   */
  namespaceSelector?: {
    /**
     * Labels that the namespace must have. Default: none.
     */
    matchLabels?: {
      /**
       * The value of the label.
       */
      [k: string]: string;
    };
    /**
     * Conditions on the namespace's labels. All of them must be met. Default: none.
     *
     * @maxItems 32
     *
     * Items: A condition.
     */
    matchExpressions?: {
      /**
       * The name of the label.
       */
      key: string;
      /**
       * How the label's value is compared with values.
       */
      operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
      /**
       * The values for In and NotIn. Required with In and NotIn, and not allowed with Exists and DoesNotExist.
       *
       * @maxItems 64
       *
       * Items: A value.
       */
      values?: string[];
    }[];
  };
  /**
   * What the namespaces may do. Each rule applies independently of the others.
   *
   * @minItems 1
   * @maxItems 64
   *
   * Items: A rule.
   */
  rules: {
    /**
     * The slug of the organization.
     */
    organization: string;
    /**
     * The slug of the project, or "*" for all. Only "*" with environments ["*"] allows tokens of organization scope.
     */
    project: string;
    /**
     * The slugs of the environments; "*" alone means all of them. Only ["*"] allows tokens of project scope.
     *
     * @minItems 1
     * @maxItems 64
     *
     * Items: The slug of an environment, or "*".
     */
    environments: string[];
    /**
     * The highest permission that a resource may have. ReadWrite includes Read. Taking and restoring snapshots requires ReadWrite. Default: Read.
     */
    permission?: 'Read' | 'ReadWrite';
    /**
     * The kinds of resources that the rule applies to: ServiceToken, SecretSync, SecretSnapshot, SnapshotRestore, SnapshotSchedule. SecretSync covers SecretSyncs that name no token; ServiceToken covers them too. A SnapshotSchedule requires SnapshotSchedule and SecretSnapshot. Default: ServiceToken.
     *
     * @minItems 1
     * @maxItems 8
     *
     * Items: A kind.
     */
    kinds?: ('ServiceToken' | 'SecretSync' | 'SecretSnapshot' | 'SnapshotRestore' | 'SnapshotSchedule')[];
  }[];
}
/**
 * The observed state. Only the controller writes it, and it is never used to authorize anything.
 */
export interface AccessGrantStatus {
  /**
   * The generation of the spec that the status is for.
   */
  observedGeneration?: number;
  /**
   * How many existing namespaces the grant applies to.
   */
  namespaceCount?: number;
  /**
   * Ready: the grant applies. Reconciling: the resource may become ready without help. Stalled: a user must act, and the message says how.
   *
   * @maxItems 16
   *
   * Items: A condition.
   */
  conditions?: Condition[];
}
