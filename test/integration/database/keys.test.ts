import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { type Database, openDatabase } from '../../../src/store/database.ts';
import { PostgresKeyStore } from '../../../src/store/keys.ts';
import { keyStoreContract } from '../../support/database/key-store-contract.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { StoreFixtures } from '../../support/database/store-fixtures.ts';

let server: TestDatabase;
let replicas: Database[];

beforeAll(async () => {
  server = await createTestDatabase();
  replicas = [1, 2].map(() => openDatabase({ url: server.url, poolSize: 4 }));
});

afterAll(async () => {
  await Promise.all(replicas.map((replica) => replica.close()));
  await server.drop();
});

function stores(): [PostgresKeyStore, PostgresKeyStore, Database] {
  const [first, second] = replicas as [Database, Database];
  return [new PostgresKeyStore({ database: first }), new PostgresKeyStore({ database: second }), first];
}

function wrapped(): { wrappedKey: Uint8Array; rootKeyId: string } {
  return { wrappedKey: randomBytes(61), rootKeyId: 'root-1' };
}

keyStoreContract(async () => {
  const [store, , database] = stores();
  await database.pool.query('TRUNCATE organization, instance_key CASCADE');
  const fixtures = new StoreFixtures(database.pool);
  return { store, newProject: async () => (await fixtures.environment()).projectId };
});

test('two replicas that insert the same instance key at once get one key, each time', async () => {
  const [a, b] = stores();
  for (let round = 0; round < 20; round += 1) {
    const name = `round-${round}`;
    const [mine, theirs] = [wrapped(), wrapped()];
    const answers = await Promise.all([a.insertInstanceKey(name, mine), b.insertInstanceKey(name, theirs)]);
    const hexes = answers.map((key) => Buffer.from(key.wrappedKey).toString('hex'));
    expect(hexes[0]).toBe(hexes[1]);
    expect([mine, theirs].map((key) => Buffer.from(key.wrappedKey).toString('hex'))).toContain(hexes[0]);
  }
});

test('two replicas that make a project’s data key at once get one active key, each time', async () => {
  const [a, b, database] = stores();
  const fixtures = new StoreFixtures(database.pool);
  for (let round = 0; round < 10; round += 1) {
    const { projectId } = await fixtures.environment();
    const make = (store: PostgresKeyStore): Promise<{ id: string }> =>
      store.replaceDataKey(projectId, { id: randomUUID(), projectId, ...wrapped() }, undefined);
    const [first, second] = await Promise.all([make(a), make(b)]);
    expect(first.id).toBe(second.id);
  }
});

test('the database itself refuses a second active key of a project', async () => {
  const [store, , database] = stores();
  const { projectId } = await new StoreFixtures(database.pool).environment();
  await store.replaceDataKey(projectId, { id: randomUUID(), projectId, ...wrapped() }, undefined);
  const second = database.pool.query(
    `INSERT INTO data_key (id, project_id, wrapped_key, root_key_id) VALUES ($1, $2, '', 'r')`,
    [randomUUID(), projectId],
  );
  await expect(second).rejects.toMatchObject({ constraint: 'data_key_one_active' });
});

test('uses reserved by two replicas at once are all counted', async () => {
  const [a, b, database] = stores();
  const { projectId } = await new StoreFixtures(database.pool).environment();
  const { id } = await a.replaceDataKey(projectId, { id: randomUUID(), projectId, ...wrapped() }, undefined);
  const totals = await Promise.all([a, b, a, b, a, b].map((store) => store.reserveUses(id, 2 ** 30)));
  expect(totals.toSorted((x, y) => Number((x ?? 0n) - (y ?? 0n)))).toEqual(
    [1n, 2n, 3n, 4n, 5n, 6n].map((n) => n * 2n ** 30n),
  );
});

test('a key for a project that is gone is not_found, and nothing is made', async () => {
  const [store] = stores();
  const projectId = randomUUID();
  const made = store.replaceDataKey(projectId, { id: randomUUID(), projectId, ...wrapped() }, undefined);
  await expect(made).rejects.toMatchObject({ code: 'not_found' });
});

test('without the database every method is store_unavailable', async () => {
  const gone = openDatabase({ url: 'postgres://x@127.0.0.1:1/x', poolSize: 2 });
  const store = new PostgresKeyStore({ database: gone });
  const id = randomUUID();
  const calls = [
    store.findInstanceKey('check'),
    store.insertInstanceKey('check', wrapped()),
    store.hasDataKeys(),
    store.findActiveDataKey(id),
    store.findDataKeys([id]),
    store.reserveUses(id, 1),
    store.replaceDataKey(id, { id, projectId: id, ...wrapped() }, undefined),
  ];
  for (const outcome of await Promise.allSettled(calls)) {
    expect(outcome).toMatchObject({ reason: { code: 'store_unavailable' } });
  }
  await gone.close();
});
