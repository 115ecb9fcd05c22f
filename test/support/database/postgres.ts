import { randomBytes } from 'node:crypto';
import { execute, serverUrlVariable, templateDatabase } from '../api/test-server.ts';

/** A database of the caller's own on the run's server. */
export interface TestDatabase {
  readonly url: string;
  /** Removes it, ending what sessions it still has. */
  drop(): Promise<void>;
}

/** A new database with all migrations applied. */
export function createTestDatabase(): Promise<TestDatabase> {
  return create(` TEMPLATE ${templateDatabase}`);
}

/** A new database with nothing in it. */
export function createEmptyDatabase(): Promise<TestDatabase> {
  return create(' TEMPLATE template0');
}

/** A new database with nothing in it, and another encoding than UTF8. */
export function createEncodedDatabase(encoding: string): Promise<TestDatabase> {
  return create(` TEMPLATE template0 ENCODING '${encoding}' LOCALE_PROVIDER libc LOCALE 'C'`);
}

/** A copy of a database that nothing is connected to, as a restored backup is one. */
export function copyTestDatabase({ url }: Pick<TestDatabase, 'url'>): Promise<TestDatabase> {
  return create(` TEMPLATE ${new URL(url).pathname.slice(1)}`);
}

async function create(template: string): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  const maintenanceUrl = serverUrl();
  await execute(maintenanceUrl, `CREATE DATABASE ${name}${template} STRATEGY file_copy`);
  const url = new URL(maintenanceUrl);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => execute(maintenanceUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`) };
}

function serverUrl(): string {
  const url = process.env[serverUrlVariable];
  if (url === undefined)
    throw new Error('No server was started for this run: run it as jest project "integration" or "e2e".');
  return url;
}
