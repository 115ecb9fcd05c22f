import type { ObjectMeta } from '../../../../kube/client/objects.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { isTokenSecret } from '../../service-token/resource.ts';
import { allowMergeAnnotation, ownedByAnnotation } from '../../../annotations.ts';
import { isDnsName } from '../../../../domain/kubernetes-names.ts';
import type { MergeObstacle } from '../model.ts';

const serviceAccountToken = 'kubernetes.io/service-account-token';

/** The obstacle to a merge in a Secret's metadata; undefined if there is none. */
export function metadataObstacle(secret: ObjectMeta, sync: SecretSync): MergeObstacle | undefined {
  const owner = secret.annotations?.[ownedByAnnotation];
  if (owner !== undefined) return { kind: 'owned', owner };
  if (isTokenSecret(secret)) return { kind: 'token-secret' };
  const allowed = allowedNames(secret);
  if (!allowed.includes(sync.metadata.name)) return { kind: 'no-consent', allowed };
  return secret.deletionTimestamp === undefined ? undefined : { kind: 'deleting' };
}

/** The obstacle to a merge in a Secret's content; undefined if there is none. */
export function contentObstacle(secret: {
  readonly type?: string;
  readonly immutable?: boolean;
}): MergeObstacle | undefined {
  if (secret.type === serviceAccountToken) return { kind: 'service-account-token' };
  return secret.immutable === true ? { kind: 'immutable' } : undefined;
}

/** The names in the annotation, separated by commas. Blanks around them are ignored. */
function allowedNames({ annotations }: ObjectMeta): readonly string[] {
  const names = (annotations?.[allowMergeAnnotation] ?? '').split(',').map((name) => name.trim());
  // Annotations are untrusted input.
  return names.filter(isDnsName);
}
