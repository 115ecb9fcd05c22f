import type { ConditionClaim } from '../../frame/conditions.ts';
import * as messages from './messages.ts';
import { markAnnotation, parseMark } from './restart-mark.ts';
import {
  type WorkloadAssessment,
  type AssessmentFacts,
  type WorkloadFacts,
  blockerOf,
  joinMs,
  assess,
} from './assessment.ts';
import { type RollbackFacts, type StuckOutcome, stuckOutcome } from './stuck.ts';
import { type Target, type Workload, templateAnnotations } from './targets.ts';
import { restartPrefix } from '../../annotations.ts';
import type { ConvergedRecord, WorkloadRow } from './model.ts';

export interface RolloutFacts extends AssessmentFacts, RollbackFacts {
  /** As written in the spec, for messages. */
  readonly timeout: string;
}

/** Something to do about a workload as it was judged. */
export interface Task {
  readonly target: Target;
  readonly workload: Workload;
}

export interface RolloutPlan {
  readonly claim: ConditionClaim;
  readonly workloads: readonly WorkloadRow[];
  readonly restarts: readonly (Task & {
    /** Whether other workloads wait until it has converged. */
    readonly isAhead: boolean;
  })[];
  /** Stuck workloads whose pods must be observed. */
  readonly podChecks: readonly Task[];
  /** The held data, if a workload fails with it and the Secret must be rolled back. */
  readonly abandoned: StuckOutcome['abandoned'];
  /** What to record if all have converged. */
  readonly converged: ConvergedRecord | undefined;
  /** When to plan again without an event; milliseconds since the epoch. */
  readonly dueAt: number | undefined;
}

export type RolloutReason =
  | 'Converged'
  | 'RollingOut'
  | 'RolloutPending'
  | 'RolloutHeld'
  | 'RolloutBlocked'
  | 'RolloutStuck'
  | 'RollbackImpossible'
  | 'RolloutUndone'
  | 'WorkloadNotFound'
  | 'RolloutsForbidden';

// Reasons that need a user's action come first. The first one becomes the reason of the condition.
const gravity: readonly RolloutReason[] = [
  'RolloutsForbidden',
  'WorkloadNotFound',
  'RolloutUndone',
  'RollbackImpossible',
  'RolloutStuck',
  'RolloutBlocked',
  'RolloutHeld',
  'RolloutPending',
  'RollingOut',
  'Converged',
];

interface Finding {
  readonly target: Target;
  readonly reason: RolloutReason;
  /** A clause that follows the workload's name. */
  readonly message: string;
  readonly row: WorkloadRow;
  readonly restart?: Workload;
  readonly podCheck?: Workload;
  readonly abandoned?: StuckOutcome['abandoned'];
  readonly dueAt?: number;
}

/** What the judgement of one existing workload adds. */
type Found = Omit<Finding, 'row' | 'target'>;

/** What to do about the workloads of a SecretSync and what to report of them. Pure. */
export function planRollout(facts: RolloutFacts): RolloutPlan {
  const assessments = new Map(facts.targets.map((target) => [target, assess(facts, target)]));
  const all = [...assessments.values()].filter((assessment) => assessment !== undefined);
  const findings = facts.targets.map((target) => find(facts, target, { own: assessments.get(target), all }));
  const dueTimes = findings.flatMap(({ dueAt }) => (dueAt === undefined || dueAt === Infinity ? [] : [dueAt]));
  const isAhead = findings.some(({ reason }) => reason === 'RolloutBlocked');
  const claim = claimOf(facts, findings);
  return {
    claim,
    workloads: findings.map(({ row }) => row),
    restarts: findings.flatMap(({ target, restart: workload }) =>
      workload === undefined ? [] : [{ target, workload, isAhead }],
    ),
    podChecks: findings.flatMap(({ target, podCheck: workload }) =>
      workload === undefined ? [] : [{ target, workload }],
    ),
    abandoned: findings.find(({ abandoned }) => abandoned !== undefined)?.abandoned,
    converged: claim.status === 'True' ? convergedRecord(facts, all) : undefined,
    dueAt: dueTimes.length === 0 ? undefined : Math.min(...dueTimes),
  };
}

function convergedRecord({ held }: RolloutFacts, all: readonly WorkloadAssessment[]): ConvergedRecord {
  const { data, sources } = held;
  const targets = all.flatMap(({ facts: { target }, workload: { templateDigest: template } }) =>
    template === undefined ? [] : [{ kind: target.kind, name: target.name, template }],
  );
  return { data, sources: [...sources], targets };
}

function find(
  facts: RolloutFacts,
  { target, isForbidden, isSeen }: WorkloadFacts,
  { own, all }: { readonly own: WorkloadAssessment | undefined; readonly all: readonly WorkloadAssessment[] },
): Finding {
  const { kind, name } = target;
  const row = { kind, name };
  if (isForbidden) return { target, reason: 'RolloutsForbidden', message: messages.forbidden, row };
  if (!isSeen) return { target, reason: 'RolloutPending', message: messages.unseen, row };
  if (own === undefined) return { target, reason: 'WorkloadNotFound', message: messages.notFound, row };
  const { verdict, isMarked, mark } = own;
  const revision = facts.held.label !== undefined ? undefined : isMarked ? facts.held.revision : mark?.revision;
  const counts = { replicas: verdict.replicas, updatedReplicas: verdict.updatedReplicas };
  const found = isMarked ? findMarked(facts, own) : findPending(facts, own, blockerOf(facts, own, all));
  return { target, ...found, row: { ...row, ...(revision === undefined ? {} : { revision }), ...counts } };
}

/** Its pods must run with the held data: reports their progress. */
function findMarked(facts: RolloutFacts, own: WorkloadAssessment): Found {
  const { state, message } = own.verdict;
  if (state === 'done') return { reason: 'Converged', message };
  if (state === 'held') return { reason: 'RolloutHeld', message: messages.waiting(message) };
  if (!own.isStuck) {
    const dueAt = own.facts.rollingSince + facts.timeoutMs;
    return { reason: 'RollingOut', message: messages.rollingOut(message), dueAt };
  }
  const timeout = state === 'stuck' ? undefined : facts.timeout;
  const answer = stuckOutcome(facts, own);
  return { ...answer, message: messages.stuck(message, answer.message, timeout), ...podCheckOf(facts, own) };
}

/** The observation of a stuck workload's pods: now, or the time for it. */
function podCheckOf(
  { now }: RolloutFacts,
  { facts: { observeFrom }, workload }: WorkloadAssessment,
): Pick<Found, 'podCheck' | 'dueAt'> {
  return now >= observeFrom ? { podCheck: workload } : { dueAt: observeFrom };
}

/** Its pods run with other data: decides whether it is restarted now. */
function findPending(facts: RolloutFacts, own: WorkloadAssessment, blocker: string | undefined): Found {
  const { refusal, restartFrom } = own.facts;
  // Whether others must wait for it depends on why it fails.
  const seen = own.isStuck && own.mark !== undefined && facts.targets.length > 1 ? podCheckOf(facts, own) : {};
  const isEarly = facts.now < restartFrom;
  if (refusal !== undefined && isEarly) return { ...seen, ...refused(refusal), dueAt: restartFrom };
  if (blocker !== undefined) return { reason: 'RolloutBlocked', message: messages.restartBlocked(facts.held, blocker) };
  const wait = isEarly ? findEarly(facts, own) : findWaiting(facts, own);
  if (wait !== undefined) return { ...seen, ...wait };
  const restart = { ...seen, restart: own.workload };
  if (refusal !== undefined) return { ...refused(refusal), ...restart };
  return { reason: 'RolloutPending', message: messages.restartNow(facts.held), ...restart };
}

/** What else its restart waits for; undefined if it is due now. */
function findWaiting(
  facts: RolloutFacts,
  { workload, verdict, isStuck, facts: own }: WorkloadAssessment,
): Found | undefined {
  const reason = 'RolloutPending';
  const unseen = facts.targets.find(({ isSeen, isForbidden }) => !isSeen && !isForbidden);
  // It may be one that failed.
  if (unseen !== undefined) return { reason, message: messages.restartAfterRead(facts.held, unseen.target) };
  const isJoined = facts.now < newestMarkAt(workload, facts.syncName) + joinMs;
  if (verdict.state !== 'rolling' || isStuck || isJoined) return undefined;
  const message = messages.restartAfterRollout(facts.held, facts.timeout, verdict.message);
  return { reason, message, dueAt: own.rollingSince + facts.timeoutMs };
}

function refused(refusal: string): Pick<Found, 'reason' | 'message'> {
  return { reason: 'RolloutsForbidden', message: messages.restartRefused(refusal) };
}

/** It is too early for its restart. */
function findEarly(facts: RolloutFacts, { facts: { restartFrom, timesUndone } }: WorkloadAssessment): Found {
  const wait = { dueAt: restartFrom };
  if (timesUndone < 2) return { reason: 'RolloutPending', message: messages.restartSoon(facts.held), ...wait };
  return { reason: 'RolloutUndone', message: messages.restartUndone(facts.syncName, timesUndone), ...wait };
}

/** When a workload was last restarted for any SecretSync other than `exceptFor`; -Infinity if it never was. */
export function newestMarkAt(workload: Workload, exceptFor?: string): number {
  const own = exceptFor === undefined ? undefined : markAnnotation(exceptFor);
  const isCounted = (key: string): boolean => key.startsWith(restartPrefix) && key !== own;
  const marks = Object.entries(templateAnnotations(workload)).filter(([key]) => isCounted(key));
  return Math.max(-Infinity, ...marks.map(([, text]) => parseMark(text)?.at ?? -Infinity));
}

function claimOf({ held }: RolloutFacts, findings: readonly Finding[]): ConditionClaim {
  const type = 'Converged';
  const worst = gravity.find((reason) => findings.some((finding) => finding.reason === reason)) ?? 'Converged';
  if (worst === 'Converged') {
    const targets = findings.map(({ target }) => target);
    return { type, status: 'True', reason: worst, message: messages.allConverged(targets, held) };
  }
  const open = findings
    .filter(({ reason }) => reason !== 'Converged')
    .toSorted((a, b) => gravity.indexOf(a.reason) - gravity.indexOf(b.reason));
  const status = worst === 'RolloutsForbidden' ? 'Unknown' : 'False';
  return { type, status, reason: worst, message: messages.notConverged(open) };
}
