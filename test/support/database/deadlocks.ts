import type { Database } from '../../../src/store/database.ts';

/** How many deadlocks a database has seen. */
export async function deadlocksOf({ pool }: Pick<Database, 'pool'>): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    'SELECT deadlocks::int AS count FROM pg_stat_database WHERE datname = current_database()',
  );
  return rows[0]?.count ?? -1;
}
