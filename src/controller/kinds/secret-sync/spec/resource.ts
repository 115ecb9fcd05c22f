import { type NamespacedName, objectKey } from '../../../../kube/client/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';

/** The Secret that a SecretSync writes. */
export function targetOf({ metadata, spec }: SecretSync): NamespacedName {
  return { namespace: metadata.namespace ?? '', name: spec.target.name ?? metadata.name };
}

/** Whether a SecretSync adds its keys to a Secret that belongs to something else. */
export function isMerge({ spec }: SecretSync): boolean {
  return spec.target.creationPolicy === 'Merge';
}

/** The key `namespace/name` of that Secret. */
export function targetKeyOf(sync: SecretSync): string {
  return objectKey(targetOf(sync));
}
