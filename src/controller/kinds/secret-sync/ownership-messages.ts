import { DomainError } from '../../../domain/errors/domain-error.ts';
import { ApiError, type ErrorCause } from '../../../kube/client/api-error.ts';
import type { OwnerReference } from '../../../kube/client/objects.ts';
import {
  allowAdoptionAnnotation,
  allowMergeAnnotation,
  clusterSyncLabel,
  ownedByAnnotation,
} from '../../annotations.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';
import { isDnsName } from '../../../domain/kubernetes-names.ts';
import { shortList } from '../../names.ts';
import { type SecretClaim, type SecretOwner, ownerText } from '../secret-claims/claim.ts';
import { claimedText, waitingHolder } from '../secret-claims/messages.ts';
import { type MergeObstacle, mergeManagerPrefix } from './model.ts';
import { targetOf } from './spec/resource.ts';
import { keysFieldOf, sourcesOf } from './spec/source.ts';

/**
 * Every sentence about a Secret that belongs to something else. None advises to delete the Secret: others may use it. They
 * name resources of the SecretSync's namespace only.
 */

/** Another resource writes the Secret, or creates it again if it is missing. */
export function targetClaimed(
  sync: SecretSync,
  { holder, isPresent }: { readonly holder: SecretClaim; readonly isPresent: boolean },
): DomainError {
  const { name, namespace } = targetOf(sync);
  const mayBeHandedOver = holder.kind === 'SecretSync' && !holder.isMerge;
  const handover = mayBeHandedOver ? ` ${takeover(sync)}` : '';
  const wayOut = isPresent ? handover : ` ${waitingHolder(namespace, holder)}`;
  return new DomainError(
    'target_claimed',
    `${claimedText(name, holder)} Nothing is written. ${anotherTarget(sync)}${wayOut}`,
  );
}

/** The Secret exists and belongs to something else that does not write it now; `owner` is what its annotation names. */
export function notOwned(sync: SecretSync, owner: SecretOwner | undefined): DomainError {
  const { name } = targetOf(sync);
  const whose =
    owner === undefined ? 'was created by something else' : `belongs to ${ownerText(owner)}, which no longer writes it`;
  // The token of a ServiceToken would stay valid without its Secret.
  const handover = owner?.kind === 'ServiceToken' ? '' : ` ${takeover(sync)}`;
  return new DomainError(
    'target_not_owned',
    `Secret ${name} already exists and ${whose}. It is not changed. ${anotherTarget(sync)}${handover}`,
  );
}

/** The Secret is offered to the SecretSync, but another controller manages it. */
export function controlled(sync: SecretSync, controller: OwnerReference): DomainError {
  const { name } = targetOf(sync);
  const owner = referenceText(controller);
  return new DomainError(
    'target_not_owned',
    `Secret ${name} is controlled by ${owner}, which may write it again, and with which the garbage collector deletes it. ` +
      `It is not changed. To let this SecretSync take it over, stop ${owner} from managing it, and ${withoutOwners(sync)}.`,
  );
}

/** A hint: the Secret has other owners besides the SecretSync. */
export function otherOwner(sync: SecretSync, owners: readonly OwnerReference[]): string {
  const belongs = `The Secret also belongs to ${shortList(owners.map(referenceText))}`;
  const [one, all] =
    owners.length === 1 ? ['that exists', 'that is gone'] : ['one of them exists', 'all of them are gone'];
  return sync.spec.target.deletionPolicy === 'Delete'
    ? `${belongs}, so it stays while ${one}, even if this SecretSync is deleted.`
    : `${belongs}, and the garbage collector deletes it when ${all}. To keep it, ${withoutOwners(sync)}.`;
}

function withoutOwners(sync: SecretSync): string {
  const { name, namespace } = targetOf(sync);
  return `run \`kubectl patch secret -n ${namespace} ${name} --type=json -p '[{"op":"remove","path":"/metadata/ownerReferences"}]'\``;
}

/** The kind and name in an owner reference. Users choose them, so they are untrusted input. */
function referenceText({ kind, name }: OwnerReference): string {
  const isPlain = /^[A-Za-z][A-Za-z0-9]{0,62}$/.test(kind) && /^[A-Za-z0-9][-A-Za-z0-9._:]{0,252}$/.test(name);
  return isPlain ? `${kind} ${name}` : 'another resource';
}

/** What to do with a SecretSync that must not write its Secret. The ClusterSecretSync would create a deleted one again. */
function anotherTarget({ metadata }: SecretSync): string {
  const parent = metadata.labels?.[clusterSyncLabel];
  return parent === metadata.name
    ? `Add the namespace to spec.excludeNamespaces of the ClusterSecretSync ${parent}, or create one with another spec.template.spec.target.name.`
    : 'Create a SecretSync with another spec.target.name instead of this one.';
}

function takeover(sync: SecretSync): string {
  const { name, namespace } = targetOf(sync);
  return (
    'To let this SecretSync take over the Secret and replace all its data, run ' +
    `\`kubectl annotate --overwrite secret -n ${namespace} ${name} ${allowAdoptionAnnotation}=${sync.metadata.name}\`.`
  );
}

// Why keys are not merged into the Secret.

/** The SecretSync must not merge into the Secret. */
export function mergeForbidden(sync: SecretSync, obstacle: MergeObstacle): DomainError {
  switch (obstacle.kind) {
    case 'absent':
      return targetMissing(sync);
    case 'no-consent':
      return mergeNotAllowed(sync, obstacle.allowed);
    case 'owned':
      return mergeRefused(
        sync,
        ownedText(sync, obstacle.owner),
        'Create a SecretSync that merges into another Secret, or let the owner choose the keys.',
      );
    case 'unmerged':
      return mergeAwaited(sync, obstacle.others);
    default:
      return mergeRefused(sync, ...obstacleTexts[obstacle.kind]);
  }
}

const mergeElsewhere = 'Create a SecretSync that merges into another Secret.';

/** The obstacle, and what to do. */
const obstacleTexts: Readonly<
  Record<
    Exclude<MergeObstacle['kind'], 'absent' | 'no-consent' | 'owned' | 'unmerged'>,
    readonly [text: string, remedy: string]
  >
> = {
  deleting: ['is being deleted', 'The keys are merged again once its owner has created it again.'],
  immutable: ['is immutable', 'Its owner must create it again without `immutable: true`.'],
  'service-account-token': [
    'has the type kubernetes.io/service-account-token, whose content Kubernetes manages',
    mergeElsewhere,
  ],
  'token-secret': ['belongs to a ServiceToken and must contain only its token', mergeElsewhere],
};

function mergeRefused(sync: SecretSync, text: string, remedy: string): DomainError {
  return new DomainError('merge_refused', `Secret ${targetOf(sync).name} ${text}. Nothing is written. ${remedy}`);
}

/** Other SecretSyncs held keys of a Secret that was created again, and have not merged them yet. */
function mergeAwaited(sync: SecretSync, others: readonly string[]): DomainError {
  const { namespace, name } = targetOf(sync);
  return new DomainError(
    'target_claimed',
    `Secret ${name} does not hold the keys yet that other SecretSyncs have merged before: ${shortList(others)}. ` +
      'Nothing is written until they are merged again, because both may have the same keys. To see what they wait for, ' +
      `run \`kubectl describe secretsyncs.keyframe.dev -n ${namespace} ${others[0] ?? ''}\`.`,
  );
}

function targetMissing(sync: SecretSync): DomainError {
  const { name, namespace } = targetOf(sync);
  return new DomainError(
    'target_not_found',
    `Secret ${name} does not exist: with spec.target.creationPolicy Merge, something else must create it. ` +
      `Create it with the annotation ${allowMergeAnnotation}: ${sync.metadata.name}. ` +
      `To create an empty one, run \`kubectl create secret generic -n ${namespace} ${name}\`.`,
  );
}

function mergeNotAllowed(sync: SecretSync, allowed: readonly string[]): DomainError {
  const { name, namespace } = targetOf(sync);
  const names = [...allowed, sync.metadata.name].join(',');
  // A list that is too long is not repeated: users would write it back cut off.
  const value = names.length <= 400 ? names : sync.metadata.name;
  return new DomainError(
    'target_not_owned',
    `Secret ${name} does not allow this SecretSync to merge into it. Nothing is written, and keys merged earlier stay. ` +
      `To allow it, run \`kubectl annotate --overwrite secret -n ${namespace} ${name} ${allowMergeAnnotation}=${value}\`` +
      `${value === names ? '' : ' with the names that the annotation already lists before it'}.`,
  );
}

function ownedText(sync: SecretSync, owner: string): string {
  if (owner === sync.metadata.name) return `already belongs to this SecretSync by its annotation ${ownedByAnnotation}`;
  // Annotations are untrusted input.
  return isDnsName(owner) ? `belongs to the SecretSync ${owner}` : 'belongs to a SecretSync';
}

const dataPrefix = '.data.';
const annotationPrefix = '.metadata.annotations.';

/** Other managers hold keys of the SecretSync with other values; undefined for another error. */
export function mergeConflict(sync: SecretSync, error: unknown): DomainError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const causes = error.causes.filter(({ reason }) => reason === 'FieldManagerConflict');
  if (causes.length === 0) return undefined;
  const { name } = targetOf(sync);
  const field = keysFieldOf(sourcesOf(sync));
  const isKey = (cause: ErrorCause): boolean => cause.field.startsWith(dataPrefix);
  const keys = causes.filter(isKey).map((cause) => managedField(cause, dataPrefix));
  const annotations = causes.filter((cause) => !isKey(cause)).map((cause) => managedField(cause, annotationPrefix));
  // A SecretSync would merge a key again that was removed from the Secret.
  const isOfSyncs = causes.some(({ manager }) => manager?.startsWith(mergeManagerPrefix) === true);
  const remedy = isOfSyncs
    ? `Remove these keys from this SecretSync with ${field}.exclude or ${field}.rename, or let their managers remove them.`
    : `Remove these keys from the Secret, or from this SecretSync with ${field}.exclude or ${field}.rename.`;
  const keysText = `Other managers hold keys of Secret ${name} with other values: ${shortList(keys)}. ${remedy}`;
  const annotationsText = `Other managers changed annotations of Secret ${name} that belong to this SecretSync: ${shortList(annotations)}. Remove these annotations.`;
  const texts = [...(keys.length > 0 ? [keysText] : []), ...(annotations.length > 0 ? [annotationsText] : [])];
  return new DomainError('merge_conflict', [...texts, 'Nothing is written until then.'].join(' '), { cause: error });
}

/** The name of a field and its manager. */
function managedField({ field, manager }: ErrorCause, prefix: string): string {
  const name = field.startsWith(prefix) ? field.slice(prefix.length) : field;
  return `${name} (${manager ?? 'a manager without a plain name'})`;
}
