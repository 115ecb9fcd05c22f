import type { ConditionClaim } from '../conditions.ts';
import { type Verdict, judgeWorkload } from './judge-workload.ts';
import { type RestartMark, markAnnotation, markPrefix, parseMark } from './restart-mark.ts';
import { type Target, type Workload, type WorkloadRow, nameOf, templateAnnotations } from './targets.ts';
import type { WorkloadLook } from './workload-watches.ts';

/** What a Secret holds. */
export interface HeldData {
  /** 0 where the data is of several sources, which have no revision together. */
  readonly revision: number;
  /** What is said instead of the revision then. */
  readonly told?: string;
  readonly revisionId: string;
  /** See `dataMark`. */
  readonly data: string;
  /** Since when, where it was seen to change: what was restarted before may have read other data since. */
  readonly since?: number | undefined;
}

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
}

export interface RolloutFacts {
  readonly syncName: string;
  readonly held: HeldData;
  readonly targets: readonly TargetFacts[];
  readonly timeoutMs: number;
  /** As the spec has it, for people. */
  readonly timeout: string;
  readonly now: number;
}

export interface RolloutPlan {
  readonly claim: ConditionClaim;
  readonly workloads: readonly WorkloadRow[];
  readonly restarts: readonly { readonly target: Target; readonly workload: Workload }[];
  /** When to look again though no event asks for it; milliseconds since the epoch. */
  readonly wakeAt: number | undefined;
}

export type RolloutReason =
  | 'Converged'
  | 'RollingOut'
  | 'RolloutPending'
  | 'RolloutHeld'
  | 'RolloutStuck'
  | 'RolloutUndone'
  | 'WorkloadNotFound'
  | 'RolloutsForbidden';

// A rollout that another SecretSync's restart began so short a while ago is joined: most of its pods are still to be started.
const joinMs = 5000;
// The message tells of so many workloads.
const mostTold = 4;

// The one that somebody has to do something about comes first, and gives the condition its reason.
const gravity: readonly RolloutReason[] = [
  'RolloutsForbidden',
  'WorkloadNotFound',
  'RolloutUndone',
  'RolloutStuck',
  'RolloutHeld',
  'RolloutPending',
  'RollingOut',
  'Converged',
];

interface Finding {
  readonly reason: RolloutReason;
  /** Behind the workload's name. */
  readonly message: string;
  readonly row: WorkloadRow;
  readonly restart?: Workload;
  readonly wakeAt?: number;
}

/** What to do about the workloads of a SecretSync and what to tell of them, from what was seen alone. */
export function planRollout(facts: RolloutFacts): RolloutPlan {
  const findings = facts.targets.map((target) => ({ target: target.target, finding: find(facts, target) }));
  const all = findings.map(({ finding }) => finding);
  const wakes = all.flatMap(({ wakeAt }) => (wakeAt === undefined ? [] : [wakeAt]));
  return {
    claim: claimOf(facts, findings),
    workloads: all.map(({ row }) => row),
    restarts: findings.flatMap(({ target, finding: { restart } }) =>
      restart === undefined ? [] : [{ target, workload: restart }],
    ),
    wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes),
  };
}

function find(facts: RolloutFacts, target: TargetFacts): Finding {
  const { kind, name } = target.target;
  const row = { kind, name };
  if (target.isForbidden) {
    return { reason: 'RolloutsForbidden', message: `cannot be watched: ${rulesAdvice}`, row };
  }
  if (!target.isSeen) return { reason: 'RolloutPending', message: 'is about to be looked at', row };
  const { workload } = target;
  if (workload === undefined || workload.metadata.deletionTimestamp !== undefined) {
    const message = 'is not in this namespace: make it, or take it out of spec.rollout.targets';
    return { reason: 'WorkloadNotFound', message, row };
  }
  const verdict = judgeWorkload(kind, workload);
  const mark = markOf(workload, facts.syncName);
  const isMarked = isMarkedFor(facts.held, mark);
  const revision = isMarked ? facts.held.revision : mark?.revision;
  const counts = { replicas: verdict.replicas, updatedReplicas: verdict.updatedReplicas };
  const hasRevision = revision !== undefined && facts.held.told === undefined;
  const full = { ...row, ...(hasRevision ? { revision } : {}), ...counts };
  const found = isMarked ? findMarked(facts, target, verdict) : findPending(facts, target, { workload, verdict });
  return { ...found, row: full };
}

function revisionText({ revision, told }: HeldData): string {
  return told ?? `revision ${revision}`;
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

const rulesAdvice =
  "apply the rules of charts/keyframe/files/rollout-rules.yaml to the controller's account, in this namespace or in all";

/** Its pods are to run with the data that is held: how far they are. */
function findMarked(facts: RolloutFacts, target: TargetFacts, { state, message }: Verdict): Omit<Finding, 'row'> {
  const stuckAt = target.rollingSince + facts.timeoutMs;
  if (state === 'done') return { reason: 'Converged', message };
  if (state === 'held') return { reason: 'RolloutHeld', message: `waits: ${message}` };
  if (state === 'rolling' && facts.now < stuckAt) return { reason: 'RollingOut', message, wakeAt: stuckAt };
  const since = state === 'stuck' ? '' : ` after ${facts.timeout}`;
  const advice =
    'see why its pods do not become ready (kubectl describe); a further change of the data restarts it again';
  return { reason: 'RolloutStuck', message: `is stuck${since}: ${message}; ${advice}` };
}

/** Its pods run with other data: whether it is to be restarted now. */
function findPending(
  { syncName, held, now, timeoutMs, timeout }: RolloutFacts,
  { refusal, restartFrom, rollingSince, timesUndone }: TargetFacts,
  { workload, verdict }: { readonly workload: Workload; readonly verdict: Verdict },
): Omit<Finding, 'row'> {
  const pending = { reason: 'RolloutPending' } as const;
  const what = `is to be restarted for ${revisionText(held)}`;
  const refused = {
    reason: 'RolloutsForbidden',
    message: `cannot be restarted, the API server answered ${refusal}: ${rulesAdvice}, or see which admission policy refuses it`,
  } as const;
  if (now < restartFrom) {
    const wait = { wakeAt: restartFrom };
    if (refusal !== undefined) return { ...refused, ...wait };
    if (timesUndone < 2) return { ...pending, message: `${what} in a moment`, ...wait };
    return { reason: 'RolloutUndone', message: undone(syncName, timesUndone), ...wait };
  }
  const restartAt = rollingSince + timeoutMs;
  if (verdict.state === 'rolling' && now < restartAt && now >= newestMarkAt(workload, syncName) + joinMs) {
    const message = `${what} when the rollout under way is done, or has taken ${timeout}: ${verdict.message}`;
    return { ...pending, message, wakeAt: restartAt };
  }
  if (refusal === undefined) return { ...pending, message: `${what} now`, restart: workload };
  return { ...refused, restart: workload };
}

function undone(syncName: string, times: number): string {
  return (
    `was restarted ${times} times for the same data and lost the annotation ${markAnnotation(syncName)} of its pod ` +
    'template each time: have whatever takes it away leave it; it is restarted again, ever more rarely'
  );
}

/** When a workload was last restarted for any SecretSync, but for one if it is named; -Infinity where it never was. */
export function newestMarkAt(workload: Workload, exceptFor?: string): number {
  const own = exceptFor === undefined ? undefined : markAnnotation(exceptFor);
  const isCounted = (key: string): boolean => key.startsWith(markPrefix) && key !== own;
  const marks = Object.entries(templateAnnotations(workload)).filter(([key]) => isCounted(key));
  return Math.max(-Infinity, ...marks.map(([, text]) => parseMark(text)?.at ?? -Infinity));
}

function claimOf(
  { held }: RolloutFacts,
  findings: readonly { readonly target: Target; readonly finding: Finding }[],
): ConditionClaim {
  const type = 'Converged';
  const worst = gravity.find((reason) => findings.some(({ finding }) => finding.reason === reason)) ?? 'Converged';
  if (worst === 'Converged') {
    const message = `All pods of ${findings.map(({ target }) => nameOf(target)).join(', ')} run with the data of ${revisionText(held)}.`;
    return { type, status: 'True', reason: worst, message };
  }
  const open = findings
    .filter(({ finding }) => finding.reason !== 'Converged')
    .toSorted((a, b) => gravity.indexOf(a.finding.reason) - gravity.indexOf(b.finding.reason));
  const told = open.slice(0, mostTold).map(({ target, finding }) => `${nameOf(target)} ${phrase(finding)}.`);
  const more = open.length > mostTold ? [`So it is with ${open.length - mostTold} more.`] : [];
  const status = worst === 'RolloutsForbidden' ? 'Unknown' : 'False';
  return { type, status, reason: worst, message: [...told, ...more].join(' ') };
}

function phrase({ reason, message }: Finding): string {
  return reason === 'RollingOut' ? `rolls out: ${message}` : message;
}
