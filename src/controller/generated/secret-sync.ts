// Made from crds/keyframe.dev_secretsyncs.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SecretSync keeps one native Secret in its own namespace in step with one environment of Keyframe, or with several. It reads each with the service token that it names for it. If it names none, it reads with the keyless service token of its namespace, within the namespace's AccessGrants.
 */
export interface SecretSync {
  /**
   * The version of this resource's schema.
   */
  apiVersion: 'keyframe.dev/v1alpha1';
  /**
   * SecretSync.
   */
  kind: 'SecretSync';
  metadata: ObjectMeta;
  spec: SecretSyncSpec;
  status?: SecretSyncStatus;
}
/**
 * What to read, how, and which Secret to write.
 */
export interface SecretSyncSpec {
  /**
   * The environment whose secrets become the Secret's data. For those of several, set sources instead.
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
   * Several environments in one Secret, each read with a token of its own, instead of environmentRef. The order is that of precedence: where two give a key of one name, the later one wins, so what is shared comes first and what is special last. While one of them cannot be read, the whole Secret stays as it is.
   *
   * @minItems 1
   * @maxItems 8
   *
   * Items: One environment, and how it is read.
   */
  sources?: {
    /**
     * What the source is called in messages, in the status and in the audit.
     */
    name: string;
    /**
     * The environment whose secrets this source gives.
     */
    environmentRef: {
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
     * The ServiceToken in this namespace to read with. With neither this nor tokenSecretRef, the source is read with the keyless service token that the namespace has for this environment. This needs an AccessGrant with the kind SecretSync or ServiceToken.
     */
    tokenRef?: {
      /**
       * Name of the ServiceToken.
       */
      name: string;
    };
    /**
     * The Secret in this namespace that holds a service token (kf_svc_…) which may read the environment. When it changes, the new token is used at once.
     */
    tokenSecretRef?: {
      /**
       * Name of the Secret.
       */
      name: string;
      /**
       * Key of the Secret's data whose value is the token.
       */
      key: string;
    };
    /**
     * Pins the source to a snapshot of the environment: it gives just that state, whatever becomes of the environment. Another name here moves it to that one's state, forwards or backwards.
     */
    snapshotRef?: {
      /**
       * Name of a SecretSnapshot in this namespace.
       */
      name: string;
    };
    /**
     * Pins the source to a revision of the environment: it gives just that state, whatever becomes of the environment. Another number here moves it to that state, forwards or backwards.
     */
    revision?: number;
    /**
     * Which of the environment's keys the source gives, under which names. All of them, unchanged, when it is absent. Globs: "*" is any run of characters, "?" is one. Every rule speaks of the keys as the environment has them.
     */
    keys?: {
      /**
       * Globs of the keys that the source gives; all when it is absent, none when it is empty.
       *
       * @maxItems 256
       *
       * Items: A key, or a glob.
       */
      include?: string[];
      /**
       * Globs of the keys that the source does not give, even where they are included.
       *
       * @maxItems 256
       *
       * Items: A key, or a glob.
       */
      exclude?: string[];
      /**
       * Other names for single keys. Two keys that would end at one name are an error, and nothing is written.
       *
       * @maxItems 128
       *
       * Items: One key and its name in the Secret.
       */
      rename?: {
        /**
         * The key as the environment has it; where there is none, this does nothing.
         */
        from: string;
        /**
         * The key that the Secret has instead.
         */
        to: string;
      }[];
      /**
       * Globs of the keys whose values are base64 of what the Secret shall hold, as binary data is kept. A value that is not base64 is an error, and nothing is written.
       *
       * @maxItems 256
       *
       * Items: A key, or a glob.
       */
      decodeBase64?: string[];
    };
  }[];
  /**
   * Pins the Secret to a snapshot of the environment: it holds just that state, whatever becomes of the environment. Another name here moves the Secret to that one's state, forwards or backwards.
   */
  snapshotRef?: {
    /**
     * Name of a SecretSnapshot in this namespace.
     */
    name: string;
  };
  /**
   * Pins the Secret to a revision of the environment: it holds just that state, whatever becomes of the environment. Another number here moves the Secret to that state, forwards or backwards.
   */
  revision?: number;
  /**
   * The ServiceToken in this namespace to read with. With neither this nor tokenSecretRef, the environment is read with the keyless service token that the namespace has for it. This needs an AccessGrant with the kind SecretSync or ServiceToken.
   */
  tokenRef?: {
    /**
     * Name of the ServiceToken.
     */
    name: string;
  };
  /**
   * The Secret in this namespace that holds a service token (kf_svc_…) which may read the environment. When it changes, the new token is used at once.
   */
  tokenSecretRef?: {
    /**
     * Name of the Secret.
     */
    name: string;
    /**
     * Key of the Secret's data whose value is the token.
     */
    key: string;
  };
  /**
   * Which of the environment's keys the Secret gets, under which names. All of them, unchanged, when it is absent. Globs: "*" is any run of characters, "?" is one. Every rule speaks of the keys as the environment has them.
   */
  keys?: {
    /**
     * Globs of the keys that the Secret gets; all when it is absent, none when it is empty.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    include?: string[];
    /**
     * Globs of the keys that the Secret does not get, even where they are included.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    exclude?: string[];
    /**
     * Other names for single keys. Two keys that would end at one name are an error, and nothing is written.
     *
     * @maxItems 128
     *
     * Items: One key and its name in the Secret.
     */
    rename?: {
      /**
       * The key as the environment has it; where there is none, this does nothing.
       */
      from: string;
      /**
       * The key that the Secret has instead.
       */
      to: string;
    }[];
    /**
     * Globs of the keys whose values are base64 of what the Secret shall hold, as binary data is kept. A value that is not base64 is an error, and nothing is written.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    decodeBase64?: string[];
  };
  /**
   * Values that are composed from those of the environment, or of all sources together, and added to them.
   */
  template?: {
    /**
     * Keys that the Secret gets beside those of the environment, each with its text. In it, "$(KEY)" stands for the value of a key, by the name that it has in the Secret; "$$(" for "$(" itself. Functions stand behind the key: "$(KEY | base64)"; "$(KEY | json)", a string of JSON with its quotes; "$(KEY | quote)", a word of a shell in single quotes; and "$(KEY | default "text")", a text for where the key is missing, which is an error otherwise. A template does not see what another one composes.
     */
    data: {
      /**
       * Text with references such as "$(KEY)".
       */
      [k: string]: string;
    };
  };
  /**
   * The Secret to write, in this namespace.
   */
  target: {
    /**
     * Name of the Secret; the SecretSync's own name when it is absent. It never changes.
     */
    name?: string;
    /**
     * Type of the Secret. Kubernetes demands certain keys for each type but Opaque. When it changes, the Secret is deleted and made anew, because Kubernetes does not let a Secret's type change.
     */
    type:
      | 'Opaque'
      | 'kubernetes.io/basic-auth'
      | 'kubernetes.io/dockercfg'
      | 'kubernetes.io/dockerconfigjson'
      | 'kubernetes.io/ssh-auth'
      | 'kubernetes.io/tls';
    /**
     * Labels for the Secret, beside those that others put there. One that is taken away here is taken off the Secret. The prefixes keyframe.dev, kubernetes.io and k8s.io, and subdomains of them, are reserved.
     */
    labels?: {
      /**
       * Value of the label.
       */
      [k: string]: string;
    };
    /**
     * Annotations for the Secret, beside those that others put there. One that is taken away here is taken off the Secret. The prefixes keyframe.dev, kubernetes.io and k8s.io, and subdomains of them, are reserved.
     */
    annotations?: {
      /**
       * Value of the annotation.
       */
      [k: string]: string;
    };
    /**
     * Create: the Secret is this SecretSync's own. It is made where there is none, and a Secret of that name which belongs to something else is left alone. Merge: the Secret belongs to something else, which allows it with the annotation keyframe.dev/allow-merge: <name of this SecretSync> (several names go between commas); the keys are added to those it has, and a key of somebody else's is never overwritten. It never changes.
     */
    creationPolicy: 'Create' | 'Merge';
    /**
     * What becomes of the Secret when this SecretSync is deleted. Retain: it stays. Delete: the cluster's garbage collector removes it.
     */
    deletionPolicy: 'Retain' | 'Delete';
  };
  /**
   * How many of the Secret's keys the environment may lose at once: a number, or a share such as 50%, which counts where the Secret has three keys or more. When it loses more, nothing is written until the SecretSync carries the annotation keyframe.dev/allow-deletion with the digest that the condition Ready tells. Keys that the spec takes away do not count.
   */
  maxDeletedKeys: number | string;
  /**
   * Workloads that read the Secret only when their pods start: each is restarted when the Secret's data has changed. It needs a controller that is allowed to (KEYFRAME_ROLLOUTS).
   */
  rollout?: {
    /**
     * The workloads, in this namespace.
     *
     * @minItems 1
     * @maxItems 16
     *
     * Items: One workload.
     */
    targets: {
      /**
       * Kind of the workload (apps/v1).
       */
      kind: 'Deployment' | 'StatefulSet' | 'DaemonSet';
      /**
       * Name of the workload.
       */
      name: string;
    }[];
    /**
     * How long a restart may take before the condition Converged says that it is stuck, such as 10m. A change that comes meanwhile waits until the restart is done, or this long.
     */
    timeout: string;
    /**
     * What becomes of a change with which the pods of a workload fail. Hold: the Secret keeps it, and no further change restarts the other workloads before the one that failed has converged with it. Rollback: the Secret also goes back to the data with which all workloads converged last, until the environment has other data for it.
     */
    onFailure: 'Hold' | 'Rollback';
  };
  /**
   * While true, nothing is read and the Secret is left as it is.
   */
  suspend: boolean;
}
/**
 * What was last seen and done. Written by the controller alone; it is told here and never read as authority.
 */
export interface SecretSyncStatus {
  /**
   * The generation of the spec that this status tells about.
   */
  observedGeneration?: number;
  /**
   * UUID of the environment.
   */
  environmentId?: string;
  /**
   * Number of the environment's newest revision when it was last read, or of the one that the Secret is pinned to.
   */
  wantedRevision?: number;
  /**
   * Id of that revision. Compare this, not the number.
   */
  wantedRevisionId?: string;
  /**
   * Number of the revision that the Secret holds.
   */
  syncedRevision?: number;
  /**
   * Id of that revision. Compare this, not the number.
   */
  syncedRevisionId?: string;
  /**
   * The sources of spec.sources, as they were last read, instead of environmentId and the revisions above.
   *
   * @maxItems 8
   *
   * Items: One source.
   */
  sources?: {
    /**
     * Name of the source.
     */
    name: string;
    /**
     * UUID of its environment.
     */
    environmentId?: string;
    /**
     * Number of the environment's newest revision when it was last read, or of the one that the source is pinned to.
     */
    wantedRevision?: number;
    /**
     * Id of that revision. Compare this, not the number.
     */
    wantedRevisionId?: string;
    /**
     * Number of the revision that the Secret holds the source's keys of.
     */
    syncedRevision?: number;
    /**
     * Id of that revision. Compare this, not the number.
     */
    syncedRevisionId?: string;
  }[];
  /**
   * How many keys the Secret holds; of one that is merged into, those of this SecretSync.
   */
  secretCount?: number;
  /**
   * The Secret as it was last written or verified.
   */
  target?: {
    /**
     * Name of the Secret.
     */
    name: string;
    /**
     * UID of the Secret.
     */
    uid: string;
    /**
     * Resource version of the Secret.
     */
    resourceVersion: string;
  };
  /**
   * When the Secret was last written or, after a change, verified anew.
   */
  lastSyncTime?: string;
  /**
   * The workloads of spec.rollout.targets, as they were last seen.
   *
   * @maxItems 16
   *
   * Items: One workload.
   */
  workloads?: {
    /**
     * Kind of the workload.
     */
    kind: string;
    /**
     * Name of the workload.
     */
    name: string;
    /**
     * The newest revision with the data that its pod template was last restarted for.
     */
    revision?: number;
    /**
     * How many pods it has.
     */
    replicas?: number;
    /**
     * How many of them were started from the present pod template and are available.
     */
    updatedReplicas?: number;
  }[];
  /**
   * The data with which all workloads of spec.rollout.targets converged last, by marks that tell nothing of the values.
   */
  converged?: {
    /**
     * Keyed fingerprint of the data, as the annotation of the pod templates has it.
     */
    data: string;
    /**
     * The newest revisions with that data.
     *
     * @maxItems 16
     *
     * Items: One source.
     */
    sources: {
      /**
       * Name of the source, where it has one.
       */
      name?: string;
      /**
       * Number of the revision.
       */
      revision: number;
      /**
       * Id of that revision.
       */
      revisionId: string;
    }[];
    /**
     * The pod templates of then.
     *
     * @maxItems 16
     *
     * Items: One workload.
     */
    targets?: {
      /**
       * Kind of the workload.
       */
      kind: string;
      /**
       * Name of the workload.
       */
      name: string;
      /**
       * Keyed fingerprint of its pod template, the annotations of restarts aside.
       */
      template: string;
    }[];
  };
  /**
   * What the Secret was taken back from, and to, by spec.rollout.onFailure.
   */
  rolledBack?: {
    /**
     * Keyed fingerprint of the data that failed.
     */
    data: string;
    /**
     * The revisions with that data.
     *
     * @maxItems 16
     *
     * Items: One source.
     */
    sources: {
      /**
       * Name of the source, where it has one.
       */
      name?: string;
      /**
       * Number of the revision.
       */
      revision: number;
      /**
       * Id of that revision.
       */
      revisionId: string;
    }[];
    /**
     * What the Secret holds instead.
     */
    held: {
      /**
       * Keyed fingerprint of the data.
       */
      data: string;
      /**
       * The revisions with that data.
       *
       * @maxItems 16
       *
       * Items: One source.
       */
      sources: {
        /**
         * Name of the source, where it has one.
         */
        name?: string;
        /**
         * Number of the revision.
         */
        revision: number;
        /**
         * Id of that revision.
         */
        revisionId: string;
      }[];
    };
    /**
     * Which workload failed, and of what.
     */
    cause?: string;
    /**
     * Digest of the value that the annotation keyframe.dev/retry-rollout had at that time.
     */
    retry?: string;
  };
  /**
   * Ready: the Secret holds the environment's newest revision, or the one that it is pinned to. Reconciling: the controller is not done and goes on by itself. Stalled: it goes on only when this resource is changed. Converged: all pods of the workloads in spec.rollout run with that data. RolledBack: the Secret was taken back to earlier data, with which they converged.
   *
   * @maxItems 16
   *
   * Items: One condition.
   */
  conditions?: Condition[];
}
