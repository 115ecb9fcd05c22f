import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { HttpClient } from '../../support/api/http.ts';
import { type TestDatabase, createTestDatabase } from '../../support/database/postgres.ts';
import { Programs, type RunningProgram, logLine } from '../../support/api/program.ts';
import { newRootKey } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const programs = new Programs();
const rootKey = newRootKey();
const secret = '/api/v1/secrets/acme/web/prod/KEY';
let database: TestDatabase;
let folder: string;
let tokenFile: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'keyframe-shutdown-'));
  tokenFile = join(folder, 'token');
  const { server, port } = await startApi('0s');
  const client = clientOf(port);
  await client.expectStatus(201, 'POST', '/organizations', { slug: 'acme' });
  await client.expectStatus(201, 'POST', '/projects/acme', { slug: 'web' });
  await client.expectStatus(201, 'POST', '/environments/acme/web', { slug: 'prod' });
  await server.end();
});

afterEach(() => programs.endAll());

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

function startApi(delay: string): Promise<RunningProgram> {
  const bootstrap = { BOOTSTRAP_ADMIN_EMAIL: 'admin@example.test', BOOTSTRAP_TOKEN_FILE: tokenFile };
  const env = { DATABASE_URL: database.url, ROOT_KEY: rootKey, SHUTDOWN_DELAY: delay, ...bootstrap };
  return programs.start({ args: ['api'], env });
}

function token(): string {
  return readFileSync(tokenFile, 'utf8').trim();
}

function clientOf(port: number): HttpClient {
  return new HttpClient(`http://127.0.0.1:${port}`, token());
}

function begin(port: number, method: string, path: string, headers: Record<string, string> = {}): ClientRequest {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { authorization: `Bearer ${token()}`, ...headers },
  });
  // Where the process ends at once, so does this.
  outgoing.on('error', () => undefined);
  return outgoing;
}

/** A write whose body is not complete yet, and which the server has begun to serve. */
async function beginWrite(port: number): Promise<{ finish(): Promise<IncomingMessage> }> {
  const outgoing = begin(port, 'PUT', secret, { 'content-type': 'application/json', expect: '100-continue' });
  const isTaken = once(outgoing, 'continue');
  outgoing.flushHeaders();
  await isTaken;
  outgoing.write('{"value":');
  return {
    async finish() {
      const answered = once(outgoing, 'response');
      outgoing.end('"x"}');
      const [response] = (await answered) as [IncomingMessage];
      response.resume();
      return response;
    },
  };
}

/** Opens a stream of changes; returns later how it ended. */
async function openStream(port: number): Promise<{ readonly ended: Promise<{ readonly complete: boolean }> }> {
  const outgoing = begin(port, 'GET', '/api/v1/changes/acme/web/prod', { accept: 'text/event-stream' });
  outgoing.end();
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
  expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/event-stream; charset=utf-8']);
  response.on('error', () => undefined);
  response.resume();
  return { ended: once(response, 'close').then(() => ({ complete: response.complete })) };
}

async function readiness(port: number): Promise<number> {
  return (await fetch(`http://127.0.0.1:${port}/readyz`)).status;
}

test('on SIGTERM it serves on for the delay, not ready; then it ends streams, answers what is under way, and ends with 0', async () => {
  const delayMs = 1000;
  const { server, port, metricsPort } = await startApi('1s');
  // Served once the server hears of commits, which may be a little later than all the rest.
  const stream = await waitFor('a stream', () => openStream(port));
  const write = await beginWrite(port);
  let streamEnded = false;
  void stream.ended.then(() => (streamEnded = true));
  server.signal('SIGTERM');
  await logLine(server, 'stopping');
  const stoppingAt = performance.now();
  expect([await readiness(metricsPort), await readiness(port)]).toEqual([503, 503]);
  // Who has not noticed yet is served, on new connections too, and streams stay.
  await clientOf(port).expectStatus(200, 'GET', '/me');
  expect(streamEnded).toBe(false);
  expect(await stream.ended).toEqual({ complete: true });
  expect(performance.now() - stoppingAt).toBeGreaterThan(delayMs / 2);
  await waitFor('the API to take no new connection', () =>
    fetch(`http://127.0.0.1:${port}/healthz`).then(
      () => false,
      () => true,
    ),
  );
  // The write waits for the rest of its body all the time, and the port of the probes answers as long.
  expect(await readiness(metricsPort)).toBe(503);
  expect((await write.finish()).statusCode).toBe(201);
  expect(await server.ended).toEqual({ code: 0, signal: null });
  const again = await startApi('0s');
  expect(await clientOf(again.port).expectStatus(200, 'GET', '/secrets/acme/web/prod/KEY')).toMatchObject({
    value: 'x',
  });
});

test('a second signal ends it during the delay', async () => {
  const { server, port } = await startApi('60s');
  await clientOf(port).expectStatus(200, 'GET', '/me');
  server.signal('SIGTERM');
  await logLine(server, 'stopping');
  server.signal('SIGTERM');
  expect((await server.ended).code).toBe(143);
});
