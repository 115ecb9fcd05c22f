import { DomainError } from '../../domain/domain-error.ts';
import type { Precondition } from '../../kube/secrets.ts';
import { secretBytesLimit } from './secret-data.ts';

/** What was seen of the Secret that a SecretSync writes. */
export type TargetFacts =
  | { readonly state: 'absent' }
  /** `owner` is the SecretSync it belongs to, if it is one's. */
  | { readonly state: 'foreign'; readonly owner: string | undefined }
  | OwnedTargetFacts;

export interface OwnedTargetFacts extends Precondition {
  readonly state: 'owned';
  readonly type: string;
  readonly isImmutable: boolean;
  /** It was deleted, and finalizers still hold it. */
  readonly isDeleting: boolean;
  /** Whether it has all the metadata that it shall have. */
  readonly metadataFits: boolean;
  /** Keyed digest of the data it holds. */
  readonly fingerprint: Buffer;
}

/** What was read of the environment, without the values. */
export interface SourceFacts {
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
  readonly count: number;
  readonly bytes: number;
  readonly fingerprint: Buffer;
}

export interface Facts {
  /** Name of the Secret. */
  readonly name: string;
  /** The type it shall have. */
  readonly type: string;
  readonly target: TargetFacts;
  /** Undefined where it was not read, because the target is not ours to write. */
  readonly source: SourceFacts | DomainError | undefined;
}

export type Decision =
  /** The Secret is as it should be. */
  | { readonly action: 'keep' }
  | { readonly action: 'create' }
  | { readonly action: 'replace'; readonly precondition: Precondition }
  /** Delete and make anew: what Kubernetes does not let change. */
  | { readonly action: 'recreate'; readonly precondition: Precondition }
  /** Leave the Secret as it is and say why. */
  | { readonly action: 'refrain'; readonly error: DomainError };

/**
 * What to do about a target, from what was seen alone. An environment that could not be read is never taken for an
 * empty one: the Secret then stays as it was.
 */
export function judge({ name, type, target, source }: Facts): Decision {
  if (target.state === 'foreign') return refrain(notOwned(name, target.owner));
  if (source === undefined || source instanceof DomainError) {
    return refrain(source ?? new DomainError('internal', 'the environment was not read'));
  }
  if (source.bytes > secretBytesLimit) return refrain(tooLarge(name, source.bytes));
  return target.state === 'absent' ? { action: 'create' } : judgeOwned({ name, type }, target, source);
}

function judgeOwned(
  { name, type }: Pick<Facts, 'name' | 'type'>,
  target: OwnedTargetFacts,
  source: SourceFacts,
): Decision {
  if (target.isDeleting) return refrain(beingDeleted(name));
  const precondition = { uid: target.uid, resourceVersion: target.resourceVersion };
  if (target.type !== type || target.isImmutable) return { action: 'recreate', precondition };
  const isCurrent = target.metadataFits && target.fingerprint.equals(source.fingerprint);
  return isCurrent ? { action: 'keep' } : { action: 'replace', precondition };
}

function refrain(error: DomainError): Decision {
  return { action: 'refrain', error };
}

function notOwned(name: string, owner: string | undefined): DomainError {
  // Anybody can write anything into an annotation.
  const isName = owner !== undefined && owner.length <= 253 && /^[a-z0-9.-]+$/.test(owner);
  const whose = isName ? `belongs to the SecretSync ${owner}` : 'was not made by this SecretSync';
  return new DomainError(
    'target_not_owned',
    `Secret ${name} exists and ${whose}; it is left untouched. Delete it, or make a SecretSync with another spec.target.name.`,
  );
}

function tooLarge(name: string, bytes: number): DomainError {
  return new DomainError(
    'target_refused',
    `The environment's values come to ${bytes} bytes; a Kubernetes Secret holds ${secretBytesLimit} at most. ` +
      `Secret ${name} stays as it was. Move some values to another environment.`,
  );
}

function beingDeleted(name: string): DomainError {
  return new DomainError(
    'conflict',
    `Secret ${name} is being deleted and waits for its finalizers; it is made anew when it is gone.`,
  );
}
