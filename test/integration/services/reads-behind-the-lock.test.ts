import { expect, test } from '@jest/globals';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import type { SecretCalls } from '../../support/api/secret-calls.ts';
import type { World } from '../../support/api/services.ts';
import { withWorlds } from '../../support/api/with-services.ts';

let database: TestDatabase;
let world: World;
let calls: SecretCalls;

withWorlds((given) => ({ database, world, calls } = given));

/** Starts writes of which each waits for the environment's lock, and lets them go on in their order. */
async function heldUp<T>(...writes: (() => Promise<T>)[]): Promise<PromiseSettledResult<T>[]> {
  const session = await LockSession.begin(database.url);
  await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
  const started: Promise<T>[] = [];
  for (const write of writes) {
    const one = write();
    one.catch(() => undefined);
    started.push(one);
    await session.waitForBlocked(started.length);
  }
  await session.commit();
  return Promise.allSettled(started);
}

test('writes of one key that wait for the lock together each see what the one before made', async () => {
  await calls.put('KEY', 'first');
  const writes = await heldUp(
    () => calls.put('KEY', 'second'),
    () => calls.put('KEY', 'third'),
  );
  expect(writes).toMatchObject([
    { status: 'fulfilled', value: { version: 2 } },
    { status: 'fulfilled', value: { version: 3 } },
  ]);
  expect(await calls.readOne('KEY')).toBe('third');
});

test('a write that expects a version is judged by the version that is there when it has the lock', async () => {
  await calls.put('KEY', 'first');
  const writes = await heldUp(
    () => calls.put('KEY', 'second'),
    () => calls.put('KEY', 'third', { expectedVersion: 1 }),
  );
  expect(writes).toMatchObject([{ status: 'fulfilled' }, { status: 'rejected', reason: { code: 'version_mismatch' } }]);
  expect(await calls.readOne('KEY')).toBe('second');
});
