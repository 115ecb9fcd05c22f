import { convergedTemplate } from './attribution.ts';
import * as messages from './messages.ts';
import type { Standing } from './standing.ts';
import type { Target } from './targets.ts';
import type { ConvergedRecord, HeldData } from './model.ts';

/** What bears on whether the Secret goes back to what all workloads converged with. */
export interface RollbackFacts {
  readonly held: HeldData;
  readonly converged: ConvergedRecord | undefined;
  readonly onFailure: 'Hold' | 'Rollback';
  /** Why it was found that it cannot go back, as a clause; undefined where it was not tried. */
  readonly rollbackRefusal: string | undefined;
}

/** What is held fails, and the Secret is to go back. */
export interface GiveUp {
  readonly held: HeldData;
  readonly target: Target;
  /** Names and reasons alone. */
  readonly reason: string;
}

/** What to tell of a workload that is stuck with what is held. */
export interface StuckAnswer {
  readonly reason: 'RolloutStuck' | 'RollbackImpossible';
  /** A clause, behind what is missing of its pods. */
  readonly message: string;
  readonly giveUp?: GiveUp | undefined;
}

/** What follows from a workload's being stuck with what is held. */
export function stuckAnswer(facts: RollbackFacts, { facts: { target, failure } }: Standing): StuckAnswer {
  const reason = 'RolloutStuck';
  if (failure.kind === 'unknown') return { reason, message: messages.causeUnknown };
  if (failure.kind === 'other') return { reason, message: messages.notTheData(failure.why, facts.onFailure) };
  const cause = failure.kind === 'data' ? failure.reason : messages.podsForbidden(failure.reason);
  if (facts.onFailure === 'Hold') return { reason, message: messages.othersWait(cause) };
  const hindrance = failure.kind === 'unseen' ? messages.podsUnseen : hindranceOf(facts, target);
  if (hindrance !== undefined) {
    return {
      reason: 'RollbackImpossible',
      message: messages.rollbackImpossible(cause, hindrance),
      giveUp: failure.kind === 'data' && canBeTried(facts, target) ? giveUp(facts, target, cause) : undefined,
    };
  }
  return { reason, message: messages.rollbackDue(cause), giveUp: giveUp(facts, target, cause) };
}

function giveUp({ held }: RollbackFacts, target: Target, reason: string): GiveUp {
  return { held, target, reason: messages.failureOf(target, reason) };
}

/** Why the Secret cannot go back, as a clause; undefined where nothing is known against it. */
function hindranceOf(facts: RollbackFacts, target: Target): string | undefined {
  if (facts.converged === undefined) return messages.neverConverged;
  if (convergedTemplate(facts.converged, target) === undefined) return messages.notAmongConverged(target);
  return facts.rollbackRefusal;
}

/** Whether it is for the reconcile to find out, as each time anew. */
function canBeTried({ converged }: RollbackFacts, target: Target): boolean {
  return convergedTemplate(converged, target) !== undefined;
}
