import type { ConditionClaim } from '../../frame/conditions.ts';
import * as messages from './messages.ts';
import { markAnnotation, parseMark } from './restart-mark.ts';
import { type Standing, type StandingFacts, type TargetFacts, blockerOf, joinMs, standingOf } from './standing.ts';
import { type RollbackFacts, type StuckAnswer, stuckAnswer } from './stuck.ts';
import { type Target, type Workload, templateAnnotations } from './targets.ts';
import { restartPrefix } from '../../annotations.ts';
import type { ConvergedRecord, WorkloadRow } from './model.ts';

export interface RolloutFacts extends StandingFacts, RollbackFacts {
  /** As the spec has it, for people. */
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
    /** Whether others wait until it has converged. */
    readonly isAhead: boolean;
  })[];
  /** Stuck ones whose pods are to be looked at. */
  readonly looks: readonly Task[];
  /** Where it has to be given up: the workload that fails with what is held. */
  readonly giveUp: StuckAnswer['giveUp'];
  /** What to record where all have converged. */
  readonly converged: ConvergedRecord | undefined;
  /** When to look again though no event asks for it; milliseconds since the epoch. */
  readonly wakeAt: number | undefined;
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

// The one that somebody has to do something about comes first, and gives the condition its reason.
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
  /** Behind the workload's name. */
  readonly message: string;
  readonly row: WorkloadRow;
  readonly restart?: Workload;
  readonly look?: Workload;
  readonly giveUp?: StuckAnswer['giveUp'];
  readonly wakeAt?: number;
}

/** What a judgement of one workload that is there adds. */
type Found = Omit<Finding, 'row' | 'target'>;

/** What to do about the workloads of a SecretSync and what to tell of them, from what was seen alone. */
export function planRollout(facts: RolloutFacts): RolloutPlan {
  const standings = new Map(facts.targets.map((target) => [target, standingOf(facts, target)]));
  const all = [...standings.values()].filter((standing) => standing !== undefined);
  const findings = facts.targets.map((target) => find(facts, target, { own: standings.get(target), all }));
  const wakes = findings.flatMap(({ wakeAt }) => (wakeAt === undefined || wakeAt === Infinity ? [] : [wakeAt]));
  const isAhead = findings.some(({ reason }) => reason === 'RolloutBlocked');
  const claim = claimOf(facts, findings);
  return {
    claim,
    workloads: findings.map(({ row }) => row),
    restarts: findings.flatMap(({ target, restart: workload }) =>
      workload === undefined ? [] : [{ target, workload, isAhead }],
    ),
    looks: findings.flatMap(({ target, look: workload }) => (workload === undefined ? [] : [{ target, workload }])),
    giveUp: findings.find(({ giveUp }) => giveUp !== undefined)?.giveUp,
    converged: claim.status === 'True' ? convergedRecord(facts, all) : undefined,
    wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes),
  };
}

function convergedRecord({ held }: RolloutFacts, all: readonly Standing[]): ConvergedRecord {
  const { data, sources } = held;
  const targets = all.flatMap(({ facts: { target }, workload: { templateDigest: template } }) =>
    template === undefined ? [] : [{ kind: target.kind, name: target.name, template }],
  );
  return { data, sources: [...sources], targets };
}

function find(
  facts: RolloutFacts,
  { target, isForbidden, isSeen }: TargetFacts,
  { own, all }: { readonly own: Standing | undefined; readonly all: readonly Standing[] },
): Finding {
  const { kind, name } = target;
  const row = { kind, name };
  if (isForbidden) return { target, reason: 'RolloutsForbidden', message: messages.forbidden, row };
  if (!isSeen) return { target, reason: 'RolloutPending', message: messages.unseen, row };
  if (own === undefined) return { target, reason: 'WorkloadNotFound', message: messages.notFound, row };
  const { verdict, isMarked, mark } = own;
  const revision = facts.held.told !== undefined ? undefined : isMarked ? facts.held.revision : mark?.revision;
  const counts = { replicas: verdict.replicas, updatedReplicas: verdict.updatedReplicas };
  const found = isMarked ? findMarked(facts, own) : findPending(facts, own, blockerOf(facts, own, all));
  return { target, ...found, row: { ...row, ...(revision === undefined ? {} : { revision }), ...counts } };
}

/** Its pods are to run with the data that is held: how far they are. */
function findMarked(facts: RolloutFacts, own: Standing): Found {
  const { state, message } = own.verdict;
  if (state === 'done') return { reason: 'Converged', message };
  if (state === 'held') return { reason: 'RolloutHeld', message: messages.waiting(message) };
  if (!own.isStuck) {
    const wakeAt = own.facts.rollingSince + facts.timeoutMs;
    return { reason: 'RollingOut', message: messages.rollingOut(message), wakeAt };
  }
  const timeout = state === 'stuck' ? undefined : facts.timeout;
  const answer = stuckAnswer(facts, own);
  return { ...answer, message: messages.stuck(message, answer.message, timeout), ...lookAt(facts, own) };
}

/** The look at a stuck workload's pods: now, or the time for it. */
function lookAt({ now }: RolloutFacts, { facts: { lookFrom }, workload }: Standing): Pick<Found, 'look' | 'wakeAt'> {
  return now >= lookFrom ? { look: workload } : { wakeAt: lookFrom };
}

/** Its pods run with other data: whether it is to be restarted now. */
function findPending(facts: RolloutFacts, own: Standing, blocker: string | undefined): Found {
  const { refusal, restartFrom } = own.facts;
  // Whether others have to wait for it depends on what it fails of.
  const seen = own.isStuck && own.mark !== undefined && facts.targets.length > 1 ? lookAt(facts, own) : {};
  const isEarly = facts.now < restartFrom;
  if (refusal !== undefined && isEarly) return { ...seen, ...refused(refusal), wakeAt: restartFrom };
  if (blocker !== undefined) return { reason: 'RolloutBlocked', message: messages.restartBlocked(facts.held, blocker) };
  const wait = isEarly ? findEarly(facts, own) : findWaiting(facts, own);
  if (wait !== undefined) return { ...seen, ...wait };
  const restart = { ...seen, restart: own.workload };
  if (refusal !== undefined) return { ...refused(refusal), ...restart };
  return { reason: 'RolloutPending', message: messages.restartNow(facts.held), ...restart };
}

/** What else its restart waits for; undefined where it is to be made now. */
function findWaiting(facts: RolloutFacts, { workload, verdict, isStuck, facts: own }: Standing): Found | undefined {
  const reason = 'RolloutPending';
  const unseen = facts.targets.find(({ isSeen, isForbidden }) => !isSeen && !isForbidden);
  // It may be one that failed.
  if (unseen !== undefined) return { reason, message: messages.restartAfterLook(facts.held, unseen.target) };
  const isJoined = facts.now < newestMarkAt(workload, facts.syncName) + joinMs;
  if (verdict.state !== 'rolling' || isStuck || isJoined) return undefined;
  const message = messages.restartAfterRollout(facts.held, facts.timeout, verdict.message);
  return { reason, message, wakeAt: own.rollingSince + facts.timeoutMs };
}

function refused(refusal: string): Pick<Found, 'reason' | 'message'> {
  return { reason: 'RolloutsForbidden', message: messages.restartRefused(refusal) };
}

/** It is too early for its restart. */
function findEarly(facts: RolloutFacts, { facts: { restartFrom, timesUndone } }: Standing): Found {
  const wait = { wakeAt: restartFrom };
  if (timesUndone < 2) return { reason: 'RolloutPending', message: messages.restartSoon(facts.held), ...wait };
  return { reason: 'RolloutUndone', message: messages.restartUndone(facts.syncName, timesUndone), ...wait };
}

/** When a workload was last restarted for any SecretSync, but for one if it is named; -Infinity where it never was. */
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
