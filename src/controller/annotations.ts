/** Every annotation, label and finalizer that Keyframe reads or writes on Kubernetes objects. They are part of its interface. */

/** Of any Keyframe resource: a new value requests a reconcile now, whatever the value says. */
export const reconcileAtAnnotation = 'keyframe.dev/reconcile-at';
/** Of a deleted resource: with the value "true", it goes although what it owns could not be undone. */
export const forceFinalizeAnnotation = 'keyframe.dev/force-finalize';
/** The only finalizer, on resources that own what must go with them. */
export const finalizer = 'keyframe.dev/cleanup';

/**
 * Of a SecretSync: the digest of the keys that may vanish although they are more than spec.maxDeletedKeys. Of a
 * ClusterSecretSync: that of the namespaces that may lose their SecretSync although they are more than
 * spec.maxRemovedNamespaces.
 */
export const allowDeletionAnnotation = 'keyframe.dev/allow-deletion';
/** Of a SecretSync: a new value makes it try data again, once, that a guarded rollout has taken back. */
export const retryAnnotation = 'keyframe.dev/retry-rollout';

/** Label of a SecretSync that a ClusterSecretSync made: the name of that ClusterSecretSync. */
export const clusterSyncLabel = 'keyframe.dev/cluster-sync';

/** Label of every Secret that a SecretSync writes. The watch of these Secrets' metadata selects by it. */
export const targetLabel = 'keyframe.dev/target';
/** Of a target: the name of the SecretSync that it belongs to. A uid would strand Secrets in a rebuilt cluster. */
export const ownedByAnnotation = 'keyframe.dev/owned-by';
/**
 * Of a target: which of its labels and annotations come from the SecretSync's spec. Of a SecretSync that a ClusterSecretSync
 * made: which of its labels come from the template.
 */
export const managedMetadataAnnotation = 'keyframe.dev/managed-metadata';
/** Of an unmanaged Secret: the name of the SecretSync that may take it over. */
export const allowAdoptionAnnotation = 'keyframe.dev/allow-adoption';
/** Of an unmanaged Secret: the names of the SecretSyncs that may merge keys into it, separated by commas. */
export const allowMergeAnnotation = 'keyframe.dev/allow-merge';

/**
 * Of a target: the environment that its data comes from, as `organization/project/name@uuid`. If the source is pinned,
 * `#revision/7` or `#snapshot/good` follows. It is one text, so that no part is lost without the others.
 */
export const sourceAnnotation = 'keyframe.dev/source';
/** Of a target with data of spec.sources: JSON of the same for each source, by its name. */
export const sourcesAnnotation = 'keyframe.dev/sources';
/**
 * Of a target with data of two or more sources: JSON of the names of the keys that each source gave, by the source's name.
 * The source that gave most keys is left out, so that the text stays short.
 */
export const originsAnnotation = 'keyframe.dev/origins';
/** Of a target: the keys that the spec renames, as JSON `{name in the Secret: key of the environment}`. */
export const renamedAnnotation = 'keyframe.dev/renamed';
/** Of a target: the keys that `spec.template` adds, as a JSON list. */
export const composedAnnotation = 'keyframe.dev/composed';
/** Of a target that a guarded rollout has taken back: from what and to what, as JSON (see `RolledBack`). */
export const rolledBackAnnotation = 'keyframe.dev/rolled-back';

/** All annotations that record where a target's data comes from. */
export const recordAnnotations = [
  sourceAnnotation,
  sourcesAnnotation,
  originsAnnotation,
  renamedAnnotation,
  composedAnnotation,
  rolledBackAnnotation,
] as const;

/** Begins the name of the one annotation by which a Secret records what a SecretSync has merged into it. */
export const mergePrefix = 'merge.keyframe.dev/';
/** Begins the name of each annotation by which a pod template records the SecretSync that it was restarted for. */
export const restartPrefix = 'rollout.keyframe.dev/';
/** Begins the names of Keyframe's own annotations of a target. */
export const ownPrefix = 'keyframe.dev/';

/** Label of every Secret that a ServiceToken writes. The watch of these Secrets' metadata selects by it. */
export const tokenLabel = 'keyframe.dev/token';
/** Of a token Secret: the name of the ServiceToken that it belongs to. */
export const ownedByTokenAnnotation = 'keyframe.dev/owned-by-token';

/** Label of a SecretSnapshot: the name of its schedule, for users to select by. It proves nothing, because any user can set it. */
export const scheduleLabel = 'keyframe.dev/schedule';
/** Of a SecretSnapshot: a keyed digest of cluster, schedule and name, which only the controller can make. */
export const scheduleProofAnnotation = 'keyframe.dev/schedule-proof';
