import { describe, expect, test } from '@jest/globals';
import type { SecretSnapshot } from '../../../src/controller/generated/secret-snapshot.ts';
import type { SnapshotSchedule, SnapshotScheduleSpec } from '../../../src/controller/generated/snapshot-schedule.ts';
import { childName, parseChildName } from '../../../src/controller/kinds/snapshot-schedule/child.ts';
import {
  type PresentChild,
  dueTime,
  judgePruning,
  newestRuns,
  nextTime,
  settledOutcome,
} from '../../../src/controller/kinds/snapshot-schedule/judge.ts';
import * as messages from '../../../src/controller/kinds/snapshot-schedule/messages.ts';
import { allReferences } from '../../../src/controller/kinds/secret-snapshot/references.ts';
import { parseCron } from '../../../src/lib/cron-schedule.ts';
import type { ScheduleRun } from '../../../src/domain/resources/schedules.ts';

const at = (time: string): number => Date.parse(`2026-11-${time}Z`);
const utc = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString().slice(8, 16);

function schedule(more: Partial<SnapshotScheduleSpec> = {}): SnapshotSchedule {
  const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
  return {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'SnapshotSchedule',
    metadata: {
      name: 'nightly',
      namespace: 'team-a',
      uid: 'uid',
      resourceVersion: '1',
      creationTimestamp: '2026-11-01T12:00:00Z',
    },
    spec: {
      schedule: '0 2 * * *',
      timeZone: 'UTC',
      suspend: false,
      skipUnchanged: false,
      template: { spec: { source: { environmentRef }, deletionPolicy: 'Delete' } },
      ...more,
    },
  };
}

const times = parseCron('0 2 * * *', 'UTC');

/** What the schedule made for 2 o'clock of a day; taken a second later. */
function run(day: string, more: Partial<ScheduleRun> = {}): ScheduleRun {
  const dueMs = at(`${day}T02:00`);
  const taken = { snapshotId: `snapshot-${day}`, takenAt: new Date(dueMs + 1000), isNewest: true };
  return { dueAt: new Date(dueMs), uid: `uid-${day}`, name: childName('nightly', dueMs), ...taken, ...more };
}

const untaken = { snapshotId: null, takenAt: null, isNewest: false };

describe('a time is due', () => {
  test.each<[string, string, { runs: ScheduleRun[]; deadline?: number }, string]>([
    ['when it has come', '10T02:00', { runs: [run('09')] }, 'due 10T02:00'],
    ['not before', '10T01:59', { runs: [run('09')] }, 'none'],
    ['once', '10T02:00', { runs: [run('10')] }, 'none'],
    ['once, also where what was made is not taken', '10T02:00', { runs: [run('10', untaken)] }, 'none'],
    ['the latest alone of those that were missed', '10T13:00', { runs: [run('03')] }, 'due 10T02:00'],
    ['also where nothing was ever made', '10T13:00', { runs: [] }, 'due 10T02:00'],
    ['not before the schedule was made', '01T23:00', { runs: [] }, 'none'],
    ['within its deadline', '10T02:10', { runs: [run('09')], deadline: 600 }, 'due 10T02:00'],
    ['not after it', '10T02:11', { runs: [run('09')], deadline: 600 }, 'missed 10T02:00'],
    // Put back by hours: what was done at ten is not done again at nine.
    ['not again when the clock is put back', '10T03:00', { runs: [run('11')] }, 'none'],
    ['again where the clock was days ahead', '10T03:00', { runs: [run('20'), run('09')] }, 'due 10T02:00'],
  ])('%s', (_, now, { runs, deadline }, expected) => {
    const spec = deadline === undefined ? {} : { startingDeadlineSeconds: deadline };
    const due = dueTime(schedule(spec), { times, nowMs: at(now), runs });
    expect(due.state === 'none' ? 'none' : `${due.state} ${utc(due.dueMs)}`).toBe(expected);
  });

  test.each([
    ['10T01:00', [], '10T02:00'],
    ['10T02:00', [run('10')], '11T02:00'],
    ['10T01:00', [run('10')], '11T02:00'],
    ['10T01:00', [run('20')], '10T02:00'],
  ])('and the next one at %s', (now, runs, expected) => {
    expect(utc(nextTime({ times, nowMs: at(now), runs }))).toBe(expected);
  });
});

describe('pruning', () => {
  const present = (each: ScheduleRun, references: string[] = []): PresentChild => {
    return { run: each, child: { metadata: { name: each.name } } as SecretSnapshot, references };
  };
  const named = (children: readonly PresentChild[]): string[] =>
    children.map(({ run: { dueAt } }) => utc(+dueAt) ?? '');
  const judged = (
    runs: ScheduleRun[],
    spec: Partial<SnapshotScheduleSpec>,
    children = runs.map((each) => present(each)),
  ): [string[], (string | undefined)[]] => {
    const { now, next } = judgePruning(schedule(spec), { times, nowMs: at('10T12:00'), runs }, children);
    return [named(now), next.map((name) => utc(parseChildName(name)?.dueMs))];
  };

  test('takes what the retention does not keep, and reports what the next snapshot will make go', () => {
    const runs = [run('10'), run('09'), run('08'), run('07')];
    expect(judged(runs, { retention: { keepLast: 3 } })).toEqual([['07T02:00'], ['08T02:00']]);
    expect(judged(runs, { retention: { keepLast: 9 } })).toEqual([[], []]);
    expect(judged(runs, {})).toEqual([[], []]);
  });

  test('takes nothing while the latest one is not taken', () => {
    expect(judged([run('10', untaken), run('09'), run('08')], { retention: { keepLast: 1 } })).toEqual([[], []]);
  });

  test('takes nothing that is referred to, and does not announce that it would', () => {
    const runs = [run('10'), run('09')];
    const children = runs.map((each) => present(each, ['SecretSync web']));
    expect(judged(runs, { retention: { keepLast: 1 } }, children)).toEqual([[], []]);
  });

  test('judges by when it was taken what a wrong clock made ahead of its time', () => {
    const ahead = run('20', { takenAt: new Date(at('05T02:00')) });
    expect(judged([ahead, run('10'), run('09')], { retention: { keepLast: 2 } })[0]).toEqual(['20T02:00']);
  });
});

describe('the status', () => {
  const moment = { times, nowMs: at('10T12:00'), runs: [run('10'), run('09')] };
  const settled = { moment, due: { state: 'none' }, latestChild: undefined, children: 2, nextToPrune: [] } as const;
  const failing = (status: string): SecretSnapshot =>
    ({ status: { conditions: [{ type: 'Ready', status, reason: 'NotFound' }] } }) as unknown as SecretSnapshot;
  const { spec } = schedule({ startingDeadlineSeconds: 60 });

  test('reports the last and the next one', () => {
    expect(settledOutcome(spec, settled)).toEqual({
      claim: {
        progress: 'done',
        reason: 'Scheduled',
        message: messages.scheduled('2026-11-11T02:00:00Z'),
      },
      fields: {
        lastSnapshot: { name: 'nightly-202611100200', snapshotId: 'snapshot-10', time: '2026-11-10T02:00:00Z' },
        lastSuccessfulTime: '2026-11-10T02:00:01Z',
        nextTime: '2026-11-11T02:00:00Z',
        snapshotCount: 2,
        nextToPrune: undefined,
      },
      next: { kind: 'after', delayMs: 14 * 3_600_000 },
    });
  });

  test.each([
    ['False', 'SnapshotFailed'],
    ['True', 'Scheduled'],
  ])('where the last one has no snapshot and is Ready %s, it is %s', (ready, reason) => {
    const latest = { ...moment, runs: [run('10', untaken), run('09')] };
    const outcome = settledOutcome(spec, { ...settled, moment: latest, latestChild: failing(ready) });
    expect(outcome.claim.reason).toBe(reason);
    expect(outcome.fields).toMatchObject({ lastSuccessfulTime: '2026-11-09T02:00:01Z' });
  });

  test('names the SecretSnapshot that stands for the last time, if none was made for it', () => {
    const standing = { ...run('10'), uid: run('09').uid, name: run('09').name };
    const outcome = settledOutcome(spec, { ...settled, moment: { ...moment, runs: [standing, run('09')] } });
    expect(outcome.claim).toMatchObject({ progress: 'done', reason: 'Scheduled' });
    expect(outcome.claim.message).toBe(
      messages.unchanged({ name: run('09').name, due: '2026-11-10T02:00:00Z', next: '2026-11-11T02:00:00Z' }),
    );
    expect(outcome.fields?.lastSnapshot).toMatchObject({ name: run('09').name, time: '2026-11-10T02:00:00Z' });
  });

  test('reports a time that was missed', () => {
    const outcome = settledOutcome(spec, { ...settled, due: { state: 'missed', dueMs: at('10T02:00') } });
    expect(outcome.claim).toMatchObject({ progress: 'stalled', reason: 'Missed' });
    expect(outcome.claim.message).toBe(
      messages.missed({ due: '2026-11-10T02:00:00Z', deadlineSeconds: 60, next: '2026-11-11T02:00:00Z' }),
    );
  });
});

test('a SecretSnapshot that stands for several times counts once, for the latest of them', () => {
  const standing = { ...run('10'), uid: run('08').uid, name: run('08').name };
  expect(newestRuns([standing, run('09'), run('08'), run('07')])).toEqual([standing, run('09'), run('07')]);
});

test.each([
  ['nightly', '2026-11-10T02:00Z', 'nightly-202611100200'],
  ['a-202601010000', '2026-02-28T23:59Z', 'a-202601010000-202602282359'],
])('the SecretSnapshot of %s for %s is %s, and is known again by that', (name, time, expected) => {
  expect(childName(name, Date.parse(time))).toBe(expected);
  expect(parseChildName(expected)).toEqual({ schedule: name, dueMs: Date.parse(time) });
});

test.each(['nightly', 'nightly-20261110020', 'nightly-202613100200', 'nightly-202602300200', '-202611100200'])(
  '%s is the name of none',
  (name) => {
    expect(parseChildName(name)).toBeUndefined();
  },
);

test('what refers to a snapshot is known when all who may are', () => {
  const pins = { isSynced: true, referrersIn: () => (key: string) => (key === 'team-a/one' ? ['SecretSync web'] : []) };
  const restores = { isSynced: false, referrersIn: () => () => ['SnapshotRestore back'] };
  expect(allReferences([pins]).isSynced).toBe(true);
  expect(allReferences([pins, restores]).isSynced).toBe(false);
  expect(allReferences([pins, restores]).referrersIn('team-a')('team-a/one', null)).toHaveLength(2);
});
