import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { PrismaPg } from '@prisma/adapter-pg';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import pg from 'pg';
import { PrismaClient } from '../../../src/store/generated/client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let database: TestDatabase;
let direct: pg.Client;
let proxy: PostgresProxy;
const clients: pg.Client[] = [];

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // A connection that a test cuts reports it here as well as in the query it cut.
  client.on('error', () => undefined);
  clients.push(client);
  await client.connect();
  return client;
}

const names = async (): Promise<unknown[]> =>
  (await direct.query<{ name: string }>('SELECT name FROM note ORDER BY name')).rows.map(({ name }) => name);

const isOpen = async (client: pg.Client): Promise<boolean> =>
  client.query('SELECT 1').then(
    () => true,
    () => false,
  );

/** Whether a promise is still pending after a moment that is long beside what it waits for. */
async function staysPending(promise: Promise<unknown>): Promise<boolean> {
  const pause = Promise.withResolvers<'pending'>();
  const timer = setTimeout(() => pause.resolve('pending'), 250);
  const first = await Promise.race([promise.then(() => 'settled' as const), pause.promise]);
  clearTimeout(timer);
  return first === 'pending';
}

beforeAll(async () => {
  database = await createTestDatabase();
});

beforeEach(async () => {
  direct = await connect(database.url);
  await direct.query('DROP TABLE IF EXISTS note; CREATE TABLE note (name text PRIMARY KEY)');
  proxy = await PostgresProxy.start(database.url);
});

afterEach(async () => {
  await proxy.close();
  await Promise.allSettled(clients.splice(0).map((client) => client.end()));
});

afterAll(async () => {
  await database.drop();
});

describe('what it sees', () => {
  test('statements of the simple and of the extended protocol, by their text', async () => {
    const client = await connect(proxy.url);
    await client.query('INSERT INTO note VALUES ($$simple$$)');
    await client.query('INSERT INTO note VALUES ($1)', ['extended']);
    expect(await names()).toEqual(['extended', 'simple']);
    expect(proxy.count(runs(/^INSERT INTO note/))).toBe(2);
    expect(proxy.count(({ type }) => type === 'Query')).toBe(1);
    expect(proxy.count(({ type }) => type === 'Execute')).toBe(1);
  });

  test('each use of a named prepared statement, under the text it was parsed from', async () => {
    const client = await connect(proxy.url);
    for (const name of ['a', 'b', 'c']) {
      await client.query({ name: 'add', text: 'INSERT INTO note VALUES ($1)', values: [name] });
    }
    await client.query({ name: 'list', text: 'SELECT name FROM note' });
    expect(proxy.count(({ type, sql }) => type === 'Parse' && sql?.startsWith('INSERT') === true)).toBe(1);
    expect(proxy.count(runs(/^INSERT INTO note/))).toBe(3);
    expect(proxy.count(runs(/^SELECT name/))).toBe(1);
  });

  test('the parameters of a statement, so that a rule can choose by them', async () => {
    const client = await connect(proxy.url);
    const hold = proxy.hold(({ type, parameters }) => type === 'Bind' && parameters[0]?.toString() === 'second');
    const add = async (name: string): Promise<unknown> => client.query('INSERT INTO note VALUES ($1)', [name]);
    await add('first');
    const second = add('second');
    expect((await hold.arrived()).sql).toBe('INSERT INTO note VALUES ($1)');
    expect(await names()).toEqual(['first']);
    hold.release();
    await second;
    expect(await names()).toEqual(['first', 'second']);
  });

  test('a client that asks for TLS gets the answer that there is none', async () => {
    const client = new pg.Client({ connectionString: proxy.url, ssl: true });
    await expect(client.connect()).rejects.toThrow('does not support SSL');
  });

  test('a message larger than a chunk passes whole in both directions', async () => {
    const client = await connect(proxy.url);
    const large = 'x'.repeat(3_000_000);
    const { rows } = await client.query<{ echo: string }>('SELECT $1::text AS echo', [large]);
    expect(rows[0]?.echo).toBe(large);
  });

  test('the transactions of Prisma', async () => {
    const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: proxy.url }) });
    const lost = proxy.cut(runs(/^COMMIT/i), 'after');
    const writing = prisma.$transaction(async (tx) => tx.$executeRaw`INSERT INTO note VALUES (${'by prisma'})`);
    await expect(writing).rejects.toThrow();
    await lost.arrived();
    expect(proxy.count(runs(/^BEGIN/i))).toBe(1);
    expect(proxy.count(runs(/^INSERT INTO note/))).toBe(1);
    expect(await names()).toEqual(['by prisma']);
    await prisma.$disconnect();
  });
});

describe('holding', () => {
  test('stops the n-th matching message until released, and no other connection', async () => {
    const [held, free] = [await connect(proxy.url), await connect(proxy.url)];
    const hold = proxy.hold(runs(/^INSERT/), { nth: 2 });
    await held.query("INSERT INTO note VALUES ('1')");
    const second = held.query("INSERT INTO note VALUES ('2')");
    await hold.arrived();
    await free.query("INSERT INTO note VALUES ('3')");
    expect(await staysPending(second)).toBe(true);
    expect(await names()).toEqual(['1', '3']);
    hold.release();
    await second;
    expect(await names()).toEqual(['1', '2', '3']);
  });

  test('a held message reaches the server even if its client dies meanwhile', async () => {
    const client = await connect(proxy.url);
    const hold = proxy.hold(runs(/^INSERT/));
    const insert = client.query("INSERT INTO note VALUES ('late')");
    await hold.arrived();
    (client.connection.stream as Socket).resetAndDestroy();
    await expect(insert).rejects.toThrow();
    expect(await names()).toEqual([]);
    hold.release();
    await waitFor('the late row is there', async () => (await names()).includes('late'));
  });

  test('a message that the test cuts never reaches the server', async () => {
    const client = await connect(proxy.url);
    const hold = proxy.hold(runs(/^INSERT/));
    const insert = client.query("INSERT INTO note VALUES ('never')");
    await hold.arrived();
    hold.cut();
    await expect(insert).rejects.toThrow();
    expect(await names()).toEqual([]);
  });

  test('a message that does not come fails the test with a sentence', async () => {
    await expect(proxy.hold(() => true).arrived(20)).rejects.toThrow('the message to hold did not come within 20 ms');
  });
});

describe('cutting', () => {
  test.each([
    { when: 'before' as const, found: [] },
    { when: 'after' as const, found: ['cut'] },
  ])('$when a COMMIT leaves $found in the table, and the client without an answer', async ({ when, found }) => {
    const client = await connect(proxy.url);
    await client.query('BEGIN');
    await client.query('INSERT INTO note VALUES ($1)', ['cut']);
    const cut = proxy.cut(runs(/^COMMIT/), when);
    await expect(client.query('COMMIT')).rejects.toThrow();
    await cut.arrived();
    expect(await names()).toEqual(found);
    expect(await isOpen(client)).toBe(false);
  });

  test('after an Execute waits for its Sync, so that the statement is committed', async () => {
    const client = await connect(proxy.url);
    const cut = proxy.cut(({ type }) => type === 'Execute', 'after', { nth: 2 });
    await client.query('INSERT INTO note VALUES ($1)', ['answered']);
    await expect(client.query('INSERT INTO note VALUES ($1)', ['unanswered'])).rejects.toThrow();
    await cut.arrived();
    expect(await names()).toEqual(['answered', 'unanswered']);
  });

  test('after a statement waits for the end of its answer, not only for the beginning', async () => {
    const client = await connect(proxy.url);
    const cut = proxy.cut(runs(/add_note/), 'after');
    // Its rows stream to the client while it runs, more than the server keeps back; it commits at the end.
    await direct.query(`CREATE OR REPLACE FUNCTION add_note(name text) RETURNS text LANGUAGE plpgsql AS
      'BEGIN INSERT INTO note VALUES (name); PERFORM pg_sleep(0.002); RETURN repeat(name, 1000); END'`);
    await client.query('SELECT $1::int', [1]);
    const adding = client.query("SELECT add_note('n' || i) FROM generate_series($1::int, 100) i", [1]);
    await expect(adding).rejects.toThrow();
    await cut.arrived();
    expect(await names()).toHaveLength(100);
  });

  test('strikes as often as ordered, and no more', async () => {
    proxy.cut(runs(/^SELECT 1/), 'before', { times: 2 });
    expect(await isOpen(await connect(proxy.url))).toBe(false);
    expect(await isOpen(await connect(proxy.url))).toBe(false);
    expect(await isOpen(await connect(proxy.url))).toBe(true);
  });
});

describe('connections', () => {
  test('a frozen connection stays open, forwards nothing either way, and goes on after the thaw', async () => {
    const [frozen, free] = [await connect(proxy.url), await connect(proxy.url)];
    await frozen.query('LISTEN news');
    const reported = once(frozen, 'notification');
    proxy.freeze(proxy.listeners());
    const insert = frozen.query("INSERT INTO note VALUES ('frozen')");
    await free.query("NOTIFY news, 'hello'");
    expect(await staysPending(Promise.race([reported, insert]))).toBe(true);
    expect(await names()).toEqual([]);
    proxy.thaw();
    await insert;
    expect(await reported).toMatchObject([{ payload: 'hello' }]);
    expect(await names()).toEqual(['frozen']);
  });

  test('a freeze of everything takes later connections too', async () => {
    proxy.freeze();
    const later = connect(proxy.url);
    expect(await staysPending(later)).toBe(true);
    proxy.thaw();
    expect(await isOpen(await later)).toBe(true);
  });

  test('only the listening connection is killed when the test asks for that', async () => {
    const [listening, other] = [await connect(proxy.url), await connect(proxy.url)];
    await listening.query('LISTEN "news"');
    expect(proxy.listeners('news')).toHaveLength(1);
    expect(proxy.listeners('other')).toHaveLength(0);
    const ended = new Promise((resolve) => listening.on('end', () => resolve(undefined)));
    proxy.kill(proxy.listeners('news'));
    await ended;
    expect(await isOpen(other)).toBe(true);
    expect(proxy.connections).toHaveLength(1);
  });

  test('refuses new connections and leaves the open ones alone, until it accepts again', async () => {
    const open = await connect(proxy.url);
    proxy.refuse();
    await expect(connect(proxy.url)).rejects.toThrow('ECONNREFUSED');
    expect(await isOpen(open)).toBe(true);
    await proxy.accept();
    expect(await isOpen(await connect(proxy.url))).toBe(true);
  });

  test('a kill ends the session on the server as well, even while a message of it is held', async () => {
    const client = await connect(proxy.url);
    const hold = proxy.hold(runs(/^COMMIT/));
    await client.query('BEGIN; LOCK TABLE note');
    const commit = client.query('COMMIT');
    await hold.arrived();
    proxy.kill();
    await expect(commit).rejects.toThrow();
    expect(await names()).toEqual([]);
  });

  test('kills all connections at once', async () => {
    const both = [await connect(proxy.url), await connect(proxy.url)];
    proxy.kill();
    expect(await Promise.all(both.map(isOpen))).toEqual([false, false]);
    expect(await isOpen(await connect(proxy.url))).toBe(true);
  });
});
