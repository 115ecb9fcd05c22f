import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { LockSession } from '../../support/database/locks.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { secretCalls } from '../../support/api/secret-calls.ts';
import {
  createWorld,
  newRootKey,
  startServices,
  type TestServices,
  type TestToken,
  type World,
} from '../../support/api/services.ts';
import { prismaOf } from '../../support/database/prisma.ts';

let database: TestDatabase;
let services: TestServices;
/** Another replica on the same database. */
let replica: TestServices;
let world: World;
let token: TestToken;

beforeAll(async () => {
  database = await createTestDatabase();
  const rootKeys = newRootKey();
  services = await startServices(database.url, { rootKeys });
  replica = await startServices(database.url, { rootKeys });
});

afterAll(async () => {
  await services.close();
  await replica.close();
  await database.drop();
});

beforeEach(async () => {
  world = await createWorld(services);
  token = await world.serviceToken();
});

async function revoke(id = token.id): Promise<void> {
  await services.serviceTokens.revoke(await world.onOrganization(world.owner.caller, 'service_token.revoke'), id);
}

/** Revisions and versions of the environment: what a refused write must leave as it was. */
async function written(): Promise<number[]> {
  const prisma = prismaOf(services.database);
  const environmentId = world.environment.id;
  const revisions = prisma.environmentRevision.count({ where: { environmentId } });
  return Promise.all([revisions, prisma.secretVersion.count({ where: { secret: { environmentId } } })]);
}

const refused = { code: 'unauthenticated' };

test('a service token whose permission was lowered since its request came in changes nothing', async () => {
  const { id, caller } = await world.serviceToken({ permission: 'read_write' });
  const calls = secretCalls(services, world, caller);
  await calls.put('KEY', 'before');
  const before = await written();
  await prismaOf(services.database).serviceToken.update({ where: { id }, data: { permission: 'read' } });
  await expect(calls.put('KEY', 'after')).rejects.toMatchObject(refused);
  expect(await written()).toEqual(before);
});

describe('a revoked service token', () => {
  test('opens nothing at its very next use, on every replica', async () => {
    await replica.authentication.authenticate(token.token.reveal());
    await revoke();
    for (const { authentication } of [services, replica]) {
      await expect(authentication.authenticate(token.token.reveal())).rejects.toMatchObject(refused);
    }
  });

  test('writes nothing, though it was authenticated and let in before', async () => {
    const calls = secretCalls(services, world, token.caller);
    await calls.put('KEY', 'one');
    const before = await written();
    await revoke();
    const attempts = [
      () => calls.put('KEY', 'two'),
      () => calls.patch({ KEY: 'two' }),
      () => calls.patch({}),
      () => calls.remove('KEY'),
      () => calls.rollback('KEY', { targetVersion: 1 }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(refused);
    expect(await written()).toEqual(before);
  });

  test('loses the write that was waiting for the lock of the environment when it was revoked', async () => {
    const before = await written();
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const write = Promise.allSettled([secretCalls(services, world, token.caller).put('KEY', 'late')]);
    await session.waitForBlocked(1);
    await revoke();
    await session.commit();
    expect(await write).toMatchObject([{ status: 'rejected', reason: refused }]);
    expect(await written()).toEqual(before);
  });

  test('loses the write that comes to its last look while the revocation is not committed yet', async () => {
    const session = await LockSession.begin(database.url);
    const { id } = world.owner;
    // Holds the revocation back at its own last look: it has written and not committed.
    await session.run('SELECT FROM app_user WHERE id = $1 FOR UPDATE', [id]);
    const revocation = Promise.allSettled([revoke()]);
    await session.waitForBlocked(1);
    const write = Promise.allSettled([secretCalls(services, world, token.caller).put('KEY', 'late')]);
    await session.waitForBlocked(2);
    await session.commit();
    expect(await revocation).toMatchObject([{ status: 'fulfilled' }]);
    expect(await write).toMatchObject([{ status: 'rejected', reason: refused }]);
    expect(await written()).toEqual([0, 0]);
  });
});

describe('a mutation that waits for the lock of the environment', () => {
  async function whileWaiting(change: () => Promise<unknown>, caller = token.caller): Promise<unknown> {
    const session = await LockSession.begin(database.url);
    await session.run('SELECT FROM environment WHERE id = $1 FOR UPDATE', [world.environment.id]);
    const write = Promise.allSettled([secretCalls(services, world, caller).put('KEY', 'late')]);
    await session.waitForBlocked(1);
    await change();
    await session.commit();
    return write;
  }

  test('is refused when its service token expires meanwhile', async () => {
    const prisma = prismaOf(services.database);
    const where = { serviceTokenId: token.id };
    const result = await whileWaiting(() =>
      prisma.serviceTokenCredential.updateMany({ where, data: { expiresAt: new Date(Date.now() - 1000) } }),
    );
    expect(result).toMatchObject([{ status: 'rejected', reason: refused }]);
    expect(await written()).toEqual([0, 0]);
  });

  test('is refused when its user is disabled meanwhile', async () => {
    const { developer } = world;
    const prisma = prismaOf(services.database);
    const disabledAt = new Date();
    const result = await whileWaiting(
      () => prisma.user.update({ where: { id: developer.id }, data: { disabledAt } }),
      developer.caller,
    );
    expect(result).toMatchObject([{ status: 'rejected', reason: refused }]);
    expect(await written()).toEqual([0, 0]);
  });

  test('is done when nothing happens to its credential', async () => {
    expect(await whileWaiting(() => Promise.resolve())).toMatchObject([{ status: 'fulfilled', value: { version: 1 } }]);
    expect(await written()).toEqual([1, 1]);
  });
});
