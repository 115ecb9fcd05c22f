import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import { type Database, openDatabase, queryRows, writeFault } from '../../../src/store/database.ts';
import { Listener } from '../../../src/store/listener.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { readOnlyFault } from '../../../src/store/session.ts';
import { readSignInIsOpen } from '../../../src/store/sign-in-state.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { execute } from '../../support/api/test-server.ts';
import { LockSession } from '../../support/database/locks.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** A server that takes no writes for a while, as a standby does until it is promoted. */

const insert = `INSERT INTO organization (id, slug, display_name) VALUES (gen_random_uuid(), gen_random_uuid()::text, 'x')`;
const one = { name: 'test-one', text: 'SELECT 1 AS one' };
const refused = { code: 'store_unavailable', detail: `${readOnlyFault}; try again` };

let server: TestDatabase;
let database: Database;

beforeEach(async () => {
  server = await createTestDatabase();
  database = openDatabase({ url: server.url, poolSize: 6 });
});

afterEach(async () => {
  await database.close();
  await server.drop();
});

/** Sets what new sessions of the database are, past which this session of the test's gets. */
async function setReadOnly(isReadOnly: boolean): Promise<void> {
  const setting = isReadOnly ? 'SET default_transaction_read_only = on' : 'RESET default_transaction_read_only';
  const name = new URL(server.url).pathname.slice(1);
  const maintenance = new URL(server.url);
  maintenance.pathname = '/postgres';
  await execute(maintenance.href, `ALTER DATABASE ${name} ${setting}`);
}

const endSessions = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

const writes: [string, () => Promise<unknown>][] = [
  ['a statement', () => queryRows(database.pool, { name: 'test-insert', text: insert }, [])],
  ['a transaction', () => inTransaction(database, (tx) => tx.rowsUnprepared(insert))],
];

describe.each(writes)('a write by %s', (_name, write) => {
  test('works at once after a failover to a server that took no writes at first', async () => {
    await write();
    await setReadOnly(true);
    await execute(server.url, endSessions);
    // The broken connections are removed when their ends arrive.
    await waitFor('the refusal', async () => (await failureOf(write)) === refused.detail, { timeoutMs: 10_000 });
    await setReadOnly(false);
    await write();
  });

  test('ends every connection that led to a server without writes, those of reads too', async () => {
    await Promise.all([database.pool, database.transactionPool].map(makeAllReadOnly));
    await expect(write()).rejects.toMatchObject(refused);
    await untilNoneIsOpen();
    await write();
    expect(await writeFault(database)).toBeUndefined();
  });
});

/** No request takes part in this, so only the pools themselves can end their connections. */
async function untilNoneIsOpen(): Promise<void> {
  const { pool, transactionPool } = database;
  const isClosed = (): boolean => pool.totalCount + transactionPool.totalCount === 0;
  await waitFor('the idle connections to end', isClosed, { timeoutMs: 10_000 });
}

async function failureOf(write: () => Promise<unknown>): Promise<string | undefined> {
  const [outcome] = await Promise.allSettled([write()]);
  return outcome?.status === 'rejected' ? (outcome.reason as { detail?: string }).detail : undefined;
}

/** Makes all connections of a pool what those of a pooler become whose server was replaced. */
async function makeAllReadOnly(pool: Database['pool']): Promise<void> {
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  for (const client of clients) await client.query('SET default_transaction_read_only = on');
  for (const client of clients) client.release();
}

test('a read uses no server without writes, because its data may be old', async () => {
  await setReadOnly(true);
  await expect(queryRows(database.pool, one, [])).rejects.toMatchObject(refused);
  await expect(readSignInIsOpen(database.pool)).rejects.toMatchObject(refused);
});

describe('the fault of writes', () => {
  test('is found on new connections, and is gone with the next one after the promotion', async () => {
    expect(await writeFault(database)).toBeUndefined();
    await setReadOnly(true);
    const later = openDatabase({ url: server.url, poolSize: 2 });
    expect(await writeFault(later)).toBe(readOnlyFault);
    await setReadOnly(false);
    expect(await writeFault(later)).toBeUndefined();
    await later.close();
  });

  test('is found on open connections, which are ended', async () => {
    await makeAllReadOnly(database.transactionPool);
    await makeAllReadOnly(database.pool);
    expect(await writeFault(database)).toBe(readOnlyFault);
    await untilNoneIsOpen();
    expect(await writeFault(database)).toBeUndefined();
  });

  test('is none while every transaction waits for a lock', async () => {
    await inTransaction(database, (tx) => tx.rowsUnprepared(insert));
    const session = await LockSession.begin(server.url);
    await session.run('LOCK TABLE organization');
    const waiting = Array.from({ length: 3 }, () => inTransaction(database, (tx) => tx.rowsUnprepared(insert)));
    await session.waitForBlocked(3);
    expect(await writeFault(database)).toBeUndefined();
    await session.commit();
    await Promise.all(waiting);
  });
});

test('a listener connects again until its server takes writes', async () => {
  await setReadOnly(true);
  const warned = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const silent = createLogger('silent');
  const logger = new Proxy(silent, {
    get: (target, name) => (name === 'warn' ? warned.resolve : Reflect.get(target, name)),
  });
  const listener = new Listener({ url: server.url, logger });
  listener.start({ onReady: ready.resolve, onMessage: () => undefined, onLost: () => undefined });
  await warned.promise;
  await setReadOnly(false);
  await expect(ready.promise).resolves.toBeUndefined();
  await listener.close();
});

test('migrate waits for a server that takes writes, and says what is wrong if none comes', async () => {
  const logger = createLogger('silent');
  await setReadOnly(true);
  await expect(migrate({ url: server.url, logger, waitMs: 600 })).rejects.toMatchObject({
    code: 'conflict',
    detail: expect.stringContaining(`${readOnlyFault} (25006): correct KEYFRAME_DATABASE_URL`),
  });
  const migrated = migrate({ url: server.url, logger, waitMs: 60_000 });
  await setReadOnly(false);
  expect(await migrated).toEqual([]);
});
