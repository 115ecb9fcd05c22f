import type pg from 'pg';
import type { Transaction } from '../../src/store/transaction.ts';
import { sql } from '../../src/store/sql.ts';

/**
 * The store's own statements on a bare connection of pg: what a bench runs as the floor of a write is, by
 * construction, what Keyframe runs.
 */
function bareTransaction(client: pg.ClientBase): Transaction {
  const run = async (parts: TemplateStringsArray, ...values: unknown[]): Promise<pg.QueryResult> => {
    const statement = sql(parts, ...values);
    return client.query(statement.text, [...statement.values]);
  };
  const tx = {
    rows: async (parts: TemplateStringsArray, ...values: unknown[]) => (await run(parts, ...values)).rows,
    row: async (parts: TemplateStringsArray, ...values: unknown[]) => (await run(parts, ...values)).rows[0],
    run: async (parts: TemplateStringsArray, ...values: unknown[]) => (await run(parts, ...values)).rowCount,
  };
  // The store's functions that a bench calls use only these three methods.
  return tx as unknown as Transaction;
}

/** Runs work between BEGIN and COMMIT. */
export async function inBareTransaction(
  client: pg.ClientBase,
  work: (tx: Transaction) => Promise<void>,
): Promise<void> {
  await client.query('BEGIN');
  await work(bareTransaction(client));
  await client.query('COMMIT');
}
