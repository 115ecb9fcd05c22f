import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { connectOverHttps } from '../../../src/agent/backend.ts';
import { makeAuthority } from '../../../src/crypto/authority.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { Programs, type RunningProgram } from '../../support/api/program.ts';
import { newRootKey } from '../../support/api/services.ts';
import { claimName, newHomeToken } from '../../support/database/cluster-credentials.ts';
import { createTestDatabase } from '../../support/database/postgres.ts';

/** The port of controllers of the program. `test/unit/http/cluster-listener.test.ts` tests its certificates. */

const resources = new AsyncDisposableStack();
const programs = new Programs();
let folder: string;
let authority: string;
let env: Readonly<Record<string, string>>;
let server: RunningProgram;

beforeAll(async () => {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  folder = await mkdtemp(join(tmpdir(), 'cluster-listener-'));
  resources.defer(() => rm(folder, { recursive: true }));
  const { certificate, key } = await makeAuthority(['localhost'], Date.now());
  authority = certificate;
  const [CLUSTER_CA_FILE, CLUSTER_CA_KEY_FILE] = [join(folder, 'tls.crt'), join(folder, 'tls.key')];
  writeFileSync(CLUSTER_CA_FILE, certificate);
  writeFileSync(CLUSTER_CA_KEY_FILE, key.reveal());
  const ca = { CLUSTER_PORT: '0', CLUSTER_CA_FILE, CLUSTER_CA_KEY_FILE, CLUSTER_TLS_NAMES: 'localhost' };
  env = { DATABASE_URL: database.url, ROOT_KEY: newRootKey(), ...ca };
  const pool = new pg.Pool({ connectionString: database.url });
  await claimName(pool, 'home');
  writeFileSync(join(folder, 'token'), await newHomeToken(pool));
  await pool.end();
  server = await programs.start({ args: ['api'], env });
});

afterAll(async () => {
  await programs.endAll();
  await resources.disposeAsync();
});

async function statusOf(path: string): Promise<number | undefined> {
  const address = { host: '127.0.0.1', port: server.clusterPort, servername: 'localhost', path };
  const sent = request({ ...address, ca: authority, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test.each([
  '/',
  '/healthz',
  '/readyz',
  '/metrics',
  '/api/v1/me',
  '/api/v1/organizations',
  '/docs',
  '/cli',
  '/sign-in/oidc',
])('does not serve %s', async (path) => expect(await statusOf(path)).toBe(404));

test('serves the routes of controllers, as the API does', async () => {
  expect(await statusOf('/api/v1/cluster/events')).toBe(401);
  expect((await fetch(`http://127.0.0.1:${server.port}/api/v1/cluster/events`)).status).toBe(401);
});

test('a controller that trusts the CA hears of commits there', async () => {
  const url = `https://localhost:${server.clusterPort}`;
  const [caFile, logger] = [join(folder, 'tls.crt'), createLogger('silent')];
  const { connect } = connectOverHttps({ url, caFile, tokenFile: join(folder, 'token'), clock: systemClock, logger });
  const ready = Promise.withResolvers<string>();
  const leave = connect(() => 'home').changes.subscribe({ onEvent: () => {}, onReady: () => ready.resolve('ready') });
  expect(await ready.promise).toBe('ready');
  leave();
});

test('keeps the program from starting with a name that its CA may not sign for', async () => {
  const other = { ...env, CLUSTER_TLS_NAMES: 'localhost,other.test' };
  const { code } = await (await programs.spawn({ args: ['api'], env: other })).ended;
  expect(code).toBe(78);
});
