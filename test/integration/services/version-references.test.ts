import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { limits } from '../../../src/domain/limits.ts';
import { refOf } from '../../../src/domain/secret-states.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { createWorldCalls, withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { anyKeyStep, destroyVersion, KeyHistory, storedRows, valueAt } from './key-history.ts';

/** Versions that refer to another version of the same secret for their value. */

const growthLimits = { environmentBytesPerDay: 0, callerBytesPerDay: 0, snapshotsPerEnvironment: 0 };
const isFull = process.env['KEYFRAME_TEST_SCALE'] === 'full';
const { runs, limitMs } = isFull ? { runs: 200, limitMs: 300_000 } : { runs: 8, limitMs: 60_000 };

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ services, world, calls, snapshots } = given), { growthLimits });

/** The versions of a key that hold their value, and what the others refer to. */
async function placesOf(key: string): Promise<Readonly<Record<number, number | 'own' | 'destroyed'>>> {
  const rows = (await storedRows(services, world)).filter((row) => row.key === key);
  return Object.fromEntries(
    rows.map(({ version, bytes, refersTo, isDestroyed }) => {
      expect(bytes > 0).toBe(refersTo === null && !isDestroyed);
      return [version, isDestroyed ? 'destroyed' : (refersTo ?? 'own')];
    }),
  );
}

describe('a reference', () => {
  test('is read like a value: one key, all, by prefix, by number, in the past, for the controller', async () => {
    await calls.patch({ KEY: 'one', OTHER: 'x' });
    const { id } = await snapshots.create();
    await calls.patch({ KEY: 'two', OTHER: 'y' });
    const { revision, revisionId } = await snapshots.restore(id);
    await calls.rollback('KEY', { targetVersion: 3 });
    await calls.put('OTHER', 'z');
    expect(await placesOf('KEY')).toEqual({ 1: 'own', 2: 'own', 3: 1, 4: 1 });
    expect((await calls.read()).secrets).toEqual({ KEY: ['one', 4], OTHER: ['z', 4] });
    expect(await calls.readOne('KEY')).toBe('one');
    expect(await valueAt(services, world, 'KEY', 3)).toBe('one');
    const list = await world.onEnvironment(world.viewer.caller, 'secret.list');
    for (const wanted of [{ revision }, { revision: revisionId }, { revision, prefix: 'K' }]) {
      const { secrets } = await services.secrets.list(list, wanted);
      expect(secrets[0]).toMatchObject({ key: 'KEY', version: 3 });
      expect(secrets[0]?.value.reveal()).toBe('one');
    }
    const read = await world.onEnvironment(world.viewer.caller, 'secret.read');
    expect((await services.secrets.get(read, 'KEY', { revision })).value.reveal()).toBe('one');
    expect((await snapshots.diff(id)).changed).toMatchObject([
      { key: 'KEY', from: 1, to: 4, valueChanged: false },
      { key: 'OTHER', from: 1, to: 4, valueChanged: true },
    ]);
    for (const wanted of [undefined, revision]) {
      const found = await services.secretReader.find(list, { maxKeys: 10, ...(wanted && { revision: wanted }) });
      if ('keys' in found) throw new Error('the state has two keys');
      expect((await services.secretReader.read(list, refOf(found), ['KEY'])).get('KEY')?.reveal()).toBe('one');
    }
  });

  test('to a value that is fetched for itself is read by the controller, now and in the past', async () => {
    const large = 'x'.repeat(limits.valueBytes);
    await calls.patch({ KEY: large });
    await calls.put('KEY', 'small');
    const { revision } = await calls.rollback('KEY', { targetVersion: 1 });
    await calls.rollback('KEY', { targetVersion: 3 });
    const list = await world.onEnvironment(world.viewer.caller, 'secret.list');
    for (const wanted of [undefined, revision]) {
      const found = await services.secretReader.find(list, { maxKeys: 10, ...(wanted && { revision: wanted }) });
      if ('keys' in found) throw new Error('the state has one key');
      expect(found.secrets).toEqual([{ key: 'KEY', bytes: large.length }]);
      expect((await services.secretReader.read(list, refOf(found), ['KEY'])).get('KEY')?.reveal()).toBe(large);
    }
  });

  test('is read with the data key of its value, which alone is sealed again when keys rotate', async () => {
    await calls.put('KEY', 'one');
    await calls.put('KEY', 'two');
    await calls.rollback('KEY', { targetVersion: 1 });
    // A later rotation re-seals version 1 only. Here the reference names a key that never sealed anything.
    const { id: retired } = await prismaOf(services.database).dataKey.create({
      data: {
        id: '00000000-0000-4000-8000-000000000001',
        projectId: world.project.id,
        wrappedKey: Buffer.from('no key'),
        rootKeyId: 'none',
        retiredAt: new Date(),
      },
    });
    await prismaOf(services.database).secretVersion.updateMany({
      where: { contentId: { not: null } },
      data: { dataKeyId: retired },
    });
    expect(await calls.readOne('KEY')).toBe('one');
    expect(await valueAt(services, world, 'KEY', 3)).toBe('one');
    await calls.rollback('KEY', { targetVersion: 3 });
    expect(await calls.readOne('KEY')).toBe('one');
  });

  test('never names a version of another secret, itself, a reference or a destroyed version', async () => {
    const { pool } = services.database;
    await calls.put('KEY', 'one');
    await calls.put('KEY', 'two');
    await calls.rollback('KEY', { targetVersion: 1 });
    const change = (text: string): Promise<unknown> =>
      pool.query(`UPDATE secret_version v SET ${text} FROM secret s
        WHERE s.id = v.secret_id AND s.key = 'KEY' AND s.environment_id = '${world.environment.id}' AND v.version = 3`);
    for (const text of ['content_version_id = v.id', 'content_version_id = NULL', "ciphertext = 'x'"]) {
      await expect(change(text)).rejects.toMatchObject({ constraint: 'secret_version_reference' });
    }
    const other = '00000000-0000-4000-8000-00000000ffff';
    await expect(change(`content_version_id = '${other}'`)).rejects.toMatchObject({
      constraint: 'secret_version_content_version_id_fkey',
    });
  });
});

describe('a value that others refer to', () => {
  /** Versions 1, 3, 4 and 6 of KEY have one value, which is in version 1. */
  async function shared(): Promise<void> {
    await calls.put('KEY', 'leaked');
    await calls.put('KEY', 'other');
    for (const targetVersion of [1, 3]) await calls.rollback('KEY', { targetVersion });
    await calls.put('KEY', 'more');
    await calls.rollback('KEY', { targetVersion: 4 });
    expect(await placesOf('KEY')).toEqual({ 1: 'own', 2: 'own', 3: 1, 4: 1, 5: 'own', 6: 1 });
  }

  test('moves to the newest of them when its version is destroyed alone', async () => {
    await shared();
    expect(await destroyVersion(services, world, 'KEY', { version: 1, sameValue: false })).toEqual([1]);
    expect(await placesOf('KEY')).toEqual({ 1: 'destroyed', 2: 'own', 3: 6, 4: 6, 5: 'own', 6: 'own' });
    await calls.put('KEY', 'safe');
    expect(await destroyVersion(services, world, 'KEY', { version: 6, sameValue: false })).toEqual([6]);
    expect(await placesOf('KEY')).toMatchObject({ 3: 4, 4: 'own', 6: 'destroyed', 7: 'own' });
    for (const version of [3, 4]) expect(await valueAt(services, world, 'KEY', version)).toBe('leaked');
    await calls.rollback('KEY', { targetVersion: 3 });
    expect(await calls.readOne('KEY')).toBe('leaked');
    expect(await placesOf('KEY')).toMatchObject({ 8: 4 });
  });

  test('stays where it is when one of them is destroyed', async () => {
    await shared();
    expect(await destroyVersion(services, world, 'KEY', { version: 3, sameValue: false })).toEqual([3]);
    expect(await placesOf('KEY')).toEqual({ 1: 'own', 2: 'own', 3: 'destroyed', 4: 1, 5: 'own', 6: 1 });
    await expect(valueAt(services, world, 'KEY', 3)).rejects.toMatchObject({ code: 'version_destroyed' });
    expect(await calls.readOne('KEY')).toBe('leaked');
  });

  test('is gone with all of them', async () => {
    await shared();
    await calls.put('KEY', 'safe');
    expect(await destroyVersion(services, world, 'KEY', { version: 4, sameValue: true })).toEqual([1, 3, 4, 6]);
    expect(await placesOf('KEY')).toEqual({
      1: 'destroyed',
      2: 'own',
      3: 'destroyed',
      4: 'destroyed',
      5: 'own',
      6: 'destroyed',
      7: 'own',
    });
    const { rows } = await services.database.pool.query(
      `SELECT FROM secret_version v JOIN secret s ON s.id = v.secret_id
       WHERE s.environment_id = $1 AND (v.content_version_id IS NOT NULL OR v.destroyed_at IS NOT NULL)
         AND (length(v.ciphertext) > 0 OR length(v.value_mac) > 0 OR v.content_version_id IS NOT NULL)`,
      [world.environment.id],
    );
    expect(rows).toEqual([]);
  });

  test('is in each version that set it: equal values are not joined', async () => {
    await calls.put('KEY', 'same');
    await calls.put('KEY', 'same');
    expect(await placesOf('KEY')).toEqual({ 1: 'own', 2: 'own' });
    await destroyVersion(services, world, 'KEY', { version: 1, sameValue: false });
    expect(await calls.readOne('KEY')).toBe('same');
  });

  test('is purged with all of them', async () => {
    await shared();
    const { access, environments } = services;
    await environments.delete(await world.onEnvironment(world.owner.caller, 'environment.delete'));
    await environments.purge(await access.instance(world.owner.caller, 'environment.purge'), world.slugs);
    expect(await storedRows(services, world)).toEqual([]);
  });
});

test('whatever is rolled back, restored and destroyed, each value is stored once while a version has it', async () => {
  const property = fc.asyncProperty(fc.array(anyKeyStep, { minLength: 5, maxLength: 30 }), async (steps) => {
    const history = new KeyHistory(services, await createWorldCalls(services));
    for (const one of steps) await history.run(one);
    await history.expectAsModelled();
  });
  await fc.assert(property, { numRuns: runs, interruptAfterTimeLimit: limitMs });
}, 360_000);

test('many restores grow the database by rows and not by values', async () => {
  const { keys, restores } = isFull ? { keys: 10_000, restores: 25 } : { keys: 200, restores: 20 };
  const kibibyte = 1_024;
  const set = Object.fromEntries(Array.from({ length: keys }, (_, index) => [`KEY_${index}`, 'x'.repeat(kibibyte)]));
  await calls.patch(set);
  const { id } = await snapshots.create();
  const size = async (): Promise<number> => {
    const text = `SELECT pg_total_relation_size('secret_version')::float8 AS bytes`;
    const { rows } = await services.database.pool.query<{ bytes: number }>(text);
    return rows[0]?.bytes ?? 0;
  };
  const perVersion = async (count: number): Promise<number> => {
    const before = await size();
    for (let restore = 0; restore < count; restore += 1) await snapshots.restore(id);
    return ((await size()) - before) / keys / count;
  };
  const referring = await perVersion(restores);
  expect(referring).toBeGreaterThan(100);
  expect(referring).toBeLessThan(500);
  expect(await calls.readOne('KEY_0')).toBe('x'.repeat(kibibyte));
}, 300_000);
