import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { startPostgres } from '../../tools/devcluster/postgres/server.ts';
import { packageOfMajor, postgresMajors } from '../../tools/devcluster/postgres/majors.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { migrate } from '../../src/store/migrate.ts';
import { execute } from '../support/api/test-server.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { migrationNames } from '../support/database/own-migrations.ts';
import { prepareStatements, recordStoreStatements } from '../support/database/prepared-statements.ts';

/** Keyframe on each major of PostgreSQL, as roles without power, in a database with settings that are no defaults. */

const logger = createLogger('silent');
const settings = {
  datestyle: 'German, DMY',
  intervalstyle: 'sql_standard',
  timezone: 'Asia/Kolkata',
  bytea_output: 'escape',
  statement_timeout: '20s',
};
const unusual = 'Grüße, 世界, 🔑';

let statements: ReadonlySet<string>;

beforeAll(async () => {
  statements = await recordStoreStatements();
}, 120_000);

describe.each(postgresMajors)('PostgreSQL %s', (major) => {
  const resources = new AsyncDisposableStack();
  let urlOf: (database: string, role?: string) => string;

  beforeAll(async () => {
    const server = await startPostgres({ durable: false, packageDirectory: await packageOfMajor(major) });
    resources.defer(() => server.stop());
    urlOf = (database, role) => {
      const url = new URL(server.urlOf(database));
      if (role !== undefined) [url.username, url.password] = [role, 'x'];
      return url.href;
    };
    const admin = urlOf('postgres');
    for (const role of ['owner', 'app']) await execute(admin, `CREATE ROLE ${role} LOGIN PASSWORD 'x'`);
    await execute(admin, 'CREATE DATABASE keyframe');
    await execute(admin, "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    for (const [name, value] of Object.entries(settings)) {
      await execute(admin, `ALTER DATABASE keyframe SET ${name} = '${value}'`);
    }
    // As in each new database since 15.
    await execute(urlOf('keyframe'), 'REVOKE CREATE ON SCHEMA public FROM PUBLIC');
  }, 300_000);

  afterAll(() => resources.disposeAsync());

  test('refuses nothing of migrate after what its messages advise', async () => {
    await expect(migrate({ url: urlOf('latin'), logger })).rejects.toMatchObject({
      code: 'conflict',
      detail: expect.stringContaining('has the encoding LATIN1'),
    });
    const options = { url: urlOf('keyframe', 'owner'), runUrl: urlOf('keyframe', 'app'), logger };
    const failure: unknown = await migrate(options).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'conflict', detail: expect.stringContaining('may not create tables') });
    await execute(urlOf('keyframe'), /`([^`]+)`/.exec((failure as { detail: string }).detail)?.[1] ?? '');
    expect(await migrate(options)).toEqual(await migrationNames());
    expect(await migrate(options)).toEqual([]);
  });

  test('prepares each statement of the store', async () => {
    const client = new pg.Client({ connectionString: urlOf('keyframe', 'app') });
    await client.connect();
    const { faults } = await prepareStatements(client, statements);
    await client.end();
    expect(faults).toEqual([]);
  });

  test('serves the API, and a Secret follows a change, a rollback and a restore', async () => {
    const stack = await Stack.start(resources, { namespaces: 1, databaseUrl: urlOf('keyframe', 'app') });
    await stack.startController();
    const site = await stack.makeSite({ values: { GREETING: unusual, COUNT: '1' } });
    await site.waitUntilSynced({ GREETING: unusual, COUNT: '1' });
    await restoreFollows(site, stack);
  }, 120_000);
});

async function restoreFollows(site: SyncSite, { admin }: Stack): Promise<void> {
  const { path } = site.environment;
  const [snapshots, versions] = ['/snapshots/', '/versions/'].map((part) => path.replace('/secrets/', part));
  const { id } = await admin.call<{ id: string }>('POST', snapshots ?? '', { name: unusual });
  await site.environment.change({ COUNT: '2' });
  await site.waitUntilSynced({ GREETING: unusual, COUNT: '2' });
  await admin.call('POST', `${versions}/COUNT/rollback`, { targetVersion: 1 });
  await site.waitUntilSynced({ GREETING: unusual, COUNT: '1' });
  await site.environment.change({ COUNT: '4' });
  await admin.call('POST', `${snapshots}/restore`, { snapshotId: id });
  await site.waitUntilSynced({ GREETING: unusual, COUNT: '1' });
  const history = await admin.call<{ versions: { version: number; changeType: string; createdAt: string }[] }>(
    'GET',
    `${versions}/COUNT`,
  );
  expect(history.versions.map(({ changeType }) => changeType)).toEqual([
    'rolled_back',
    'updated',
    'rolled_back',
    'updated',
    'created',
  ]);
  // A time that was read in another style would be days off, or none.
  for (const { createdAt } of history.versions) {
    expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(600_000);
  }
}
