import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openMetrics } from '../../../src/compose/edge.ts';
import { HttpServer, ListenError } from '../../../src/http/server.ts';
import { problem } from '../../../src/wire/problem.ts';
import { type HttpClient, type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const variables = { portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };
const local = { host: '127.0.0.1', port: 0, ...variables };

/** What comes back for raw bytes, until the connection is closed. */
async function raw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.write(bytes);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}

const noFragment = 'the path must not contain a fragment; write "#" as %23';

describe('responses over plain http', () => {
  test('have no Strict-Transport-Security, also if a proxy terminates TLS', async () => {
    const api = await startTestApi();
    try {
      for (const path of ['/', '/api/v1/me', '/healthz']) {
        const forwarded = { 'X-Forwarded-Proto': 'https' };
        const { headers } = await fetch(`http://127.0.0.1:${api.port}${path}`, { headers: forwarded });
        expect(headers.get('content-security-policy')).not.toBeNull();
        expect([path, headers.get('strict-transport-security')]).toEqual([path, null]);
      }
    } finally {
      await api.close();
    }
  });
});

describe('requests that are no HTTP', () => {
  let api: TestApi;

  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  test.each([
    ['garbage', 'canary canary\r\n\r\n', 'this is not a valid HTTP request'],
    [
      'headers that are too large',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'canary'.repeat(10_000)}\r\n\r\n`,
      'the headers of the request are too large',
    ],
    [
      'a length that is none',
      'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: canary\r\n\r\n',
      'this is not a valid HTTP request',
    ],
  ])('%s is answered with a problem document', async (_case, bytes, detail) => {
    const answer = await raw(api.port, bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 400 Malformed request\r\nContent-Type: application\/problem\+json\r\n/);
    expect(head).toMatch(/\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n/);
    expect(problem.parse(JSON.parse(body))).toMatchObject({ code: 'malformed_request', detail });
    expect(answer).not.toContain('canary');
  });

  // Node and Express have answers of their own for these.
  test.each([
    ['a URL that is none', 'GET http://[/ HTTP/1.1\r\nHost: x\r\n', 'the path is not valid percent-encoded UTF-8'],
    ['a request without Host', 'GET /healthz HTTP/1.1\r\n', 'an HTTP/1.1 request requires the header Host'],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n', 'the header host must be given once'],
    ['two equal Hosts', 'GET /healthz HTTP/1.0\r\nHost: x\r\nhost: x\r\n', 'the header host must be given once'],
    [
      'two tokens',
      'GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n',
      'the header authorization must be given once',
    ],
    ['a fragment', 'GET /healthz#x HTTP/1.1\r\nHost: x\r\n', noFragment],
    ['an empty fragment', 'GET /healthz# HTTP/1.1\r\nHost: x\r\n', noFragment],
    ['a fragment in the query', 'GET /healthz?a=b#x HTTP/1.1\r\nHost: x\r\n', noFragment],
    ['a fragment of a whole URL', 'GET http://x/healthz#x HTTP/1.1\r\nHost: x\r\n', noFragment],
  ])('%s is answered with a problem document, too', async (_case, head, detail) => {
    const lines = api.logs.length;
    const [answered = '', body = ''] = (await raw(api.port, `${head}Connection: close\r\n\r\n`)).split('\r\n\r\n');
    expect(answered).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nX-Request-Id: /);
    expect(answered).toMatch(/\r\nCache-Control: no-store\r\n/);
    expect(problem.parse(JSON.parse(body))).toMatchObject({ code: 'malformed_request', detail });
    expect(api.logs.slice(lines)).toMatchObject([{ status: 400, route: 'unmatched' }]);
  });

  test('a whole URL is taken for its path, and an unknown expectation for none', async () => {
    const whole = await raw(api.port, 'GET http://any/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(whole).toMatch(/^HTTP\/1\.1 200 /);
    const head = 'GET /healthz HTTP/1.1\r\nHost: x\r\nExpect: more\r\nConnection: close\r\n\r\n';
    expect(await raw(api.port, head)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await raw(api.port, 'GET /healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('a key with a fragment behind it is not deleted', async () => {
    const world = await createWorld(api.services);
    const owner = api.client(world.owner.token);
    const path = `/secrets/${world.slugs.organization}/web/prod/KEY`;
    await owner.expectStatus(201, 'PUT', path, { value: 'x' });
    const head = `Host: x\r\nAuthorization: Bearer ${world.owner.token.reveal()}\r\nConnection: close\r\n\r\n`;
    expect(await raw(api.port, `DELETE /api/v1${path}#x HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1\.1 400 /);
    await owner.expectStatus(200, 'GET', path);
    expect(await raw(api.port, `DELETE /api/v1${path} HTTP/1.1\r\n${head}`)).toMatch(/^HTTP\/1\.1 204 /);
  });

  test('nothing is written into the middle of another answer', async () => {
    // The second request of this connection is garbage while the first is still being answered.
    const answer = await raw(api.port, 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\ncanary\r\n\r\n');
    expect(answer).not.toContain('Malformed request');
  });

  test('a body that ends too early is given up on', async () => {
    const before = api.logs.length;
    const world = await createWorld(api.services);
    const path = `/api/v1/secrets/${world.slugs.organization}/web/prod/A`;
    const head = `PUT ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${world.owner.token.reveal()}\r\n`;
    const socket = connect(api.port, '127.0.0.1');
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"value":`);
    await waitFor('the request to arrive', () => api.server.serving === 1);
    socket.destroy();
    await waitFor('the line of the log', () => api.logs.length > before);
    expect(api.logs.at(-1)).toMatchObject({ method: 'PUT', status: 499, aborted: true });
  });
});

describe('a failure of our own', () => {
  let api: TestApi;
  let world: World;
  let owner: HttpClient;

  beforeAll(async () => {
    api = await startTestApi();
    world = await createWorld(api.services);
    owner = api.client(world.owner.token);
  });
  afterAll(() => api.close());

  const sql = (text: string): Promise<unknown> => api.services.database.pool.query(text);

  test('is reported as internal, and logged without its message', async () => {
    await sql('ALTER TABLE app_user RENAME COLUMN instance_admin TO canary');
    try {
      const answer = await owner.send('GET', '/me');
      expect(answer.status).toBe(500);
      expect(answer.body).toMatchObject({
        code: 'internal',
        detail: expect.stringMatching(/^unexpected error in the server/),
      });
      expect(api.logs.at(-1)).toMatchObject({
        level: 'error',
        code: 'internal',
        status: 500,
        failure: { cause: { code: '42703' }, at: expect.anything() },
      });
      expect(JSON.stringify(api.logs.at(-1))).not.toMatch(/instance_admin|does not exist/);
    } finally {
      await sql('ALTER TABLE app_user RENAME COLUMN canary TO instance_admin');
    }
  });

  test('to write the audit discloses nothing', async () => {
    const { organization } = world.slugs;
    const path = `/secrets/${organization}/web/prod`;
    await owner.expectStatus(201, 'PUT', `${path}/A`, { value: 'canary' });
    const { token } = await world.serviceToken();
    await sql('ALTER TABLE audit_entry RENAME TO audit_gone');
    try {
      for (const client of [owner, api.client(token)]) {
        for (const [method, at] of [
          ['GET', path],
          ['GET', `${path}/A`],
          ['GET', `/versions/${organization}/web/prod/A/1`],
        ] as const) {
          const answer = await client.send(method, at);
          expect(answer.status).toBe(500);
          expect(answer.text).not.toContain('canary');
        }
      }
      await expectProblem(owner.send('PUT', `${path}/B`, { value: 'x' }), 'internal');
      // Also what fails is audited where a machine asks: its caller does not learn how it failed.
      await expectProblem(api.client(token).send('GET', `${path}/NOT_THERE`), 'internal');
    } finally {
      await sql('ALTER TABLE audit_gone RENAME TO audit_entry');
    }
    await expectProblem(owner.send('GET', `${path}/B`), 'not_found');
  });

  test('to open an altered value names the secret in the log, and not in the answer', async () => {
    const path = `/secrets/${world.slugs.organization}/web/prod/ALTERED`;
    await owner.expectStatus(201, 'PUT', path, { value: 'canary' });
    const { rows } = await api.services.database.pool.query<{ secret_id: string }>(
      `UPDATE secret_version SET ciphertext = set_byte(ciphertext, 30, get_byte(ciphertext, 30) # 1)
        WHERE secret_id = (SELECT id FROM secret WHERE key = 'ALTERED') RETURNING secret_id`,
    );
    const secretId = rows[0]?.secret_id ?? '';
    const answer = await owner.send('GET', path);
    expect(answer.body).toMatchObject({ code: 'internal' });
    expect(answer.text).not.toContain(secretId);
    const { failure } = api.logs.at(-1) as { failure: { detail: string } };
    expect(failure).toMatchObject({ error: 'DomainError', detail: expect.stringContaining(secretId) });
  });

  test('to reach the database is 503 with Retry-After, and the process stays up but not ready', async () => {
    expect((await owner.request('GET', '/readyz')).body).toEqual({ status: 'ok' });
    await api.database.drop();
    const answer = await owner.send('GET', '/me');
    expect(answer.body).toMatchObject({
      status: 503,
      code: 'store_unavailable',
      detail: 'the database cannot be reached or did not answer in time; try again',
    });
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(api.logs.at(-1)).toMatchObject({ level: 'warn', code: 'store_unavailable' });
    await pause(1000);
    const ready = await owner.request('GET', '/readyz');
    expect([ready.status, ready.body]).toEqual([
      503,
      { status: 'unavailable', reason: 'the database cannot be reached' },
    ]);
    expect((await owner.request('GET', '/healthz')).status).toBe(200);
  });
});

describe('the metrics server', () => {
  let api: TestApi;
  const open = new AsyncDisposableStack();
  let url: string;

  beforeAll(async () => {
    api = await startTestApi();
    const { port } = await openMetrics(api.edge, { address: { host: '127.0.0.1', port: 0 }, warnings: () => [] }, open);
    url = `http://127.0.0.1:${port}`;
  });
  afterAll(async () => {
    await open.disposeAsync();
    await api.close();
  });

  test('gives the metrics in the text format', async () => {
    await api.client().request('GET', '/healthz');
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await answer.text();
    expect(text).toContain('process_cpu_seconds_total');
    expect(text).toMatch(/^keyframe_database_pool_connections\{pool="reads",state="idle"\} \d+$/m);
    expect(text).toMatch(/^keyframe_database_pool_connections\{pool="transactions",state="busy"\} \d+$/m);
    expect(text).toMatch(/^keyframe_audit_queue_length 0$/m);
    expect(text).toContain(
      'keyframe_http_request_duration_seconds_count{method="GET",route="/healthz",status="200"} 1',
    );
  });

  test('has the probes, and nothing of the API', async () => {
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    expect((await fetch(`${url}/readyz`, { method: 'POST' })).status).toBe(405);
    expect((await fetch(`${url}/api/v1/me`)).status).toBe(404);
  });

  test('says not ready from the moment the process shuts down', async () => {
    api.readiness.shutDown();
    const answer = await fetch(`${url}/readyz`);
    expect(answer.status).toBe(503);
    expect(await answer.json()).toEqual({ status: 'unavailable', reason: 'this process is shutting down' });
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });
});

describe('listening', () => {
  test('on a taken port, or an address that is not ours, says what to do', async () => {
    const first = await HttpServer.listen(() => {}, local);
    const taken = HttpServer.listen(() => {}, { ...local, port: first.port });
    await expect(taken).rejects.toThrow(
      `cannot listen on 127.0.0.1, port ${first.port}: the port is in use; stop the other program or set KEYFRAME_PORT`,
    );
    await expect(taken).rejects.toBeInstanceOf(ListenError);
    const foreign = HttpServer.listen(() => {}, { ...local, host: '192.0.2.1' });
    await expect(foreign).rejects.toThrow('(EADDRNOTAVAIL): set KEYFRAME_HOST to an address of this machine');
    await first.close(0);
  });

  test('accepts several connections in each turn of the event loop', async () => {
    const server = await HttpServer.listen(() => {}, local);
    const clients = Array.from({ length: 128 }, () => connect(server.port, '127.0.0.1'));
    let turns = 0;
    for (; server.connections < clients.length && turns < 1_000; turns += 1) await setImmediate();
    for (const client of clients) client.destroy();
    await server.close(0);
    expect(turns).toBeLessThan(64);
  });

  test('ends when requests under way are answered, and idle connections do not hold it up', async () => {
    const answering = Promise.withResolvers<void>();
    const received = Promise.withResolvers<void>();
    const server = await HttpServer.listen((_request, response) => {
      received.resolve();
      void answering.promise.then(() => response.end('done'));
    }, local);
    const idle = connect(server.port, '127.0.0.1');
    await once(idle, 'connect');
    const arrived = once(request({ port: server.port, host: '127.0.0.1' }).end(), 'response');
    await received.promise;
    let isClosed = false;
    const closed = server.close(60_000).then(() => (isClosed = true));
    await pause(150);
    expect(isClosed).toBe(false);
    await expect(fetch(`http://127.0.0.1:${server.port}`)).rejects.toThrow();
    answering.resolve();
    const [response] = (await arrived) as [IncomingMessage];
    response.resume();
    expect(response.statusCode).toBe(200);
    await closed;
  });

  test('ends at the latest when its time is up', async () => {
    const received = Promise.withResolvers<void>();
    const server = await HttpServer.listen(() => received.resolve(), local);
    const asked = request({ port: server.port, host: '127.0.0.1' }).end();
    const failed = once(asked, 'error');
    await received.promise;
    const startedAt = performance.now();
    await server.close(200);
    expect(performance.now() - startedAt).toBeGreaterThan(150);
    expect(((await failed)[0] as NodeJS.ErrnoException).code).toBe('ECONNRESET');
  });
});
