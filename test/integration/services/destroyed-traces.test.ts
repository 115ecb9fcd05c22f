import { describe, expect, test } from '@jest/globals';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import { createWorld, type TestServices, type World } from '../../support/api/services.ts';
import { snapshotCalls } from '../../support/api/snapshot-calls.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let services: TestServices;
let world: World;
let calls: SecretCalls;

withWorlds((given) => ({ services, world, calls } = given));

async function destroy(key: string, version: number): Promise<void> {
  const access = await world.onEnvironment(world.admin.caller, 'version.destroy');
  await services.destructions.destroy(access, key, { version });
}

describe('what is kept in memory of an environment', () => {
  test('goes when a value of its past is destroyed, and nothing else goes', async () => {
    const { secrets, states, feed } = services;
    feed.start();
    await calls.put('KEY', 'leaked');
    await secrets.list(await world.onEnvironment(world.viewer.caller, 'secret.list'));
    const kept = states.bytes;
    const { revisionId } = await calls.put('KEY', 'safe');
    const other = await createWorld(services);
    const list = await secrets.list(await other.onEnvironment(other.viewer.caller, 'secret.list'));
    await waitFor('the feed to listen', () => feed.ready);
    const both = states.bytes;
    expect([kept > 0, both > kept, states.bytesOf(world.environment.id, revisionId)]).toEqual([true, true, undefined]);
    await destroy('KEY', 1);
    await waitFor('the state to be dropped', () => states.bytes === both - kept);
    expect(states.bytesOf(other.environment.id, list.revisionId)).toBeDefined();
  });
});

/** What came of a call: `done`, or the code of its error. */
async function endOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => 'done',
    (error: unknown) => (error as { code?: unknown }).code,
  );
}

describe('of a destruction and what would copy the value at the same time', () => {
  // Which of them comes first is chance; the environment's lock puts one wholly before the other.
  test.each([
    { kind: 'rollback', after: 'version_destroyed' },
    { kind: 'restore', after: 'done' },
  ] as const)('a $kind comes before or after, and no value is without its bytes', async ({ kind, after }) => {
    const snapshots = snapshotCalls(services, world, world.developer.caller);
    for (let round = 0; round < 12; round += 1) {
      const key = `KEY_${round}`;
      await calls.put(key, 'leaked');
      const { id } = await snapshots.create();
      await calls.put(key, 'safe');
      const copy = (): Promise<unknown> =>
        kind === 'rollback'
          ? calls.rollback(key, { targetVersion: 1 })
          : snapshots.restore(id, { skipUnchanged: true });
      const steps = { destroyed: () => endOf(destroy(key, 1)), copied: () => endOf(copy()) };
      const order = round % 2 === 0 ? (['destroyed', 'copied'] as const) : (['copied', 'destroyed'] as const);
      const ends = await Promise.all(order.map(async (name) => [name, await steps[name]()] as const));
      const { destroyed, copied } = Object.fromEntries(ends);
      expect([
        { value: 'safe', destroyed: 'done', copied: after },
        { value: 'leaked', destroyed: 'version_current', copied: 'done' },
      ]).toContainEqual({ value: await calls.readOne(key), destroyed, copied });
    }
  });
});

describe('the database', () => {
  test('refuses a copy of what is not there', async () => {
    await calls.put('KEY', 'leaked');
    await calls.put('KEY', 'safe');
    await destroy('KEY', 1);
    const copy = services.database.pool.query(
      `INSERT INTO secret_version (id, secret_id, version, change_type, changed_by_id, changed_by_type, changed_by_name,
         ciphertext, data_key_id, value_mac, value_bytes)
       SELECT gen_random_uuid(), secret_id, 3, 'rolled_back', changed_by_id, 'user', 'x', ciphertext, data_key_id,
         value_mac, value_bytes
       FROM secret_version WHERE destroyed_at IS NOT NULL AND destroyed_by_id = $1`,
      [world.admin.id],
    );
    await expect(copy).rejects.toMatchObject({ constraint: 'secret_version_reference' });
    const half = services.database.pool.query(
      'UPDATE secret_version SET destroyed_at = NULL WHERE destroyed_by_id = $1',
      [world.admin.id],
    );
    await expect(half).rejects.toMatchObject({ constraint: 'secret_version_reference' });
  });
});
