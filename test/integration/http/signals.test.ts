import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type TestDatabase, createTestDatabase } from '../../support/database/postgres.ts';
import { Programs, type RunningProgram, logLine } from '../../support/api/program.ts';
import { newRootKey } from '../../support/api/services.ts';

const programs = new Programs();
const rootKey = newRootKey();
let database: TestDatabase;
let folder: string;
let tokenFile: string;

beforeAll(async () => {
  database = await createTestDatabase();
  folder = mkdtempSync(join(tmpdir(), 'keyframe-signals-'));
  tokenFile = join(folder, 'token');
});

afterEach(() => programs.endAll());

afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

function startApi(): Promise<RunningProgram> {
  const bootstrap = { BOOTSTRAP_ADMIN_EMAIL: 'admin@example.test', BOOTSTRAP_TOKEN_FILE: tokenFile };
  return programs.start({ args: ['api'], env: { DATABASE_URL: database.url, ROOT_KEY: rootKey, ...bootstrap } });
}

/** A request whose body is not complete yet. */
async function beginRequest(port: number): Promise<{ finish(): Promise<IncomingMessage> }> {
  const outgoing = request({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/api/v1/organizations',
    headers: {
      authorization: `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
      // The server says when it has the head.
      expect: '100-continue',
    },
  });
  // Where the process ends at once, so does this.
  outgoing.on('error', () => undefined);
  outgoing.flushHeaders();
  await once(outgoing, 'continue');
  outgoing.write('{"slug":');
  return {
    async finish() {
      const answered = once(outgoing, 'response');
      outgoing.end(`"o-${Date.now()}"}`);
      const [response] = (await answered) as [IncomingMessage];
      response.resume();
      return response;
    },
  };
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the server in order: not ready, no new request, those under way answered',
  async (signal) => {
    const { server, port, metricsPort } = await startApi();
    const begun = await beginRequest(port);
    server.signal(signal);
    await logLine(server, 'stopping');
    const ready = await fetch(`http://127.0.0.1:${metricsPort}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([
      503,
      { status: 'unavailable', reason: 'this process is shutting down' },
    ]);
    await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
    const response = await begun.finish();
    expect(response.statusCode).toBe(201);
    expect(response.headers.connection).toBe('close');
    expect(await server.ended).toEqual({ code: 0, signal: null });
    expect(server.output.toString()).toContain('"msg":"stopped"');
  },
);

test('a second signal ends the server at once', async () => {
  const { server, port } = await startApi();
  await beginRequest(port);
  server.signal('SIGTERM');
  await logLine(server, 'stopping');
  server.signal('SIGTERM');
  // A server that waited for the request, or gave up waiting, ends with another code.
  expect((await server.ended).code).toBe(143);
  expect(server.output.toString()).not.toContain('"msg":"something did not end in time"');
});
