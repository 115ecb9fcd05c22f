import type { Failure } from './attribution.ts';
import { type Verdict, judgeWorkload } from './judge-workload.ts';
import * as messages from './messages.ts';
import { type RestartMark, markAnnotation, parseMark } from './restart-mark.ts';
import { type Target, type Workload, templateAnnotations } from './targets.ts';
import type { WorkloadObservation } from './workload-watches.ts';
import type { ConvergedRecord, HeldData } from './model.ts';

/** What is known of one workload of a SecretSync. */
export interface WorkloadFacts extends WorkloadObservation {
  readonly target: Target;
  /** Since when a rollout is in progress, regardless of its origin; milliseconds since the epoch. */
  readonly rollingSince: number;
  /** The earliest time of the next restart. */
  readonly restartFrom: number;
  /** How the API server refused the last restart; undefined if it did not. */
  readonly refusal: string | undefined;
  /** How many restarts for this data lost their mark again, in a row. */
  readonly timesUndone: number;
  /** Why it fails, if it is stuck. */
  readonly failure: Failure;
  /** When to observe its pods, if it is stuck: milliseconds since the epoch, Infinity for never. */
  readonly observeFrom: number;
}

export interface AssessmentFacts {
  readonly syncName: string;
  readonly held: HeldData;
  readonly targets: readonly WorkloadFacts[];
  /** What all workloads last converged with. */
  readonly converged: ConvergedRecord | undefined;
  readonly timeoutMs: number;
  readonly now: number;
}

/** The state of an existing workload relative to the data that the Secret holds. */
export interface WorkloadAssessment {
  readonly facts: WorkloadFacts;
  readonly workload: Workload;
  readonly verdict: Verdict;
  readonly mark: RestartMark | undefined;
  /** Whether all pods of its present template were started with the held data. */
  readonly isMarked: boolean;
  /** Whether its rollout continues only after a user's action or another restart. */
  readonly isStuck: boolean;
}

// A restart joins one that began this recently: most pods of that one have not started yet.
export const joinMs = 5000;

/** Assesses a workload; undefined if it does not exist, or is not known yet. */
export function assess(
  { syncName, held, timeoutMs, now }: AssessmentFacts,
  facts: WorkloadFacts,
): WorkloadAssessment | undefined {
  const { target, workload, rollingSince, isForbidden, isSeen } = facts;
  if (isForbidden || !isSeen || workload === undefined || workload.metadata.deletionTimestamp !== undefined)
    return undefined;
  const verdict = judgeWorkload(target.kind, workload);
  const mark = markOf(workload, syncName);
  const isStuck = verdict.state === 'stuck' || (verdict.state === 'rolling' && now >= rollingSince + timeoutMs);
  return { facts, workload, verdict, mark, isMarked: isMarkedFor(held, mark), isStuck };
}

/** The mark of a workload's last restart for a SecretSync, from its pod template. */
export function markOf(workload: Workload, syncName: string): RestartMark | undefined {
  return parseMark(templateAnnotations(workload)[markAnnotation(syncName)]);
}

/**
 * Whether all pods of a workload's present template were started with the held data. The data may have changed and changed
 * back since: then the mark names it, but is older than the data.
 */
export function isMarkedFor({ data, since = -Infinity }: HeldData, mark: RestartMark | undefined): boolean {
  // A mark has a resolution of one second.
  return mark?.data === data && mark.at >= Math.floor(since / 1000) * 1000;
}

/**
 * Why another workload blocks the restart of this one for the held data, as a clause; undefined if none does. A workload that
 * failed is restarted first, and the others once it has converged. The order follows from the workloads alone, so it
 * survives a restart of the controller. Data with which all have converged is known to be good.
 */
export function blockerOf(
  facts: AssessmentFacts,
  own: WorkloadAssessment,
  all: readonly WorkloadAssessment[],
): string | undefined {
  if (isFailed(facts, own) || facts.held.data === facts.converged?.data) return undefined;
  const others = all.filter((assessment) => assessment !== own);
  const failed = others.find((assessment) => isFailed(facts, assessment));
  if (failed !== undefined) {
    const { target, failure } = failed.facts;
    const cause = failure.kind === 'data' ? failure.reason : undefined;
    return messages.failedBefore(target, failed.mark?.revision ?? 0, cause);
  }
  // A workload that was due together with them, but was refused, does not wait for them.
  const isLate = own.facts.refusal !== undefined;
  const rolling = others.find((assessment) => isRollingAhead(facts, assessment, isLate));
  if (rolling === undefined) return undefined;
  return messages.restartedBefore(rolling.facts.target, rolling.verdict.message);
}

/**
 * Whether a workload fails because of data that it was restarted for, as far as is known. A crashing pod runs in between, and
 * the Deployment counts that as progress: once a pod was observed to fail, the workload has failed until all pods are ready.
 */
function isFailed({ converged }: AssessmentFacts, { mark, isStuck, verdict, facts }: WorkloadAssessment): boolean {
  if (mark === undefined || mark.data === converged?.data) return false;
  const { kind } = facts.failure;
  return isStuck ? kind !== 'other' : kind === 'data' && verdict.state === 'rolling';
}

function isRollingAhead(
  { held, converged, now }: AssessmentFacts,
  { mark, isMarked, isStuck, verdict }: WorkloadAssessment,
  isLate: boolean,
): boolean {
  if (mark === undefined || isStuck || verdict.state !== 'rolling' || mark.data === converged?.data) return false;
  if (mark.isAhead === true) return true;
  return !isLate && isMarked && mark.data === held.data && now >= mark.at + joinMs;
}
