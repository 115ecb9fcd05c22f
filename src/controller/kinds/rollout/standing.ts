import type { Failure } from './attribution.ts';
import { type Verdict, judgeWorkload } from './judge-workload.ts';
import * as messages from './messages.ts';
import { type RestartMark, markAnnotation, parseMark } from './restart-mark.ts';
import { type Target, type Workload, templateAnnotations } from './targets.ts';
import type { WorkloadLook } from './workload-watches.ts';
import type { ConvergedRecord, HeldData } from './model.ts';

/** What is known of one workload of a SecretSync. */
export interface TargetFacts extends WorkloadLook {
  readonly target: Target;
  /** Since when a rollout is under way, whoever began it; milliseconds since the epoch. */
  readonly rollingSince: number;
  /** The earliest moment of the next restart. */
  readonly restartFrom: number;
  /** How the API server refused the last restart; undefined where it did not. */
  readonly refusal: string | undefined;
  /** How many restarts for just this data lost their mark again, in a row. */
  readonly timesUndone: number;
  /** What it fails of, if it is stuck. */
  readonly failure: Failure;
  /** When its pods are worth a look, if it is stuck: milliseconds since the epoch, Infinity for never. */
  readonly lookFrom: number;
}

export interface StandingFacts {
  readonly syncName: string;
  readonly held: HeldData;
  readonly targets: readonly TargetFacts[];
  /** What they converged with last. */
  readonly converged: ConvergedRecord | undefined;
  readonly timeoutMs: number;
  readonly now: number;
}

/** How a workload that is there stands to what the Secret holds. */
export interface Standing {
  readonly facts: TargetFacts;
  readonly workload: Workload;
  readonly verdict: Verdict;
  readonly mark: RestartMark | undefined;
  /** Whether all pods of its present template were started with what is held. */
  readonly isMarked: boolean;
  /** Whether its rollout goes on only when somebody does something, or when it is restarted. */
  readonly isStuck: boolean;
}

// What was restarted so short a while ago is joined: most of its pods are still to be started.
export const joinMs = 5000;

/** How a workload stands; undefined where it is not there, or is not known. */
export function standingOf(
  { syncName, held, timeoutMs, now }: StandingFacts,
  facts: TargetFacts,
): Standing | undefined {
  const { target, workload, rollingSince, isForbidden, isSeen } = facts;
  if (isForbidden || !isSeen || workload === undefined || workload.metadata.deletionTimestamp !== undefined)
    return undefined;
  const verdict = judgeWorkload(target.kind, workload);
  const mark = markOf(workload, syncName);
  const isStuck = verdict.state === 'stuck' || (verdict.state === 'rolling' && now >= rollingSince + timeoutMs);
  return { facts, workload, verdict, mark, isMarked: isMarkedFor(held, mark), isStuck };
}

/** What a workload's pod template tells of its last restart for a SecretSync. */
export function markOf(workload: Workload, syncName: string): RestartMark | undefined {
  return parseMark(templateAnnotations(workload)[markAnnotation(syncName)]);
}

/**
 * Whether all pods of a workload's present template were started with what is held. The data may have been other data
 * meanwhile and be again what it was: then the mark tells it, but of an earlier time.
 */
export function isMarkedFor({ data, since = -Infinity }: HeldData, mark: RestartMark | undefined): boolean {
  // A mark knows no fractions of a second.
  return mark?.data === data && mark.at >= Math.floor(since / 1000) * 1000;
}

/**
 * Which of the others keeps a workload from being restarted for what is held, as a clause; undefined where none does. One
 * that failed goes first, and the others only when it has converged: from the workloads alone, so that it is the same
 * after each restart of the controller. What all have converged with is known to be good.
 */
export function blockerOf(facts: StandingFacts, own: Standing, all: readonly Standing[]): string | undefined {
  if (isFailed(facts, own) || facts.held.data === facts.converged?.data) return undefined;
  const others = all.filter((standing) => standing !== own);
  const failed = others.find((standing) => isFailed(facts, standing));
  if (failed !== undefined) {
    const { target, failure } = failed.facts;
    const cause = failure.kind === 'data' ? failure.reason : undefined;
    return messages.failedBefore(target, failed.mark?.revision ?? 0, cause);
  }
  // One that was to be restarted together with them, and was refused, does not wait for them.
  const isLate = own.facts.refusal !== undefined;
  const rolling = others.find((standing) => isRollingAhead(facts, standing, isLate));
  if (rolling === undefined) return undefined;
  return messages.restartedBefore(rolling.facts.target, rolling.verdict.message);
}

/**
 * Whether a workload fails because of data that it was restarted for, as far as is known. A pod that crashes over and over
 * runs in between, and the Deployment then calls that progress: one whose pods were seen to fail has failed until all are there.
 */
function isFailed({ converged }: StandingFacts, { mark, isStuck, verdict, facts }: Standing): boolean {
  if (mark === undefined || mark.data === converged?.data) return false;
  const { kind } = facts.failure;
  return isStuck ? kind !== 'other' : kind === 'data' && verdict.state === 'rolling';
}

function isRollingAhead(
  { held, converged, now }: StandingFacts,
  { mark, isMarked, isStuck, verdict }: Standing,
  isLate: boolean,
): boolean {
  if (mark === undefined || isStuck || verdict.state !== 'rolling' || mark.data === converged?.data) return false;
  if (mark.isAhead === true) return true;
  return !isLate && isMarked && mark.data === held.data && now >= mark.at + joinMs;
}
