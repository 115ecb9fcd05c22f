import { type Retention, judgeRetention } from '../../../domain/retention.ts';
import type { ScheduleRun } from '../../../services/managed/schedules.ts';
import type { CronSchedule } from '../../../lib/cron-schedule.ts';
import { kubeTime } from '../../frame/conditions.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { SnapshotSchedule, SnapshotScheduleSpec } from '../../generated/snapshot-schedule.ts';
import type { Outcome, StatusFields } from '../../frame/outcome.ts';
import { childName } from './child.ts';

/** When a schedule has something to do, what it prunes, and what its status tells. Pure. */

export interface ScheduleMoment {
  readonly times: CronSchedule;
  readonly nowMs: number;
  /** What the schedule made, newest first. */
  readonly runs: readonly ScheduleRun[];
}

/** The latest time of a schedule, as far as something is to be done or told about it. */
export type DueTime =
  | { readonly state: 'none' }
  | { readonly state: 'due'; readonly dueMs: number }
  /** It is too late for it. */
  | { readonly state: 'missed'; readonly dueMs: number };

// A clock that was put back by more than this was wrong before: what it led to is then no reason to wait.
const clockErrorMs = 24 * 3_600_000;
const maxNamed = 100;

/**
 * What is due now. Of times that were missed only the latest counts, and none before the schedule was made; none comes twice,
 * nor does an earlier one after a later one.
 */
export function dueTime(
  { metadata: { creationTimestamp = '' }, spec: { startingDeadlineSeconds } }: SnapshotSchedule,
  { times, nowMs, runs }: ScheduleMoment,
): DueTime {
  const dueMs = times.latestUntil(nowMs);
  if (dueMs === undefined || dueMs <= Date.parse(creationTimestamp)) return { state: 'none' };
  const latest = latestRun(runs, nowMs);
  if (latest !== undefined && latest.dueAt.getTime() >= dueMs) return { state: 'none' };
  const isLate = startingDeadlineSeconds !== undefined && nowMs - dueMs > startingDeadlineSeconds * 1000;
  return { state: isLate ? 'missed' : 'due', dueMs };
}

/** When the schedule comes next. */
export function nextTime({ times, nowMs, runs }: ScheduleMoment): number | undefined {
  return times.nextAfter(Math.max(nowMs, latestRun(runs, nowMs)?.dueAt.getTime() ?? 0));
}

/** One that the schedule made, and that is there. */
export interface PresentChild {
  readonly run: ScheduleRun;
  readonly child: SecretSnapshot;
  /** What refers to it. */
  readonly references: readonly string[];
}

export interface Pruning {
  /** To be deleted now. */
  readonly now: readonly PresentChild[];
  /** Names of those that would be, were the next one taken. */
  readonly next: readonly string[];
}

/** What goes of what the schedule made: nothing without a retention, and nothing while the latest one is not taken. */
export function judgePruning(
  { metadata, spec: { retention, timeZone } }: SnapshotSchedule,
  moment: ScheduleMoment,
  children: readonly PresentChild[],
): Pruning {
  const taken = latestRun(moment.runs, moment.nowMs)?.snapshotId ?? undefined;
  if (retention === undefined || taken === undefined) return { now: [], next: [] };
  const rule = { retention, timeZone, nowMs: moment.nowMs };
  const now = prunedOf(children, rule);
  const nextMs = nextTime(moment);
  if (nextMs === undefined) return { now, next: [] };
  const coming = { name: childName(metadata.name, nextMs), atMs: nextMs };
  const next = prunedOf(children, rule, coming).filter((child) => !now.includes(child));
  return { now, next: next.slice(0, maxNamed).map(({ run }) => run.name) };
}

/** What goes at a moment, or would if one more were taken. */
function prunedOf(
  children: readonly PresentChild[],
  { retention, timeZone, nowMs }: { retention: Retention; timeZone: string; nowMs: number },
  coming?: { readonly name: string; readonly atMs: number },
): readonly PresentChild[] {
  const candidates = children.map(({ run, references }) => ({
    id: run.name,
    atMs: timeOf(run, nowMs),
    isSuccessful: run.snapshotId !== null,
    isOwn: true,
    references,
  }));
  const after = { isSuccessful: true, isOwn: true, references: [] };
  const all = coming === undefined ? candidates : [...candidates, { id: coming.name, atMs: coming.atMs, ...after }];
  const verdicts = judgeRetention(all, retention, timeZone);
  const byName = new Map(children.map((child) => [child.run.name, child]));
  return verdicts.flatMap(({ id, reasons }) => {
    const child = reasons.length === 0 ? byName.get(id) : undefined;
    return child === undefined ? [] : [child];
  });
}

// The time that it was made for; of one that a wrong clock made ahead of its time, the one at which it was taken.
function timeOf({ dueAt, takenAt }: ScheduleRun, nowMs: number): number {
  return (dueAt.getTime() <= nowMs ? dueAt : (takenAt ?? dueAt)).getTime();
}

export interface Settled {
  readonly moment: ScheduleMoment;
  readonly due: DueTime;
  /** The SecretSnapshot of the latest run, if it is there. */
  readonly latestChild: SecretSnapshot | undefined;
  readonly children: number;
  readonly nextToPrune: readonly string[];
}

/** What a reconcile that has nothing left to do comes to. */
export function settledOutcome(spec: SnapshotScheduleSpec, settled: Settled): Outcome<SnapshotSchedule> {
  const { moment, due, latestChild } = settled;
  const nextMs = nextTime(moment);
  const fields = fieldsOf(settled, nextMs);
  const next = nextMs === undefined ? {} : ({ next: { kind: 'after', delayMs: nextMs - moment.nowMs } } as const);
  const coming = nextMs === undefined ? '' : ` The next one is due at ${kubeTime(nextMs)}.`;
  if (due.state === 'missed') {
    const message = `The snapshot of ${kubeTime(due.dueMs)} was not taken: it could not be begun within ${spec.startingDeadlineSeconds} s.${coming}`;
    return { claim: { progress: 'reconciling', reason: 'Missed', message }, fields, ...next };
  }
  const failure = failureOf(latestRun(moment.runs, moment.nowMs), latestChild);
  if (failure !== undefined) {
    const message = `${failure} Nothing is pruned until one is taken.${coming}`;
    return { claim: { progress: 'reconciling', reason: 'SnapshotFailed', message }, fields, ...next };
  }
  const message = nextMs === undefined ? 'No further time comes.' : `The next snapshot is due at ${kubeTime(nextMs)}.`;
  return { claim: { progress: 'done', reason: 'Scheduled', message }, fields, ...next };
}

function failureOf(latest: ScheduleRun | undefined, child: SecretSnapshot | undefined): string | undefined {
  if (latest === undefined || child === undefined || latest.snapshotId !== null) return undefined;
  const ready = child.status?.conditions?.find(({ type }) => type === 'Ready');
  // Not yet, or only just.
  if (ready?.status !== 'False') return undefined;
  return `SecretSnapshot ${latest.name} took no snapshot (${ready.reason}); its conditions say why.`;
}

function fieldsOf(
  { moment, children, nextToPrune }: Settled,
  nextMs: number | undefined,
): StatusFields<SnapshotSchedule> {
  const latest = latestRun(moment.runs, moment.nowMs);
  const newest = moment.runs.find(({ takenAt }) => takenAt !== null)?.takenAt ?? undefined;
  return {
    lastSnapshot: latest === undefined ? undefined : lastSnapshotOf(latest),
    lastSuccessfulTime: newest === undefined ? undefined : kubeTime(newest.getTime()),
    nextTime: nextMs === undefined ? undefined : kubeTime(nextMs),
    snapshotCount: children,
    nextToPrune: nextToPrune.length === 0 ? undefined : [...nextToPrune],
  };
}

function lastSnapshotOf({ name, snapshotId, dueAt }: ScheduleRun): { name: string; snapshotId?: string; time: string } {
  const id = snapshotId === null ? {} : { snapshotId };
  return { name, ...id, time: kubeTime(dueAt.getTime()) };
}

/** The run of the latest time that a clock which is not wrong can have led to. */
export function latestRun(runs: readonly ScheduleRun[], nowMs: number): ScheduleRun | undefined {
  return runs.find(({ dueAt }) => dueAt.getTime() <= nowMs + clockErrorMs);
}
