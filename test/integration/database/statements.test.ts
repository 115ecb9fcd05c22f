import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/postgres.ts';
import { recordStatements } from '../../support/database/statement-recorder.ts';
import { storeSources, writtenSql } from '../../support/database/store-statements.ts';

/** All SQL of the store on the migrated database, so that a column that was renamed or dropped is seen. */

// A statement of these uses no table of the schema, or cannot be prepared.
const utility = /^\s*(?:BEGIN|COMMIT|ROLLBACK|SET|LOCK)\b/;
// They connect by themselves, or have no statement of the schema.
const others = new Set(['connect', 'database', 'listener', 'migrate', 'run-role', 'session', 'sql', 'transaction']);

let server: TestDatabase;
let client: pg.Client;
let statements: ReadonlySet<string>;

const sources = new Map([...storeSources()].filter(([name]) => !others.has(name.replace('.ts', ''))));

beforeAll(async () => {
  server = await createTestDatabase();
  client = new pg.Client({ connectionString: server.url });
  await client.connect();
  // What Prisma reads has no statement of its own.
  const names = [...sources].filter(([, source]) => /queryRows|transaction\.ts/.test(source)).map(([name]) => name);
  const modules = names.map((name) => import(join(checkoutDirectory, 'src/store', name)) as Promise<object>);
  statements = await recordStatements((await Promise.all(modules)) as Readonly<Record<string, unknown>>[]);
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
  const missing = writtenSql(sources).filter(({ texts }) => !isNoted(texts));
  expect(missing).toEqual([]);
});

test('each statement can be prepared', async () => {
  const faults: string[] = [];
  let prepared = 0;
  for (const text of statements) {
    if (utility.test(text)) continue;
    prepared += 1;
    await client
      .query(`PREPARE statement AS ${text}`)
      .then(() => client.query('DEALLOCATE statement'))
      .catch((error: Error) => faults.push(`${error.message}: ${text}`));
  }
  expect(faults).toEqual([]);
  expect(prepared).toBeGreaterThan(250);
});
