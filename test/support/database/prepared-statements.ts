import { join } from 'node:path';
import type pg from 'pg';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { recordStatements } from './statement-recorder.ts';
import { storeSources } from './store-statements.ts';

// A statement of these uses no table of the schema, or cannot be prepared.
const utility = /^\s*(?:BEGIN|COMMIT|ROLLBACK|SET|LOCK)\b/;
// They connect by themselves, or have no statement of the schema.
const others = new Set([
  'connect',
  'database',
  'database-fitness',
  'listener',
  'migrate',
  'migration-fault',
  'run-role',
  'session',
  'sql',
  'transaction',
]);

/** The files of the store that have statements of the schema. */
export const statementSources = new Map([...storeSources()].filter(([name]) => !others.has(name.replace('.ts', ''))));

/** The texts of all statements of the store. */
export async function recordStoreStatements(): Promise<ReadonlySet<string>> {
  // What Prisma reads has no statement of its own.
  const used = [...statementSources].filter(([, source]) => /queryRows|transaction\.ts/.test(source));
  const modules = used.map(([name]) => import(join(checkoutDirectory, 'src/store', name)) as Promise<object>);
  return await recordStatements((await Promise.all(modules)) as Readonly<Record<string, unknown>>[]);
}

/** Prepares statements on a migrated database; returns what PostgreSQL refuses, and how many there were. */
export async function prepareStatements(
  client: pg.Client,
  statements: ReadonlySet<string>,
): Promise<{ readonly faults: readonly string[]; readonly prepared: number }> {
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
  return { faults, prepared };
}
