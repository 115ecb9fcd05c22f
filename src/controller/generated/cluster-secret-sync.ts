// Made from crds/keyframe.dev_clustersecretsyncs.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';
import type { SecretSyncSpec } from './secret-sync.ts';

/**
 * ClusterSecretSync creates a SecretSync of the same name in each namespace that it selects, and keeps it equal to its template. It writes no Secret and grants nothing: each SecretSync can do what the AccessGrants and tokens of its namespace allow. Users who may create ClusterSecretSyncs decide which Secrets are written in every namespace.
 */
export interface ClusterSecretSync {
  /**
   * The version of this resource's schema.
   */
  apiVersion: 'keyframe.dev/v1alpha1';
  /**
   * ClusterSecretSync.
   */
  kind: 'ClusterSecretSync';
  metadata: ObjectMeta;
  spec: ClusterSecretSyncSpec;
  status?: ClusterSecretSyncStatus;
}
/**
 * Which namespaces get a SecretSync, and what it contains.
 */
export interface ClusterSecretSyncSpec {
  /**
   * Names of the namespaces; "*" alone means all of them. Required without namespaceSelector, and not allowed with it. Namespaces in excludeNamespaces are not selected.
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
   * Namespaces that are never selected: names, or prefixes of names that end with "*". An empty list excludes none. Default: kube-*.
   *
   * @maxItems 256
   *
   * Items: The name of a namespace, or a prefix of names that ends with "*".
   */
  excludeNamespaces: string[];
  /**
   * What the SecretSyncs contain.
   */
  template: {
    /**
     * Labels of the SecretSyncs. Labels under keyframe.dev/ are reserved for the controller. Default: none.
     */
    labels?: {
      /**
       * A value.
       */
      [k: string]: string;
    };
    /**
     * What to read, how to read it, and which Secret to write.
     */
    spec: SecretSyncSpec;
  };
  /**
   * From how many namespaces the SecretSync may be removed at once because they are no longer selected: a number, or a percentage such as 50%, which applies from three namespaces up. If more would be removed, or if the selection becomes empty, none is removed until the ClusterSecretSync has the annotation keyframe.dev/allow-deletion with the digest from the message of the condition Ready. Namespaces that were deleted do not count. Default: 50%.
   */
  maxRemovedNamespaces: number | string;
  /**
   * While true, no SecretSync is created, changed or removed. Existing ones keep syncing. Default: false.
   */
  suspend: boolean;
}
/**
 * The observed state. Only the controller writes it.
 */
export interface ClusterSecretSyncStatus {
  /**
   * The generation of the spec that the status is for.
   */
  observedGeneration?: number;
  /**
   * How many namespaces are selected. Namespaces that are being deleted do not count.
   */
  selected?: number;
  /**
   * In how many selected namespaces the SecretSync equals the template and is ready.
   */
  ready?: number;
  /**
   * In how many selected namespaces the SecretSync could not be created or corrected.
   */
  blocked?: number;
  /**
   * How many of the selected namespaces the controller does not watch. Nothing is done in them.
   */
  unwatched?: number;
  /**
   * Namespaces that are blocked or whose SecretSync is not ready, sorted by name; at most 100. See the conditions of the SecretSync for details.
   *
   * @maxItems 100
   *
   * Items: A namespace.
   */
  failing?: {
    /**
     * The name of the namespace.
     */
    namespace: string;
    /**
     * Conflict: the namespace has a SecretSync of this name that does not belong to the ClusterSecretSync. Refused: the API server refuses the SecretSync. Any other reason is that of the SecretSync's condition Ready.
     */
    reason: string;
  }[];
  /**
   * A removal that a user allowed and that is in progress. It continues while the selection stays the same.
   */
  removal?: {
    /**
     * The digest that the user allowed.
     */
    consent: string;
    /**
     * The digest of the namespaces that were selected at that time.
     */
    selection: string;
  };
  /**
   * The digest of the last completed removal that a user allowed. It allows no other removal.
   */
  usedConsent?: string;
  /**
   * Ready: every selected namespace has its SecretSync, and all of them are ready. Reconciling: the resource may become ready without help. Stalled: a user must act, and the message says how.
   *
   * @maxItems 16
   *
   * Items: A condition.
   */
  conditions?: Condition[];
}
