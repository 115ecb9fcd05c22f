import { DomainError } from '../../../../domain/errors/domain-error.ts';
import { ApiError, type ErrorCause } from '../../../../kube/client/api-error.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { targetOf } from '../spec/resource.ts';
import { secretBytesLimit } from '../data/secret-data.ts';
import { keysFieldOf, sourcesOf } from '../spec/source.ts';
import { allowMergeAnnotation, ownedByAnnotation } from '../../../annotations.ts';
import { isDnsName, shortList } from '../../../names.ts';
import type { MergeObstacle } from '../model.ts';

/** Why keys are not merged into a Secret: each says what to do, in names. */

const dataPrefix = '.data.';
const annotationPrefix = '.metadata.annotations.';

/** The Secret is none that may be merged into. */
export function mergeBarred(sync: SecretSync, obstacle: MergeObstacle): DomainError {
  const { name } = targetOf(sync);
  switch (obstacle.kind) {
    case 'absent':
      return notFound(sync);
    case 'no-consent':
      return notAllowed(sync, obstacle.allowed);
    case 'owned':
      return refused(
        `Secret ${name} ${ownerText(sync, obstacle.owner)}: merge into another one, by a new SecretSync, or have that one's owner choose the keys.`,
      );
    default:
      return refused(`Secret ${name} ${obstacleTexts[obstacle.kind]}`);
  }
}

const obstacleTexts: Readonly<Record<Exclude<MergeObstacle['kind'], 'absent' | 'no-consent' | 'owned'>, string>> = {
  deleting: 'is being deleted; the keys are merged again when its owner has made it again.',
  immutable: 'is immutable, so that nobody can change it: its owner has to make it anew without `immutable: true`.',
  'service-account-token':
    'is of type kubernetes.io/service-account-token, which Kubernetes fills itself: merge into another one, by a new SecretSync.',
  'token-secret': "is a ServiceToken's own, and a token stands alone: merge into another one, by a new SecretSync.",
};

function refused(detail: string): DomainError {
  return new DomainError('merge_refused', `${detail} Nothing is written.`);
}

function notFound(sync: SecretSync): DomainError {
  const { name, namespace } = targetOf(sync);
  return new DomainError(
    'target_not_found',
    `There is no Secret ${name} to merge into: spec.target.creationPolicy Merge adds keys to a Secret that something else makes. ` +
      `Make it, with the annotation ${allowMergeAnnotation}: ${sync.metadata.name}; an empty one comes from \`kubectl create secret generic -n ${namespace} ${name}\`.`,
  );
}

function notAllowed(sync: SecretSync, allowed: readonly string[]): DomainError {
  const { name, namespace } = targetOf(sync);
  const names = [...allowed, sync.metadata.name].join(',');
  // A list that is too long for a message is not repeated, lest it be cut off and written back like that.
  const value = names.length <= 400 ? names : sync.metadata.name;
  return new DomainError(
    'target_not_owned',
    `Secret ${name} does not allow this SecretSync to merge into it; nothing is written, and keys that it merged before stay. ` +
      `To allow it, run \`kubectl annotate --overwrite secret -n ${namespace} ${name} ${allowMergeAnnotation}=${value}\`` +
      `${value === names ? '' : ' with the names that are there before it'}.`,
  );
}

function ownerText(sync: SecretSync, owner: string): string {
  if (owner === sync.metadata.name) return `says by ${ownedByAnnotation} that it is this SecretSync's own`;
  // Anybody can write anything into an annotation.
  return isDnsName(owner) ? `is the SecretSync ${owner}'s own` : "is a SecretSync's own";
}

/** Another manager holds one of our keys with another value; undefined where an error tells something else. */
export function mergeConflict(sync: SecretSync, error: unknown): DomainError | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const causes = error.causes.filter(({ reason }) => reason === 'FieldManagerConflict');
  if (causes.length === 0) return undefined;
  const { name } = targetOf(sync);
  const keysField = keysFieldOf(sourcesOf(sync));
  const isKey = ({ field }: ErrorCause): boolean => field.startsWith(dataPrefix);
  const keys = causes.filter(isKey).map((cause) => held(cause, dataPrefix));
  const annotations = causes.filter((cause) => !isKey(cause)).map((cause) => held(cause, annotationPrefix));
  const faults = [
    keys.length > 0 &&
      `Others hold keys of Secret ${name} with other values: ${shortList(keys)}. Have them taken out of the Secret, or take them out of this SecretSync by ${keysField}.exclude or ${keysField}.rename.`,
    annotations.length > 0 &&
      `Others changed annotations of Secret ${name} which are this SecretSync's: ${shortList(annotations)}. Take them off.`,
  ];
  const detail = [...faults.filter((fault) => fault !== false), 'Nothing is written until then.'].join(' ');
  return new DomainError('merge_conflict', detail, { cause: error });
}

/** A field's name and who holds it. */
function held({ field, manager }: ErrorCause, prefix: string): string {
  const name = field.startsWith(prefix) ? field.slice(prefix.length) : field;
  return `${name} (${manager ?? 'a manager without a plain name'})`;
}

/** Our values and those of others are too many for one Secret. */
export function tooLargeTogether(sync: SecretSync, cause: ApiError): DomainError {
  return new DomainError(
    'target_too_large',
    `Secret ${targetOf(sync).name} would hold more than ${secretBytesLimit} bytes with the keys of others that it has; it stays as it was. ` +
      `Exclude keys in ${keysFieldOf(sourcesOf(sync))}.exclude, or merge into another Secret.`,
    { cause },
  );
}
