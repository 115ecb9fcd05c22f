import { DomainError } from '../../domain/domain-error.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import type { BlockedDeletion } from './deletion-breaker.ts';
import { pinOf } from './pin.ts';
import { allowAdoptionAnnotation, allowDeletionAnnotation, environmentPath, isMerge, targetOf } from './resource.ts';
import { secretBytesLimit } from './secret-data.ts';
import { recordAnnotationOf } from './merge-identity.ts';
import { shortList } from './short-list.ts';
import { sourceAnnotation } from './target-record.ts';

/** Why a target is left as it is: each says what to do, in names. */

/** The Secret is somebody else's: `owner` is the SecretSync that it says it belongs to. */
export function notOwned(
  sync: SecretSync,
  { owner, isToken }: { readonly owner: string | undefined; readonly isToken: boolean },
): DomainError {
  if (isToken) return ofToken(sync);
  const { name, namespace } = targetOf(sync);
  // Anybody can write anything into an annotation.
  const isName = owner !== undefined && owner.length <= 253 && /^[a-z0-9.-]+$/.test(owner);
  const whose = isName ? `belongs to the SecretSync ${owner}` : 'was not made by this SecretSync';
  return new DomainError(
    'target_not_owned',
    `Secret ${name} exists and ${whose}; it is left untouched. Delete it, or make a SecretSync with another spec.target.name. ` +
      'To hand it over, with all its data replaced, run ' +
      `\`kubectl annotate --overwrite secret -n ${namespace} ${name} ${allowAdoptionAnnotation}=${sync.metadata.name}\`.`,
  );
}

/** The Secret is a ServiceToken's own, which nobody can hand over. */
function ofToken(sync: SecretSync): DomainError {
  const { name } = targetOf(sync);
  return new DomainError(
    'target_not_owned',
    `Secret ${name} exists and is a ServiceToken's own, and a token stands alone; it is left untouched. ` +
      'Make a SecretSync with another spec.target.name.',
  );
}

/** The values are too many for any Secret. */
export function tooLarge(sync: SecretSync, bytes: number): DomainError {
  const whose =
    sync.spec.template === undefined ? "environment's values" : 'values of the environment and spec.template';
  return new DomainError(
    'target_too_large',
    `The ${whose} come to ${bytes} bytes; a Kubernetes Secret holds ${secretBytesLimit} at most. ` +
      `Secret ${targetOf(sync).name} stays as it was. Exclude keys in spec.keys.exclude, or move some values to another environment.`,
  );
}

/** The values are not what the Secret's type demands. */
export function typeUnmet(sync: SecretSync, need: string): DomainError {
  return new DomainError(
    'target_type_unmet',
    `${need} Secret ${targetOf(sync).name} stays as it was. Change the environment, spec.keys, spec.template or spec.target.type.`,
  );
}

/** Another environment is where the synced one was. */
export function sourceReplaced(sync: SecretSync, before: string, now: string): DomainError {
  const { name, namespace } = targetOf(sync);
  const annotation = isMerge(sync) ? recordAnnotationOf(sync) : sourceAnnotation;
  // Anybody can write anything into an annotation.
  const whose = /^[0-9a-zA-Z-]{1,64}$/.test(before) ? ` ${before}` : '';
  return new DomainError(
    'source_replaced',
    `Secret ${name} holds data of the environment${whose}, and ${environmentPath(sync)} is another one now (${now}), made after the first was purged. ` +
      `Nothing is written. To take the new one's data, run \`kubectl annotate secret -n ${namespace} ${name} ${annotation}-\`.`,
  );
}

/** The environment lost more keys at once than the spec lets it. */
export function deletionBlocked(sync: SecretSync, { keys, of, digest }: BlockedDeletion): DomainError {
  const { metadata, spec } = sync;
  const { name } = targetOf(sync);
  const limit = `more than spec.maxDeletedKeys (${spec.maxDeletedKeys}) allows; nothing is written.`;
  // A pin that was moved is no loss: here its name stands for something else than it did.
  const loss =
    pinOf(sync) !== undefined
      ? `The state that Secret ${name} is pinned to lacks ${keys.length} of its ${of} keys, ${limit} Name another state (${shortList(keys)} are missing)`
      : `The environment has lost ${keys.length} of the ${of} keys of Secret ${name} at once, ${limit} Bring them back (${shortList(keys)})`;
  const annotate = `kubectl annotate --overwrite secretsync -n ${metadata.namespace ?? ''} ${metadata.name} ${allowDeletionAnnotation}=${digest}`;
  return new DomainError('deletion_blocked', `${loss}, or allow the loss of just these: run \`${annotate}\`.`);
}

/** The Secret is on its way out. */
export function beingDeleted(sync: SecretSync): DomainError {
  return new DomainError(
    'conflict',
    `Secret ${targetOf(sync).name} is being deleted and waits for its finalizers; it is made anew when it is gone.`,
  );
}
