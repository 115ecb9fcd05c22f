import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../src/domain/principal.ts';
import type { SecretSelection } from '../../../src/store/secret-reads.ts';
import { type SecretCalls, secretCalls } from '../../support/api/secret-calls.ts';
import { callerOf, createWorld, type TestServices, type TestUser, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;

withWorlds((given) => ({ services, world, calls } = given));

/** What a list holds: each key's value and version. */
async function read(selection: SecretSelection): Promise<Record<string, [string, number]>> {
  const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
  const { secrets } = await services.secrets.list(access, selection);
  return Object.fromEntries(secrets.map(({ key, value, version }) => [key, [value.reveal(), version]]));
}

async function readKeys(selection: SecretSelection, caller: Caller = world.viewer.caller) {
  return services.secrets.listKeys(await world.onEnvironment(caller, 'secret.list'), selection);
}

async function readOne(key: string, revision: number | string) {
  return services.secrets.get(await world.onEnvironment(world.viewer.caller, 'secret.read'), key, { revision });
}

/**
 * How many statements the work runs on the pool of reads: the fewest of three runs, because writes in the background use
 * the same pool.
 */
async function statementsOf(work: () => Promise<unknown>): Promise<number> {
  const { pool } = services.database;
  const counts: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    let statements = 0;
    const count = (): void => void (statements += 1);
    pool.on('acquire', count);
    await work();
    pool.off('acquire', count);
    counts.push(statements);
  }
  return Math.min(...counts);
}

async function auditOf(caller: Caller, work: (caller: Caller) => Promise<unknown>) {
  const own = callerOf(caller.principal);
  await work(own).catch(() => undefined);
  return prismaOf(services.database).auditEntry.findMany({ where: { requestId: own.requestId } });
}

describe('the state at a revision', () => {
  /** Made by four changes; the answer are their ids. */
  async function history(): Promise<string[]> {
    return [
      await calls.patch({ A: 'a1', B: 'b1' }),
      await calls.put('A', 'a2'),
      await calls.remove('B'),
      await calls.patch({ B: 'b2', C: 'c1' }),
    ].map(({ revisionId }) => revisionId);
  }

  const states: Record<string, [string, number]>[] = [
    { A: ['a1', 1], B: ['b1', 1] },
    { A: ['a2', 2], B: ['b1', 1] },
    { A: ['a2', 2] },
    { A: ['a2', 2], B: ['b2', 2], C: ['c1', 1] },
  ];

  test('is each key at its newest change up to it, by number and by id', async () => {
    const ids = await history();
    for (const [index, state] of states.entries()) {
      expect(await read({ revision: index + 1 })).toEqual(state);
      expect(await read({ revision: ids[index] ?? '' })).toEqual(state);
    }
  });

  test('is answered with its number and id, and each version with its own time', async () => {
    const ids = await history();
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    const list = await services.secrets.list(access, { revision: 2 });
    expect(list).toMatchObject({ revision: 2, revisionId: ids[1] });
    const versions = await calls.history('A');
    expect(list.secrets[0]?.updatedAt).toEqual(versions.find(({ version }) => version === 2)?.createdAt);
    const present = await services.secrets.list(access);
    expect(present.secrets).toEqual((await services.secrets.list(access, { revision: 4 })).secrets);
  });

  test('is read for one key, which is absent where it did not exist then', async () => {
    await history();
    const first = await readOne('A', 1);
    expect([first.value.reveal(), first.version]).toEqual(['a1', 1]);
    expect((await readOne('A', 3)).versionId).toBe((await readOne('A', 4)).versionId);
    for (const [key, revision] of [
      ['B', 3],
      ['C', 3],
      ['NEVER', 4],
    ] as const) {
      await expect(readOne(key, revision)).rejects.toMatchObject({
        code: 'not_found',
        detail: expect.stringContaining(key),
      });
    }
  });

  test('is empty at revision 0 as long as that is the present, and unknown after', async () => {
    expect(await read({ revision: 0 })).toEqual({});
    await calls.put('A', 'a1');
    await expect(read({ revision: 0 })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is not_found for a revision of the future, of nothing or of another environment', async () => {
    await history();
    const other = await createWorld(services);
    const foreign = await secretCalls(services, other, other.developer.caller).put('A', 'x');
    for (const revision of [5, randomUUID(), foreign.revisionId]) {
      const refused = { code: 'not_found', detail: `the environment has no revision ${revision}` };
      await expect(read({ revision })).rejects.toMatchObject(refused);
      await expect(readKeys({ revision })).rejects.toMatchObject(refused);
      await expect(readOne('A', revision)).rejects.toMatchObject(refused);
    }
  });

  test.each([-1, 1.5, 2 ** 31, 'abc', randomUUID().toUpperCase()])(
    'refuses what is no revision: %s',
    async (revision) => {
      await expect(read({ revision })).rejects.toMatchObject({
        code: 'invalid_input',
        fields: [{ field: 'revision' }],
      });
    },
  );
});

describe('a prefix', () => {
  test('limits a list to the keys that begin so, literally', async () => {
    await calls.patch({ DB_URL: '1', DB_USER: '2', DBxURL: '3', db_url: '4', A_DB_: '5' });
    await calls.put('DB_USER', 'later');
    expect(Object.keys(await read({ prefix: 'DB_' }))).toEqual(['DB_URL', 'DB_USER']);
    expect(await read({ prefix: 'DB_U', revision: 1 })).toEqual({ DB_URL: ['1', 1], DB_USER: ['2', 1] });
    expect(await read({ prefix: 'NONE' })).toEqual({});
    expect((await readKeys({ prefix: 'DB.' })).secrets).toEqual([]);
  });

  test.each(['', '%', 'a b', '\\', 'é', 'K'.repeat(254)])('refuses what begins no key (%#)', async (prefix) => {
    await expect(read({ prefix })).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'prefix' }] });
  });
});

function updatedBy({ id, email }: TestUser) {
  return { updatedBy: id, updatedByType: 'user', updatedByName: email, updatedByCluster: null };
}

describe('a list without values', () => {
  test('holds keys, versions, times and who made each, by one statement, and decrypts nothing', async () => {
    await calls.patch({ B: '1', A: '2' });
    await secretCalls(services, world, world.admin.caller).put('B', '3');
    // What could not be decrypted.
    await prismaOf(services.database).secretVersion.updateMany({
      where: { secret: { environmentId: world.environment.id } },
      data: { ciphertext: Buffer.from('spoiled') },
    });
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    let list: unknown;
    const statements = await statementsOf(async () => {
      list = await services.secrets.listKeys(access);
    });
    expect(statements).toBe(1);
    expect(list).toEqual({
      environmentId: world.environment.id,
      revision: 2,
      revisionId: access.revisionId,
      secrets: [
        { key: 'A', version: 1, updatedAt: expect.any(Date), ...updatedBy(world.developer) },
        { key: 'B', version: 2, updatedAt: expect.any(Date), ...updatedBy(world.admin) },
      ],
    });
    expect((await readKeys({ revision: 1 })).secrets).toMatchObject([
      { key: 'A', version: 1, ...updatedBy(world.developer) },
      { key: 'B', version: 1, ...updatedBy(world.developer) },
    ]);
  });

  test('is audited where a service token calls, and else not', async () => {
    await calls.put('A', '1');
    const token = await world.serviceToken({ permission: 'read' });
    expect(await auditOf(world.viewer.caller, (caller) => readKeys({ prefix: 'A' }, caller))).toEqual([]);
    expect(await auditOf(token.caller, (caller) => readKeys({ prefix: 'A' }, caller))).toMatchObject([
      { action: 'secret.list', outcome: 'success', target: { prefix: 'A', values: false, secrets: 1, revision: 1 } },
    ]);
  });
});

describe('what a caller may know already', () => {
  test('is the newest revision as of the authorisation, known without a statement, or an earlier one', async () => {
    const first = await calls.put('A', '1');
    const second = await calls.put('A', '2');
    const access = await world.onEnvironment(world.viewer.caller, 'secret.list');
    let newest: string | undefined;
    const statements = await statementsOf(async () => {
      newest = await services.secrets.revisionIdOf(access, {});
    });
    expect(statements).toBe(0);
    const earlier = await services.secrets.revisionIdOf(access, { revision: 1 });
    expect([newest, earlier]).toEqual([second.revisionId, first.revisionId]);
    await expect(services.secrets.revisionIdOf(access, { revision: 3 })).rejects.toMatchObject({ code: 'not_found' });
  });

  test('is the version of one secret, another one after each write, also of an equal value', async () => {
    await calls.put('A', '1');
    const versionId = async (): Promise<string> => {
      const access = await world.onEnvironment(world.viewer.caller, 'secret.read');
      return services.secrets.versionIdOf(access, 'A');
    };
    const first = await versionId();
    expect(await versionId()).toBe(first);
    await calls.put('A', '1');
    expect(await versionId()).not.toBe(first);
    await calls.remove('A');
    await expect(versionId()).rejects.toMatchObject({ code: 'not_found' });
  });

  test('leaves no audit entry, for any caller', async () => {
    await calls.put('A', '1');
    const token = await world.serviceToken();
    const entries = await auditOf(token.caller, async (caller) => {
      await services.secrets.revisionIdOf(await world.onEnvironment(caller, 'secret.list'), { revision: 1 });
      await services.secrets.versionIdOf(await world.onEnvironment(caller, 'secret.read'), 'A');
    });
    expect(entries).toEqual([]);
  });
});

test('no reading opens to who may not see the environment', async () => {
  for (const action of ['secret.list', 'secret.read'] as const) {
    await expect(world.onEnvironment(world.stranger.caller, action)).rejects.toMatchObject({ code: 'not_found' });
  }
});
