import { Client } from 'pg';
import { type PostgresServer, startPostgres } from '../../../tools/devcluster/postgres/server.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate } from '../../../src/store/migrate.ts';

/** Where the tests find the run's server: the URL of its maintenance database. Set in this process, inherited by jest's workers. */
export const serverUrlVariable = 'KEYFRAME_TEST_POSTGRES_URL';
/** The database that holds the migrated schema, to be copied for each test file. */
export const templateDatabase = 'keyframe_template';

let running: PostgresServer | undefined;

/**
 * Starts the one server of a jest run, with the migrated template in it; once, if several suites run together. Its data go with
 * this process, however that ends.
 */
export async function startTestServer(): Promise<void> {
  if (running !== undefined) return;
  running = await startPostgres({ durable: false, settings: { max_connections: '300', track_commit_timestamp: 'on' } });
  const maintenanceUrl = running.urlOf('postgres');
  await execute(maintenanceUrl, `CREATE DATABASE ${templateDatabase}`);
  await migrate({ url: running.urlOf(templateDatabase), logger: createLogger('warn') });
  process.env[serverUrlVariable] = maintenanceUrl;
}

/** Stops it; does nothing if it did not start. */
export async function stopTestServer(): Promise<void> {
  await running?.stop();
  running = undefined;
}

/** Runs statements on a separate connection. */
export async function execute(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
