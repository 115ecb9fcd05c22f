import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { pinOf } from '../spec/pin.ts';
import { isMerge, targetOf } from '../spec/resource.ts';
import { secretBytesLimit } from '../data/secret-data.ts';
import { recordAnnotationOf } from './merge-identity.ts';
import { keysFieldOf, sourcesOf } from '../spec/source.ts';
import {
  allowAdoptionAnnotation,
  allowDeletionAnnotation,
  sourceAnnotation,
  sourcesAnnotation,
} from '../../../annotations.ts';
import { isDnsName, shortList } from '../../../names.ts';
import { type TargetSource, type BlockedDeletion } from '../model.ts';

/** Why a target is left as it is: each says what to do, in names. */

/** What Kubernetes allows the names and values of all annotations of a resource to come to (TotalAnnotationSizeLimitB). */
export const annotationBytesLimit = 256 * 1024;

/** The Secret is somebody else's: `owner` is the SecretSync that it says it belongs to. */
export function notOwned(
  sync: SecretSync,
  { owner, isToken }: { readonly owner: string | undefined; readonly isToken: boolean },
): DomainError {
  if (isToken) return ofToken(sync);
  const { name, namespace } = targetOf(sync);
  // Anybody can write anything into an annotation.
  const isName = owner !== undefined && isDnsName(owner);
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
export function tooLarge(sync: SecretSync, bytes: number, isExact: boolean): DomainError {
  const { template, sources } = sync.spec;
  const all = sources === undefined ? 'environment' : 'sources';
  const own = sources === undefined ? "environment's values" : 'values of all sources';
  const whose = template === undefined ? own : `values of the ${all} and spec.template`;
  return new DomainError(
    'target_too_large',
    `The ${whose} come to ${isExact ? '' : 'at least '}${bytes} bytes; a Kubernetes Secret holds ${secretBytesLimit} at most. ` +
      `Secret ${targetOf(sync).name} stays as it was. Exclude keys in ${keysFieldOf(sourcesOf(sync))}.exclude, or move some values to another environment.`,
  );
}

/** The record of where the keys come from is too long, with all else that stands in the Secret's annotations. */
export function recordTooLong(sync: SecretSync, bytes: number): DomainError {
  return new DomainError(
    'target_too_large',
    `The annotations of Secret ${targetOf(sync).name} would come to ${bytes} bytes with the record of which source each key is from; ` +
      `Kubernetes allows ${annotationBytesLimit}. The Secret stays as it was. Exclude keys in ${keysFieldOf(sourcesOf(sync))}.exclude, or divide the sources among several Secrets.`,
  );
}

/** The values are not what the Secret's type demands. */
export function typeUnmet(sync: SecretSync, need: string): DomainError {
  return new DomainError(
    'target_type_unmet',
    `${need} Secret ${targetOf(sync).name} stays as it was. Change the ${sync.spec.sources === undefined ? 'environment' : 'environments'}, ${keysFieldOf(sourcesOf(sync))}, spec.template or spec.target.type.`,
  );
}

/** A source whose environment is another one than that which the Secret holds data of. */
export interface ReplacedSource {
  /** The id of the environment that was, as the record tells it. */
  readonly before: string;
  readonly now: TargetSource;
}

/** Other environments are where synced ones were. */
export function sourceReplaced(sync: SecretSync, replaced: readonly ReplacedSource[]): DomainError {
  const { name, namespace } = targetOf(sync);
  const told = replaced.map(({ before, now }) => {
    const source = now.name === undefined ? '' : `source ${now.name}: `;
    return `${source}Secret ${name} holds data of the environment${idText(before)}, and ${now.path} is another one now (${now.environmentId}), made after the first was purged.`;
  });
  const own = replaced.some(({ now }) => now.name !== undefined) ? sourcesAnnotation : sourceAnnotation;
  const annotation = isMerge(sync) ? recordAnnotationOf(sync) : own;
  return new DomainError(
    'source_replaced',
    `${told.join(' ')} Nothing is written. ` +
      `To take the new one's data, run \`kubectl annotate secret -n ${namespace} ${name} ${annotation}-\`.`,
  );
}

/** Anybody can write anything into an annotation. */
function idText(id: string): string {
  return /^[0-9a-zA-Z-]{1,64}$/.test(id) ? ` ${id}` : '';
}

/** A loss that is not allowed. */
export interface BlockedLoss extends BlockedDeletion {
  /** The name of the source that a key came from, where that has one. */
  readonly originOf: (key: string) => string | undefined;
  /** Names of the keys that the Secret shall have, some of the lost ones from another source than before. */
  readonly given: ReadonlySet<string>;
}

/** The sources lost more keys at once than the spec lets them. */
export function deletionBlocked(sync: SecretSync, blocked: BlockedLoss): DomainError {
  const { metadata } = sync;
  const annotate = `kubectl annotate --overwrite secretsync -n ${metadata.namespace ?? ''} ${metadata.name} ${allowDeletionAnnotation}=${blocked.digest}`;
  return new DomainError(
    'deletion_blocked',
    `${lossText(sync, blocked)}, or allow the loss of just these: run \`${annotate}\`.`,
  );
}

function lossText(sync: SecretSync, { keys, of, originOf, given }: BlockedLoss): string {
  const { name } = targetOf(sync);
  const [only] = sourcesOf(sync);
  const limit = `more than spec.maxDeletedKeys (${sync.spec.maxDeletedKeys}) allows; nothing is written.`;
  if (only?.name !== undefined) {
    const fallback = keys.some((key) => given.has(key))
      ? ' An earlier source has another value for some of them, which would take the place.'
      : '';
    const told = keys.map((key) => (originOf(key) === undefined ? key : `${key} of ${originOf(key)}`));
    return `The sources of Secret ${name} lack ${keys.length} of its ${of} keys at once, ${limit}${fallback} Bring them back (${shortList(told)})`;
  }
  // A pin that was moved is no loss: here its name stands for something else than it did.
  return only !== undefined && pinOf(only) !== undefined
    ? `The state that Secret ${name} is pinned to lacks ${keys.length} of its ${of} keys, ${limit} Name another state (${shortList(keys)} are missing)`
    : `The environment has lost ${keys.length} of the ${of} keys of Secret ${name} at once, ${limit} Bring them back (${shortList(keys)})`;
}

/** The Secret is on its way out. */
export function beingDeleted(sync: SecretSync): DomainError {
  return new DomainError(
    'conflict',
    `Secret ${targetOf(sync).name} is being deleted and waits for its finalizers; it is made anew when it is gone.`,
  );
}
