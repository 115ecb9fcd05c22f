import { describe, expect, test } from '@jest/globals';
import { resourceCaller } from '../../support/api/resource-caller.ts';
import { resourceRestoreCalls, restoreRule } from '../../support/api/resource-restore-calls.ts';
import { resourceSnapshotCalls } from '../../support/api/resource-snapshot-calls.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import { newRootKey, startServices, type TestServices, type World } from '../../support/api/services.ts';
import type { RestoreAnswer } from '../../../src/services/snapshots/restore/restores.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { createWorldCalls, withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

const kibibyte = 1024;
const rootKeys = newRootKey();
const growthLimits = {
  environmentBytesPerDay: 64 * kibibyte,
  callerBytesPerDay: 0,
  snapshotsPerEnvironment: 2,
};

let database: TestDatabase;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ database, services, world, calls, snapshots } = given), { growthLimits, rootKeys });

const refusal = {
  code: 'limit_exceeded',
  detail: expect.stringMatching(/^this environment has written .* in a day.*try again in \d+ seconds/),
};

/** Writes values of 20 KiB until the budget of the world's environment is full; returns how many. */
async function fillBudget(by: SecretCalls = calls): Promise<number> {
  let written = 0;
  let refused: unknown;
  while (refused === undefined && written < 10) {
    const value = `${written}`.padEnd(20 * kibibyte, '.');
    const [outcome] = await Promise.allSettled([by.put('FILLER', value)]);
    if (outcome.status === 'rejected') refused = outcome.reason;
    else written += 1;
  }
  expect(refused).toMatchObject(refusal);
  return written;
}

async function versions(): Promise<number> {
  return prismaOf(services.database).secretVersion.count({
    where: { secret: { environmentId: world.environment.id } },
  });
}

/** Lets time pass for the budget of the world's environment. */
async function pass(hours: number): Promise<void> {
  await services.database.pool.query(
    'UPDATE environment SET write_budget_empty_at = write_budget_empty_at - make_interval(hours => $2) WHERE id = $1',
    [world.environment.id, hours],
  );
}

describe('the daily budget of an environment', () => {
  test('refuses further versions, says for how long, and writes nothing of them', async () => {
    const written = await fillBudget();
    // A day’s bytes, and the one write that overfills it.
    expect(written).toBe(4);
    const before = await versions();
    expect(before).toBe(written);
    const refused: unknown = await calls.put('OTHER', 'small').catch((error: unknown) => error);
    expect(refused).toMatchObject(refusal);
    const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
    expect(retryAfterSeconds).toBeGreaterThan(5 * 3600);
    expect(retryAfterSeconds).toBeLessThan(10 * 3600);
    expect(await versions()).toBe(before);
    expect((await calls.read()).secrets['OTHER']).toBeUndefined();
  });

  test('refuses restores, rollbacks and snapshots too, for any caller, and lets keys be deleted and read', async () => {
    await calls.put('KEY', 'first');
    await calls.put('KEY', 'second');
    const { id } = await snapshots.create();
    await fillBudget();
    await expect(snapshots.restore(id)).rejects.toMatchObject(refusal);
    await expect(calls.rollback('KEY', { targetVersion: 1 })).rejects.toMatchObject(refusal);
    await expect(snapshots.create()).rejects.toMatchObject(refusal);
    await expect(secretCalls(services, world, world.owner.caller).put('KEY', 'x')).rejects.toMatchObject(refusal);
    expect((await snapshots.plan(id)).restored).toEqual(['KEY']);
    expect(await calls.readOne('KEY')).toBe('second');
    await calls.remove('FILLER');
  });

  test('holds on other replicas and after a restart, for this environment alone', async () => {
    await fillBudget();
    const replica = await startServices(database.url, { growthLimits, rootKeys });
    try {
      const theirs = secretCalls(replica, world, world.developer.caller);
      await expect(theirs.put('KEY', 'value')).rejects.toMatchObject(refusal);
    } finally {
      await replica.close();
    }
    const other = await createWorldCalls(services);
    await other.calls.put('KEY', 'value');
  });

  test('drains steadily, and never fills beyond a day by waiting', async () => {
    const written = await fillBudget();
    await pass(12);
    // Half a day drains more than one write, and less than two.
    expect(await fillBudget()).toBe(1);
    await pass(24 * 365);
    expect(await fillBudget()).toBe(written);
  });

  test('counts many small values by the rows that they take', async () => {
    const values = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`KEY_${index}`, 'x']));
    await calls.patch(values);
    await calls.patch(values);
    await expect(calls.patch(values)).rejects.toMatchObject(refusal);
  });

  test('counts a rollback and a restore by their rows, because they refer to the value', async () => {
    await calls.put('KEY', 'x'.repeat(20 * kibibyte));
    const { id } = await snapshots.create();
    for (let round = 0; round < 10; round += 1) {
      await calls.rollback('KEY', { targetVersion: 1 });
      await snapshots.restore(id);
    }
    expect(await versions()).toBe(21);
  });

  test('counts a comment with each version that stores it', async () => {
    const values = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`KEY_${index}`, 'x']));
    const comment = '\u{1F511}'.repeat(1000);
    const { id } = await snapshots.create();
    // 12 times 4,000 bytes.
    await calls.patch(values, [], { comment });
    await calls.patch(values, [], { comment });
    await expect(calls.patch(values)).rejects.toMatchObject(refusal);
    await pass(48);
    await snapshots.restore(id, { prune: true });
    await calls.patch(values);
    const { id: full } = await snapshots.create();
    await snapshots.restore(full, { comment });
    await snapshots.restore(full, { comment });
    await expect(snapshots.restore(full)).rejects.toMatchObject(refusal);
  });

  test('counts the answers of restores that are stored for a repetition, even if nothing is restored', async () => {
    const names = Array.from({ length: 60 }, (_, index) => `KEY_${index}_`.padEnd(250, 'X'));
    await calls.patch(Object.fromEntries(names.map((name) => [name, 'x'])));
    const { id } = await snapshots.create();
    await pass(48);
    const restore = (key: string): Promise<RestoreAnswer> => {
      const idempotency = { key, requestHash: Buffer.alloc(32) };
      return snapshots.restore(id, { skipUnchanged: true, idempotency });
    };
    // Each answer has more than 15,000 bytes.
    for (let count = 0; count < 5; count += 1) expect((await restore(`key-${count}`)).restored).toEqual([]);
    await expect(restore('key-5')).rejects.toMatchObject(refusal);
    expect(await restore('key-0')).toMatchObject({ replayed: true });
    expect((await snapshots.restore(id, { skipUnchanged: true })).unchanged).toHaveLength(60);
  });

  test('counts nothing without a limit', async () => {
    const none = { environmentBytesPerDay: 0, callerBytesPerDay: 0, snapshotsPerEnvironment: 0 };
    const unlimited = await startServices(database.url, { growthLimits: none, rootKeys });
    try {
      const theirs = secretCalls(unlimited, world, world.developer.caller);
      for (let count = 0; count < 6; count += 1) await theirs.put('KEY', `${count}`.padEnd(20 * kibibyte, '.'));
    } finally {
      await unlimited.close();
    }
    expect(await calls.put('KEY', 'value')).toMatchObject({ version: 7 });
  });

  test('keeps a restore of a custom resource for later: it is done once the budget allows it', async () => {
    await calls.put('KEY', 'first');
    const { id } = await snapshots.create();
    await calls.put('KEY', 'second');
    await fillBudget();
    const caller = resourceCaller({ kind: 'SnapshotRestore', grants: [restoreRule(world)] });
    const resource = resourceRestoreCalls(services, caller);
    await expect(resource.restore(id, null, { backup: false })).rejects.toMatchObject(refusal);
    expect(await resource.find()).toBeUndefined();
    await pass(24);
    expect(await resource.restore(id, null, { backup: false })).toMatchObject({ restored: { count: 1 } });
    expect(await calls.readOne('KEY')).toBe('first');
  });
});

describe('the number of snapshots of an environment', () => {
  const tooMany = { code: 'quota_exceeded', detail: expect.stringContaining('keyframe snapshot prune') };

  test('is bounded for people, for backups of restores and for custom resources, until one is deleted', async () => {
    await calls.put('KEY', 'value');
    const [first] = [await snapshots.create(), await snapshots.create()];
    await expect(snapshots.create()).rejects.toMatchObject(tooMany);
    await expect(snapshots.restore(first.id, { backup: true })).rejects.toMatchObject(tooMany);
    const { organization, project, environment } = world.slugs;
    const rule = { organization, project, environments: [environment], permission: 'read_write' as const };
    const caller = resourceCaller({ kind: 'SecretSnapshot', grants: [{ ...rule, kinds: ['SecretSnapshot'] }] });
    const resource = resourceSnapshotCalls(services, world, caller);
    await expect(resource.take()).rejects.toMatchObject(tooMany);
    expect(await resource.find()).toBeUndefined();
    const entries = await prismaOf(services.database).snapshotEntry.count({
      where: { snapshot: { environmentId: world.environment.id } },
    });
    expect(entries).toBe(2);
    const access = await world.onEnvironment(world.admin.caller, 'snapshot.delete');
    await services.snapshots.delete(access, first.id);
    expect(await resource.take()).toMatchObject({ id: expect.any(String) });
  });
});
