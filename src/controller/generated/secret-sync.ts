// Made from crds/keyframe.dev_secretsyncs.yaml by `npm run generate`: never edited by hand.
// What has a default there is always present here: the API server fills it in.

import type { ObjectMeta } from '../../kube/client/objects.ts';
import type { Condition } from './condition.ts';

/**
 * SecretSync keeps one native Secret in its namespace in sync with one or several environments of Keyframe. It reads each environment with the service token that it names. If it names none, it uses the keyless service token of its namespace, within the namespace's AccessGrants.
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
 * What to read, how to read it, and which Secret to write.
 */
export interface SecretSyncSpec {
  /**
   * The environment whose secrets become the Secret's data. Required without sources, and not allowed with it.
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
   * Several environments for one Secret, each read with its own token. If two sources have a key of the same name, the later source takes precedence. Put shared sources first and special ones last. While one source cannot be read, the whole Secret stays unchanged. Required without environmentRef, and not allowed with it.
   *
   * @minItems 1
   * @maxItems 8
   *
   * Items: An environment, and how it is read.
   */
  sources?: {
    /**
     * The name of the source in messages, in the status and in the audit log.
     */
    name: string;
    /**
     * The environment that this source reads.
     */
    environmentRef: {
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
     * The ServiceToken in this namespace that is used to read. Not allowed with tokenSecretRef. Default: the namespace's keyless service token for the environment, which requires an AccessGrant with the kind SecretSync or ServiceToken.
     */
    tokenRef?: {
      /**
       * The name of the ServiceToken.
       */
      name: string;
    };
    /**
     * The Secret in this namespace that holds a service token (kf_svc_…) with permission to read the environment. When the Secret changes, the new token is used immediately. Not allowed with tokenRef. Default: none, see tokenRef.
     */
    tokenSecretRef?: {
      /**
       * The name of the Secret.
       */
      name: string;
      /**
       * The key of the Secret's data that holds the token. Default: token.
       */
      key?: string;
    };
    /**
     * Pins the source to a snapshot of the environment. The source then provides that state, even if the environment changes. Another name moves it to the state of that snapshot, forwards or backwards. Not allowed with revision. Default: the source follows the environment.
     */
    snapshotRef?: {
      /**
       * The name of a SecretSnapshot in this namespace.
       */
      name: string;
    };
    /**
     * Pins the source to a revision of the environment. The source then provides that state, even if the environment changes. Another number moves it to that state, forwards or backwards. Not allowed with snapshotRef. Default: the source follows the environment.
     */
    revision?: number;
    /**
     * Which keys of the environment the source provides, and under which names. Globs: "*" matches any characters, "?" matches one character. All rules use the names of the keys in the environment. Default: all keys, unchanged.
     */
    keys?: {
      /**
       * Globs of the keys that the source provides. An empty list includes none. Default: all keys.
       *
       * @maxItems 256
       *
       * Items: A key, or a glob.
       */
      include?: string[];
      /**
       * Globs of the keys that the source does not provide, even if they are included. Default: none.
       *
       * @maxItems 256
       *
       * Items: A key, or a glob.
       */
      exclude?: string[];
      /**
       * New names for single keys. If two keys get the same name, this is an error, and nothing is written. Default: none.
       *
       * @maxItems 128
       *
       * Items: A key and its name in the Secret.
       */
      rename?: {
        /**
         * The name of the key in the environment. If there is no such key, the rule has no effect.
         */
        from: string;
        /**
         * The name of the key in the Secret.
         */
        to: string;
      }[];
      /**
       * New names for all keys that rename does not name. If two keys get the same name, or a key gets a name that no Secret can have, this is an error, and nothing is written. Default: they keep their names.
       */
      rewrite?: {
        /**
         * Removed from the keys that begin with it. Other keys keep their name. Default: none.
         */
        stripPrefix?: string;
        /**
         * Put before the names of all these keys, after stripPrefix is removed. Default: none.
         */
        addPrefix?: string;
      };
      /**
       * Globs of the keys that spec.template can use, and that are not written into the Secret. The value of a hidden key that no template uses is not read. Default: none.
       *
       * @maxItems 256
       *
       * Items: A key, or a glob.
       */
      hidden?: string[];
      /**
       * Globs of the keys whose values are base64. The Secret holds the decoded bytes, so that an environment can keep binary data. A value that is not base64 is an error, and nothing is written. Default: none.
       *
       * @maxItems 256
       *
       * Items: A key, or a glob.
       */
      decodeBase64?: string[];
    };
  }[];
  /**
   * Pins the Secret to a snapshot of the environment. The Secret then holds that state, even if the environment changes. Another name moves it to the state of that snapshot, forwards or backwards. Not allowed with revision. Default: the Secret follows the environment.
   */
  snapshotRef?: {
    /**
     * The name of a SecretSnapshot in this namespace.
     */
    name: string;
  };
  /**
   * Pins the Secret to a revision of the environment. The Secret then holds that state, even if the environment changes. Another number moves it to that state, forwards or backwards. Not allowed with snapshotRef. Default: the Secret follows the environment.
   */
  revision?: number;
  /**
   * The ServiceToken in this namespace that is used to read. Not allowed with tokenSecretRef. Default: the namespace's keyless service token for the environment, which requires an AccessGrant with the kind SecretSync or ServiceToken.
   */
  tokenRef?: {
    /**
     * The name of the ServiceToken.
     */
    name: string;
  };
  /**
   * The Secret in this namespace that holds a service token (kf_svc_…) with permission to read the environment. When the Secret changes, the new token is used immediately. Not allowed with tokenRef. Default: none, see tokenRef.
   */
  tokenSecretRef?: {
    /**
     * The name of the Secret.
     */
    name: string;
    /**
     * The key of the Secret's data that holds the token. Default: token.
     */
    key?: string;
  };
  /**
   * Which keys of the environment the Secret gets, and under which names. Globs: "*" matches any characters, "?" matches one character. All rules use the names of the keys in the environment. Default: all keys, unchanged.
   */
  keys?: {
    /**
     * Globs of the keys that the Secret gets. An empty list includes none. Default: all keys.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    include?: string[];
    /**
     * Globs of the keys that the Secret does not get, even if they are included. Default: none.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    exclude?: string[];
    /**
     * New names for single keys. If two keys get the same name, this is an error, and nothing is written. Default: none.
     *
     * @maxItems 128
     *
     * Items: A key and its name in the Secret.
     */
    rename?: {
      /**
       * The name of the key in the environment. If there is no such key, the rule has no effect.
       */
      from: string;
      /**
       * The name of the key in the Secret.
       */
      to: string;
    }[];
    /**
     * New names for all keys that rename does not name. If two keys get the same name, or a key gets a name that no Secret can have, this is an error, and nothing is written. Default: they keep their names.
     */
    rewrite?: {
      /**
       * Removed from the keys that begin with it. Other keys keep their name. Default: none.
       */
      stripPrefix?: string;
      /**
       * Put before the names of all these keys, after stripPrefix is removed. Default: none.
       */
      addPrefix?: string;
    };
    /**
     * Globs of the keys that spec.template can use, and that are not written into the Secret. The value of a hidden key that no template uses is not read. Default: none.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    hidden?: string[];
    /**
     * Globs of the keys whose values are base64. The Secret holds the decoded bytes, so that an environment can keep binary data. A value that is not base64 is an error, and nothing is written. Default: none.
     *
     * @maxItems 256
     *
     * Items: A key, or a glob.
     */
    decodeBase64?: string[];
  };
  /**
   * Values that are composed from the values of the environment, or of all sources together, and added to them. Default: none.
   */
  template?: {
    /**
     * Keys that are added to the Secret, each with its text. In a text, "$(KEY)" is replaced by the value of a key, by its name in the Secret, and "$$(" by "$(". A function follows the key: "$(KEY | base64)" encodes the value, "$(KEY | json)" makes a JSON string with quotes, "$(KEY | json "field")" takes a field of a value that is a JSON object, "$(KEY | quote)" makes a shell word in single quotes, "$(KEY | trim)" removes white space at both ends, "$(KEY | urlencode)" percent-encodes everything except letters, digits, "-", ".", "_" and "~", and "$(KEY | default "text")" uses the text if the key or the field is missing. Without a default, a missing key or field is an error. A text cannot refer to keys that are added here.
     */
    data: {
      /**
       * Text with references such as "$(KEY)".
       */
      [k: string]: string;
    };
  };
  /**
   * The Secret to write, in this namespace. Default: an Opaque Secret with the name of the SecretSync.
   */
  target: {
    /**
     * The name of the Secret. Immutable. Default: the name of the SecretSync.
     */
    name?: string;
    /**
     * The type of the Secret. Kubernetes requires certain keys for kubernetes.io/basic-auth, dockercfg, dockerconfigjson, ssh-auth and tls, and none for other types. When the type changes, the Secret is deleted and created again, because Kubernetes makes the type of a Secret immutable. Default: Opaque.
     */
    type: string;
    /**
     * Labels for the Secret, in addition to labels from other sources. A label that is removed here is removed from the Secret. The prefixes keyframe.dev, kubernetes.io and k8s.io and their subdomains are reserved. Default: none.
     */
    labels?: {
      /**
       * The value of the label.
       */
      [k: string]: string;
    };
    /**
     * Annotations for the Secret, in addition to annotations from other sources. An annotation that is removed here is removed from the Secret. The prefixes keyframe.dev, kubernetes.io and k8s.io and their subdomains are reserved. Default: none.
     */
    annotations?: {
      /**
       * The value of the annotation.
       */
      [k: string]: string;
    };
    /**
     * Create: the Secret belongs to this SecretSync. It is created if it does not exist, and an existing Secret that belongs to something else stays unchanged. Merge: the Secret belongs to something else and allows the merge with the annotation keyframe.dev/allow-merge: <name of this SecretSync> (several names are separated by commas). The keys are added to the Secret, and a key of another owner is never overwritten. Immutable. Default: Create.
     */
    creationPolicy: 'Create' | 'Merge';
    /**
     * What happens to the Secret when this SecretSync is deleted. Retain: it stays. Delete: the cluster's garbage collector deletes it. Default: Retain.
     */
    deletionPolicy: 'Retain' | 'Delete';
  };
  /**
   * How many of the Secret's keys the environment may lose at once: a number, or a percentage such as 50%, which applies if the Secret has three keys or more. If more keys would be lost, nothing is written until the SecretSync has the annotation keyframe.dev/allow-deletion with the digest from the message of the condition Ready. Keys that the spec removes do not count. Default: 50%.
   */
  maxDeletedKeys: number | string;
  /**
   * Workloads that read the Secret only when their pods start. Each of them is restarted when the Secret's data has changed. The controller must allow restarts (KEYFRAME_ROLLOUTS). Default: none.
   */
  rollout?: {
    /**
     * The workloads, in this namespace.
     *
     * @minItems 1
     * @maxItems 16
     *
     * Items: A workload.
     */
    targets: {
      /**
       * The kind of the workload (apps/v1).
       */
      kind: 'Deployment' | 'StatefulSet' | 'DaemonSet';
      /**
       * The name of the workload.
       */
      name: string;
    }[];
    /**
     * How long a restart may take before the condition Converged reports that it is stuck, such as 10m. A change during a restart waits until the restart is complete, or this long. Default: 10m.
     */
    timeout: string;
    /**
     * What happens to a change if the pods of a workload fail with it. Hold: the Secret keeps it, and no further change restarts the other workloads until the workload that failed has converged with it. Rollback: the Secret also returns to the data with which all workloads last converged, until the environment has other data for it. Default: Hold.
     */
    onFailure: 'Hold' | 'Rollback';
  };
  /**
   * While true, nothing is read, and the Secret stays unchanged. Default: false.
   */
  suspend: boolean;
}
/**
 * The observed state. Only the controller writes it, and it is never used to authorize anything.
 */
export interface SecretSyncStatus {
  /**
   * The generation of the spec that the status is for.
   */
  observedGeneration?: number;
  /**
   * The name of the Secret that is written, whether it exists or not.
   */
  secretName?: string;
  /**
   * The environment as organization/project/name, or the number of sources.
   */
  source?: string;
  /**
   * The UUID of the environment.
   */
  environmentId?: string;
  /**
   * The number of the environment's newest revision when it was last read, or of the pinned revision.
   */
  wantedRevision?: number;
  /**
   * The id of that revision. Compare this id, not the number.
   */
  wantedRevisionId?: string;
  /**
   * The number of the revision that the Secret holds.
   */
  syncedRevision?: number;
  /**
   * The id of that revision. Compare this id, not the number.
   */
  syncedRevisionId?: string;
  /**
   * The sources of spec.sources when they were last read. It replaces environmentId and the revisions above.
   *
   * @maxItems 8
   *
   * Items: A source.
   */
  sources?: {
    /**
     * The name of the source.
     */
    name: string;
    /**
     * The UUID of the environment.
     */
    environmentId?: string;
    /**
     * The number of the environment's newest revision when it was last read, or of the revision that the source is pinned to.
     */
    wantedRevision?: number;
    /**
     * The id of that revision. Compare this id, not the number.
     */
    wantedRevisionId?: string;
    /**
     * The number of the revision of the source's keys in the Secret.
     */
    syncedRevision?: number;
    /**
     * The id of that revision. Compare this id, not the number.
     */
    syncedRevisionId?: string;
  }[];
  /**
   * How many keys the Secret holds. With creationPolicy Merge, only those of this SecretSync.
   */
  secretCount?: number;
  /**
   * The Secret when it was last written or verified.
   */
  target?: {
    /**
     * The name of the Secret.
     */
    name: string;
    /**
     * The uid of the Secret.
     */
    uid: string;
    /**
     * The resource version of the Secret.
     */
    resourceVersion: string;
  };
  /**
   * When the Secret was last written or, after a change, verified again.
   */
  lastSyncTime?: string;
  /**
   * The workloads of spec.rollout.targets when they were last observed.
   *
   * @maxItems 16
   *
   * Items: A workload.
   */
  workloads?: {
    /**
     * The kind of the workload.
     */
    kind: string;
    /**
     * The name of the workload.
     */
    name: string;
    /**
     * The newest revision with the data that the pod template was last restarted for.
     */
    revision?: number;
    /**
     * How many pods the workload has.
     */
    replicas?: number;
    /**
     * How many of these pods run the current pod template and are available.
     */
    updatedReplicas?: number;
  }[];
  /**
   * The data with which all workloads of spec.rollout.targets last converged, as fingerprints that reveal no values.
   */
  converged?: {
    /**
     * The keyed fingerprint of the data, as in the annotation of the pod templates.
     */
    data: string;
    /**
     * The newest revisions with that data.
     *
     * @maxItems 16
     *
     * Items: A source.
     */
    sources: {
      /**
       * The name of the source, if it has one.
       */
      name?: string;
      /**
       * The number of the revision.
       */
      revision: number;
      /**
       * The id of that revision.
       */
      revisionId: string;
    }[];
    /**
     * The pod templates at that time.
     *
     * @maxItems 16
     *
     * Items: A workload.
     */
    targets?: {
      /**
       * The kind of the workload.
       */
      kind: string;
      /**
       * The name of the workload.
       */
      name: string;
      /**
       * The keyed fingerprint of the pod template without the annotations of restarts.
       */
      template: string;
    }[];
  };
  /**
   * The data that spec.rollout.onFailure replaced in the Secret, and the data that replaced it.
   */
  rolledBack?: {
    /**
     * The keyed fingerprint of the data that failed.
     */
    data: string;
    /**
     * The revisions with that data.
     *
     * @maxItems 16
     *
     * Items: A source.
     */
    sources: {
      /**
       * The name of the source, if it has one.
       */
      name?: string;
      /**
       * The number of the revision.
       */
      revision: number;
      /**
       * The id of that revision.
       */
      revisionId: string;
    }[];
    /**
     * The data that the Secret holds instead.
     */
    held: {
      /**
       * The keyed fingerprint of the data.
       */
      data: string;
      /**
       * The revisions with that data.
       *
       * @maxItems 16
       *
       * Items: A source.
       */
      sources: {
        /**
         * The name of the source, if it has one.
         */
        name?: string;
        /**
         * The number of the revision.
         */
        revision: number;
        /**
         * The id of that revision.
         */
        revisionId: string;
      }[];
    };
    /**
     * Which workload failed, and why.
     */
    cause?: string;
    /**
     * The digest of the annotation keyframe.dev/retry-rollout at that time.
     */
    retry?: string;
  };
  /**
   * Ready: the Secret holds the environment's newest revision, or the pinned one. Reconciling: the resource may become ready without help. Stalled: a user must act, and the message says how. Converged: all pods of the workloads in spec.rollout run with that data. RolledBack: the Secret holds earlier data again, with which the workloads converged.
   *
   * @maxItems 16
   *
   * Items: A condition.
   */
  conditions?: Condition[];
}
