import { describe, expect, test } from '@jest/globals';
import { createHash, randomUUID } from 'node:crypto';
import { type Database, openDatabase, queryRows } from '../../../src/store/database.ts';
import { inTransaction, type Transaction } from '../../../src/store/transaction.ts';
import { LockSession } from '../../support/database/locks.ts';
import type { TestDatabase } from '../../support/database/postgres.ts';
import { withProxiedDatabase } from '../../support/database/proxied-database.ts';
import { type PostgresProxy, runs } from '../../support/faults/postgres-proxy.ts';
import { StoreFixtures } from '../../support/database/store-fixtures.ts';

const slugs = { name: 'test-slugs', text: 'SELECT slug FROM organization ORDER BY slug' };

let server: TestDatabase;
let proxy: PostgresProxy;
let database: Database;

withProxiedDatabase((given) => ({ server, proxy, database } = given));

async function insert(tx: Transaction, slug: string): Promise<void> {
  await tx.run`INSERT INTO organization (id, slug, display_name) VALUES (${randomUUID()}::uuid, ${slug}, 'x')`;
}

describe('a transaction', () => {
  test('is READ COMMITTED whatever the database prefers', async () => {
    const name = new URL(server.url).pathname.slice(1);
    const text = `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`;
    await queryRows(database.pool, { name: 'test-isolation', text }, []);
    const later = openDatabase({ url: server.url, poolSize: 2 });
    const [row] = await inTransaction(later, (tx) => tx.rows<object>`SHOW transaction_isolation`);
    await later.close();
    expect(row).toEqual({ transaction_isolation: 'read committed' });
  });

  test('runs statements that are begun together in their order, and each sees those before it', async () => {
    const [id, slug] = [randomUUID(), 'together'];
    const [, seen] = await inTransaction(database, (tx) =>
      tx.pipeline([
        tx.run`INSERT INTO organization (id, slug, display_name) VALUES (${id}::uuid, ${slug}, 'x')`,
        tx.rows`SELECT slug FROM organization`,
      ]),
    );
    expect(seen).toEqual([{ slug: 'together' }]);
    expect(await queryRows(database.pool, slugs, [])).toEqual([{ slug: 'together' }]);
  });

  test('is run again after a conflict, and is overloaded when it always collides', async () => {
    let runsOfWork = 0;
    const colliding = (times: number): Promise<string> =>
      inTransaction(database, async (tx) => {
        runsOfWork += 1;
        if (runsOfWork <= times) {
          await tx.rowsUnprepared(`DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$`);
        }
        return 'done';
      });
    expect(await colliding(2)).toBe('done');
    expect(runsOfWork).toBe(3);
    runsOfWork = 0;
    await expect(colliding(9)).rejects.toMatchObject({ code: 'overloaded' });
    expect(runsOfWork).toBe(4);
  });

  test('commits nothing when a statement failed, even if the work goes on, and throws the first failure', async () => {
    const id = randomUUID();
    const failing = inTransaction(database, async (tx) => {
      await tx.run`INSERT INTO organization (id, slug, display_name) VALUES (${id}::uuid, 'half', 'x')`;
      await Promise.allSettled([tx.run`SELECT 1 / ${0}::int`, tx.run`SELECT 2`]);
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect(await queryRows(database.pool, slugs, [])).toEqual([]);
  });

  test('throws the failure of the first of several that were begun together, and commits nothing', async () => {
    const failing = inTransaction(database, async (tx) => {
      await tx.pipeline([tx.run`SELECT 1 / ${0}::int`, insert(tx, 'refused'), tx.row`SELECT 'x'::int`]);
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect(await queryRows(database.pool, slugs, [])).toEqual([]);
  });

  test('undoes the statements after one whose result was refused', async () => {
    const refused = async (found: Promise<object | undefined>): Promise<never> => {
      throw new Error((await found) === undefined ? 'it found nothing' : 'it found something');
    };
    const failing = inTransaction(database, async (tx) => {
      await tx.pipeline([refused(tx.row`SELECT FROM organization`), insert(tx, 'undone')]);
    });
    await expect(failing).rejects.toThrow('it found nothing');
    expect(await queryRows(database.pool, slugs, [])).toEqual([]);
  });

  test('commits nothing after the failure of a statement that was not waited for, and throws it', async () => {
    const failing = inTransaction(database, async (tx) => {
      await insert(tx, 'half');
      tx.run`SELECT 1 / ${0}::int`.catch(() => undefined);
    });
    await expect(failing).rejects.toMatchObject({ code: '22012' });
    expect(await queryRows(database.pool, slugs, [])).toEqual([]);
  });

  test('is rolled back with its own error when the work throws, and its connection is used again', async () => {
    const own = new Error('own');
    const id = randomUUID();
    const failing = inTransaction(database, async (tx) => {
      await tx.run`INSERT INTO organization (id, slug, display_name) VALUES (${id}::uuid, 'gone', 'x')`;
      throw own;
    });
    await expect(failing).rejects.toBe(own);
    expect(await queryRows(database.pool, slugs, [])).toEqual([]);
    expect(database.transactionPool.idleCount).toBe(1);
  });

  test('that takes longer than it may is overloaded, and holds nothing from its limit on', async () => {
    const { organizationId } = await new StoreFixtures(database.pool).environment();
    const [locked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const late = inTransaction(
      database,
      async (tx) => {
        await tx.run`SELECT FROM organization WHERE id = ${organizationId}::uuid FOR UPDATE`;
        locked.resolve();
        await goOn.promise;
      },
      2_000,
    );
    const settled = Promise.allSettled([late]);
    await locked.promise;
    const session = await LockSession.begin(server.url);
    await session.run('SELECT FROM organization WHERE id = $1 FOR UPDATE', [organizationId]);
    await session.commit();
    goOn.resolve();
    expect(await settled).toMatchObject([{ reason: { code: 'overloaded' } }]);
    // Long before the database itself ends what is idle in a transaction.
  }, 20_000);

  test('is run again after a real deadlock, and both sides succeed', async () => {
    await inTransaction(database, async (tx) => {
      await insert(tx, 'a');
      await insert(tx, 'b');
    });
    const bothLocked = Promise.withResolvers<void>();
    let locked = 0;
    let runsOfWork = 0;
    const touch = (order: readonly string[]): Promise<void> =>
      inTransaction(database, async (tx) => {
        runsOfWork += 1;
        for (const slug of order) {
          await tx.run`UPDATE organization SET display_name = display_name || '+' WHERE slug = ${slug}`;
          locked += 1;
          if (locked === 2) bothLocked.resolve();
          await bothLocked.promise;
        }
      });
    await Promise.all([touch(['a', 'b']), touch(['b', 'a'])]);
    const names = { name: 'test-names', text: 'SELECT display_name AS name FROM organization' };
    expect(await queryRows(database.pool, names, [])).toEqual([{ name: 'x++' }, { name: 'x++' }]);
    expect(runsOfWork).toBe(3);
  });

  test('is never committed after a value that the driver could not write, though the database knows nothing of it', async () => {
    const circular: { self?: unknown } = {};
    circular.self = circular;
    const failing = inTransaction(database, async (tx) => {
      await insert(tx, 'half');
      await Promise.allSettled([tx.rowsUnprepared('SELECT $1::jsonb', circular)]);
    });
    await expect(failing).rejects.toBeInstanceOf(TypeError);
    expect(await queryRows(database.pool, slugs, [])).toEqual([]);
  });

  test.each([
    ['before it is there', 'before', []],
    ['when only its answer is lost', 'after', [{ slug: 'unknown' }]],
  ] as const)(
    'whose connection breaks at the COMMIT, %s, is store_unavailable and not run again',
    async (_when, moment, left) => {
      let runsOfWork = 0;
      proxy.cut(runs(/^COMMIT$/), moment);
      const cut = inTransaction(database, async (tx) => {
        runsOfWork += 1;
        await insert(tx, 'unknown');
      });
      await expect(cut).rejects.toMatchObject({ code: 'store_unavailable' });
      expect(runsOfWork).toBe(1);
      expect(await queryRows(database.pool, slugs, [])).toEqual(left);
      await inTransaction(database, (tx) => insert(tx, 'zz-next'));
      expect(await queryRows(database.pool, slugs, [])).toEqual([...left, { slug: 'zz-next' }]);
    },
  );

  test('whose connection breaks under statements that were begun together fails each, and commits nothing', async () => {
    proxy.cut(runs(/pg_sleep/), 'before');
    const outcomes: PromiseSettledResult<unknown>[] = [];
    const cut = inTransaction(database, async (tx) => {
      await insert(tx, 'lost');
      outcomes.push(
        ...(await Promise.allSettled([tx.run`SELECT pg_sleep(0)`, insert(tx, 'lost-too'), insert(tx, 'third')])),
      );
      await insert(tx, 'after');
    });
    await expect(cut).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await inTransaction(database, (tx) => insert(tx, 'kept'));
    expect(await queryRows(database.pool, slugs, [])).toEqual([{ slug: 'kept' }]);
  });

  test('that its own statement outlasted is overloaded, not run again, and has done nothing', async () => {
    let runsOfWork = 0;
    const late = inTransaction(
      database,
      async (tx) => {
        runsOfWork += 1;
        await insert(tx, 'late');
        // Says at its end, when the time is over, what would else have it run again.
        await tx.rowsUnprepared(
          `DO $$ BEGIN PERFORM pg_sleep(0.5); RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$`,
        );
      },
      200,
    );
    await expect(late).rejects.toMatchObject({ code: 'overloaded' });
    expect(runsOfWork).toBe(1);
    expect(await queryRows(database.pool, slugs, [])).toEqual([]);
  });

  test('prepares a template once on its connection, but none with an array', async () => {
    for (let count = 0; count < 3; count += 1) {
      await inTransaction(database, async (tx) => {
        await tx.rows`SELECT ${count}::int AS single`;
        await tx.rows`SELECT ${[count]}::int[] AS several`;
      });
    }
    const parses = (text: string): number =>
      proxy.count(({ type, sql }) => type === 'Parse' && sql?.includes(text) === true);
    expect([parses('AS single'), parses('AS several')]).toEqual([1, 3]);
  });

  test('names a prepared statement by its text alone, so that no other process means another one by it', async () => {
    const prepared = await inTransaction(database, async (tx) => {
      await tx.rows`SELECT ${1}::int AS one`;
      await tx.rows`SELECT ${2}::int AS two`;
      return tx.rowsUnprepared<{ name: string; statement: string }>(
        'SELECT name, statement FROM pg_prepared_statements ORDER BY prepare_time',
      );
    });
    expect(prepared.map(({ statement }) => statement)).toEqual(['SELECT $1::int AS one', 'SELECT $1::int AS two']);
    for (const { name, statement } of prepared) {
      expect(name).toBe(`sql-${createHash('sha256').update(statement).digest('hex').slice(0, 40)}`);
    }
  });

  test('takes and returns values of each type', async () => {
    const at = new Date('2026-03-01T12:00:00.123Z');
    const id = '0191d1a0-0000-7000-8000-000000000000';
    const [row] = await inTransaction(
      database,
      (tx) => tx.rows<{ bytes: Uint8Array }>`
        SELECT ${at}::timestamptz AS at, ${Buffer.from('00ff10', 'hex')}::bytea AS bytes, ${7}::int AS whole,
          ${0.1}::float8 AS fraction, ${true}::boolean AS truth, ${null}::text AS nothing,
          ${'{"a": [1, null]}'}::jsonb AS json, ${id}::uuid AS id,
          ${'viewer'}::role AS role, ${['a"\\,{}', 'NULL', '']}::text[] AS texts, ${[1, null]}::int[] AS numbers,
          ${[]}::uuid[] AS none, encode((${[Uint8Array.of(0, 255), null]}::bytea[])[1], 'hex') AS first`,
    );
    expect({ ...row, bytes: Buffer.from(row?.bytes ?? []).toString('hex') }).toEqual({
      at,
      bytes: '00ff10',
      whole: 7,
      fraction: 0.1,
      truth: true,
      nothing: null,
      json: { a: [1, null] },
      id,
      role: 'viewer',
      texts: ['a"\\,{}', 'NULL', ''],
      numbers: [1, null],
      none: [],
      first: '00ff',
    });
  });

  test('counts the rows that a statement without columns finds, and returns the first of others', async () => {
    const found = await inTransaction(database, (tx) =>
      tx.pipeline([
        tx.run`SELECT FROM generate_series(1, 3)`,
        tx.row`SELECT 1 AS one`,
        tx.row`SELECT WHERE false`,
        tx.rowsUnprepared('SELECT $1::int AS two', 2),
      ]),
    );
    expect(found).toEqual([3, { one: 1 }, undefined, [{ two: 2 }]]);
  });
});
