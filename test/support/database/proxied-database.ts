import { afterEach, beforeEach } from '@jest/globals';
import { type Database, type DatabaseOptions, openDatabase } from '../../../src/store/database.ts';
import { PostgresProxy } from '../faults/postgres-proxy.ts';
import { createTestDatabase, type TestDatabase } from './postgres.ts';

/** A new database, and the pools of the store, which reach it through a proxy. */
export interface ProxiedDatabase {
  readonly server: TestDatabase;
  readonly proxy: PostgresProxy;
  readonly database: Database;
}

/** Opens one before each test of the file that calls this: by default with two connections for reads and two for transactions. */
export function withProxiedDatabase(
  take: (given: ProxiedDatabase) => void,
  { poolSize = 4, ...options }: Pick<DatabaseOptions, 'poolSize' | 'silenceMs'> = {},
): void {
  let given: ProxiedDatabase;
  beforeEach(async () => {
    const server = await createTestDatabase();
    const proxy = await PostgresProxy.start(server.url);
    given = { server, proxy, database: openDatabase({ url: proxy.url, poolSize, ...options }) };
    take(given);
  });
  afterEach(async () => {
    const { server, proxy, database } = given;
    proxy.thaw();
    await proxy.close();
    await database.close();
    await server.drop();
  });
}
