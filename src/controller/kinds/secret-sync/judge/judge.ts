import { DomainError } from '../../../../domain/errors/domain-error.ts';
import type { SecretSync } from '../../../generated/secret-sync.ts';
import { blockedDeletion } from './deletion-breaker.ts';
import { keyLoss } from './key-loss.ts';
import { replacedSourceError } from './replaced-source.ts';
import { beingDeleted, deletionBlocked, mergeForbidden, notOwned, tooLarge, typeUnmet } from '../messages.ts';
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
 * What to do about a target, from what was seen alone. An environment that could not be read is never taken for an
 * empty one: the Secret then stays as it was.
 */
export function judge({ sync, target, wanted }: Facts): Decision {
  if (target.state === 'foreign') return refrain(notOwned(sync, target));
  if (target.state === 'barred') return refrain(mergeForbidden(sync, target.obstacle));
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
  const replaced = replacedSourceError(sync, target, wanted.sources);
  if (replaced !== undefined) return replaced;
  // What vanishes by going back is on purpose.
  if (wanted.rolledBack !== undefined) return undefined;
  const loss = keyLoss(target.record, wanted);
  const blocked = blockedDeletion(target.keys, loss.isLost, sync.spec.maxDeletedKeys);
  if (blocked === undefined || sync.metadata.annotations?.[allowDeletionAnnotation] === blocked.digest)
    return undefined;
  return deletionBlocked(sync, { ...blocked, originOf: loss.originOf, given: new Set(wanted.names) });
}

/** Why the API server would not take the data. */
function unwritable(sync: SecretSync, { bytes, isBytesExact, unmetNeed }: WantedFacts): DomainError | undefined {
  if (bytes > maxSecretBytes) return tooLarge(sync, bytes, isBytesExact);
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
