import { convergedTemplate } from './attribution.ts';
import type { Standing } from './standing.ts';
import { type Target, nameOf } from './targets.ts';
import type { ConvergedRecord, HeldData } from './model.ts';

export const rulesAdvice =
  "apply the rules of charts/keyframe/files/rollout-rules.yaml to the controller's account, in this namespace or in all";

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

const look = 'see why its pods do not become ready (kubectl describe)';
const again = 'a further change of the data restarts it again';

/** What follows from a workload's being stuck with what is held. */
export function stuckAnswer(facts: RollbackFacts, { facts: { target, failure } }: Standing): StuckAnswer {
  const reason = 'RolloutStuck';
  if (failure.kind === 'unknown') return { reason, message: `${look}; ${again}` };
  if (failure.kind === 'other') {
    const effects =
      facts.onFailure === 'Rollback'
        ? 'no other workload waits for it, and the Secret is not taken back'
        : 'no other workload waits for it';
    return {
      reason,
      message: `this is not taken for the data's doing (${failure.why}), so ${effects}; ${look}; ${again}`,
    };
  }
  const cause =
    failure.kind === 'data'
      ? failure.reason
      : `its pods cannot be looked at, the API server answered ${failure.reason}: ${rulesAdvice}`;
  if (facts.onFailure === 'Hold') {
    return {
      reason,
      message: `${cause}; no other workload is restarted for a further change before it has converged; ${look}; ${again}`,
    };
  }
  const hindrance =
    failure.kind === 'unseen' ? 'so nobody knows whether the data is the reason' : hindranceOf(facts, target);
  if (hindrance !== undefined) {
    return {
      reason: 'RollbackImpossible',
      message: `${cause}; the Secret cannot be taken back: ${hindrance}; ${look}; ${again}`,
      giveUp: failure.kind === 'data' && canBeTried(facts, target) ? giveUp(facts, target, cause) : undefined,
    };
  }
  return {
    reason,
    message: `${cause}; the Secret is about to be taken back to the data with which all workloads converged last`,
    giveUp: giveUp(facts, target, cause),
  };
}

function giveUp({ held }: RollbackFacts, target: Target, reason: string): GiveUp {
  return { held, target, reason: `${nameOf(target)}, ${reason}` };
}

/** Why the Secret cannot go back, as a clause; undefined where nothing is known against it. */
function hindranceOf(facts: RollbackFacts, target: Target): string | undefined {
  if (facts.converged === undefined) return 'its workloads have not converged with any data yet';
  if (convergedTemplate(facts.converged, target) === undefined) {
    return `${nameOf(target)} was not among its workloads when they converged last`;
  }
  return facts.rollbackRefusal;
}

/** Whether it is for the reconcile to find out, as each time anew. */
function canBeTried({ converged }: RollbackFacts, target: Target): boolean {
  return convergedTemplate(converged, target) !== undefined;
}
