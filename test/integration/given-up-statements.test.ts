import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDatabase, queryRows } from '../../src/store/database.ts';
import { inSqlTransaction } from '../../src/store/sql-transaction.ts';
import { inTransaction } from '../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts';
import { waitFor } from '../support/wait-for.ts';

let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});

afterAll(() => server.drop());

const slow = { name: 'test-slow', text: 'SELECT pg_sleep(20)::text' };
const busy = { name: 'test-busy', text: "SELECT FROM pg_stat_activity WHERE state = 'active' AND query = $1" };

// Else each repetition would leave one more backend that works for nobody, until there is none for anybody.
test.each(['a read', 'a transaction', 'a transaction of SQL alone'])(
  '%s that is given up on does not go on in the database',
  async (kind) => {
    const database = openDatabase({ url: server.url, poolSize: 2, silenceMs: { reads: 400, transactions: 400 } });
    const given =
      kind === 'a read'
        ? queryRows(database.pool, slow, [])
        : (kind === 'a transaction' ? inTransaction : inSqlTransaction)(database, (tx) =>
            tx.$queryRawUnsafe(slow.text),
          );
    await expect(given).rejects.toMatchObject({ code: 'store_unavailable' });
    const ended = async (): Promise<boolean> => (await queryRows(database.pool, busy, [slow.text])).length === 0;
    await waitFor('the statement to end', ended, { timeoutMs: 5_000 });
    await database.close();
  },
);
