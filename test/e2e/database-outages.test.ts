import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../../tools/devcluster/postgres/server.ts';
import { ApiProxy } from '../support/faults/api-proxy.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { migrate } from '../../src/store/migrate.ts';
import type { ApiClient } from '../support/api/api-client.ts';
import { PostgresProxy, runs } from '../support/faults/postgres-proxy.ts';
import { statusPatchesOf, writesOf } from '../support/api/secret-requests.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// A server of its own, because it is crashed here. The controller reaches it through a proxy, and so does a second API.

const resources = new AsyncDisposableStack();
let postgres: PostgresServer;
let stack: Stack;
let controllerDatabase: PostgresProxy;
let controllerApi: ApiProxy;
let controller: ServerProcess;
let site: SyncSite;
let crashes = 0;

beforeAll(async () => {
  postgres = await startPostgres({ durable: false });
  resources.defer(() => postgres.stop());
  const databaseUrl = postgres.urlOf('postgres');
  await migrate({ url: databaseUrl, logger: createLogger('silent') });
  stack = await Stack.start(resources, { namespaces: 11, databaseUrl });
  controllerDatabase = await PostgresProxy.start(databaseUrl);
  resources.defer(() => controllerDatabase.close());
  controllerApi = await ApiProxy.start(stack.kubeconfigFile);
  resources.defer(() => controllerApi.close());
  controller = await startController();
});

afterAll(() => resources.disposeAsync());

beforeEach(async () => {
  site = await stack.makeSite({ values: { COUNT: '0' } });
  await site.waitUntilSynced({ COUNT: '0' });
  await waitFor('the controller to listen', () => controllerDatabase.listeners().length === 1);
});

// A connection that its client gave up while it was frozen ends now.
afterEach(() => controllerDatabase.thaw());

function startController(): Promise<ServerProcess> {
  const { kubeconfigFile } = controllerApi;
  return stack.startController({ databaseUrl: controllerDatabase.url, kubeconfigFile });
}

/** Shows for a while that the Secret does not follow, which an outage has to bring about to be one. */
async function expectStale(values: Readonly<Record<string, string>>): Promise<void> {
  await expect(site.waitForValues(values, { timeoutMs: 700 })).rejects.toThrow('in vain');
}

describe('the listening connection', () => {
  test('is killed, and a change committed before there is another one still arrives', async () => {
    controllerDatabase.refuse();
    controllerDatabase.kill(controllerDatabase.listeners());
    await site.environment.change({ COUNT: '1' });
    await expectStale({ COUNT: '1' });
    await controllerDatabase.accept();
    await site.waitUntilSynced({ COUNT: '1' });
  });

  test('is killed between the commit and its notification', async () => {
    controllerDatabase.freeze(controllerDatabase.listeners());
    await site.environment.change({ COUNT: '1' });
    controllerDatabase.kill(controllerDatabase.listeners());
    await site.waitUntilSynced({ COUNT: '1' });
  });

  test('falls silent without an end: the heartbeat finds out, and no change is lost', async () => {
    const frozen = controllerDatabase.listeners();
    controllerDatabase.freeze(frozen);
    await site.environment.change({ COUNT: '1' });
    await expectStale({ COUNT: '1' });
    await site.waitUntilSynced({ COUNT: '1' });
    expect(controllerDatabase.listeners().map(({ id }) => id)).not.toEqual(frozen.map(({ id }) => id));
  });

  test('is back, and a change that came just before it heard anything is found by comparing', async () => {
    const listen = controllerDatabase.hold(runs(/^LISTEN/i));
    controllerDatabase.kill(controllerDatabase.listeners());
    await listen.arrived();
    await site.environment.change({ COUNT: '1' });
    await expectStale({ COUNT: '1' });
    listen.release();
    await site.waitUntilSynced({ COUNT: '1' });
  });
});

describe('PostgreSQL', () => {
  test('crashes while a change is being taken to its Secret, recovers, and the change arrives', async () => {
    const hold = controllerDatabase.hold(runs(/INSERT INTO\s+"?audit_entry/i));
    await site.environment.change({ COUNT: '1' });
    await hold.arrived();
    await crash();
    hold.release();
    await site.waitUntilSynced({ COUNT: '1' });
  });

  test('crashes right after a commit, before any listener has heard of it, and the change arrives', async () => {
    controllerDatabase.freeze();
    await site.environment.change({ COUNT: '1' });
    await crash();
    controllerDatabase.kill();
    controllerDatabase.thaw();
    await site.waitUntilSynced({ COUNT: '1' });
  });

  test('is out of reach for the controller for a while, which keeps the Secret as it is and says so', async () => {
    controllerDatabase.refuse();
    controllerDatabase.kill();
    await site.environment.change({ COUNT: '1' });
    const edited = await site.patchSecret({ stringData: { COUNT: 'edited' } });
    expect(await site.waitForReason('StoreUnavailable')).toMatchObject({ status: 'False' });
    // One that is made now shows that the controller has come past the edit: without a database it can show no more.
    const witness = await site.sibling('witness');
    await witness.waitForReason('StoreUnavailable');
    expect(await site.existingSecret()).toEqual(edited);
    await waitFor('the controller to be unready', async () => !(await controller.isReady()));
    await controllerDatabase.accept();
    await site.waitUntilSynced({ COUNT: '1' });
    await controller.ready();
  });

  test('hangs for a while without ending any connection, and goes on', async () => {
    controllerDatabase.freeze();
    await site.environment.change({ COUNT: '1' });
    await expectStale({ COUNT: '1' });
    controllerDatabase.thaw();
    await site.waitUntilSynced({ COUNT: '1' });
  });

  /** Kills one of the server's processes, at which it drops all sessions and recovers from its log. */
  async function crash(): Promise<void> {
    const client = new pg.Client({ connectionString: postgres.urlOf('postgres') });
    client.on('error', () => undefined);
    await client.connect();
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    const ended = new Promise((resolve) => client.on('end', () => resolve(undefined)));
    process.kill(rows[0]?.pid ?? 0, 'SIGKILL');
    await ended;
    await waitFor('the server to be back', () => execute('SELECT 1'));
    crashes += 1;
    expect(readFileSync(postgres.logFile, 'utf8').split('all server processes terminated').length - 1).toBe(crashes);
  }
});

describe('a process', () => {
  test('of the API is killed when its change is committed and not yet answered: the change arrives', async () => {
    const { api, proxy, client } = await startSecondApi();
    const committed = proxy.hold(runs(/^COMMIT/i));
    const answer = client.send('PATCH', site.environment.path, { set: { COUNT: '1' } });
    await committed.arrived();
    await Promise.all([expect(answer).rejects.toThrow(), api.kill()]);
    await expectStale({ COUNT: '1' });
    committed.release();
    await site.waitUntilSynced({ COUNT: '1' });
    await proxy.close();
  });

  test('of the API loses the answer to a COMMIT: the change is whole, and arrives', async () => {
    const { api, proxy, client } = await startSecondApi();
    const lost = proxy.cut(runs(/^COMMIT/i), 'after');
    const { status } = await client.send('PATCH', site.environment.path, { set: { COUNT: '1', OTHER: 'x' } });
    await lost.arrived();
    expect([500, 503]).toContain(status);
    await site.waitUntilSynced({ COUNT: '1', OTHER: 'x' });
    await api.stop();
    await proxy.close();
  });

  test('of the controller is killed between the Secret and the status: the next one writes the status alone', async () => {
    const hold = controllerApi.hold(statusPatchesOf(site));
    await site.environment.change({ COUNT: '1' });
    await hold.arrived();
    const written = await site.existingSecret();
    await controller.kill();
    hold.cut();
    controller = await startController();
    const { metadata } = await site.waitUntilSynced({ COUNT: '1' });
    expect(metadata.resourceVersion).toBe(written.metadata.resourceVersion);
    expect(controllerApi.count(writesOf(site, 'PUT'))).toBe(1);
  });

  async function startSecondApi(): Promise<{ api: ServerProcess; proxy: PostgresProxy; client: ApiClient }> {
    const proxy = await PostgresProxy.start(postgres.urlOf('postgres'));
    resources.defer(() => proxy.close());
    const api = await stack.startApi(proxy.url);
    return { api, proxy, client: stack.admin.at(api.url) };
  }
});

async function execute(sql: string): Promise<true> {
  const client = new pg.Client({ connectionString: postgres.urlOf('postgres') });
  client.on('error', () => undefined);
  await client.connect();
  await client.query(sql);
  await client.end();
  return true;
}
