import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { callerOf, createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { type SnapshotCalls, snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ services, world, calls, snapshots } = given));

function as(caller: Caller): SnapshotCalls {
  return snapshotCalls(services, world, caller);
}

describe('a snapshot that is looked for by its id alone', () => {
  test('is refused with one text whether it is hidden or does not exist', async () => {
    const { id } = await snapshots.create();
    const absent = randomUUID();
    for (const caller of [world.stranger.caller, (await (await createWorld(services)).serviceToken()).caller]) {
      for (const wanted of [id, absent]) {
        await expect(as(caller).find(wanted)).rejects.toMatchObject({
          code: 'not_found',
          detail: `snapshot ${wanted} does not exist, or is not visible with this access`,
        });
      }
    }
  });

  test('leaves a denial in the chain of the caller that does not reveal where it is', async () => {
    const { id } = await snapshots.create();
    const caller = callerOf(world.stranger.caller.principal);
    await as(caller)
      .find(id)
      .catch(() => undefined);
    const rows = await prismaOf(services.database).auditEntry.findMany({ where: { requestId: caller.requestId } });
    expect(rows).toMatchObject([
      { organizationId: null, action: 'snapshot.read', outcome: 'denied', target: { snapshot: id } },
    ]);
    expect(JSON.stringify(rows[0]?.target)).not.toContain(world.slugs.organization);
  });

  test('is hidden once anything above it is deleted', async () => {
    const { id } = await snapshots.create();
    const prisma = prismaOf(services.database);
    const deletions = [
      (deletedAt: Date | null) =>
        prisma.environment.update({ where: { id: world.environment.id }, data: { deletedAt } }),
      (deletedAt: Date | null) => prisma.project.update({ where: { id: world.project.id }, data: { deletedAt } }),
      (deletedAt: Date | null) =>
        prisma.organization.update({ where: { id: world.organization.id }, data: { deletedAt } }),
    ];
    for (const setDeleted of deletions) {
      await setDeleted(new Date());
      await expect(snapshots.find(id)).rejects.toMatchObject({ code: 'not_found' });
      await setDeleted(null);
      expect(await snapshots.find(id)).toMatchObject({ id });
    }
  });

  test('is refused where its id is none, without repeating it', async () => {
    for (const id of ['my-secret', randomUUID().toUpperCase()]) {
      const error = await snapshots.find(id).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'invalid_input', fields: [{ field: 'id' }] });
      expect(JSON.stringify(error)).not.toContain(id);
    }
  });
});

describe('the audit of snapshots', () => {
  const canary = 'canary-5f1c2a';

  async function rowsOf(actor: Caller, call: (wanted: SnapshotCalls) => Promise<unknown>): Promise<unknown[]> {
    const caller = callerOf(actor.principal);
    await call(as(caller)).catch(() => undefined);
    const rows = await prismaOf(services.database).auditEntry.findMany({ where: { requestId: caller.requestId } });
    expect(
      JSON.stringify(rows, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)),
    ).not.toContain(canary);
    return rows;
  }

  test('has a row for each creation, restore, plan and deletion', async () => {
    await calls.patch({ A: canary, GONE: canary, SAME: canary });
    const { id, revisionId } = await snapshots.create({ name: 'one' });
    const chain = { organizationId: world.organization.id, outcome: 'success' };
    const created = await rowsOf(world.developer.caller, (wanted) => wanted.create({ name: 'two' }));
    expect(created).toMatchObject([
      {
        ...chain,
        action: 'snapshot.create',
        target: { ...world.slugs, name: 'two', secrets: 3, revision: 1, revisionId },
      },
    ]);
    await calls.patch({ A: 'x', LATER: 'x' }, ['GONE']);
    const options = { prune: true, skipUnchanged: true, backup: true };
    const counts = { snapshotId: id, restored: 1, unchanged: 1, skipped: 1, destroyed: 0, pruned: 1 };
    const planned = await rowsOf(world.developer.caller, (wanted) => wanted.plan(id, options));
    expect(planned).toMatchObject([{ ...chain, action: 'snapshot.restore', target: { ...counts, dryRun: true } }]);
    const restored = await rowsOf(world.developer.caller, (wanted) => wanted.restore(id, options));
    const changed = { restoredKeys: ['A'], prunedKeys: ['LATER'], revision: 3, backupSnapshotId: expect.any(String) };
    expect(restored).toMatchObject([{ ...chain, action: 'snapshot.restore', target: { ...counts, ...changed } }]);
    const deleted = await rowsOf(world.admin.caller, (wanted) => wanted.delete(id));
    expect(deleted).toMatchObject([{ ...chain, action: 'snapshot.delete', target: { snapshotId: id, name: 'one' } }]);
  });

  test('names at most 100 keys of a restore, and counts all', async () => {
    const keys = Array.from({ length: 120 }, (_, index) => `KEY_${index}`);
    await calls.patch(Object.fromEntries(keys.map((key) => [key, 'x'])));
    const { id } = await snapshots.create();
    const [row] = (await rowsOf(world.developer.caller, (wanted) => wanted.restore(id))) as {
      target: { restoredKeys: unknown[] };
    }[];
    expect(row?.target).toMatchObject({ restored: 120 });
    expect(row?.target.restoredKeys).toHaveLength(100);
  });

  test('has a row for a read by a service token, with its label, and none for one by a person', async () => {
    await calls.put('KEY', canary);
    const { id } = await snapshots.create();
    const token = await world.serviceToken({ permission: 'read' });
    const reads: [(wanted: SnapshotCalls) => Promise<unknown>, string, object][] = [
      [(wanted) => wanted.list(), 'snapshot.list', { snapshots: 1 }],
      [(wanted) => wanted.get(id), 'snapshot.read', { snapshotId: id }],
      [(wanted) => wanted.find(id), 'snapshot.read', { snapshotId: id, ...world.slugs }],
      [(wanted) => wanted.diff(id), 'snapshot.read', { snapshotId: id, against: 'current' }],
    ];
    for (const [read, action, target] of reads) {
      expect(await rowsOf(token.caller, read)).toMatchObject([{ action, target, label: '[Service Token]' }]);
      expect(await rowsOf(world.developer.caller, read)).toEqual([]);
    }
  });

  test('has a row for what fails, for any caller', async () => {
    const absent = randomUUID();
    const failures: [(wanted: SnapshotCalls) => Promise<unknown>, string][] = [
      [(wanted) => wanted.create({ name: '' }), 'snapshot.create'],
      [(wanted) => wanted.restore(absent), 'snapshot.restore'],
      [(wanted) => wanted.plan(absent), 'snapshot.restore'],
      [(wanted) => wanted.delete(absent), 'snapshot.delete'],
    ];
    for (const [fail, action] of failures) {
      const chain = { organizationId: world.organization.id, outcome: 'failed' };
      expect(await rowsOf(world.admin.caller, fail)).toMatchObject([{ ...chain, action }]);
    }
  });
});
