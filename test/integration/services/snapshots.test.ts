import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { Caller } from '../../../src/domain/principal.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { type SnapshotCalls, snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ database, services, world, calls, snapshots } = given));

function as(caller: Caller): SnapshotCalls {
  return snapshotCalls(services, world, caller);
}

describe('a snapshot', () => {
  test('keeps which version each key is at, and who made it of which revision', async () => {
    await calls.patch({ A: '1', B: '1', GONE: '1' });
    const { revisionId, revision } = await calls.patch({ B: '2' }, ['GONE']);
    const made = await snapshots.create({ name: 'release 1', description: 'before the fair' });
    expect(made).toEqual({
      id: expect.any(String),
      name: 'release 1',
      description: 'before the fair',
      createdBy: world.developer.id,
      createdByType: 'user',
      createdByName: world.developer.email,
      createdByCluster: null,
      createdAt: expect.any(Date),
      secretCount: 2,
      revision,
      revisionId,
    });
    const rows = await prismaOf(services.database).$queryRaw`
      SELECT s.key, v.version FROM snapshot_entry e JOIN secret_version v ON v.id = e.version_id AND v.secret_id = e.secret_id
      JOIN secret s ON s.id = e.secret_id WHERE e.snapshot_id = ${made.id}::uuid ORDER BY s.key`;
    expect(rows).toEqual([
      { key: 'A', version: 1 },
      { key: 'B', version: 2 },
    ]);
  });

  test('needs neither name nor description, and of a new environment has no revision', async () => {
    expect(await snapshots.create()).toMatchObject({
      name: null,
      description: null,
      secretCount: 0,
      revision: 0,
      revisionId: null,
    });
  });

  test('of an environment whose secrets were all deleted has its revision', async () => {
    await calls.put('KEY', '1');
    const { revisionId } = await calls.remove('KEY');
    expect(await snapshots.create()).toMatchObject({ secretCount: 0, revision: 2, revisionId });
  });

  test('made by a service token names the token', async () => {
    const token = await world.serviceToken();
    const made = await as(token.caller).create();
    expect(made).toMatchObject({ createdBy: token.id, createdByType: 'service_token', createdByName: 'ci' });
  });

  test('is the same by its id in the environment, by its id alone, and in the list', async () => {
    await calls.put('KEY', '1');
    const made = await snapshots.create({ name: 'one' });
    await calls.put('KEY', '2');
    expect(await snapshots.get(made.id)).toEqual(made);
    expect(await snapshots.find(made.id)).toEqual(made);
    expect((await snapshots.list()).snapshots).toEqual([made]);
  });

  test('makes no revision and no version', async () => {
    await calls.put('KEY', '1');
    const before = await calls.read();
    await snapshots.create();
    expect(await calls.read()).toEqual(before);
  });

  test.each([
    ['name', { name: '' }],
    ['name', { name: 'n'.repeat(201) }],
    ['name', { name: 'a\u0000b' }],
    ['description', { description: 'two\nlines' }],
    ['description', { description: '\ud800' }],
  ])('with a faulty %s is refused (%#)', async (field, input) => {
    await expect(snapshots.create(input)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
    expect((await snapshots.list()).snapshots).toEqual([]);
  });
});

describe('the list of snapshots', () => {
  test('is whole without a limit, newest first', async () => {
    const names = ['1', '2', '3'];
    for (const name of names) await snapshots.create({ name });
    const { snapshots: all, nextCursor } = await snapshots.list();
    expect(all.map(({ name }) => name)).toEqual(['3', '2', '1']);
    expect(nextCursor).toBeNull();
  });

  test('pages by limit and cursor, undisturbed by newer ones, also among those of one millisecond', async () => {
    const made = [];
    for (let count = 0; count < 5; count += 1) made.push((await snapshots.create()).id);
    await prismaOf(services.database).snapshot.updateMany({
      where: { id: { in: made.slice(1, 4) } },
      data: { createdAt: new Date() },
    });
    const all = (await snapshots.list()).snapshots.map(({ id }) => id);
    const first = await snapshots.list({ limit: 2 });
    await snapshots.create();
    const second = await snapshots.list({ limit: 2, cursor: first.nextCursor ?? '' });
    const third = await snapshots.list({ limit: 2, cursor: second.nextCursor ?? '' });
    expect([first, second, third].flatMap((page) => page.snapshots.map(({ id }) => id))).toEqual(all);
    expect(third.nextCursor).toBeNull();
    expect((await snapshots.list({ limit: 6 })).nextCursor).toBeNull();
  });

  test.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 1001 }],
    ['cursor', { cursor: 'abc' }],
    [
      'cursor',
      { cursor: Buffer.from(`["service-tokens","2027-01-01T00:00:00.000Z","${randomUUID()}"]`).toString('base64url') },
    ],
    ['cursor', { cursor: Buffer.from('["snapshots","2027-01-01T00:00:00.000Z","x"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from(`["snapshots","yesterday","${randomUUID()}"]`).toString('base64url') }],
  ])('refuses a bad %s (%#)', async (field, page) => {
    await expect(snapshots.list(page)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
  });

  test('holds the snapshots of its environment alone', async () => {
    const other = await createWorld(services);
    await snapshotCalls(services, other, other.developer.caller).create();
    expect((await snapshots.list()).snapshots).toEqual([]);
  });
});

describe('a comparison', () => {
  test('with the present shows what has happened since, by keys and versions', async () => {
    await calls.patch({ AGAIN: '1', EQUAL: '1', GONE: '1', LEFT: '1', SET: '1' });
    const { id } = await snapshots.create();
    await calls.patch({ EQUAL: '1', NEW: '1', SET: '2' }, ['AGAIN', 'GONE']);
    const { revision, revisionId } = await calls.put('AGAIN', '1');
    const expected = {
      snapshotId: id,
      against: 'current',
      revision,
      revisionId,
      added: [{ key: 'NEW', version: 1 }],
      removed: [{ key: 'GONE', version: 1 }],
      changed: [
        { key: 'AGAIN', from: 1, to: 2, valueChanged: false },
        { key: 'EQUAL', from: 1, to: 2, valueChanged: false },
        { key: 'SET', from: 1, to: 2, valueChanged: true },
      ],
      unchanged: 1,
      destroyed: [],
    };
    expect(await snapshots.diff(id)).toEqual(expected);
    expect(await snapshots.diff(id, 'current')).toEqual(expected);
  });

  test('with another snapshot shows what happened from the one to the other, either way', async () => {
    await calls.patch({ GONE: '1', LEFT: '1', SET: '1' });
    const one = await snapshots.create();
    await calls.patch({ NEW: '1', SET: '2' }, ['GONE']);
    const two = await snapshots.create();
    await calls.patch({ LATER: '1', SET: '3' });
    expect(await snapshots.diff(one.id, two.id)).toEqual({
      snapshotId: one.id,
      against: two.id,
      revision: two.revision,
      revisionId: two.revisionId,
      added: [{ key: 'NEW', version: 1 }],
      removed: [{ key: 'GONE', version: 1 }],
      changed: [{ key: 'SET', from: 1, to: 2, valueChanged: true }],
      unchanged: 1,
      destroyed: [],
    });
    expect(await snapshots.diff(two.id, one.id)).toMatchObject({
      revision: one.revision,
      added: [{ key: 'GONE', version: 1 }],
      removed: [{ key: 'NEW', version: 1 }],
      changed: [{ key: 'SET', from: 2, to: 1, valueChanged: true }],
      unchanged: 1,
    });
  });

  test('of a snapshot with itself, or of what is empty, finds no difference', async () => {
    const empty = await snapshots.create();
    const none = { added: [], removed: [], changed: [] };
    expect(await snapshots.diff(empty.id)).toMatchObject({ ...none, unchanged: 0, revision: 0 });
    expect(await snapshots.diff(empty.id, empty.id)).toMatchObject({
      ...none,
      unchanged: 0,
      revision: 0,
      revisionId: null,
    });
    await calls.patch({ A: '1', B: '1' });
    const { id } = await snapshots.create();
    expect(await snapshots.diff(id)).toMatchObject({ ...none, unchanged: 2 });
    expect(await snapshots.diff(id, id)).toMatchObject({ ...none, unchanged: 2 });
  });

  test('is not_found where the environment does not have either snapshot', async () => {
    const other = await createWorld(services);
    const foreign = await snapshotCalls(services, other, other.developer.caller).create();
    const { id } = await snapshots.create();
    for (const absent of [foreign.id, randomUUID()]) {
      const error = { code: 'not_found', detail: `snapshot ${absent} does not exist in this environment` };
      await expect(snapshots.diff(absent)).rejects.toMatchObject(error);
      await expect(snapshots.diff(absent, id)).rejects.toMatchObject(error);
      await expect(snapshots.diff(id, absent)).rejects.toMatchObject(error);
    }
  });

  test('refuses what is no id', async () => {
    const { id } = await snapshots.create();
    const fault = (field: string): object => ({ code: 'invalid_input', fields: [{ field }] });
    await expect(snapshots.diff('x')).rejects.toMatchObject(fault('id'));
    await expect(snapshots.diff(id, 'previous')).rejects.toMatchObject(fault('against'));
    await expect(snapshots.diff(id, id.toUpperCase())).rejects.toMatchObject(fault('against'));
  });
});

describe('a deletion', () => {
  test('removes the snapshot with its entries and leaves the versions and other snapshots', async () => {
    const admin = as(world.admin.caller);
    await calls.put('KEY', '1');
    const [one, two] = [await snapshots.create(), await snapshots.create()];
    await admin.delete(one.id);
    expect((await snapshots.list()).snapshots).toEqual([two]);
    const entries = await prismaOf(services.database).snapshotEntry.count({ where: { snapshotId: one.id } });
    expect(entries).toBe(0);
    expect(await calls.readOne('KEY')).toBe('1');
    await expect(admin.delete(one.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(snapshots.get(one.id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(snapshots.find(one.id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('does not find a snapshot of another environment', async () => {
    const other = await createWorld(services);
    const { id } = await snapshotCalls(services, other, other.developer.caller).create();
    await expect(as(world.admin.caller).delete(id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await snapshotCalls(services, other, other.developer.caller).get(id)).toMatchObject({ id });
  });

  test('waits for a restore that is under way', async () => {
    await calls.put('KEY', '1');
    const { id } = await snapshots.create();
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM membership WHERE user_id = $1 FOR UPDATE', [world.developer.id]);
    const restored = snapshots.restore(id);
    await session.waitForBlocked(1);
    const deleted = as(world.admin.caller).delete(id);
    await session.waitForBlocked(2);
    await session.commit();
    expect(await restored).toMatchObject({ restored: ['KEY'], revision: 2 });
    await deleted;
  });
});

test('a purge of the environment takes its snapshots along', async () => {
  await calls.put('KEY', '1');
  await snapshots.create();
  await prismaOf(services.database).$transaction(async (tx) => {
    await tx.$executeRaw`SET CONSTRAINTS ALL DEFERRED`;
    await tx.environment.delete({ where: { id: world.environment.id } });
  });
  const left = await prismaOf(services.database).snapshot.count({ where: { environmentId: world.environment.id } });
  expect(left).toBe(0);
});
