import { type Retention, judgeRetention } from '../../../domain/retention.ts';
import type { ScheduleRun } from '../../../domain/resources/schedules.ts';
import type { CronSchedule } from '../../../lib/cron-schedule.ts';
import { kubeTime } from '../../frame/conditions.ts';
import type { SecretSnapshot } from '../../generated/secret-snapshot.ts';
import type { SnapshotSchedule, SnapshotScheduleSpec } from '../../generated/snapshot-schedule.ts';
import type { Outcome, StatusFields } from '../../frame/outcome.ts';
import { childName, parseChildName } from './child.ts';
import * as messages from './messages.ts';

/** When a schedule is due, what it prunes, and the outcome. Pure functions. */

export interface ScheduleMoment {
  readonly times: CronSchedule;
  readonly nowMs: number;
  /** What the schedule created, newest first. */
  readonly runs: readonly ScheduleRun[];
}

/** The latest time of a schedule, if it needs an action or a message. */
export type DueTime =
  | { readonly state: 'none' }
  | { readonly state: 'due'; readonly dueMs: number }
  /** The deadline of this time has passed. */
  | { readonly state: 'missed'; readonly dueMs: number };

// A run that is further in the future was caused by a wrong clock. It does not delay the next run.
const clockErrorMs = 24 * 3_600_000;
const maxNamed = 100;

/**
 * What is due now. Of several missed times only the latest counts, and no time before the creation of the schedule. Times
 * are never repeated and never run out of order.
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

/** The next time of the schedule. */
export function nextTime({ times, nowMs, runs }: ScheduleMoment): number | undefined {
  return times.nextAfter(Math.max(nowMs, latestRun(runs, nowMs)?.dueAt.getTime() ?? 0));
}

/** An existing SecretSnapshot that the schedule created. */
export interface PresentChild {
  readonly run: ScheduleRun;
  readonly child: SecretSnapshot;
  /** What refers to it, for users. */
  readonly references: readonly string[];
}

export interface Pruning {
  /** The SecretSnapshots to delete now. */
  readonly now: readonly PresentChild[];
  /** The names of those to delete after the next snapshot. */
  readonly next: readonly string[];
}

/** What to prune: nothing without a retention, and nothing while the latest snapshot is not taken. */
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

/** What the retention does not keep, now or after one more snapshot (`coming`). */
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

// The time that it was created for. If a wrong clock created it too early, the time at which it was taken.
function timeOf({ dueAt, takenAt }: ScheduleRun, nowMs: number): number {
  return (dueAt.getTime() <= nowMs ? dueAt : (takenAt ?? dueAt)).getTime();
}

export interface Settled {
  readonly moment: ScheduleMoment;
  readonly due: DueTime;
  /** The SecretSnapshot of the latest run, if it exists. */
  readonly latestChild: SecretSnapshot | undefined;
  readonly children: number;
  readonly nextToPrune: readonly string[];
}

/** The outcome of a reconcile that has nothing left to do. */
export function settledOutcome(spec: SnapshotScheduleSpec, settled: Settled): Outcome<SnapshotSchedule> {
  const { moment, due, latestChild } = settled;
  const nextMs = nextTime(moment);
  const fields = fieldsOf(settled, nextMs);
  const next = nextMs === undefined ? {} : ({ next: { kind: 'after', delayMs: nextMs - moment.nowMs } } as const);
  const nextText = nextMs === undefined ? undefined : kubeTime(nextMs);
  if (due.state === 'missed') {
    const deadlineSeconds = spec.startingDeadlineSeconds ?? 0;
    const message = messages.missed({ due: kubeTime(due.dueMs), deadlineSeconds, next: nextText });
    return { claim: { progress: 'stalled', reason: 'Missed', message }, fields, ...next };
  }
  const failure = failureOf(latestRun(moment.runs, moment.nowMs), latestChild);
  if (failure !== undefined) {
    const message = messages.snapshotFailed({ ...failure, next: nextText });
    return { claim: { progress: 'waiting', reason: 'SnapshotFailed', message }, fields, ...next };
  }
  const message = settledMessage(latestRun(moment.runs, moment.nowMs), nextText);
  return { claim: { progress: 'done', reason: 'Scheduled', message }, fields, ...next };
}

function settledMessage(latest: ScheduleRun | undefined, next: string | undefined): string {
  if (latest === undefined || parseChildName(latest.name)?.dueMs === latest.dueAt.getTime())
    return messages.scheduled(next);
  return messages.unchanged({ name: latest.name, due: kubeTime(latest.dueAt.getTime()), next });
}

function failureOf(
  latest: ScheduleRun | undefined,
  child: SecretSnapshot | undefined,
): { readonly name: string; readonly reason: string } | undefined {
  if (latest === undefined || child === undefined || latest.snapshotId !== null) return undefined;
  const ready = child.status?.conditions?.find(({ type }) => type === 'Ready');
  // Not reconciled yet, or taken a moment ago.
  if (ready?.status !== 'False') return undefined;
  return { name: latest.name, reason: ready.reason };
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

/** The latest run of each SecretSnapshot: one that stands for several times fills one place. */
export function newestRuns(runs: readonly ScheduleRun[]): readonly ScheduleRun[] {
  const seen = new Set<string>();
  return runs.filter(({ uid }) => seen.size < seen.add(uid).size);
}

/** The latest run that a correct clock can have caused. */
export function latestRun(runs: readonly ScheduleRun[], nowMs: number): ScheduleRun | undefined {
  return runs.find(({ dueAt }) => dueAt.getTime() <= nowMs + clockErrorMs);
}
