import { convergedTemplate } from './attribution.ts';
import * as messages from './messages.ts';
import type { WorkloadAssessment } from './assessment.ts';
import type { Target } from './targets.ts';
import type { ConvergedRecord, HeldData } from './model.ts';

/** The facts that decide whether the Secret is rolled back to what all workloads converged with. */
export interface RollbackFacts {
  readonly held: HeldData;
  readonly converged: ConvergedRecord | undefined;
  readonly onFailure: 'Hold' | 'Rollback';
  /** Why the rollback failed, as a clause; undefined if it was not tried. */
  readonly rollbackRefusal: string | undefined;
}

/** Data with which a workload fails, so that the Secret must be rolled back. */
export interface AbandonedData {
  readonly held: HeldData;
  readonly target: Target;
  /** Names and reasons alone. */
  readonly reason: string;
}

/** What to report of a workload that is stuck with the held data. */
export interface StuckOutcome {
  readonly reason: 'RolloutStuck' | 'RollbackImpossible';
  /** A clause that follows the progress of its pods. */
  readonly message: string;
  readonly abandoned?: AbandonedData | undefined;
}

/** What follows if a workload is stuck with the held data. */
export function stuckOutcome(
  facts: RollbackFacts,
  { facts: { target, failure }, workload }: WorkloadAssessment,
): StuckOutcome {
  const reason = 'RolloutStuck';
  const { namespace = '' } = workload.metadata;
  if (failure.kind === 'unknown') return { reason, message: messages.causeUnknown(namespace) };
  if (failure.kind === 'other')
    return { reason, message: messages.notTheData(failure.why, facts.onFailure, namespace) };
  const cause = failure.kind === 'data' ? failure.reason : messages.podsForbidden(failure.reason);
  if (facts.onFailure === 'Hold') return { reason, message: messages.othersWait(cause, namespace) };
  const obstacle = failure.kind === 'unseen' ? messages.podsUnseen : obstacleTo(facts, target);
  if (obstacle !== undefined) {
    return {
      reason: 'RollbackImpossible',
      message: messages.rollbackImpossible(cause, obstacle, namespace),
      abandoned: failure.kind === 'data' && canTryRollback(facts, target) ? abandon(facts, target, cause) : undefined,
    };
  }
  return { reason, message: messages.rollbackDue(cause), abandoned: abandon(facts, target, cause) };
}

function abandon({ held }: RollbackFacts, target: Target, reason: string): AbandonedData {
  return { held, target, reason: messages.failureOf(target, reason) };
}

/** Why the Secret cannot be rolled back, as a clause; undefined if no obstacle is known. */
function obstacleTo(facts: RollbackFacts, target: Target): string | undefined {
  if (facts.converged === undefined) return messages.neverConverged;
  if (convergedTemplate(facts.converged, target) === undefined) return messages.notAmongConverged(target);
  return facts.rollbackRefusal;
}

/** Whether the reconcile must try the rollback: only it can find out whether the obstacle still exists. */
function canTryRollback({ converged }: RollbackFacts, target: Target): boolean {
  return convergedTemplate(converged, target) !== undefined;
}
