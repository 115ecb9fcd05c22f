import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDatabase, queryRows } from '../../../src/store/database.ts';
import { inSqlTransaction } from '../../../src/store/sql-transaction.ts';
import { inTransaction } from '../../../src/store/transaction.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});

afterAll(() => server.drop());

const slow = { name: 'test-slow', text: 'SELECT pg_sleep(60)::text' };
const busy = { name: 'test-busy', text: "SELECT FROM pg_stat_activity WHERE state = 'active' AND query = $1" };
// Long enough to see the statement run, also on a busy machine.
const silenceMs = { reads: 2_000, transactions: 2_000 };

// Else each repetition would leave one more backend that works for no client, until none is left for any.
test.each(['a read', 'a transaction', 'a transaction of SQL alone'])(
  '%s that is given up on does not go on in the database',
  async (kind) => {
    // Another one looks on, which is not given up on itself.
    const [database, observer] = [openDatabase({ url: server.url, poolSize: 2, silenceMs }), openDatabase(server)];
    const running = async (): Promise<number> => (await queryRows(observer.pool, busy, [slow.text])).length;
    const given =
      kind === 'a read'
        ? queryRows(database.pool, slow, [])
        : (kind === 'a transaction' ? inTransaction : inSqlTransaction)(database, (tx) => tx.rowsUnprepared(slow.text));
    const refusal = given.catch((error: unknown) => error);
    await waitFor('the statement to run', async () => (await running()) === 1);
    expect(await refusal).toMatchObject({ code: 'store_unavailable' });
    await waitFor('the statement to end', async () => (await running()) === 0, { timeoutMs: 20_000 });
    await Promise.all([database.close(), observer.close()]);
  },
);
