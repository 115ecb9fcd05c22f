import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { limits } from '../../../src/domain/limits.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import { type FoundState, refOf } from '../../../src/domain/secret-states.ts';
import type { FindOptions } from '../../../src/services/secrets/secret-reader.ts';
import { listValuesAt } from '../../../src/store/secret-reads.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { callerOf, createWorld, type TestServices, type World } from '../../support/api/services.ts';
import type { SnapshotCalls } from '../../support/api/snapshot-calls.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;
let snapshots: SnapshotCalls;
let snapshotId = '';

withWorlds((given) => ({ services, world, calls, snapshots } = given));

const large = 'x'.repeat(limits.valueBytes);

async function find(options: Partial<FindOptions> = {}, caller: Caller = world.viewer.caller): Promise<FoundState> {
  const access = await world.onEnvironment(caller, 'secret.list');
  const found = await services.secretReader.find(access, { maxKeys: 100, ...options });
  if ('keys' in found) throw new Error(`the state has ${found.keys} keys`);
  return found;
}

async function read(
  found: FoundState,
  keys: readonly string[],
  caller: Caller = world.viewer.caller,
): Promise<Record<string, string>> {
  const access = await world.onEnvironment(caller, 'secret.list');
  const values = await services.secretReader.read(access, refOf(found), keys);
  return Object.fromEntries([...values].map(([key, value]) => [key, value.reveal()]));
}

/** Makes values impossible to decrypt. */
async function spoil(keys: readonly string[]): Promise<void> {
  await prismaOf(services.database).secretVersion.updateMany({
    where: { secret: { environmentId: world.environment.id, key: { in: [...keys] } } },
    data: { ciphertext: Buffer.from('spoiled') },
  });
}

describe('a found state', () => {
  test('has the keys in their order and the bytes of their values, and gives the values that are asked for', async () => {
    await calls.patch({ B: 'ä🔑', A: 'alpha', C: '' });
    const found = await find();
    expect(found).toEqual({
      environmentId: world.environment.id,
      revision: 1,
      revisionId: (await calls.read()).revisionId,
      secrets: [
        { key: 'A', bytes: 5 },
        { key: 'B', bytes: 6 },
        { key: 'C', bytes: 0 },
      ],
      destroyed: [],
      deletedSince: [],
    });
    expect(await read(found, ['C', 'B'])).toEqual({ B: 'ä🔑', C: '' });
    expect(await read(found, [])).toEqual({});
  });

  test('stays what it was, whatever is committed before its values are read', async () => {
    await calls.patch({ SMALL: 'old', LARGE: large });
    const found = await find();
    await calls.patch({ SMALL: 'new', OTHER: 'x' }, ['LARGE']);
    expect(await read(found, ['SMALL', 'LARGE'])).toEqual({ SMALL: 'old', LARGE: large });
  });

  test('of a past revision has the keys and values of then', async () => {
    const { revisionId } = await calls.patch({ A: 'old', LARGE: large });
    await calls.patch({ A: 'new', B: 'x' }, ['LARGE']);
    for (const revision of [1, revisionId]) {
      const found = await find({ revision });
      expect(found).toMatchObject({ revision: 1, revisionId });
      expect(await read(found, ['A', 'LARGE'])).toEqual({ A: 'old', LARGE: large });
    }
  });

  // What a rolled back rollout asks: a key that was deleted must not come back by it (docs/resources/secret-sync.md).
  test.each<[string, () => Promise<unknown>]>([
    ['it was written again', () => calls.put('A', 'old')],
    ['a rollback undeleted it', () => calls.rollback('A', { targetVersion: 1, undelete: true })],
    [
      'a revert undid the deletion',
      async () =>
        services.reverts.revert(await world.onEnvironment(world.owner.caller, 'change.revert'), { reverted: 2 }),
    ],
    ['a restore recreated it', () => snapshots.restore(snapshotId, { includeDeleted: true })],
  ])('names a key that was deleted since, though %s', async (_sentence, undo) => {
    await calls.patch({ A: 'old', B: 'old' });
    snapshotId = (await snapshots.create()).id;
    await calls.patch({ B: 'new' }, ['A']);
    await undo();
    expect((await calls.read()).secrets).toMatchObject({ A: ['old', 2] });
    expect(await find({ revision: 1, deletedSince: true })).toMatchObject({ deletedSince: ['A'] });
    expect(await find({ revision: 2, deletedSince: true })).toMatchObject({ deletedSince: [] });
    expect(await find({ revision: 3, deletedSince: true })).toMatchObject({ deletedSince: [] });
  });

  test('of an environment without secrets is empty', async () => {
    expect(await find()).toMatchObject({ revision: 0, secrets: [] });
  });

  test('is refused where it has more keys than the caller has memory for, and says how many', async () => {
    await calls.patch({ A: '1', B: '2', C: '3' });
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    // Not kept, then kept in memory, then at a revision.
    expect(await services.secretReader.find(access, { maxKeys: 2 })).toEqual({ keys: 3 });
    await find();
    expect(await services.secretReader.find(access, { maxKeys: 2 })).toEqual({ keys: 3 });
    expect(await services.secretReader.find(access, { maxKeys: 2, revision: 1 })).toEqual({ keys: 3 });
  });

  test('is not_found for a revision that the environment does not have', async () => {
    await calls.put('A', '1');
    const other = await createWorld(services);
    const foreign = await secretCalls(services, other, other.developer.caller).put('A', 'x');
    for (const revision of [5, randomUUID(), foreign.revisionId])
      await expect(find({ revision })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is not given away with the access to another environment', async () => {
    await calls.put('A', '1');
    const found = await find();
    const other = await createWorld(services);
    const access = await other.onEnvironment(other.viewer.caller, 'secret.list');
    await expect(services.secretReader.read(access, refOf(found), ['A'])).rejects.toThrow(
      'the access that it was found with',
    );
  });
});

describe('a small environment', () => {
  test('is read from the database once, as long as nothing is committed', async () => {
    await calls.patch({ A: '1', B: '2' });
    const first = await find();
    await spoil(['A', 'B']);
    expect(await read(first, ['A'])).toEqual({ A: '1' });
    expect(await read(await find(), ['B'])).toEqual({ B: '2' });
    await calls.put('A', '3');
    await expect(find()).rejects.toThrow();
  });
});

describe('a large environment', () => {
  test('has only those values fetched and decrypted that are asked for', async () => {
    await calls.patch({ LARGE: large, A: '1', B: '2' });
    const found = await find();
    await spoil(['LARGE', 'B']);
    expect(found.secrets).toEqual([
      { key: 'A', bytes: 1 },
      { key: 'B', bytes: 1 },
      { key: 'LARGE', bytes: limits.valueBytes },
    ]);
    expect(await read(found, ['A'])).toEqual({ A: '1' });
    await expect(read(found, ['LARGE'])).rejects.toThrow();
  });

  test('says that it was changed where a value was destroyed before it was read', async () => {
    await calls.patch({ LARGE: large, A: 'leaked' });
    const found = await find();
    await calls.put('A', 'safe');
    const access = await world.onEnvironment(world.admin.caller, 'version.destroy');
    await services.destructions.destroy(access, 'A', { version: 1 });
    await expect(read(found, ['A'])).rejects.toMatchObject({ code: 'conflict' });
  });

  test('says that it was changed where it was deleted before it was read', async () => {
    await calls.patch({ LARGE: large });
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    const found = await find();
    await prismaOf(services.database).environment.update({
      where: { id: world.environment.id },
      data: { deletedAt: new Date() },
    });
    await expect(services.secretReader.read(access, refOf(found), ['LARGE'])).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(services.secretReader.find(access, { maxKeys: 10 })).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the audit', () => {
  async function rowsOf(work: (caller: Caller) => Promise<unknown>): Promise<unknown[]> {
    const token = await world.serviceToken({ permission: 'read' });
    const caller = callerOf(token.caller.principal);
    await work(caller).catch(() => undefined);
    const rows = await prismaOf(services.database).auditEntry.findMany({ where: { requestId: caller.requestId } });
    return rows.map(({ action, outcome, target }) => ({ action, outcome, target }));
  }

  test('has one row for each reader of a state that was found once, with how many values it got', async () => {
    await calls.patch({ A: '1', B: '2', C: '3' });
    const found = await find();
    const { revision, revisionId } = found;
    for (const [keys, noted] of [
      [['A', 'B'], { secrets: 2 }],
      [[], { secrets: 3, values: false }],
    ] as const) {
      const rows = await rowsOf(async (caller) => await read(found, keys, caller));
      expect(rows).toEqual([
        expect.objectContaining({
          action: 'secret.list',
          target: expect.objectContaining({ revision, revisionId, ...noted }),
        }),
      ]);
    }
  });

  test('has a row for a state that could not be found, and none for one that nothing was read of', async () => {
    await calls.patch({ A: '1', B: '2' });
    expect(await rowsOf(async (caller) => await find({}, caller))).toEqual([]);
    const failed = await rowsOf(async (caller) => await find({ revision: 9 }, caller));
    expect(failed).toEqual([expect.objectContaining({ target: expect.objectContaining({ revision: 9 }) })]);
  });

  test('has a row for values that could not be decrypted', async () => {
    await calls.patch({ LARGE: large });
    const found = await find();
    await spoil(['LARGE']);
    const rows = await rowsOf(async (caller) => await read(found, ['LARGE'], caller));
    expect(rows).toHaveLength(1);
    expect(rows).not.toEqual([expect.objectContaining({ outcome: 'success' })]);
  });
});

describe('the values of a revision', () => {
  test('are those of then, also of the newest one after others came', async () => {
    const { pool } = services.database;
    const { id: environmentId } = world.environment;
    const valuesAt = async (revisionId: string, keys: readonly string[]): Promise<string[]> =>
      (await listValuesAt(pool, { environmentId, revisionId }, keys)).map(({ key }) => key).sort();
    const { revisionId: first } = await calls.patch({ A: '1', B: '2' });
    const { revisionId: second } = await calls.patch({ C: '3' }, ['B']);
    expect(await valuesAt(first, ['A', 'B', 'C'])).toEqual(['A', 'B']);
    // A deleted key still has its last version.
    expect(await valuesAt(second, ['A', 'B', 'C'])).toEqual(['A', 'C']);
    expect(await valuesAt(second, [])).toEqual([]);
  });

  test('are not given for that of another environment', async () => {
    const { revisionId } = await calls.put('KEY', 'value');
    const { pool } = services.database;
    const other = await createWorld(services);
    const foreign = await secretCalls(services, other, other.developer.caller).put('KEY', 'x');
    const mine = { environmentId: world.environment.id, revisionId };
    expect(await listValuesAt(pool, mine, ['KEY'])).toHaveLength(1);
    for (const mixed of [
      { ...mine, revisionId: foreign.revisionId },
      { ...mine, environmentId: other.environment.id },
    ])
      expect(await listValuesAt(pool, mixed, ['KEY'])).toEqual([]);
  });
});
