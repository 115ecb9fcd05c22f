import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Database, openDatabase, queryRows } from '../../../src/store/database.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { execute } from '../../support/api/test-server.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
  await execute(server.url, 'CREATE SEQUENCE begun');
});

afterAll(() => server.drop());

// The sequence keeps that the statement began: a busy machine may not look while it runs.
const slow = { name: 'test-slow', text: "SELECT nextval('begun')::text, pg_sleep(60)::text" };
const begun = {
  name: 'test-begun',
  text: 'SELECT CASE WHEN is_called THEN last_value::int ELSE 0 END AS count FROM begun',
};
const busy = { name: 'test-busy', text: "SELECT FROM pg_stat_activity WHERE state = 'active' AND query = $1" };
const silenceMs = { reads: 2_000, transactions: 2_000 };

// Else each repetition would leave one more backend that works for no client, until none is left for any.
test.each([
  ['a read', (database: Database) => queryRows(database.pool, slow, [])],
  ['a transaction', (database: Database) => inTransaction(database, (tx) => tx.rowsUnprepared(slow.text))],
])('%s that is given up on does not go on in the database', async (_, run) => {
  // Another one looks on, which is not given up on itself.
  const [database, observer] = [openDatabase({ url: server.url, poolSize: 2, silenceMs }), openDatabase(server)];
  const begunCount = async (): Promise<number> =>
    (await queryRows<{ count: number }>(observer.pool, begun, []))[0]?.count ?? 0;
  const isRunning = async (): Promise<boolean> => (await queryRows(observer.pool, busy, [slow.text])).length > 0;
  // It may be given up on before the database gets the statement.
  await waitFor('the statement to begin, and to be given up on', async () => {
    const before = await begunCount();
    await expect(run(database)).rejects.toMatchObject({ code: 'store_unavailable' });
    return (await begunCount()) > before;
  });
  await waitFor('the statement to end', async () => !(await isRunning()), { timeoutMs: 20_000 });
  await Promise.all([database.close(), observer.close()]);
});
