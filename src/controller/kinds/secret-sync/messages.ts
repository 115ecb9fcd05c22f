import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ApiError } from '../../../kube/client/api-error.ts';
import { allowDeletionAnnotation, retryAnnotation } from '../../annotations.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { shortList } from '../../names.ts';
import {
  type BlockedDeletion,
  type RolledBack,
  type SourceRevision,
  type TargetSource,
  type WantedFacts,
  maxAnnotationBytes,
  maxSecretBytes,
} from './model.ts';
import { pinOf, pinnedTo } from './spec/pin.ts';
import { targetOf } from './spec/resource.ts';
import { keysFieldOf, sourcesOf } from './spec/source.ts';

/** Every sentence about the Secret of a SecretSync: conditions, and errors with what to do. They name keys, never values. */

// The state of the Secret.

export const suspended =
  'spec.suspend is true: no environment is read and the Secret is not changed. Set spec.suspend to false to resume.';

export function synced(sync: SecretSync, { sources, names }: Pick<WantedFacts, 'sources' | 'names'>): string {
  const { name } = targetOf(sync);
  const keys = names.length === 1 ? '1 key' : `${names.length} keys`;
  const states = sources.map(({ name: source, revision }) => {
    const spec = sourcesOf(sync).find((one) => one.name === source);
    return { source, revision, pinned: spec === undefined ? undefined : pinnedTo(spec) };
  });
  const [only] = states;
  if (only !== undefined && only.source === undefined) {
    const pinned = only.pinned === undefined ? '' : `, ${only.pinned}`;
    return `Secret ${name} holds revision ${only.revision} with ${keys}${pinned}.`;
  }
  const each = states.map(
    ({ source, revision, pinned }) => `${source} at revision ${revision}${pinned === undefined ? '' : ` (${pinned})`}`,
  );
  return `Secret ${name} holds ${keys}: ${each.join(', ')}.`;
}

/** A hint: the globs of this field match no key. */
export function matchesNothing(field: string, globs: readonly string[]): string {
  return `${field} names keys that the environment does not have: ${shortList(globs)}.`;
}

/** A hint: no key begins with the prefix that this field strips. */
export function stripsNothing(field: string, prefix: string): string {
  return `${field}.stripPrefix names a beginning that no key of the environment has: ${prefix}.`;
}

/** A hint about templates, by their names: references of other tools are no references here. */
export function bracesAreText(templates: readonly string[]): string {
  return `In spec.template.data, "{{" is text, not a reference (${shortList(templates)}). Refer to a key with $(KEY).`;
}

export function rolledBack(sync: SecretSync, { sources, held, cause }: RolledBack): string {
  const { name, namespace = '' } = sync.metadata;
  const why = cause === undefined ? '' : ` (${cause})`;
  return (
    `Secret ${targetOf(sync).name} was rolled back to ${revisions(held.sources)}, with which all workloads converged. ` +
    `With ${revisions(sources)} they failed${why}. New data is synced automatically. To retry the same data, run ` +
    `\`kubectl annotate --overwrite secretsyncs.keyframe.dev -n ${namespace} ${name} ${retryAnnotation}="$(date +%s)"\`.`
  );
}

/** States of sources: `revision 7`, or `revision 7 of own and revision 3 of shared`. */
export function revisions(sources: readonly SourceRevision[]): string {
  const each = sources.map(({ name, revision }) => `revision ${revision}${name === undefined ? '' : ` of ${name}`}`);
  return each.join(' and ');
}

// Why a Secret cannot be rolled back, as clauses. The condition Converged contains them.

export const dataDiffers = 'the spec no longer produces the data that they converged with';

export const sourcesDiffer = 'spec.sources has changed since they converged';

export function valuesDestroyedSince(keys: readonly string[]): string {
  return `its values of ${shortList(keys)} have been destroyed since`;
}

export function keysDeletedSince(keys: readonly string[]): string {
  return `${shortList(keys)} ${keys.length === 1 ? 'was deleted' : 'were deleted'} since`;
}

/** `environment` is the path of the environment. */
export function revisionGone(environment: string): string {
  return `environment ${environment} no longer has that revision`;
}

// Why the Secret is not written.

export function beingDeleted(sync: SecretSync): DomainError {
  return new DomainError(
    'conflict',
    `Secret ${targetOf(sync).name} is being deleted and waits for its finalizers. It is created again once it is gone.`,
  );
}

/** `field` is that of spec.target, `names` are those that begin with none of the prefixes of the setting. */
export function metadataNotAllowed(
  field: 'labels' | 'annotations',
  names: readonly string[],
  prefixes: readonly string[],
): DomainError {
  return new DomainError(
    'invalid_input',
    `The field spec.target.${field} has ${shortList(names)}, but this controller allows only names that begin with ` +
      `${shortList(prefixes)}. The Secret is unchanged. Remove them, or ask an admin of the cluster to allow their ` +
      'beginnings in KEYFRAME_TARGET_METADATA_PREFIXES.',
  );
}

/** Another client changed the Secret during each attempt to write it. */
export function changedMeanwhile(sync: SecretSync, attempts: number): DomainError {
  return new DomainError(
    'conflict',
    `Another client changed Secret ${targetOf(sync).name} during each of ${attempts} attempts to write it. The controller retries.`,
  );
}

/** The values exceed the size of any Secret. */
export function tooLarge(sync: SecretSync, bytes: number, isExact: boolean): DomainError {
  const { template, sources } = sync.spec;
  const all = sources === undefined ? 'environment' : 'sources';
  const own = sources === undefined ? "environment's values" : 'values of all sources';
  const whole = template === undefined ? own : `values of the ${all} and spec.template`;
  return new DomainError(
    'target_too_large',
    `The ${whole} have ${isExact ? '' : 'at least '}${bytes} bytes, more than the ${maxSecretBytes} bytes that a Secret can hold. ` +
      `${unchanged(sync)} Exclude keys with ${keysField(sync)}.exclude, or move values to another environment.`,
  );
}

/** The record of the keys' sources is too long, together with all other annotations of the Secret. */
export function recordTooLong(sync: SecretSync, bytes: number, isExact: boolean): DomainError {
  return new DomainError(
    'target_too_large',
    `The annotations of Secret ${targetOf(sync).name}, which record where each key comes from, would have ${isExact ? '' : 'at least '}${bytes} bytes; ` +
      `Kubernetes allows ${maxAnnotationBytes}. The Secret is unchanged. ` +
      `Exclude keys with ${keysField(sync)}.exclude, or distribute the sources over several SecretSyncs.`,
  );
}

/** The values do not meet the requirements of the Secret's type, which `need` names. */
export function typeUnmet(sync: SecretSync, need: string): DomainError {
  const source = sync.spec.sources === undefined ? 'environment' : 'environments';
  return new DomainError(
    'target_type_unmet',
    `${need} ${unchanged(sync)} Change the ${source}, ${keysField(sync)}, spec.template or spec.target.type.`,
  );
}

/** A source whose slugs now belong to another environment than the one that the Secret holds data of. */
export interface ReplacedSource {
  /** The id of the former environment, from the record. */
  readonly before: string;
  readonly now: TargetSource;
}

/** `annotation` is the one that records the environments. */
export function sourceReplaced(sync: SecretSync, replaced: readonly ReplacedSource[], annotation: string): DomainError {
  const { name, namespace } = targetOf(sync);
  const each = replaced.map(({ before, now }) => {
    const source = now.name === undefined ? '' : `Source ${now.name}: `;
    // Annotations are untrusted input.
    const id = /^[0-9a-zA-Z-]{1,64}$/.test(before) ? ` ${before}` : '';
    return (
      `${source}Secret ${name} holds data of the environment${id}, but ${now.path} is now another environment ` +
      `(${now.environmentId}), created after the first was purged.`
    );
  });
  return new DomainError(
    'source_replaced',
    `${each.join(' ')} Nothing is written. ` +
      `To sync the data of the new environment, run \`kubectl annotate secret -n ${namespace} ${name} ${annotation}-\`.`,
  );
}

/** A loss of keys that is not allowed. */
export interface BlockedLoss extends BlockedDeletion {
  /** The name of the source that a key came from, if it has one. */
  readonly originOf: (key: string) => string | undefined;
  /** The keys that the Secret would have. Some of the lost ones may come from another source than before. */
  readonly given: ReadonlySet<string>;
}

/** The sources lost more keys at once than the spec allows. */
export function deletionBlocked(sync: SecretSync, blocked: BlockedLoss): DomainError {
  const { metadata } = sync;
  const annotate = `kubectl annotate --overwrite secretsyncs.keyframe.dev -n ${metadata.namespace ?? ''} ${metadata.name} ${allowDeletionAnnotation}=${blocked.digest}`;
  const { cause, remedy } = lossTexts(sync, blocked);
  return new DomainError(
    'deletion_blocked',
    `${cause}, more than spec.maxDeletedKeys (${sync.spec.maxDeletedKeys}) allows. Nothing is written. ` +
      `${remedy}; or, to allow exactly this loss, run \`${annotate}\`.`,
  );
}

function lossTexts(
  sync: SecretSync,
  { keys, of, originOf, given }: BlockedLoss,
): { readonly cause: string; readonly remedy: string } {
  const { name } = targetOf(sync);
  const [only] = sourcesOf(sync);
  if (only?.name !== undefined) {
    const fallback = 'An earlier source has another value for some of them, which would replace theirs. ';
    const named = keys.map((key) => (originOf(key) === undefined ? key : `${key} of ${originOf(key)}`));
    return {
      cause: `The sources of Secret ${name} lack ${keys.length} of its ${of} keys (${shortList(named)})`,
      remedy: `${keys.some((key) => given.has(key)) ? fallback : ''}Restore the keys`,
    };
  }
  // Moving a pin is no loss: here the pin has the same name and stands for another state.
  return only !== undefined && pinOf(only) !== undefined
    ? {
        cause: `The state that Secret ${name} is pinned to lacks ${keys.length} of its ${of} keys (${shortList(keys)})`,
        remedy: 'Pin to another state',
      }
    : {
        cause: `The environment has lost ${keys.length} of the ${of} keys of Secret ${name} at once (${shortList(keys)})`,
        remedy: 'Restore the keys',
      };
}

/**
 * The API server's refusal of the Secret, without its message: that may quote the data. Undefined for an error that is not
 * a refusal.
 */
export function targetRefused(sync: SecretSync, error: ApiError, isMerge: boolean): DomainError | undefined {
  const advice = refusalAdvice(sync, error, isMerge);
  if (advice === undefined) return undefined;
  const refused = `The API server refused Secret ${targetOf(sync).name} (${error.status} ${error.reason}`;
  // A policy says itself why, to those who may write Secrets there.
  const detail =
    error.refuser === undefined
      ? `${refused}). ${advice}`
      : `${refused}, by ${error.refuser}). ${changePolicy(error.refuser)}`;
  return new DomainError('target_refused', detail, { cause: error });
}

/** What to do about a refusal by `refuser`. */
function changePolicy(refuser: string): string {
  return refuser.startsWith('ResourceQuota ')
    ? 'Ask an admin of the cluster to raise it, or remove what is not needed. The controller retries.'
    : 'Ask an admin of the cluster what it requires, or change spec.target. The controller retries.';
}

function refusalAdvice(sync: SecretSync, { status }: ApiError, isMerge: boolean): string | undefined {
  if (status === 403) {
    return "Check the namespace's ResourceQuotas and admission policies, whether the namespace is being deleted, and the controller's RBAC.";
  }
  if (status === 404) return 'The namespace no longer exists.';
  if (status === 413) return `It is larger than the API server accepts: exclude keys with ${keysField(sync)}.exclude.`;
  if (status !== 400 && status !== 422) return undefined;
  return isMerge
    ? "Check which keys the Secret's type requires, and the namespace's admission policies."
    : "Check spec.target.labels, spec.target.annotations and the namespace's admission policies.";
}

/** The merged values exceed the size of a Secret together with those of others. */
export function tooLargeTogether(sync: SecretSync, cause: ApiError): DomainError {
  return new DomainError(
    'target_too_large',
    `Secret ${targetOf(sync).name} would exceed ${maxSecretBytes} bytes together with the keys of others. It is unchanged. ` +
      `Exclude keys with ${keysField(sync)}.exclude, or merge into another Secret.`,
    { cause },
  );
}

function unchanged(sync: SecretSync): string {
  return `Secret ${targetOf(sync).name} is unchanged.`;
}

function keysField(sync: SecretSync): string {
  return keysFieldOf(sourcesOf(sync));
}
