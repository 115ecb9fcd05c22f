import { expect, test } from '@jest/globals';
import { Client } from 'pg';
import { createEmptyDatabase, createTestDatabase } from '../../support/database/postgres.ts';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('two test databases do not see each other, and a dropped one is gone though a session was open in it', async () => {
  const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  await query(first.url, 'CREATE TABLE only_here (id int)');
  const find = `SELECT to_regclass('only_here')::text AS found`;
  expect(await query(first.url, find)).toEqual([{ found: 'only_here' }]);
  expect(await query(second.url, find)).toEqual([{ found: null }]);

  const session = new Client({ connectionString: first.url });
  session.on('error', () => undefined);
  await session.connect();
  await first.drop();
  await expect(query(first.url, 'SELECT 1')).rejects.toMatchObject({ code: '3D000' });
  await session.end().catch(() => undefined);
  await second.drop();
});

test('an empty database has no table', async () => {
  const database = await createEmptyDatabase();
  const tables = `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`;
  expect(await query(database.url, tables)).toEqual([]);
  await database.drop();
});
