import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { limits } from '../../../src/domain/limits.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { type SnapshotCalls, snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ services, world, calls, snapshots } = given));

const attempts = ['restore', 'plan'] as const;

/** What a restore or a plan of one did to nothing. */
const nothing = { restored: [], recreated: [], unchanged: [], skipped: [], destroyed: [], pruned: [] };

async function versionRows(): Promise<{ readonly id: string }[]> {
  return prismaOf(services.database).secretVersion.findMany({
    where: { secret: { environmentId: world.environment.id } },
    orderBy: { version: 'asc' },
    select: { id: true, ciphertext: true, contentId: true, dataKeyId: true, valueMac: true, valueBytes: true },
  });
}

describe('a restore', () => {
  test('gives each key of the snapshot a new version with the value it had, in one revision', async () => {
    await calls.patch({ A: 'a1', B: 'b1' });
    const { id } = await snapshots.create();
    await calls.put('A', 'a2');
    const answer = await snapshots.restore(id);
    expect(answer).toEqual({
      ...nothing,
      restored: ['A', 'B'],
      backupSnapshotId: null,
      revision: 3,
      revisionId: expect.any(String),
    });
    expect(await calls.read()).toEqual({
      revision: 3,
      revisionId: answer.revisionId,
      secrets: { A: ['a1', 3], B: ['b1', 2] },
    });
    const [newest] = await calls.history('B');
    const { id: changedBy, email: changedByName } = world.developer;
    const author = { changedBy, changedByType: 'user', changedByName };
    expect(newest).toMatchObject({ version: 2, changeType: 'rolled_back', ...author });
    const changes = await prismaOf(services.database).secretChange.count({ where: { revisionId: answer.revisionId } });
    expect(changes).toBe(2);
  });

  test('refers to the stored bytes of the version that the snapshot names, with its data key, MAC and size', async () => {
    await calls.put('KEY', 'one');
    const { id } = await snapshots.create();
    await calls.put('KEY', 'a longer value');
    await snapshots.restore(id);
    const [first, second, third] = await versionRows();
    expect(third).toEqual({ ...first, id: expect.any(String), ciphertext: new Uint8Array(), contentId: first?.id });
    expect(second).toMatchObject({ contentId: null, valueBytes: 14 });
  });

  test('changes no earlier version', async () => {
    await calls.put('KEY', 'one');
    const { id } = await snapshots.create();
    await calls.put('KEY', 'two');
    const before = await calls.history('KEY');
    await snapshots.restore(id);
    expect((await calls.history('KEY')).slice(1)).toEqual(before);
  });

  test('skips a key that was deleted since, and restores one that was deleted and created again', async () => {
    await calls.patch({ AGAIN: 'first', GONE: 'x', STAYS: 'y' });
    const { id } = await snapshots.create();
    await calls.patch({}, ['AGAIN', 'GONE']);
    await calls.put('AGAIN', 'second');
    const answer = await snapshots.restore(id);
    expect(answer).toMatchObject({ restored: ['AGAIN', 'STAYS'], skipped: ['GONE'] });
    expect((await calls.read()).secrets).toEqual({ AGAIN: ['first', 3], STAYS: ['y', 2] });
    expect((await calls.history('GONE')).map(({ version }) => version)).toEqual([1]);
  });

  test('with includeDeleted restores deleted keys too, as new versions that continue their numbers', async () => {
    await calls.patch({ GONE: 'x', STAYS: 'y' });
    const { id } = await snapshots.create();
    await calls.patch({ STAYS: 'z' }, ['GONE']);
    expect(await snapshots.restore(id, { includeDeleted: true })).toMatchObject({
      restored: ['STAYS'],
      recreated: ['GONE'],
      skipped: [],
    });
    expect((await calls.read()).secrets).toEqual({ GONE: ['x', 2], STAYS: ['y', 3] });
    const [newest] = await calls.history('GONE');
    expect(newest).toMatchObject({ version: 2, changeType: 'rolled_back' });
    expect(await snapshots.restore(id, { includeDeleted: true, skipUnchanged: true })).toMatchObject({
      recreated: [],
      unchanged: ['GONE', 'STAYS'],
    });
  });

  test('with a selection changes nothing else, and its backup has all keys', async () => {
    await calls.patch({ DB_A: '1', DB_B: '1', WEB: '1' });
    const { id } = await snapshots.create();
    await calls.patch({ DB_A: '2', DB_LATER: '2', WEB: '2', WEB_LATER: '2' }, ['DB_B']);
    const keys = { include: ['DB_*'] };
    const before = await calls.read();
    const done = await snapshots.restore(id, { keys, prune: true, backup: true });
    expect(done).toMatchObject({ restored: ['DB_A'], skipped: ['DB_B'], pruned: ['DB_LATER'], recreated: [] });
    expect((await calls.read()).secrets).toEqual({ DB_A: ['1', 3], WEB: ['2', 2], WEB_LATER: ['2', 1] });
    await snapshots.restore(done.backupSnapshotId ?? '', { includeDeleted: true, prune: true, skipUnchanged: true });
    const values = Object.entries((await calls.read()).secrets).map(([key, [value]]) => [key, value]);
    expect(values).toEqual(Object.entries(before.secrets).map(([key, [value]]) => [key, value]));
  });

  test('counts a recreated key as one more secret of its environment', async () => {
    await calls.put('GONE', 'x');
    const { id } = await snapshots.create();
    await calls.remove('GONE');
    const full = Array.from({ length: limits.secretsPerEnvironment }, (_, index) => [`KEY_${index}`, ''] as const);
    await calls.patch(Object.fromEntries(full));
    for (const attempt of attempts) {
      await expect(snapshots[attempt](id, { includeDeleted: true })).rejects.toMatchObject({ code: 'quota_exceeded' });
    }
    await calls.remove('KEY_0');
    expect(await snapshots.restore(id, { includeDeleted: true })).toMatchObject({ recreated: ['GONE'] });
  });

  test('leaves keys that came later alone, and with prune deletes them', async () => {
    await calls.put('OLD', '1');
    const { id } = await snapshots.create();
    await calls.patch({ LATER: '2', LAST: '3' });
    expect(await snapshots.restore(id)).toMatchObject({ restored: ['OLD'], pruned: [] });
    expect(Object.keys((await calls.read()).secrets)).toEqual(['LAST', 'LATER', 'OLD']);
    const { revisionId, ...lists } = await snapshots.restore(id, { prune: true });
    expect(lists).toMatchObject({ restored: ['OLD'], pruned: ['LAST', 'LATER'] });
    const { secretChange } = prismaOf(services.database);
    expect(await secretChange.count({ where: { revisionId } })).toBe(3);
    expect(await secretChange.count({ where: { revisionId, versionId: null } })).toBe(2);
    expect((await calls.read()).secrets).toEqual({ OLD: ['1', 3] });
    expect(await calls.put('LATER', 'again')).toMatchObject({ version: 2, created: true });
  });

  test('makes a version of an equal value too, unless skipUnchanged leaves it', async () => {
    await calls.patch({ DIFFERS: '1', SAME: '1' });
    const { id } = await snapshots.create();
    await calls.patch({ DIFFERS: '2' });
    await calls.patch({ SAME: 'between' });
    await calls.patch({ SAME: '1' });
    expect(await snapshots.restore(id, { skipUnchanged: true })).toMatchObject({
      restored: ['DIFFERS'],
      unchanged: ['SAME'],
    });
    expect((await calls.read()).secrets).toEqual({ DIFFERS: ['1', 3], SAME: ['1', 3] });
    expect(await snapshots.restore(id)).toMatchObject({ restored: ['DIFFERS', 'SAME'], unchanged: [] });
  });

  test('with nothing to change makes neither revision nor backup and answers the present revision', async () => {
    const empty = await snapshots.create();
    const initial = await calls.read();
    const { revision, revisionId } = initial;
    expect(await snapshots.restore(empty.id, { backup: true })).toEqual({
      ...nothing,
      backupSnapshotId: null,
      revision,
      revisionId,
    });
    expect(await calls.read()).toEqual(initial);
    const written = await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    expect(await snapshots.restore(id, { skipUnchanged: true, backup: true, prune: true })).toEqual({
      ...nothing,
      unchanged: ['KEY'],
      backupSnapshotId: null,
      revision: written.revision,
      revisionId: written.revisionId,
    });
    expect((await snapshots.list()).snapshots).toHaveLength(2);
  });

  test('of an empty snapshot with prune deletes everything', async () => {
    const { id } = await snapshots.create();
    await calls.patch({ A: '1', B: '2' });
    expect(await snapshots.restore(id, { prune: true })).toMatchObject({ pruned: ['A', 'B'], revision: 2 });
    expect((await calls.read()).secrets).toEqual({});
  });

  test('notes its comment, or the snapshot, on versions and revision', async () => {
    await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    await snapshots.restore(id);
    const { revisionId } = await snapshots.restore(id, { comment: 'the night was long' });
    const [last, before] = await calls.history('KEY');
    expect(last?.comment).toBe('the night was long');
    expect(before?.comment).toBe(`restored from snapshot ${id}`);
    const revision = await prismaOf(services.database).environmentRevision.findUnique({ where: { id: revisionId } });
    expect(revision).toMatchObject({ comment: 'the night was long', actorId: world.developer.id });
  });

  test('with backup keeps what was before, and a restore of that brings it back', async () => {
    await calls.put('KEY', 'one');
    const first = await snapshots.create({ name: 'release 1' });
    await calls.put('KEY', 'two');
    const { backupSnapshotId } = await snapshots.restore(first.id, { backup: true });
    const backup = await snapshots.get(backupSnapshotId ?? '');
    expect(backup).toMatchObject({ name: 'before restore of release 1', secretCount: 1, revision: 2 });
    expect(await calls.readOne('KEY')).toBe('one');
    await snapshots.restore(backup.id);
    expect(await calls.readOne('KEY')).toBe('two');
  });

  test('names a backup by the id of a snapshot without a name, or with one that leaves no room', async () => {
    await calls.put('KEY', 'one');
    for (const snapshot of [
      await snapshots.create(),
      await snapshots.create({ name: 'n'.repeat(limits.nameLength) }),
    ]) {
      const { backupSnapshotId } = await snapshots.restore(snapshot.id, { backup: true });
      expect((await snapshots.get(backupSnapshotId ?? '')).name).toBe(`before restore of ${snapshot.id}`);
    }
  });

  test('holds only at the expected revision', async () => {
    await calls.put('KEY', 'one');
    const { id, revisionId } = await snapshots.create();
    const { revisionId: present } = await calls.put('KEY', 'two');
    for (const method of attempts) {
      const mismatch = snapshots[method](id, { expectedRevision: revisionId ?? '' });
      await expect(mismatch).rejects.toMatchObject({ code: 'version_mismatch' });
    }
    expect(await calls.readOne('KEY')).toBe('two');
    expect(await snapshots.restore(id, { expectedRevision: present })).toMatchObject({ revision: 3 });
  });

  test('keeps the values within the bytes an environment may hold, and lets what is full shrink', async () => {
    const value = 'v'.repeat(limits.valueBytes);
    const keys = Array.from({ length: limits.environmentBytes / limits.valueBytes }, (_, index) => `KEY_${index}`);
    await calls.patch(Object.fromEntries(keys.map((key) => [key, value])));
    const full = await snapshots.create();
    await calls.put('KEY_0', 'v');
    await calls.put('MORE', 'vv');
    for (const method of attempts) {
      await expect(snapshots[method](full.id)).rejects.toMatchObject({ code: 'quota_exceeded' });
    }
    expect(await calls.readOne('KEY_0')).toBe('v');
    expect(await snapshots.restore(full.id, { prune: true })).toMatchObject({ pruned: ['MORE'] });
    expect(await snapshots.restore(full.id)).toMatchObject({ pruned: [] });
    await calls.patch({ KEY_1: 'v', MORE: 'vv' }, ['KEY_0']);
    expect(await snapshots.restore(full.id)).toMatchObject({ skipped: ['KEY_0'] });
  });

  test('reaches the listeners', async () => {
    await calls.put('KEY', 'one');
    const { id } = await snapshots.create();
    const client = await services.database.pool.connect();
    const heard: (string | undefined)[] = [];
    client.on('notification', ({ payload }) => heard.push(payload));
    await client.query('LISTEN keyframe');
    const { revisionId } = await snapshots.restore(id);
    await client.query('SELECT');
    client.release(true);
    expect(heard).toEqual([JSON.stringify({ o: world.organization.id, e: world.environment.id, r: revisionId })]);
  });
});

describe('a restore is refused, and changes nothing,', () => {
  test('for a snapshot that does not exist, or is of another environment', async () => {
    const other = await createWorld(services);
    const foreign = await snapshotCalls(services, other, other.developer.caller).create();
    await calls.put('KEY', '1');
    for (const id of [randomUUID(), foreign.id]) {
      for (const method of attempts) {
        await expect(snapshots[method](id, { prune: true })).rejects.toMatchObject({
          code: 'not_found',
          detail: `snapshot ${id} does not exist in this environment`,
        });
      }
    }
    expect((await calls.read()).secrets).toEqual({ KEY: ['1', 1] });
  });

  test.each([
    ['snapshotId', { snapshotId: 'x' }],
    ['snapshotId', { snapshotId: randomUUID().toUpperCase() }],
    ['expectedRevision', { expectedRevision: '3' }],
    ['planHash', { planHash: 'short' }],
    ['comment', { comment: '\n' }],
    ['comment', { comment: 'c'.repeat(limits.commentLength + 1) }],
  ])('for a faulty %s (%#)', async (field, faulty) => {
    await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    for (const method of attempts) {
      const { snapshotId = id, ...rest } = faulty as { snapshotId?: string };
      await expect(snapshots[method](snapshotId, rest)).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ field }],
      });
    }
    expect(await calls.read()).toMatchObject({ revision: 1 });
  });
});
