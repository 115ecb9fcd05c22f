import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLogger } from '../../../src/observability/logger.ts';
import { migrate } from '../../../src/store/migrate.ts';
import { ApiServers } from '../../support/api/api-servers.ts';
import type { ProcessEnd } from '../../support/faults/captured-process.ts';
import { EventReader } from '../../support/api/event-reader.ts';
import { addMigration, copyMigrations } from '../../support/database/own-migrations.ts';
import { PostgresProxy } from '../../support/faults/postgres-proxy.ts';
import { type RunningProgram, logLine } from '../../support/api/program.ts';
import { Endpoints, ServiceLoad } from '../../support/api/service-load.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const environment = 'acme/web/prod';
const delayMs = 2_000;
let servers: ApiServers;

beforeAll(async () => {
  servers = await ApiServers.make(resources);
});

afterAll(() => resources.disposeAsync());

function startServer(): Promise<RunningProgram> {
  return servers.start({ SHUTDOWN_DELAY: `${delayMs / 1000}s` });
}

async function readyStatus({ metricsPort }: RunningProgram): Promise<number> {
  return (await fetch(`http://127.0.0.1:${metricsPort}/readyz`)).status;
}

/** A server that is ready, as a Deployment waits for before it ends an old one. */
async function startReady(endpoints: Endpoints): Promise<RunningProgram> {
  const started = await startServer();
  await waitFor('the server to be ready', async () => (await readyStatus(started)) === 200);
  endpoints.add(started);
  return started;
}

/** Ends a server as Kubernetes ends a pod: not ready from then on, the endpoints follow later. */
async function replace(old: RunningProgram, endpoints: Endpoints): Promise<ProcessEnd> {
  await startReady(endpoints);
  old.server.signal('SIGTERM');
  await logLine(old.server, 'stopping');
  expect(await readyStatus(old)).toBe(503);
  return old.server.ended;
}

async function migrateAsNewerRelease(): Promise<void> {
  const directory = await copyMigrations(resources);
  const sql = `ALTER TABLE secret ADD COLUMN note text; ALTER TABLE organization ALTER display_name TYPE varchar(999);
    ALTER TABLE secret_version ALTER comment TYPE varchar(9999);`;
  await addMigration(directory, '99990101000000_expansion', sql);
  await migrate({ url: servers.database.url, logger: createLogger('silent'), directory });
}

test('a migration and the replacement of both servers under steady load fail no request and lose no write', async () => {
  const endpoints = new Endpoints();
  const old = [await startReady(endpoints), await startReady(endpoints)];
  const load = new ServiceLoad({ target: endpoints, token: servers.token, environment });
  load.watch();
  // Connections that are used at once, and such as are idle for a while in between.
  for (const [index, pauseMs] of [0, 5, 20, 60, 150, 400, 900].entries()) load.writeAndRead(`KEY_${index}`, pauseMs);
  await waitFor('the load to begin', () => load.watched.length > 20);
  await migrateAsNewerRelease();
  const ends: ProcessEnd[] = [];
  for (const server of old) ends.push(await replace(server, endpoints));
  await waitFor('each server to have its share', () => load.answered.size === 4);
  await load.end();

  expect(load.failures).toEqual([]);
  expect(ends).toEqual(old.map(() => ({ code: 0, signal: null })));
  // Both old ones and both new ones had their share; the watch was ended with an old one at least once.
  expect(load.answered.size).toBe(4);
  expect(load.streams).toBeGreaterThan(1);
  const client = servers.client({ port: endpoints.pick() });
  for (const [key, { value, times }] of load.written) {
    expect(await client.expectStatus(200, 'GET', `/secrets/${environment}/${key}`)).toMatchObject({
      value,
      version: times,
    });
  }
  // Each change once and in order, whichever server reported it.
  const first = load.watched[0] ?? 0;
  expect(load.watched).toEqual(load.watched.map((_, index) => first + index));
});

test('connections that were used during the delay were asked to end, and those idle all the time are closed', async () => {
  const old = await startServer();
  const agent = new Agent({ keepAlive: true });
  resources.defer(() => agent.destroy());
  const ask = async (): Promise<{ connection: string | undefined; socket: Socket }> => {
    const outgoing = request({ agent, port: old.port, host: '127.0.0.1', path: '/healthz' });
    outgoing.end();
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const { socket, headers } = response;
    response.resume();
    await once(response, 'end');
    return { socket, connection: headers.connection };
  };
  const [used, idle] = await Promise.all([ask(), ask()]);
  expect([used.connection, idle.connection]).toEqual(['keep-alive', 'keep-alive']);
  expect(used.socket).not.toBe(idle.socket);
  old.server.signal('SIGTERM');
  await logLine(old.server, 'stopping');
  const reported = await ask();
  expect(reported.connection).toBe('close');
  const other = reported.socket === used.socket ? idle.socket : used.socket;
  const stoppingAt = performance.now();
  expect(other.destroyed).toBe(false);
  await once(other, 'close');
  expect(performance.now() - stoppingAt).toBeGreaterThan(delayMs - 500);
  expect(await old.server.ended).toEqual({ code: 0, signal: null });
});

test('a server is not ready before streams can be opened on it, for some seconds at most', async () => {
  const direct = await PostgresProxy.start(servers.database.url);
  resources.defer(() => direct.close());
  direct.refuse();
  const started = await servers.start({ DATABASE_DIRECT_URL: direct.url });
  expect(await readyStatus(started)).toBe(503);
  await direct.accept();
  await waitFor('it to be ready', async () => (await readyStatus(started)) === 200);
  const stream = await EventReader.open(`http://127.0.0.1:${started.port}/api/v1/changes/${environment}`, {
    reveal: () => servers.token,
  });
  stream.close();
  direct.refuse();
  const deaf = await servers.start({ DATABASE_DIRECT_URL: direct.url });
  await waitFor('the one that never hears to be ready', async () => (await readyStatus(deaf)) === 200);
});
