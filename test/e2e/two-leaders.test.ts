import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ProxiedRequest } from '../support/faults/api-proxy.ts';
import { waitForPass } from '../support/cluster/crash-trials.ts';
import { LeaderPair, type Member } from '../support/cluster/leader-pair.ts';
import { MovedClock } from '../support/faults/moved-clock.ts';
import { runs } from '../support/faults/postgres-proxy.ts';
import { RestoreSite } from '../support/cluster/restore-site.ts';
import { RestoreTrial } from '../support/cluster/restore-trial.ts';
import { ScheduleSite, hourMs, hourOf } from '../support/cluster/schedule-site.ts';
import { type ScheduleGround, ScheduleTrial } from '../support/cluster/schedule-trial.ts';
import { Stack } from '../support/cluster/stack.ts';

// The leader is frozen in the middle of its work, and the other one leads; what the first one had sent arrives then, and it
// goes on, believing that it leads.

const resources = new AsyncDisposableStack();
let stack: Stack;
let clock: MovedClock;
let pair: LeaderPair;
let restores: RestoreSite;
let schedules: ScheduleSite;
let ground: ScheduleGround;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  clock = new MovedClock(resources, 24 * hourMs);
  // Away from the end of an hour: no test must run over it.
  const toGoMs = hourOf(clock.now()) + hourMs - clock.now();
  if (toGoMs < 600_000) clock.move(toGoMs);
  restores = await RestoreSite.make(stack);
  resources.defer(() => restores.withdraw());
  schedules = await ScheduleSite.make(stack);
  const granted = await schedules.grant();
  resources.defer(() => schedules.withdraw(granted));
  ground = { site: schedules, clock, databaseUrl: stack.databaseUrl };
  pair = await LeaderPair.start(resources, stack, clock);
});

afterAll(() => resources.disposeAsync());

/** Approves a restore and stops the leader's first statement of a kind on its way to the database. */
async function approveUpTo(statement: RegExp): Promise<Halted> {
  const both = await pair.roles();
  const trial = await RestoreTrial.prepare(stack, restores);
  await trial.create();
  await waitForPass(() => trial.expectPlanned());
  const hold = both.leader.database.hold(runs(statement));
  await trial.approve();
  await hold.arrived();
  await pair.usurp(both);
  return { trial, hold, leader: both.leader };
}

interface Halted {
  readonly trial: RestoreTrial;
  readonly hold: ReturnType<Member['database']['hold']>;
  readonly leader: Member;
}

const restored = (trial: RestoreTrial): Promise<void> => waitForPass(() => trial.expectComplete());

/** It came about once; nothing is left of it for the next test. */
async function expectOne(trial: RestoreTrial | ScheduleTrial): Promise<void> {
  await trial.proveOne();
  await trial.clear();
}

describe('a SnapshotRestore that is approved is carried out once, where the leader is overtaken', () => {
  test('before it locks the environment: it finds the restore done', async () => {
    const { trial, hold, leader } = await approveUpTo(/FOR NO KEY UPDATE/);
    await restored(trial);
    hold.release();
    await pair.thaw(leader);
    await expectOne(trial);
  });

  test('before it claims the restore: the other one waits for its lock, and finds the restore done', async () => {
    const { trial, hold, leader } = await approveUpTo(/INSERT INTO\s+"?resource_claim/i);
    hold.release();
    await pair.thaw(leader);
    await restored(trial);
    await expectOne(trial);
  });

  test('at its COMMIT, which arrives while it is frozen', async () => {
    const { trial, hold, leader } = await approveUpTo(/^COMMIT/i);
    hold.release();
    await restored(trial);
    await pair.thaw(leader);
    await expectOne(trial);
  });
});

const isMade = ({ method, path }: ProxiedRequest): boolean => method === 'POST' && path === schedules.snapshots.path();

describe('a SnapshotSchedule has one SecretSnapshot with one snapshot for a time, where the leader is overtaken', () => {
  test('while its SecretSnapshot is on the way: it is refused', async () => {
    const both = await pair.roles();
    const trial = new ScheduleTrial(ground);
    const hold = both.leader.api.hold(isMade);
    await trial.create();
    await hold.arrived();
    await pair.usurp(both);
    await waitForPass(() => trial.expectTaken());
    hold.release();
    await pair.thaw(both.leader);
    await expectOne(trial);
  });

  test.each([
    ['before it records what it made', /INSERT INTO\s+"?schedule_run/i],
    ['before it takes the snapshot', /INSERT INTO\s+"?resource_claim/i],
  ])('%s: the other one does', async (_, statement) => {
    const both = await pair.roles();
    const trial = new ScheduleTrial(ground);
    const hold = both.leader.database.hold(runs(statement));
    await trial.create();
    await hold.arrived();
    await pair.usurp(both);
    hold.release();
    await pair.thaw(both.leader);
    await waitForPass(() => trial.expectTaken());
    await expectOne(trial);
  });

  test('and one that arrives when that time is pruned already goes with the next', async () => {
    const both = await pair.roles();
    const trial = new ScheduleTrial(ground);
    const hold = both.leader.api.hold(isMade);
    await trial.create({ retention: { keepLast: 1 } });
    await hold.arrived();
    await pair.usurp(both);
    await waitForPass(() => trial.expectTaken());
    clock.move(hourMs);
    await schedules.look(trial.name);
    await waitForPass(() => trial.expectTaken());
    hold.release();
    await pair.thaw(both.leader);
    expect((await schedules.childNames()).filter((name) => name.startsWith(trial.name))).toHaveLength(2);
    clock.move(hourMs);
    await schedules.look(trial.name);
    await waitForPass(() => trial.expectTaken());
    await expectOne(trial);
  });
});
