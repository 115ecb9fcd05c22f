import { DomainError } from '../../domain/domain-error.ts';
import type { Precondition } from '../../kube/secrets.ts';
import type { SecretSync } from '../generated/secret-sync.ts';
import { blockedDeletion } from './deletion-breaker.ts';
import { isSame, keyLoss } from './key-loss.ts';
import type { MergeObstacle } from './merge-consent.ts';
import { mergeBarred } from './merge-refusals.ts';
import {
  type ReplacedSource,
  beingDeleted,
  deletionBlocked,
  notOwned,
  sourceReplaced,
  tooLarge,
  typeUnmet,
} from './refusals.ts';
import type { RolledBack } from './rolled-back.ts';
import { secretBytesLimit } from './secret-data.ts';
import { type TargetRecord, type TargetSource, sameRecord, sourcesOfRecord } from './target-record.ts';
import { allowDeletionAnnotation } from '../annotations.ts';

/** What was seen of the Secret that a SecretSync writes. */
export type TargetFacts =
  | { readonly state: 'absent' }
  /** `owner` is the SecretSync it belongs to, if it is one's. */
  | { readonly state: 'foreign'; readonly owner: string | undefined; readonly isToken: boolean }
  /** It belongs to something else, and the SecretSync may not merge into it. */
  | { readonly state: 'barred'; readonly obstacle: MergeObstacle }
  | OwnedTargetFacts;

export interface OwnedTargetFacts extends Precondition {
  /**
   * `adopted`: it is still somebody else's, with their consent that it become ours. `shared`: it is somebody else's, with
   * their consent that keys of ours are merged into it; what is told of its data is told of our keys alone.
   */
  readonly state: 'owned' | 'adopted' | 'shared';
  readonly type: string;
  readonly isImmutable: boolean;
  /** It was deleted, and finalizers still hold it. */
  readonly isDeleting: boolean;
  /** Whether it has all the metadata that it shall have, the record aside. */
  readonly metadataFits: boolean;
  /** Where its data came from, as it says. */
  readonly record: TargetRecord;
  /** Names of the keys it holds. */
  readonly keys: readonly string[];
  /** Keyed digest of the data it holds. */
  readonly fingerprint: Buffer;
}

/** What was read of one source, without the values. */
export interface SourceFacts extends TargetSource {
  readonly revision: number;
  readonly revisionId: string;
  /** All keys of the environment. */
  readonly keys: readonly string[];
}

/** What the Secret shall hold, without the values. */
export interface WantedFacts {
  /** In the order of the spec. */
  readonly sources: readonly SourceFacts[];
  /** Names of its keys. */
  readonly names: readonly string[];
  /** The name of the source that each key comes from; the keys that are composed come from none. */
  readonly origins: ReadonlyMap<string, string | undefined>;
  /** Bytes of the values; so many at least if they are too many to be read. */
  readonly bytes: number;
  readonly isBytesExact: boolean;
  /** What the Secret's type demands and these values lack, in names; undefined where they fit. */
  readonly unmetNeed: string | undefined;
  /** The record that the Secret shall have. */
  readonly record: TargetRecord;
  /** Empty if the values are too many to be read. */
  readonly fingerprint: Buffer;
  /** Where this is former data that is held instead of what the spec asks for: why; and the sources as they were asked for. */
  readonly rolledBack?: RolledBack | undefined;
  readonly asked?: readonly SourceFacts[] | undefined;
}

export interface Facts {
  readonly sync: SecretSync;
  readonly target: TargetFacts;
  /** Undefined where nothing was read, because the target is not ours to write. */
  readonly wanted: WantedFacts | DomainError | undefined;
}

export type Decision =
  /** The Secret is as it should be. */
  | { readonly action: 'keep' }
  | { readonly action: 'create' }
  | { readonly action: 'replace'; readonly precondition: Precondition }
  /** Delete and make anew: what Kubernetes does not let change. */
  | { readonly action: 'recreate'; readonly precondition: Precondition }
  /** Apply our keys to somebody else's Secret. */
  | { readonly action: 'apply'; readonly precondition: Precondition }
  /** Leave the Secret as it is and say why. */
  | { readonly action: 'refrain'; readonly error: DomainError };

/**
 * What to do about a target, from what was seen alone. An environment that could not be read is never taken for an
 * empty one: the Secret then stays as it was.
 */
export function judge({ sync, target, wanted }: Facts): Decision {
  if (target.state === 'foreign') return refrain(notOwned(sync, target));
  if (target.state === 'barred') return refrain(mergeBarred(sync, target.obstacle));
  if (wanted === undefined || wanted instanceof DomainError) {
    return refrain(wanted ?? new DomainError('internal', 'the environment was not read'));
  }
  const loss = holdsOurData(target) ? forbiddenLoss(sync, target, wanted) : undefined;
  const fault = loss ?? unwritable(sync, wanted);
  if (fault !== undefined) return refrain(fault);
  return target.state === 'absent' ? { action: 'create' } : judgePresent(sync, target, wanted);
}

function holdsOurData(target: TargetFacts): target is OwnedTargetFacts {
  return target.state === 'owned' || target.state === 'shared';
}

/** Why data that is there must not be replaced by that of these sources without somebody's consent. */
function forbiddenLoss(sync: SecretSync, target: OwnedTargetFacts, wanted: WantedFacts): DomainError | undefined {
  const replaced = replacedSources(target.record, wanted.sources);
  if (replaced.length > 0) return sourceReplaced(sync, replaced);
  // What vanishes by going back is on purpose.
  if (wanted.rolledBack !== undefined) return undefined;
  const loss = keyLoss(target.record, wanted);
  const blocked = blockedDeletion(target.keys, loss.isLost, sync.spec.maxDeletedKeys);
  if (blocked === undefined || sync.metadata.annotations?.[allowDeletionAnnotation] === blocked.digest)
    return undefined;
  return deletionBlocked(sync, { ...blocked, originOf: loss.originOf, given: new Set(wanted.names) });
}

/** The sources whose environment is another one behind the same slugs than that which the Secret holds data of. */
function replacedSources(record: TargetRecord, sources: readonly SourceFacts[]): readonly ReplacedSource[] {
  const recorded = sourcesOfRecord(record) ?? [];
  return sources.flatMap((now) => {
    const before = recorded.find((one) => isSame(one, now, sources));
    // Where the spec names another environment now, that is on purpose.
    const isReplaced = before?.path === now.path && before.environmentId !== now.environmentId;
    return isReplaced ? [{ before: before.environmentId, now }] : [];
  });
}

/** Why the API server would not take the data. */
function unwritable(sync: SecretSync, { bytes, isBytesExact, unmetNeed }: WantedFacts): DomainError | undefined {
  if (bytes > secretBytesLimit) return tooLarge(sync, bytes, isBytesExact);
  return unmetNeed === undefined ? undefined : typeUnmet(sync, unmetNeed);
}

function judgePresent(sync: SecretSync, target: OwnedTargetFacts, wanted: WantedFacts): Decision {
  if (target.isDeleting) return refrain(beingDeleted(sync));
  const precondition = { uid: target.uid, resourceVersion: target.resourceVersion };
  const isReplaceable = target.type === sync.spec.target.type && !target.isImmutable;
  // What is not ours is never made anew, whatever its type.
  if (target.state !== 'shared' && !isReplaceable) return { action: 'recreate', precondition };
  const isCurrent =
    target.metadataFits && sameRecord(target.record, wanted.record) && target.fingerprint.equals(wanted.fingerprint);
  if (isCurrent) return { action: 'keep' };
  return { action: target.state === 'shared' ? 'apply' : 'replace', precondition };
}

function refrain(error: DomainError): Decision {
  return { action: 'refrain', error };
}
