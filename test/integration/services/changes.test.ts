import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { Caller } from '../../../src/domain/principal.ts';
import type { ChangeList, ChangesRequest } from '../../../src/services/changes/changes.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { callerOf, type TestServices, type World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;

withWorlds((given) => ({ services, world, calls } = given));

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
    const by = { changedBy: id, changedByType: 'user', changedByName: email, changedByCluster: null };
    const actor = { ...by, createdAt: expect.any(Date) };
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

  test('is never whole: a page has 100 changes by default, and ends early where they are of many keys', async () => {
    const key = (index: number): [string, string] => [`K${String(index).padStart(4, '0')}`, 'v'];
    const all = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => key(index)));
    for (let count = 0; count < 3; count += 1) await calls.patch(all);
    for (let count = 0; count < 3; count += 1) await calls.put('A', String(count));
    const first = await list();
    expect(first.changes.map(({ revision, keys }) => [revision, keys.length])).toEqual([
      [6, 1],
      [5, 1],
      [4, 1],
      [3, 9000],
      [2, 9000],
    ]);
    const second = await list({ cursor: first.nextCursor ?? '' });
    expect(second.changes.map(({ revision }) => revision)).toEqual([1]);
    expect(second.nextCursor).toBeNull();

    await prismaOf(services.database).$executeRaw`
      INSERT INTO environment_revision (id, environment_id, number, actor_id, actor_type, actor_name)
      SELECT gen_random_uuid(), ${world.environment.id}::uuid, number, gen_random_uuid(), 'user', 'x'
      FROM generate_series(7, 120) AS number`;
    const whole = await list({});
    expect(whole.changes.map(({ revision }) => revision)).toEqual(Array.from({ length: 100 }, (_, at) => 120 - at));
    expect(await numbers({ cursor: whole.nextCursor ?? '', limit: 1 })).toEqual([20]);
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
      const rows = await prismaOf(services.database).auditEntry.findMany({ where: { requestId: own.requestId } });
      expect(rows).toMatchObject(entries);
    }
  });

  test('does not open to who may not see the environment', async () => {
    await expect(list({}, world.stranger.caller)).rejects.toMatchObject({ code: 'not_found' });
  });
});
