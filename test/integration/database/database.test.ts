import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, openDatabase, queryRows } from '../../../src/store/database.ts';
import { listMembers } from '../../../src/store/members.ts';
import { inTransaction, type Transaction } from '../../../src/store/transaction.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { withProxiedDatabase } from '../../support/database/proxied-database.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { StoreFixtures } from '../../support/database/store-fixtures.ts';

const one = { name: 'test-one', text: 'SELECT 1 AS one' };
const unavailable = { code: 'store_unavailable' };
const slow = { name: 'test-sleep', text: 'SELECT pg_sleep($1)::text' };

let server: TestDatabase;
let proxy: PostgresProxy;
let database: Database;

withProxiedDatabase((given) => ({ server, proxy, database } = given), {
  silenceMs: { reads: 4_000, transactions: 4_000 },
});

async function insertOrganization(tx: Transaction, slug: string, createdAt = new Date()): Promise<void> {
  await tx.run`
    INSERT INTO organization (id, slug, display_name, created_at)
    VALUES (${randomUUID()}::uuid, ${slug}, ${slug}, ${createdAt})`;
}

describe('an unavailable database', () => {
  const uses: [string, () => Promise<unknown>][] = [
    ['a prepared read', () => queryRows(database.pool, one, [])],
    ['a read of Prisma', () => listMembers(database.pool, randomUUID())],
    ['a transaction', () => inTransaction(database, (tx) => tx.run`SELECT 1`)],
  ];

  test.each(uses)(
    'that refuses connections fails %s with store_unavailable, and is used again when it is back',
    async (_name, use) => {
      proxy.refuse();
      await expect(use()).rejects.toMatchObject(unavailable);
      await proxy.accept();
      await expect(use()).resolves.toBeDefined();
    },
  );

  test.each(uses)(
    'whose connections break fails %s with store_unavailable, and the next one works',
    async (_name, use) => {
      await use();
      proxy.cut(() => true, 'before');
      await expect(use()).rejects.toMatchObject(unavailable);
      await expect(use()).resolves.toBeDefined();
    },
  );

  test.each(uses)('that falls silent fails %s with store_unavailable, and the next one works', async (_name, use) => {
    await use();
    proxy.freeze(proxy.connections);
    await expect(use()).rejects.toMatchObject(unavailable);
    await expect(use()).resolves.toBeDefined();
  });

  test('whose backends are terminated fails what runs there, and the next one works', async () => {
    await using resources = new AsyncDisposableStack();
    // It gives no statement up, however late the test looks for them.
    const unhurried = openDatabase({
      url: proxy.url,
      poolSize: 4,
      silenceMs: { reads: 300_000, transactions: 300_000 },
    });
    resources.defer(() => unhurried.close());
    const running = queryRows(unhurried.pool, slow, [200]);
    const inside = inTransaction(unhurried, (tx) => tx.run`SELECT pg_sleep(200)`);
    const settled = Promise.allSettled([running, inside]);
    const terminate = async (): Promise<number> => {
      const rows = await queryRows(
        database.pool,
        {
          name: 'test-terminate',
          text: `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid()`,
        },
        [],
      );
      return rows.length;
    };
    let terminated = 0;
    while (terminated < 2) terminated += await terminate();
    expect(await settled).toMatchObject([{ reason: unavailable }, { reason: unavailable }]);
    await expect(queryRows(unhurried.pool, one, [])).resolves.toEqual([{ one: 1 }]);
    await expect(inTransaction(unhurried, (tx) => tx.run`SELECT FROM organization`)).resolves.toBe(0);
  });

  test('in a wrong place or with a wrong password is store_unavailable, and no detail shows the password', async () => {
    const wrong = new URL(server.url);
    wrong.password = 'canary-password';
    const missing = new URL(server.url);
    missing.pathname = '/no_such_database';
    for (const url of [wrong.href, missing.href, 'postgres://u:canary-password@nowhere.invalid/x']) {
      const other = openDatabase({ url, poolSize: 2 });
      for (const use of [
        () => queryRows(other.pool, one, []),
        () => listMembers(other.pool, randomUUID()),
        () => inTransaction(other, (tx) => tx.run`SELECT FROM app_user`),
      ]) {
        const error: unknown = await use().catch((thrown: unknown) => thrown);
        expect(error).toMatchObject(unavailable);
        expect((error as Error).message).not.toContain('canary');
      }
      await other.close();
    }
  });

  test('a statement that is cut off mid-transaction commits nothing and hands no open transaction on', async () => {
    const cut = inTransaction(database, async (tx) => {
      await insertOrganization(tx, 'lost');
      proxy.freeze(proxy.connections);
      await insertOrganization(tx, 'lost-too');
    });
    await expect(cut).rejects.toMatchObject(unavailable);
    proxy.thaw();
    await inTransaction(database, (tx) => insertOrganization(tx, 'kept'));
    await sleep(100);
    const rows = await queryRows(database.pool, { name: 'test-slugs', text: 'SELECT slug FROM organization' }, []);
    expect(rows).toEqual([{ slug: 'kept' }]);
  });

  test('no free connection in time is overloaded', async () => {
    const [allBusy, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let begun = 0;
    const hold = async (): Promise<void> => {
      begun += 1;
      if (begun === 2) allBusy.resolve();
      await late.promise;
    };
    const busy = Promise.allSettled([1, 2].map(() => inTransaction(database, hold)));
    await allBusy.promise;
    await expect(inTransaction(database, async () => 1)).rejects.toMatchObject({ code: 'overloaded' });
    late.resolve();
    await busy;
  });
});

describe('the connections', () => {
  test('stay whole while nothing happens on them for longer than the silence limit', async () => {
    await queryRows(database.pool, one, []);
    await inTransaction(database, (tx) => tx.run`SELECT FROM app_user`);
    const before = proxy.connections.length;
    await sleep(5_000);
    expect(proxy.connections).toHaveLength(before);
    await queryRows(database.pool, one, []);
    await inTransaction(database, (tx) => tx.run`SELECT FROM app_user`);
    expect(proxy.connections).toHaveLength(before);
  });

  test('give writers that wait for a lock none of those that reads use', async () => {
    const { organizationId } = await new StoreFixtures(database.pool).environment();
    const held = Promise.withResolvers<void>();
    const lock = 'UPDATE organization SET display_name = display_name WHERE id = $1';
    const unhurried = openDatabase({ url: server.url, poolSize: 4 });
    const writers = [held.promise, sleep(0), sleep(0), sleep(0)].map((wait) =>
      inTransaction(unhurried, async (tx) => {
        await tx.rowsUnprepared(lock.replace('$1', `'${organizationId}'`));
        await wait;
      }),
    );
    await sleep(100);
    const reads = Array.from({ length: 20 }, () => queryRows(unhurried.pool, one, []));
    await expect(Promise.all(reads)).resolves.toHaveLength(20);
    held.resolve();
    await Promise.all(writers);
    await unhurried.close();
  });

  test('read and write times in UTC whatever zone the database prefers', async () => {
    const name = new URL(server.url).pathname.slice(1);
    await queryRows(
      database.pool,
      { name: 'test-zone', text: `ALTER DATABASE ${name} SET TimeZone = 'Asia/Kolkata'` },
      [],
    );
    const later = openDatabase({ url: server.url, poolSize: 2 });
    const at = new Date('2026-03-01T12:00:00.123Z');
    await inTransaction(later, (tx) => insertOrganization(tx, 'zone', at));
    const read = await inTransaction(later, (tx) => tx.row`SELECT created_at AS "createdAt" FROM organization`);
    const [row] = await queryRows<{ ms: string }>(
      later.pool,
      { name: 'test-epoch', text: 'SELECT (extract(epoch FROM created_at) * 1000)::bigint AS ms FROM organization' },
      [],
    );
    await later.close();
    expect(read).toEqual({ createdAt: at });
    expect(Number(row?.ms)).toBe(at.getTime());
  });

  test('prepare a named statement once on each connection', async () => {
    for (let count = 0; count < 10; count += 1) await queryRows(database.pool, one, []);
    expect(proxy.count(({ type, sql }) => type === 'Parse' && sql?.includes('AS one') === true)).toBe(1);
    expect(proxy.count(runs(/AS one/))).toBe(10);
  });

  test('can be closed twice', async () => {
    await queryRows(database.pool, one, []);
    await Promise.all([database.close(), database.close()]);
    await expect(queryRows(database.pool, one, [])).rejects.toMatchObject(unavailable);
  });
});

describe('a transaction', () => {
  test('that waits for a lock ends as overloaded after 5 s, and so does its backend', async () => {
    const { organizationId } = await new StoreFixtures(database.pool).environment();
    const session = await LockSession.begin(server.url);
    await session.run('SELECT FROM organization WHERE id = $1 FOR UPDATE', [organizationId]);
    const unhurried = openDatabase({ url: server.url, poolSize: 2 });
    const renaming = inTransaction(
      unhurried,
      (tx) => tx.run`UPDATE organization SET display_name = 'late' WHERE id = ${organizationId}::uuid`,
    );
    await expect(renaming).rejects.toMatchObject({ code: 'overloaded' });
    const waiting = await queryRows<{ count: number }>(
      unhurried.pool,
      {
        name: 'test-waiting',
        text: `SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      },
      [],
    );
    expect(waiting).toEqual([{ count: 0 }]);
    await session.commit();
    await unhurried.close();
  }, 15_000);

  test('reports a broken unique constraint as a conflict and never the value, in transactions and reads', async () => {
    const canary = 'canary-5f1e';
    await inTransaction(database, (tx) => insertOrganization(tx, canary));
    const insert = `INSERT INTO organization (id, slug, display_name) VALUES (gen_random_uuid(), '${canary}', 'x')`;
    const attempts = [
      () => inTransaction(database, (tx) => insertOrganization(tx, canary)),
      () => queryRows(database.pool, { name: 'test-insert', text: insert }, []),
    ];
    for (const attempt of attempts) {
      const error: unknown = await attempt().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'conflict' });
      expect((error as Error).message).not.toContain('canary');
    }
  });

  test('reports a missing parent as a conflict', async () => {
    const orphan = inTransaction(
      database,
      (tx) => tx.run`
        INSERT INTO project (id, organization_id, slug, display_name)
        VALUES (${randomUUID()}::uuid, ${randomUUID()}::uuid, 'web', 'Web')`,
    );
    await expect(orphan).rejects.toMatchObject({ code: 'conflict' });
  });
});
