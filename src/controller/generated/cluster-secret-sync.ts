// Made from crds/keyframe.dev_clustersecretsyncs.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';
import type { SecretSyncSpec } from './secret-sync.ts';

/**
 * ClusterSecretSync makes a SecretSync of its own name in each of the namespaces that it selects, and keeps it as its template says. It writes no Secret and grants nothing: in each namespace, the SecretSync can do what the namespace's AccessGrants and tokens allow. Users who may create ClusterSecretSyncs decide which Secrets are written in every namespace.
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
 * Which namespaces get a SecretSync, and what it looks like.
 */
export interface ClusterSecretSyncSpec {
  /**
   * Names of the namespaces; "*" alone stands for all of them. Either this or namespaceSelector. What excludeNamespaces names stays out.
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
   * Namespaces that are never selected, whatever namespaces and namespaceSelector say: names, or beginnings of names with "*" behind them. Default: kube-*. An empty list excludes none.
   *
   * @maxItems 256
   *
   * Items: Name of a namespace, or the beginning of names with "*" behind it.
   */
  excludeNamespaces: string[];
  /**
   * What the SecretSyncs are made of.
   */
  template: {
    /**
     * Labels of the SecretSyncs. Those under keyframe.dev/ are the controller's own.
     */
    labels?: {
      /**
       * A value.
       */
      [k: string]: string;
    };
    /**
     * What to read, how, and which Secret to write.
     */
    spec: SecretSyncSpec;
  };
  /**
   * From how many namespaces the SecretSync may be removed at once because they are selected no more: a number, or a share such as 50%, which counts from three namespaces up. If more would lose it, or if the selection became empty, none is removed until the ClusterSecretSync carries the annotation keyframe.dev/allow-deletion with the digest that the condition Ready reports. Namespaces that were deleted do not count.
   */
  maxRemovedNamespaces: number | string;
  /**
   * While true, no SecretSync is made, changed or removed. Those that exist go on.
   */
  suspend: boolean;
}
/**
 * What was last seen and done. Only the controller writes it.
 */
export interface ClusterSecretSyncStatus {
  /**
   * The generation of the spec that this status reports about.
   */
  observedGeneration?: number;
  /**
   * How many namespaces are selected. Those that are being deleted do not count.
   */
  selected?: number;
  /**
   * In how many of them the SecretSync is as the template says, and ready.
   */
  ready?: number;
  /**
   * In how many of them no SecretSync could be made or put right.
   */
  blocked?: number;
  /**
   * How many of the selected namespaces the controller does not watch. Nothing is done in them.
   */
  unwatched?: number;
  /**
   * Namespaces that are blocked or whose SecretSync is not ready, in the order of their names; at most 100. The SecretSync's own conditions say more.
   *
   * @maxItems 100
   *
   * Items: One namespace.
   */
  failing?: {
    /**
     * Its name.
     */
    namespace: string;
    /**
     * Conflict: it has a SecretSync of this name that is not the ClusterSecretSync's. Refused: the API server does not take the SecretSync. Anything else: the reason of the SecretSync's condition Ready.
     */
    reason: string;
  }[];
  /**
   * A removal that was consented to and is under way. It goes on under that consent while the selection stays the same.
   */
  removal?: {
    /**
     * The digest that was consented to.
     */
    consent: string;
    /**
     * Digest of the selected namespaces at that time.
     */
    selection: string;
  };
  /**
   * The digest of the last removal that was consented to and has ended. It allows no other one.
   */
  usedConsent?: string;
  /**
   * Ready: every selected namespace has its SecretSync, and all of these are ready. Reconciling: the controller is not done, or waits for a change elsewhere. Stalled: it goes on only when the spec changes.
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: Condition[];
}
