import { type NamespacedName, objectKey } from '../../../../kube/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { allowDeletionAnnotation, reconcileAtAnnotation, retryAnnotation } from '../../../annotations.ts';
import type { Asked } from '../model.ts';

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

/** What the last reconcile was about. */
interface Reconciled {
  readonly reconciled: Asked | undefined;
}

/** Whether the last reconcile was about the SecretSync's present spec. */
export function isReconciled(sync: SecretSync, { reconciled }: Reconciled): boolean {
  const { uid, generation } = askedBy(sync);
  return reconciled?.uid === uid && reconciled.generation === generation;
}

/** Whether the SecretSync's annotation asks for a look at everything, and did not at the last reconcile. */
export function isForced(sync: SecretSync, { reconciled }: Reconciled): boolean {
  return reconciled !== undefined && reconciled.reconcileAt !== askedBy(sync).reconcileAt;
}

export function targetKeyOf(sync: SecretSync): string {
  return objectKey(targetOf(sync));
}
