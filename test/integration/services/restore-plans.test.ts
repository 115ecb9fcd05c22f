import { describe, expect, test } from '@jest/globals';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ services, world, calls, snapshots } = given));

describe('a dry run', () => {
  test('answers what the restore then does, and writes nothing', async () => {
    await calls.patch({ GONE: '1', KEPT: '1', SAME: '1' });
    const { id } = await snapshots.create();
    await calls.patch({ KEPT: '2', LATER: '1' }, ['GONE']);
    const options = { prune: true, skipUnchanged: true, backup: true };
    const before = await calls.read();
    const { planHash, revision, revisionId, ...lists } = await snapshots.plan(id, options);
    expect(lists).toEqual({
      restored: ['KEPT'],
      unchanged: ['SAME'],
      skipped: ['GONE'],
      recreated: [],
      destroyed: [],
      pruned: ['LATER'],
    });
    expect(planHash).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect({ revision, revisionId }).toEqual({ revision: before.revision, revisionId: before.revisionId });
    expect(await calls.read()).toEqual(before);
    expect((await snapshots.list()).snapshots).toHaveLength(1);
    expect(await snapshots.restore(id, { ...options, planHash })).toMatchObject({ ...lists, revision: 3 });
  });

  test('waits for no lock', async () => {
    await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    await prismaOf(services.database).$transaction(async (tx) => {
      await tx.$queryRaw`SELECT 1 FROM environment WHERE id = ${world.environment.id}::uuid FOR UPDATE`;
      expect(await snapshots.plan(id)).toMatchObject({ restored: ['KEY'] });
    });
  });

  test('gives a hash that no longer holds after any change, or with other options', async () => {
    await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    const other = await snapshots.create();
    const { planHash } = await snapshots.plan(id);
    const outdated = { code: 'plan_outdated', detail: expect.stringContaining('plan again') };
    for (const options of [{ prune: true }, { skipUnchanged: true }, { backup: true }]) {
      await expect(snapshots.restore(id, { ...options, planHash })).rejects.toMatchObject(outdated);
    }
    await expect(snapshots.restore(other.id, { planHash })).rejects.toMatchObject(outdated);
    expect((await snapshots.plan(id, { planHash })).planHash).toBe(planHash);
    expect(await snapshots.restore(id, { planHash, comment: 'as planned' })).toMatchObject({ revision: 2 });
    await expect(snapshots.restore(id, { planHash })).rejects.toMatchObject(outdated);
    await expect(snapshots.plan(id, { planHash })).rejects.toMatchObject(outdated);
    expect(await calls.read()).toMatchObject({ revision: 2 });
  });
});
