import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { GrantRule } from '../../../src/domain/grants.ts';
import type { ResourceCaller } from '../../../src/domain/principal.ts';
import type { RecordRunsInput, ScheduledChild, ScheduleRun } from '../../../src/domain/resources/schedules.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import {
  type ResourceSnapshotCalls,
  resourceSnapshotCalls,
  snapshotRule,
} from '../../support/api/resource-snapshot-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let schedule: ResourceCaller;

withWorlds((given) => ({ services, world } = given));

beforeEach(() => {
  schedule = resourceCaller({ kind: 'SnapshotSchedule', grants: [rule()], name: 'nightly' });
});

const rule = (more: Partial<GrantRule> = {}): GrantRule =>
  snapshotRule(world, { kinds: ['SnapshotSchedule', 'SecretSnapshot'], ...more });

/** What the schedule made for an hour of a day, and its uid. */
function child(hour: number, uid: string = randomUUID()): ScheduledChild {
  const time = String(hour).padStart(2, '0');
  return { dueAt: new Date(`2026-11-20T${time}:00:00Z`), uid, name: `nightly-20261120${time}00` };
}

async function record(input: Partial<RecordRunsInput>, caller = schedule): Promise<void> {
  const access = await services.resourceAccess.maySchedule(caller, world.slugs);
  await services.resourceSchedules.record(access, { made: [], gone: [], ...input });
}

async function extend(made: ScheduledChild, caller = schedule): Promise<void> {
  await services.resourceSchedules.extend(await services.resourceAccess.maySchedule(caller, world.slugs), made);
}

async function list(caller = schedule): Promise<readonly ScheduleRun[]> {
  return services.resourceSchedules.list(await services.resourceAccess.owner(caller, 'schedule.find'));
}

/** A SecretSnapshot that acts for itself. */
function asChild({ uid, name }: ScheduledChild): ResourceSnapshotCalls {
  return resourceSnapshotCalls(
    services,
    world,
    resourceCaller({ kind: 'SecretSnapshot', grants: [rule()], uid, name }),
  );
}

describe('what a schedule made', () => {
  test('is listed newest first, with the snapshot that each one took', async () => {
    const [first, second] = [child(1), child(2)];
    await record({ made: [first] });
    await record({ made: [second] });
    const { id } = await asChild(first).taken();
    expect(await list()).toEqual([
      { ...second, snapshotId: null, takenAt: null, isNewest: false },
      { ...first, snapshotId: id, takenAt: expect.any(Date), isNewest: true },
    ]);
    await asChild(first).remove();
    expect((await list()).map(({ snapshotId }) => snapshotId)).toEqual([null, null]);
  });

  test('is one for each time: the first that was recorded stays', async () => {
    const first = child(1);
    await record({ made: [first] });
    await Promise.all([record({ made: [child(1)] }), record({ made: [child(1), child(2)] })]);
    expect((await list()).map(({ uid }) => uid)).toEqual([expect.any(String), first.uid]);
    expect(await list()).toHaveLength(2);
  });

  test('is forgotten when it is gone, but for the latest', async () => {
    const children = [child(1), child(2), child(3)];
    await record({ made: children });
    await record({ gone: children.map(({ uid }) => uid) });
    expect((await list()).map(({ uid }) => uid)).toEqual([children[2]?.uid]);
  });

  test('holds the newest revision until the environment changes, also if that had no change before', async () => {
    const [first, second] = [child(1), child(2)];
    await record({ made: [first, second] });
    await asChild(first).taken();
    expect((await list()).map(({ isNewest }) => isNewest)).toEqual([false, true]);
    await secretCalls(services, world, world.owner.caller).put('A', 'a');
    expect((await list()).map(({ isNewest }) => isNewest)).toEqual([false, false]);
    await asChild(second).taken();
    expect((await list()).map(({ isNewest }) => isNewest)).toEqual([true, false]);
  });

  test('stands for later times with two rows at most, and not for a time that another one has', async () => {
    const [first, other] = [child(1), child(4)];
    await record({ made: [first] });
    await asChild(first).taken();
    const at = (hour: number): ScheduledChild => ({ ...first, dueAt: child(hour).dueAt });
    for (const hour of [2, 3]) await extend(at(hour));
    const seen = async (): Promise<unknown> => (await list()).map(({ dueAt, uid }) => [dueAt.getUTCHours(), uid]);
    expect(await seen()).toEqual([
      [3, first.uid],
      [1, first.uid],
    ]);
    await record({ made: [other] });
    await extend(at(4));
    expect((await list())[0]?.uid).toBe(other.uid);
    await record({ gone: [first.uid] });
    expect(await seen()).toEqual([[4, other.uid]]);
  });

  test('keeps the latest time of each: a later time of one takes nothing from another', async () => {
    const [first, other] = [child(1), child(4)];
    await record({ made: [first] });
    await extend({ ...first, dueAt: child(3).dueAt });
    await record({ made: [other] });
    for (const hour of [5, 6]) await extend({ ...other, dueAt: child(hour).dueAt });
    expect((await list()).map(({ dueAt, uid }) => [dueAt.getUTCHours(), uid])).toEqual([
      [6, other.uid],
      [4, other.uid],
      [3, first.uid],
      [1, first.uid],
    ]);
  });

  test('is another for each schedule and cluster', async () => {
    await record({ made: [child(1)] });
    const { id: uid } = schedule.principal;
    for (const other of [{}, { uid, cluster: 'other' }]) {
      const caller = resourceCaller({ kind: 'SnapshotSchedule', grants: [rule()], ...other });
      expect(await list(caller)).toEqual([]);
    }
  });

  test('has no snapshot where it adopted one, or its environment is deleted', async () => {
    const [adopting, taking] = [child(1), child(2)];
    await record({ made: [adopting, taking] });
    const { id } = await snapshotCalls(services, world, world.admin.caller).create();
    await asChild(adopting).adopt(id);
    const taken = await asChild(taking).taken();
    expect((await list()).map(({ snapshotId }) => snapshotId)).toEqual([taken.id, null]);
    await services.environments.delete(await world.onEnvironment(world.owner.caller, 'environment.delete'));
    expect((await list()).map(({ snapshotId }) => snapshotId)).toEqual([null, null]);
  });
});

describe('without its grants', () => {
  const lacking: readonly (readonly [string, () => readonly GrantRule[]])[] = [
    ['any grant', () => []],
    ['one for reading alone', () => [rule({ permission: 'read' })]],
    ['one for SecretSnapshots', () => [rule({ kinds: ['SnapshotSchedule'] })]],
    ['one for itself', () => [rule({ kinds: ['SecretSnapshot'] })]],
    ['one for this environment', () => [rule({ environments: ['other'] })]],
  ];

  test.each(lacking)('a schedule (without %s) records nothing, and learns both kinds', async (_, grants) => {
    const caller = resourceCaller({ kind: 'SnapshotSchedule', grants: grants() });
    await expect(record({ made: [child(1)] }, caller)).rejects.toMatchObject({
      code: 'forbidden',
      detail: expect.stringContaining('kinds: [SnapshotSchedule, SecretSnapshot]'),
    });
    await expect(extend(child(1), caller)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await list(caller)).toEqual([]);
    const denials = await prismaOf(services.database).auditEntry.findMany({
      where: { actorId: caller.principal.id, outcome: 'denied', action: 'schedule.run' },
    });
    expect(denials).toHaveLength(2);
  });

  test('one that is withdrawn in between leaves nothing recorded', async () => {
    let looks = 0;
    // Two kinds are looked for at the door, and again at the end of the change.
    const grantsNow = (): readonly GrantRule[] => (++looks > 1 ? [] : [rule()]);
    const caller = resourceCaller({ kind: 'SnapshotSchedule', grantsNow });
    await expect(record({ made: [child(1)] }, caller)).rejects.toMatchObject({ code: 'forbidden' });
    expect(looks).toBeGreaterThan(1);
    expect(await list(caller)).toEqual([]);
  });

  test('no other kind may, nor a caller with a token', async () => {
    const other = resourceCaller({ kind: 'SecretSnapshot', grants: [rule()] });
    for (const caller of [other, world.owner.caller]) {
      await expect(services.resourceAccess.maySchedule(caller, world.slugs)).rejects.toMatchObject({
        code: 'forbidden',
      });
      await expect(services.resourceAccess.owner(caller, 'schedule.find')).rejects.toMatchObject({ code: 'forbidden' });
    }
  });
});

test('the audit says what was made', async () => {
  await record({ made: [child(1)] });
  await extend({ ...child(2), name: child(1).name });
  const entries = await prismaOf(services.database).auditEntry.findMany({
    where: { actorId: schedule.principal.id },
    orderBy: { id: 'asc' },
  });
  expect(entries).toMatchObject([
    {
      action: 'schedule.run',
      outcome: 'success',
      organizationId: world.organization.id,
      target: { ...world.slugs, made: ['nightly-202611200100'] },
    },
    { action: 'schedule.run', outcome: 'success', target: { ...world.slugs, unchanged: 'nightly-202611200100' } },
  ]);
});
