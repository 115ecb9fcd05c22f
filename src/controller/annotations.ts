/** Every annotation, label and finalizer that Keyframe reads or writes. They are part of the public interface. */

/** On any Keyframe resource: any new value requests a reconcile. */
export const reconcileAtAnnotation = 'keyframe.dev/reconcile-at';
/** On a deleted resource: with the value "true", it is released even if its cleanup fails. */
export const forceFinalizeAnnotation = 'keyframe.dev/force-finalize';
/** Keyframe's only finalizer, on resources that need a cleanup. */
export const finalizer = 'keyframe.dev/cleanup';

/**
 * On a SecretSync: the digest of the keys that may be deleted although they exceed spec.maxDeletedKeys. On a
 * ClusterSecretSync: the digest of the namespaces that may lose their SecretSync although they exceed
 * spec.maxRemovedNamespaces.
 */
export const allowDeletionAnnotation = 'keyframe.dev/allow-deletion';
/** On a SecretSync: a new value makes it try data again, once, that a guarded rollout has rolled back. */
export const retryAnnotation = 'keyframe.dev/retry-rollout';

/** Label of a SecretSync that a ClusterSecretSync created: the name of that ClusterSecretSync. */
export const clusterSyncLabel = 'keyframe.dev/cluster-sync';

/** Label of every Secret that a SecretSync writes. The watch of these Secrets' metadata selects by it. */
export const targetLabel = 'keyframe.dev/target';
/** On a target: the name of its SecretSync. A uid would be wrong after a cluster is rebuilt. */
export const ownedByAnnotation = 'keyframe.dev/owned-by';
/**
 * On a target: which of its labels and annotations come from the SecretSync's spec. On a SecretSync that a ClusterSecretSync
 * created: which of its labels come from the template.
 */
export const managedMetadataAnnotation = 'keyframe.dev/managed-metadata';
/** On an unmanaged Secret: the name of the SecretSync that may adopt it. */
export const allowAdoptionAnnotation = 'keyframe.dev/allow-adoption';
/** On an unmanaged Secret: the names of the SecretSyncs that may merge keys into it, separated by commas. */
export const allowMergeAnnotation = 'keyframe.dev/allow-merge';

/**
 * On a target: the environment of its data, as `organization/project/name@uuid`. If the source is pinned, `#revision/7` or
 * `#snapshot/good` follows. It is one text, so that its parts cannot be separated.
 */
export const sourceAnnotation = 'keyframe.dev/source';
/** On a target with data of spec.sources: the same for each source, as JSON by the source's name. */
export const sourcesAnnotation = 'keyframe.dev/sources';
/**
 * On a target with data of two or more sources: the names of the keys of each source, as JSON by the source's name. The
 * source with the most keys is omitted, so that the text stays short.
 */
export const originsAnnotation = 'keyframe.dev/origins';
/** On a target: the keys that the spec renames, as JSON `{name in the Secret: key of the environment}`. */
export const renamedAnnotation = 'keyframe.dev/renamed';
/** On a target: the keys that `spec.template` adds, as a JSON list. */
export const composedAnnotation = 'keyframe.dev/composed';
/** On a target that a guarded rollout has rolled back: the old and the new data, as JSON (see `RolledBack`). */
export const rolledBackAnnotation = 'keyframe.dev/rolled-back';

/** All annotations that record the origin of a target's data. */
export const recordAnnotations = [
  sourceAnnotation,
  sourcesAnnotation,
  originsAnnotation,
  renamedAnnotation,
  composedAnnotation,
  rolledBackAnnotation,
] as const;

/** Prefix of the annotation that records what a SecretSync has merged into a Secret. */
export const mergePrefix = 'merge.keyframe.dev/';
/** Prefix of the annotations that record which SecretSyncs a pod template was restarted for. */
export const restartPrefix = 'rollout.keyframe.dev/';
/** Prefix of Keyframe's annotations on a target. */
export const ownPrefix = 'keyframe.dev/';

/** Label of every Secret that a ServiceToken writes. The watch of these Secrets' metadata selects by it. */
export const tokenLabel = 'keyframe.dev/token';
/** On a token Secret: the name of its ServiceToken. */
export const ownedByTokenAnnotation = 'keyframe.dev/owned-by-token';

/** Label of a SecretSnapshot: the name of its schedule, for selectors of users. It proves nothing, because any user can set it. */
export const scheduleLabel = 'keyframe.dev/schedule';
/** On a SecretSnapshot: a keyed digest of cluster, schedule and name. Only the controller can create it. */
export const scheduleProofAnnotation = 'keyframe.dev/schedule-proof';
