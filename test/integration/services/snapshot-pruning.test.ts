import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { resourceRestoreCalls, restoreRule } from '../../support/api/resource-restore-calls.ts';
import { resourceSnapshotCalls, snapshotRule } from '../../support/api/resource-snapshot-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import { type SnapshotCalls, snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ services, world, calls } = given));

beforeEach(() => {
  snapshots = as(world.admin.caller);
});

function as(caller: Caller): SnapshotCalls {
  return snapshotCalls(services, world, caller);
}

/** A snapshot as if it had been made so many days ago. */
async function made(name: string, daysAgo: number): Promise<string> {
  const { id } = await snapshots.create({ name });
  await prismaOf(services.database).snapshot.update({
    where: { id },
    data: { createdAt: new Date(Date.parse('2026-11-20T12:00:00Z') - daysAgo * 86_400_000) },
  });
  return id;
}

async function left(): Promise<(string | null)[]> {
  return (await snapshots.list()).snapshots.map(({ name }) => name);
}

async function fourDays(): Promise<void> {
  for (const [name, daysAgo] of [
    ['a', 3],
    ['b', 2],
    ['c', 1.9],
    ['d', 0],
  ] as const)
    await made(name, daysAgo);
}

test('what no sort keeps goes, and the answer says why the others stay', async () => {
  await fourDays();
  const { kept, pruned } = await snapshots.prune({ retention: { keepDaily: 2 } });
  expect(pruned.map(({ name }) => name)).toEqual(['b', 'a']);
  expect(kept).toMatchObject([
    { name: 'd', reasons: ['daily 2026-11-20', 'newest successful'] },
    { name: 'c', reasons: ['daily 2026-11-18'] },
  ]);
  expect(await left()).toEqual(['d', 'c']);
});

test('a dry run answers the same and deletes nothing', async () => {
  await fourDays();
  const plan = await snapshots.prune({ retention: { keepLast: 1 }, dryRun: true });
  expect(await left()).toEqual(['d', 'c', 'b', 'a']);
  expect(await snapshots.prune({ retention: { keepLast: 1 } })).toEqual(plan);
  expect(await left()).toEqual(['d']);
});

test('with the hash of a dry run just what that listed goes, or nothing', async () => {
  await fourDays();
  const retention = { keepLast: 2 };
  const { planHash } = await snapshots.prune({ retention, dryRun: true });
  await made('came in between', 0.5);
  const outdated = { code: 'plan_outdated', detail: expect.stringContaining('plan again') };
  await expect(snapshots.prune({ retention, planHash })).rejects.toMatchObject(outdated);
  await expect(snapshots.prune({ retention, planHash: 'x' })).rejects.toMatchObject({ code: 'invalid_input' });
  expect(await left()).toHaveLength(5);
  const fresh = await snapshots.prune({ retention, dryRun: true });
  expect(await snapshots.prune({ retention, planHash: fresh.planHash })).toEqual(fresh);
  expect(await left()).toEqual(['d', 'came in between']);
});

test('days are those of the time zone', async () => {
  // 22:00 and 23:30 UTC are of two days in Berlin.
  await made('evening', 14 / 24 + 0.0);
  await made('night', 12.5 / 24);
  const inUtc = await snapshots.prune({ retention: { keepDaily: 9 }, dryRun: true });
  const inBerlin = await snapshots.prune({ retention: { keepDaily: 9 }, timeZone: 'Europe/Berlin', dryRun: true });
  expect([inUtc.pruned.length, inBerlin.pruned.length]).toEqual([1, 0]);
});

test('with a prefix the other names are not looked at', async () => {
  for (const name of ['deploy-1', 'deploy-2', 'by hand']) await made(name, 1);
  await snapshots.create();
  const { kept, pruned } = await snapshots.prune({ retention: { keepLast: 1 }, namePrefix: 'deploy-' });
  expect([kept.length, pruned.length]).toEqual([1, 1]);
  expect(await left()).toHaveLength(3);
});

test('what a custom resource took or stands for stays, and fills no place', async () => {
  await fourDays();
  const taker = resourceCaller({ kind: 'SecretSnapshot', grants: [snapshotRule(world)], name: 'nightly-1' });
  await resourceSnapshotCalls(services, world, taker).taken({ name: 'taken' });
  const adopter = resourceCaller({ kind: 'SecretSnapshot', grants: [snapshotRule(world)], name: 'kept' });
  const { snapshots: listed } = await snapshots.list();
  const adopted = listed.find(({ name }) => name === 'a')?.id ?? '';
  await resourceSnapshotCalls(services, world, adopter).adopt(adopted);
  const { kept } = await snapshots.prune({ retention: { keepLast: 2 } });
  expect(kept.map(({ name, reasons }) => [name, reasons.at(0)])).toEqual([
    ['taken', 'held by SecretSnapshot team-a/nightly-1'],
    ['d', 'last 1'],
    ['c', 'last 2'],
    ['a', 'held by SecretSnapshot team-a/kept'],
  ]);
  expect(await left()).toEqual(['taken', 'd', 'c', 'a']);
});

test('the backup that a SnapshotRestore made stays, and fills no place', async () => {
  await calls.put('KEY', 'old');
  const good = await made('good', 1);
  await calls.put('KEY', 'new');
  const resource = resourceCaller({ kind: 'SnapshotRestore', grants: [restoreRule(world)], name: 'back' });
  const { backupSnapshotId } = await resourceRestoreCalls(services, resource).restore(good, null);
  const later = await made('later', 0);
  const { kept, pruned } = await snapshots.prune({ retention: { keepLast: 1 } });
  expect(pruned.map(({ name }) => name)).toEqual(['good']);
  expect(new Map(kept.map(({ id, reasons }) => [id, reasons.at(0)]))).toEqual(
    new Map([
      [later, 'last 1'],
      [backupSnapshotId, 'held by SnapshotRestore team-a/back'],
    ]),
  );
});

describe('it is refused', () => {
  test('to a caller who may not delete snapshots, and nothing goes', async () => {
    await fourDays();
    const { caller: token } = await world.serviceToken({ permission: 'read_write' });
    for (const caller of [world.developer.caller, token]) {
      await expect(as(caller).prune({ retention: { keepLast: 1 } })).rejects.toMatchObject({ code: 'forbidden' });
    }
    await expect(as(world.stranger.caller).prune({ retention: { keepLast: 1 } })).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await left()).toHaveLength(4);
  });

  test.each([
    [{ retention: {} }],
    [{ retention: { keepLast: 0 } }],
    [{ retention: { keepLast: 1.5 } }],
    [{ retention: { keepDaily: 10_001 } }],
    [{ retention: { keepLast: 1 }, timeZone: 'Europe/Nowhere' }],
    [{ retention: { keepLast: 1 }, namePrefix: '' }],
  ])('for %j', async (input) => {
    await expect(snapshots.prune(input)).rejects.toMatchObject({ code: 'invalid_input' });
  });
});

test('it leaves one entry in the audit, that names what went', async () => {
  await fourDays();
  const { pruned } = await snapshots.prune({ retention: { keepLast: 3 } });
  await snapshots.prune({ retention: { keepLast: 1 }, dryRun: true });
  const entries = await prismaOf(services.database).auditEntry.findMany({
    where: { organizationId: world.organization.id, action: 'snapshot.delete' },
    orderBy: { id: 'asc' },
  });
  expect(entries).toMatchObject([
    { outcome: 'success', target: { pruned: 1, kept: 3, snapshotIds: pruned.map(({ id }) => id) } },
    { outcome: 'success', target: { pruned: 2, dryRun: true } },
  ]);
});
