import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { blockedDeletion } from './deletion-breaker.ts';
import { keyLoss } from './key-loss.ts';
import { replacedSourceError } from './replaced-source.ts';
import { beingDeleted, deletionBlocked, tooLarge, typeUnmet } from '../messages.ts';
import { controlled, mergeForbidden, notOwned, targetClaimed } from '../ownership-messages.ts';
import { sameRecord } from '../target/target-record.ts';
import { allowDeletionAnnotation } from '../../../annotations.ts';
import {
  type Decision,
  type Facts,
  type OwnedTargetFacts,
  type TargetFacts,
  type WantedFacts,
  maxSecretBytes,
} from '../model.ts';

/**
 * Decides what to do about a target. Pure. An environment that could not be read never counts as empty: the Secret stays
 * unchanged then.
 */
export function judge({ sync, target, wanted }: Facts): Decision {
  if (isForeign(target)) return skip(foreignError(sync, target));
  if (wanted === undefined || wanted instanceof DomainError) {
    return skip(wanted ?? new DomainError('internal', 'the environment was not read'));
  }
  const loss = holdsOurData(target) ? forbiddenLoss(sync, target, wanted) : undefined;
  const error = loss ?? unwritable(sync, wanted);
  if (error !== undefined) return skip(error);
  return target.state === 'absent' ? { action: 'create' } : judgePresent(sync, target, wanted);
}

type ForeignTarget = Extract<TargetFacts, { state: 'unmanaged' | 'claimed' | 'mergeForbidden' }>;

/** Whether the SecretSync must not write the target, whatever its environment holds. */
export function isForeign(target: TargetFacts): target is ForeignTarget {
  return target.state === 'unmanaged' || target.state === 'claimed' || target.state === 'mergeForbidden';
}

function foreignError(sync: SecretSync, target: ForeignTarget): DomainError {
  if (target.state === 'unmanaged')
    return target.controller === undefined ? notOwned(sync, target.owner) : controlled(sync, target.controller);
  return target.state === 'claimed' ? targetClaimed(sync, target) : mergeForbidden(sync, target.obstacle);
}

function holdsOurData(target: TargetFacts): target is OwnedTargetFacts {
  return target.state === 'owned' || target.state === 'shared';
}

/** Why the present data must not be replaced by that of these sources without a user's consent. */
function forbiddenLoss(sync: SecretSync, target: OwnedTargetFacts, wanted: WantedFacts): DomainError | undefined {
  const replaced = replacedSourceError(sync, target, wanted.sources);
  if (replaced !== undefined) return replaced;
  // A rollback removes keys on purpose.
  if (wanted.rolledBack !== undefined) return undefined;
  const loss = keyLoss(target.record, wanted);
  const blocked = blockedDeletion(target.keys, loss.isLost, sync.spec.maxDeletedKeys);
  if (blocked === undefined || sync.metadata.annotations?.[allowDeletionAnnotation] === blocked.digest)
    return undefined;
  return deletionBlocked(sync, { ...blocked, originOf: loss.originOf, given: new Set(wanted.names) });
}

/** Why the API server would refuse the data. */
function unwritable(sync: SecretSync, { bytes, isBytesExact, unmetNeed }: WantedFacts): DomainError | undefined {
  if (bytes > maxSecretBytes) return tooLarge(sync, bytes, isBytesExact);
  return unmetNeed === undefined ? undefined : typeUnmet(sync, unmetNeed);
}

function judgePresent(sync: SecretSync, target: OwnedTargetFacts, wanted: WantedFacts): Decision {
  if (target.isDeleting) return skip(beingDeleted(sync));
  const precondition = { uid: target.uid, resourceVersion: target.resourceVersion };
  const isReplaceable = target.type === sync.spec.target.type && !target.isImmutable;
  // A Secret of another owner is never recreated, whatever its type.
  if (target.state !== 'shared' && !isReplaceable) return { action: 'recreate', precondition };
  const isCurrent =
    target.metadataFits && sameRecord(target.record, wanted.record) && target.fingerprint.equals(wanted.fingerprint);
  if (isCurrent) return { action: 'keep' };
  return { action: target.state === 'shared' ? 'apply' : 'replace', precondition };
}

function skip(error: DomainError): Decision {
  return { action: 'skip', error };
}
