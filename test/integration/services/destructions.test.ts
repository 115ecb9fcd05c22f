import { describe, expect, test } from '@jest/globals';
import type { SealedContent } from '../../../src/store/secrets.ts';
import { notDestroyed } from '../../../src/store/versions.ts';
import type { DestroyedVersion } from '../../../src/services/secrets/destructions.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { databaseBytes, databaseRows } from '../../support/fixtures/leak-places.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { TestServices, World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;

withWorlds((given) => ({ database, services, world, calls, snapshots } = given));

async function destroy(key: string, version: number, sameValue?: boolean): Promise<DestroyedVersion> {
  const access = await world.onEnvironment(world.admin.caller, 'version.destroy');
  return services.destructions.destroy(access, key, { version, ...(sameValue === undefined ? {} : { sameValue }) });
}

async function valueAt(key: string, version: number): Promise<string> {
  const access = await world.onEnvironment(world.viewer.caller, 'version.read');
  return (await services.versions.get(access, key, version)).value.reveal();
}

async function stored(key: string): Promise<(Omit<SealedContent, 'dataKeyId'> & { version: number })[]> {
  return prismaOf(services.database).secretVersion.findMany({
    where: { secret: { key, environmentId: world.environment.id } },
    select: { version: true, ciphertext: true, valueMac: true, valueBytes: true },
    orderBy: { version: 'asc' },
  });
}

/** The tables and columns in which these bytes are. */
async function placesOf(bytes: Uint8Array): Promise<string[]> {
  const found = new Set<string>();
  const hex = Buffer.from(bytes).toString('hex');
  for (const place of [databaseRows(database.url), databaseBytes(database.url)]) {
    for await (const piece of place.contents()) {
      const searched = Buffer.from(piece.bytes);
      if (searched.includes(Buffer.from(bytes)) || searched.includes(hex)) found.add(piece.name);
    }
  }
  return [...found];
}

describe('a version that is destroyed', () => {
  test('leaves nothing of its value in the database, and its record stays', async () => {
    await calls.put('KEY', 'leaked', { comment: 'first' });
    await calls.put('KEY', 'safe');
    const [doomed] = await stored('KEY');
    if (doomed === undefined) throw new Error('there is a version');
    for (const bytes of [doomed.ciphertext, doomed.valueMac]) {
      expect(await placesOf(bytes)).toContain('public.secret_version');
    }
    const askedAt = Date.now();
    const answer = await destroy('KEY', 1);
    for (const bytes of [doomed.ciphertext, doomed.valueMac]) expect(await placesOf(bytes)).toEqual([]);
    expect((await stored('KEY'))[0]).toMatchObject({ version: 1, valueBytes: 0 });
    const { id, email } = world.admin;
    const trace = { destroyedAt: expect.any(Date), destroyedBy: id, destroyedByType: 'user', destroyedByName: email };
    expect(answer).toMatchObject({ version: 1, changeType: 'created', ...trace, destroyedVersions: [1] });
    expect(answer.destroyedAt?.getTime()).toBeGreaterThanOrEqual(askedAt);
    expect(answer.destroyedAt?.getTime()).toBeLessThanOrEqual(Date.now());
    expect(await calls.history('KEY')).toMatchObject([
      { version: 2, ...notDestroyed },
      { version: 1, comment: 'first', changedBy: world.developer.id, ...trace },
    ]);
    expect(await calls.readOne('KEY')).toBe('safe');
  });

  test('is reported as destroyed wherever its value is asked for, and the revision stays the same', async () => {
    await calls.patch({ KEY: 'leaked', OTHER: 'x' });
    const { revisionId } = await calls.put('KEY', 'safe');
    await destroy('KEY', 1);
    const gone = {
      code: 'version_destroyed',
      detail: expect.stringContaining('version 1 of secret KEY was destroyed'),
    };
    await expect(valueAt('KEY', 1)).rejects.toMatchObject(gone);
    await expect(calls.rollback('KEY', { targetVersion: 1 })).rejects.toMatchObject(gone);
    const list = await world.onEnvironment(world.viewer.caller, 'secret.list');
    const read = await world.onEnvironment(world.viewer.caller, 'secret.read');
    await expect(services.secrets.list(list, { revision: 1 })).rejects.toMatchObject(gone);
    await expect(services.secrets.get(read, 'KEY', { revision: 1 })).rejects.toMatchObject(gone);
    await expect(services.secrets.versionIdOf(read, 'KEY', { revision: 1 })).rejects.toMatchObject(gone);
    expect(await calls.read()).toMatchObject({ revision: 2, revisionId, secrets: { KEY: ['safe', 2] } });
    expect(await valueAt('KEY', 2)).toBe('safe');
  });

  test('does not keep a reader from the other keys of its revision, nor from the names', async () => {
    await calls.patch({ KEY: 'leaked', OTHER: 'x' });
    await calls.put('KEY', 'safe');
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    const [, second] = [await destroy('KEY', 1), await services.secrets.revisionIdOf(access, { revision: 2 })];
    const others = await services.secrets.list(access, { revision: 1, prefix: 'OTHER' });
    expect(others.secrets.map(({ value }) => value.reveal())).toEqual(['x']);
    expect((await services.secrets.listKeys(access, { revision: 1 })).secrets).toHaveLength(2);
    const reported = await services.secretReader.find(access, { revision: 1, maxKeys: 10 });
    if ('keys' in reported) throw new Error('the state has two keys');
    expect([reported.secrets.map(({ key }) => key), reported.destroyed]).toEqual([
      ['OTHER'],
      [{ key: 'KEY', version: 1 }],
    ]);
    const idOf = (wanted: object) => services.secrets.revisionIdOf(access, { revision: 1, ...wanted });
    expect(await idOf({})).toBeUndefined();
    expect(await idOf({ prefix: 'K' })).toBeUndefined();
    expect([await idOf({ prefix: 'OTHER' }), await idOf({ values: false })]).toEqual([
      reported.revisionId,
      reported.revisionId,
    ]);
    expect(second).toBe((await calls.read()).revisionId);
  });

  test('stays destroyed with one answer, however often it is asked for', async () => {
    await calls.put('KEY', 'leaked');
    await calls.put('KEY', 'safe');
    const first = await destroy('KEY', 1);
    expect(await destroy('KEY', 1)).toEqual(first);
    expect(await destroy('KEY', 1, true)).toEqual(first);
    const both = await Promise.all([destroy('KEY', 1), destroy('KEY', 1)]);
    expect(both).toEqual([first, first]);
  });

  test('leaves an audit entry with its number, also where it is refused', async () => {
    await calls.put('KEY', 'leaked');
    await calls.put('KEY', 'safe');
    await destroy('KEY', 1);
    await expect(destroy('KEY', 2)).rejects.toMatchObject({ code: 'version_current' });
    const rows = await prismaOf(services.database).auditEntry.findMany({
      where: { action: 'version.destroy', organizationId: world.organization.id },
      orderBy: { id: 'asc' },
    });
    const target = { ...world.slugs, key: 'KEY' };
    expect(rows).toMatchObject([
      { outcome: 'success', actorId: world.admin.id, target: { ...target, version: 1, destroyedVersions: ['1'] } },
      { outcome: 'failed', target: { ...target, version: 2 } },
    ]);
  });
});

describe('what is not destroyed', () => {
  test('is the current version, until there is another one', async () => {
    await calls.put('KEY', 'leaked');
    await expect(destroy('KEY', 1)).rejects.toMatchObject({
      code: 'version_current',
      detail: expect.stringContaining('set a new value first'),
    });
    await expect(destroy('KEY', 1, true)).rejects.toMatchObject({ code: 'version_current' });
    expect(await calls.readOne('KEY')).toBe('leaked');
    await calls.put('KEY', 'safe');
    expect(await destroy('KEY', 1)).toMatchObject({ destroyedVersions: [1] });
  });

  test('is what is not there', async () => {
    await calls.put('KEY', 'x');
    await expect(destroy('ABSENT', 1)).rejects.toMatchObject({ code: 'not_found' });
    await expect(destroy('KEY', 2)).rejects.toMatchObject({ code: 'not_found' });
    await expect(destroy('KEY', 0)).rejects.toMatchObject({ code: 'invalid_input' });
    await expect(destroy('no key', 1)).rejects.toMatchObject({ code: 'invalid_input' });
  });

  test('is another version with the same value, unless it is said what becomes of it', async () => {
    for (const value of ['leaked', 'other', 'leaked']) await calls.put('KEY', value);
    await calls.rollback('KEY', { targetVersion: 1 });
    await calls.put('KEY', 'safe');
    await expect(destroy('KEY', 3)).rejects.toMatchObject({
      code: 'value_in_other_versions',
      detail: expect.stringContaining('these versions hold the value of version 3 as well: 1, 4;'),
    });
    expect(await valueAt('KEY', 3)).toBe('leaked');
    expect(await destroy('KEY', 3, true)).toMatchObject({ version: 3, destroyedVersions: [1, 3, 4] });
    for (const version of [1, 3, 4])
      await expect(valueAt('KEY', version)).rejects.toMatchObject({ code: 'version_destroyed' });
    expect([await valueAt('KEY', 2), await valueAt('KEY', 5)]).toEqual(['other', 'safe']);
    expect(await destroy('KEY', 4)).toMatchObject({ version: 4, destroyedVersions: [1, 3, 4] });
  });

  test('is the same value elsewhere where that is what was said, nor ever the current one', async () => {
    for (const value of ['leaked', 'other', 'leaked']) await calls.put('KEY', value);
    const held = { code: 'version_current', detail: expect.stringContaining('version 3, which is the current one') };
    await expect(destroy('KEY', 1)).rejects.toMatchObject(held);
    await expect(destroy('KEY', 1, true)).rejects.toMatchObject(held);
    expect(await destroy('KEY', 1, false)).toMatchObject({ destroyedVersions: [1] });
    expect(await calls.readOne('KEY')).toBe('leaked');
  });

  test('is the value of another key, which no caller can recognize as the same', async () => {
    await calls.patch({ KEY: 'leaked', COPY: 'leaked' });
    await calls.put('KEY', 'safe');
    expect(await destroy('KEY', 1, true)).toMatchObject({ destroyedVersions: [1] });
    expect(await calls.readOne('COPY')).toBe('leaked');
  });
});

describe('a key that was deleted', () => {
  test('has its last version destroyed too, and goes on with its numbers when it is set again', async () => {
    await calls.put('KEY', 'leaked');
    await calls.remove('KEY');
    expect(await destroy('KEY', 1)).toMatchObject({ destroyedVersions: [1] });
    expect(await calls.patch({ KEY: 'leaked' }, [], { skipUnchanged: true })).toMatchObject({
      set: [{ key: 'KEY', version: 2 }],
      unchanged: [],
    });
    expect(await calls.readOne('KEY')).toBe('leaked');
  });
});

describe('a snapshot that names a destroyed version', () => {
  async function withLoss(): Promise<{ id: string }> {
    await calls.patch({ LOST: 'leaked', KEPT: 'old', GONE: 'x' });
    const { id } = await snapshots.create();
    await calls.patch({ LOST: 'safe', KEPT: 'new' }, ['GONE']);
    return { id };
  }

  test('is restored without that key, which stays as it is and is named', async () => {
    const { id } = await withLoss();
    await destroy('LOST', 1);
    const lists = { restored: ['KEPT'], unchanged: [], skipped: ['GONE'], destroyed: ['LOST'], pruned: [] };
    const plan = await snapshots.plan(id, { prune: true });
    expect(plan).toMatchObject(lists);
    expect(await snapshots.restore(id, { prune: true, planHash: plan.planHash })).toMatchObject(lists);
    expect((await calls.read()).secrets).toEqual({ KEPT: ['old', 3], LOST: ['safe', 2] });
    expect(await snapshots.restore(id, { skipUnchanged: true })).toMatchObject({
      restored: [],
      unchanged: ['KEPT'],
      destroyed: ['LOST'],
    });
  });

  test('outdates a plan that was made before', async () => {
    const { id } = await withLoss();
    const { planHash, revisionId } = await snapshots.plan(id);
    await destroy('LOST', 1);
    await expect(snapshots.restore(id, { planHash })).rejects.toMatchObject({ code: 'plan_outdated' });
    const again = await snapshots.plan(id);
    expect([again.revisionId, again.planHash === planHash]).toEqual([revisionId, false]);
    expect(await snapshots.restore(id, { planHash: again.planHash })).toMatchObject({ destroyed: ['LOST'] });
  });

  test('differs from everything in that key, and shows what it lost', async () => {
    const { id } = await withLoss();
    const two = await snapshots.create();
    await calls.patch({ LOST: 'x' });
    await destroy('LOST', 1);
    await destroy('LOST', 2);
    const changed = [{ key: 'LOST', from: 1, to: 2, valueChanged: true }];
    expect(await snapshots.diff(id, two.id)).toMatchObject({
      changed: expect.arrayContaining(changed),
      destroyed: [{ key: 'LOST', version: 1 }],
    });
    expect(await snapshots.diff(two.id, two.id)).toMatchObject({
      changed: [],
      unchanged: 2,
      destroyed: [{ key: 'LOST', version: 2 }],
    });
  });
});
