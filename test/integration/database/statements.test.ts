import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import {
  prepareStatements,
  recordStoreStatements,
  statementSources,
} from '../../support/database/prepared-statements.ts';
import { writtenSql } from '../../support/database/store-statements.ts';

/** All SQL of the store on the migrated database, so that a column that was renamed or dropped is seen. */

let server: TestDatabase;
let client: pg.Client;
let statements: ReadonlySet<string>;

beforeAll(async () => {
  server = await createTestDatabase();
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
  statements = await recordStoreStatements();
});

afterAll(async () => {
  await client.end();
  await server.drop();
});

test('all SQL of the store is part of a statement that was noted', () => {
  const all = [...statements];
  const isNoted = (texts: readonly string[]): boolean => {
    const isPart = (statement: string): boolean => {
      let from = 0;
      for (const text of texts) {
        const at = statement.indexOf(text, from);
        if (at === -1) return false;
        from = at + text.length;
      }
      return true;
    };
    return all.some(isPart);
  };
  const missing = writtenSql(statementSources).filter(({ texts }) => !isNoted(texts));
  expect(missing).toEqual([]);
});

test('each statement can be prepared', async () => {
  const { faults, prepared } = await prepareStatements(client, statements);
  expect(faults).toEqual([]);
  expect(prepared).toBeGreaterThan(250);
});
