import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../src/domain/principal.ts';
import type { ChangeList, ChangesRequest } from '../../../src/services/changes.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.ts';
import { type SecretCalls, secretCalls } from '../../support/secret-calls.ts';
import { callerOf, createWorld, startServices, type TestServices, type World } from '../../support/services.ts';

let database: TestDatabase;
let services: TestServices;
let world: World;
let calls: SecretCalls;

beforeAll(async () => {
  database = await createTestDatabase();
  services = await startServices(database.url);
});

afterAll(async () => {
  await services.close();
  await database.drop();
});

beforeEach(async () => {
  world = await createWorld(services);
  calls = secretCalls(services, world, world.developer.caller);
});

async function list(request: ChangesRequest = {}, caller: Caller = world.viewer.caller): Promise<ChangeList> {
  return services.changes.list(await world.onEnvironment(caller, 'change.list'), request);
}

async function numbers(request: ChangesRequest): Promise<number[]> {
  return (await list(request)).changes.map(({ revision }) => revision);
}

describe('the list of changes', () => {
  test('is newest first, with who, why, when, and each key with the version it got or null where it was deleted', async () => {
    const first = await calls.patch({ B: 'b1', A: 'a1' }, [], { comment: 'first' });
    const second = await calls.patch({ A: 'a2' }, ['B']);
    const { id, email } = world.developer;
    const actor = { changedBy: id, changedByType: 'user', changedByName: email, createdAt: expect.any(Date) };
    const key = (name: string, version: number | null) => ({ key: name, version });
    expect(await list()).toEqual({
      changes: [
        { revision: 2, revisionId: second.revisionId, comment: null, keys: [key('A', 2), key('B', null)], ...actor },
        { revision: 1, revisionId: first.revisionId, comment: 'first', keys: [key('A', 1), key('B', 1)], ...actor },
      ],
      nextCursor: null,
    });
  });

  test('begins after a revision, by number or id, of which 0 is before the first', async () => {
    const ids = [await calls.put('A', '1'), await calls.put('A', '2'), await calls.put('A', '3')];
    expect(await numbers({ since: 0 })).toEqual([3, 2, 1]);
    expect(await numbers({ since: 1 })).toEqual([3, 2]);
    expect(await numbers({ since: ids[1]?.revisionId ?? '' })).toEqual([3]);
    expect(await numbers({ since: 3 })).toEqual([]);
    for (const since of [4, randomUUID()]) await expect(list({ since })).rejects.toMatchObject({ code: 'not_found' });
    await expect(list({ since: -1 })).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field: 'since' }] });
  });

  test('pages by limit and cursor, undisturbed by newer changes', async () => {
    for (const value of ['1', '2', '3', '4', '5']) await calls.put('A', value);
    const first = await list({ limit: 2, since: 1 });
    await calls.put('A', '6');
    const cursor = first.nextCursor ?? '';
    const second = await list({ limit: 2, since: 1, cursor });
    expect([first, second].map(({ changes }) => changes.map(({ revision }) => revision))).toEqual([
      [5, 4],
      [3, 2],
    ]);
    expect(second.nextCursor).toBeNull();
    expect(await numbers({ cursor })).toEqual([3, 2, 1]);
  });

  test.each([
    ['limit', { limit: 0 }],
    ['limit', { limit: 1001 }],
    ['cursor', { cursor: 'abc' }],
    ['cursor', { cursor: Buffer.from('["versions","3"]').toString('base64url') }],
    ['cursor', { cursor: Buffer.from('["changes","2147483648"]').toString('base64url') }],
  ])('refuses a bad %s (%#)', async (field, request) => {
    await expect(list(request)).rejects.toMatchObject({ code: 'invalid_input', fields: [{ field }] });
  });

  test('is audited where a service token calls, and else not', async () => {
    await calls.put('A', '1');
    const token = await world.serviceToken({ permission: 'read' });
    for (const { caller, entries } of [
      { caller: world.viewer.caller, entries: [] },
      {
        caller: token.caller,
        entries: [{ action: 'change.list', outcome: 'success', target: { changes: 1, since: 0 } }],
      },
    ]) {
      const own = callerOf(caller.principal);
      await list({}, own);
      const rows = await services.database.prisma.auditEntry.findMany({ where: { requestId: own.requestId } });
      expect(rows).toMatchObject(entries);
    }
  });

  test('does not open to who may not see the environment', async () => {
    await expect(list({}, world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
  });
});
