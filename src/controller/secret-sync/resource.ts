import { type NamespacedName, objectKey } from '../../kube/objects.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import { reconcileAtAnnotation } from '../resource.ts';
import type { Asked, SyncMemory } from './memory.ts';

/** Label of every Secret that a SecretSync writes: what the metadata watch selects. */
export const targetLabel = 'keyframe.dev/target';
/** Annotation of a target: the name of the SecretSync it belongs to. A uid would strand Secrets in a rebuilt cluster. */
export const ownedByAnnotation = 'keyframe.dev/owned-by';
/** Annotation of a target: which of its labels and annotations came from the SecretSync's spec. */
export const managedMetadataAnnotation = 'keyframe.dev/managed-metadata';

/** Annotation of a foreign Secret: the name of the SecretSync that may make it its own. */
export const allowAdoptionAnnotation = 'keyframe.dev/allow-adoption';
/** Annotation of a foreign Secret: the names, between commas, of the SecretSyncs that may merge keys of theirs into it. */
export const allowMergeAnnotation = 'keyframe.dev/allow-merge';
/** Annotation of a SecretSync: a new value has data that was taken back tried again, once. */
export const retryAnnotation = 'keyframe.dev/retry-rollout';
/** Annotation of a SecretSync: the digest of the keys that may vanish though they are more than spec.maxDeletedKeys. */
export const allowDeletionAnnotation = 'keyframe.dev/allow-deletion';

/** The Secret that a SecretSync writes. */
export function targetOf({ metadata, spec }: SecretSync): NamespacedName {
  return { namespace: metadata.namespace ?? '', name: spec.target.name ?? metadata.name };
}

/** Whether a SecretSync adds its keys to a Secret that belongs to something else. */
export function isMerge({ spec }: SecretSync): boolean {
  return spec.target.creationPolicy === 'Merge';
}

/** What a SecretSync asks for now. */
export function askedBy({ metadata: { uid, generation = 0, annotations = {} } }: SecretSync): Asked {
  const { [allowDeletionAnnotation]: allowDeletion, [reconcileAtAnnotation]: reconcileAt } = annotations;
  return { uid, generation, allowDeletion, reconcileAt, retryRollout: annotations[retryAnnotation] };
}

/** Whether the last reconcile was about the SecretSync's present spec. */
export function isReconciled(sync: SecretSync, { reconciled }: SyncMemory): boolean {
  const { uid, generation } = askedBy(sync);
  return reconciled?.uid === uid && reconciled.generation === generation;
}

/** Whether the SecretSync's annotation asks for a look at everything, and did not at the last reconcile. */
export function isForced(sync: SecretSync, { reconciled }: SyncMemory): boolean {
  return reconciled !== undefined && reconciled.reconcileAt !== askedBy(sync).reconcileAt;
}

export function targetKeyOf(sync: SecretSync): string {
  return objectKey(targetOf(sync));
}
