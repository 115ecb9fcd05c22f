import { describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase } from '../../support/database/postgres.ts';
import { startServices } from '../../support/api/services.ts';
import { createWorldCalls } from '../../support/api/with-services.ts';

// PostgreSQL plans by what ANALYZE saw last, and connections keep plans. Both must do for what comes after.

const small = 2;
const large = 5_000;
// More than PostgreSQL needs before it keeps a plan for all values.
const repeats = 12;

type Services = Awaited<ReturnType<typeof startServices>>;

async function useEnvironment(services: Services, secrets: number): Promise<void> {
  const { calls, snapshots } = await createWorldCalls(services);
  await calls.patch(Object.fromEntries(Array.from({ length: secrets }, (_, index) => [`KEY_${index}`, String(index)])));
  const { id } = await snapshots.create();
  await snapshots.diff(id);
  const options = { backup: true, prune: true };
  await snapshots.plan(id, options);
  const { restored } = await snapshots.restore(id, options);
  expect(restored).toHaveLength(secrets);
  expect(Object.keys((await calls.read()).secrets)).toHaveLength(secrets);
}

/** How many rows and entries of indexes the sessions that have ended read, in all tables. */
async function rowsRead(url: string): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<{ rows: string }>(
      `SELECT (SELECT sum(seq_tup_read) FROM pg_stat_user_tables)
        + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes) AS rows`,
    );
    return Number(rows[0]?.rows);
  } finally {
    await client.end();
  }
}

describe('an import, a snapshot and a restore of many secrets read each row a few times', () => {
  test.each([
    ['that were never analyzed', { isAnalyzed: false, after: 0 }],
    ['that were analyzed while they held little', { isAnalyzed: true, after: 0 }],
    ['that were analyzed while they held little, with plans of then', { isAnalyzed: true, after: repeats }],
  ])('in tables %s', async (_name, { isAnalyzed, after }) => {
    const database = await createTestDatabase();
    try {
      const services = await startServices(database.url);
      try {
        for (let round = 0; round < repeats; round += 1) await useEnvironment(services, small);
        if (isAnalyzed) await services.database.pool.query('ANALYZE');
        for (let round = 0; round < after; round += 1) await useEnvironment(services, small);
        await useEnvironment(services, large);
      } finally {
        // Sessions report what they read when they end.
        await services.close();
      }
      const read = await rowsRead(database.url);
      expect(read).toBeGreaterThan(10 * large);
      expect(read).toBeLessThan(200 * large);
    } finally {
      await database.drop();
    }
  });
});
