import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { KubeConfig } from '@kubernetes/client-node';
import { Agent, request } from 'undici';
import { writeKubeconfig } from '../../../tools/devcluster/cluster/kubeconfig.ts';
import { ApiProxy, failureAnswer, type ProxiedRequest } from '../../support/faults/api-proxy.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

// A server with the two manners of the real one that matter here: writes that last, and watches that stream.
class SmallApiServer {
  readonly written: string[] = [];
  readonly tokens = new Set<string | undefined>();
  readonly #watches = new Set<ServerResponse>();
  readonly #server: Server;
  readonly #authority = makeAuthority();

  constructor() {
    const { certificate: cert, key } = this.#authority.issue({ names: ['localhost'], addresses: ['127.0.0.1'] });
    this.#server = createServer({ cert, key }, (incoming, outgoing) => void this.#serve(incoming, outgoing));
  }

  async start(kubeconfigFile: string): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    const server = `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
    writeKubeconfig(kubeconfigFile, {
      server,
      ca: this.#authority.certificate,
      user: 'client',
      token: 'token-of-the-client',
    });
  }

  get openWatches(): number {
    return this.#watches.size;
  }

  send(event: string): void {
    for (const watch of this.#watches) watch.write(`${event}\n`);
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    this.tokens.add(incoming.headers.authorization);
    if (incoming.url?.includes('watch=true') === true) {
      this.#watches.add(outgoing);
      outgoing.once('close', () => this.#watches.delete(outgoing));
      outgoing.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
      return;
    }
    const body = await text(incoming);
    if (incoming.method !== 'GET') this.written.push(body);
    outgoing
      .writeHead(201, { 'x-from': 'upstream' })
      .end(JSON.stringify({ method: incoming.method, url: incoming.url, body }));
  }
}

interface Client {
  send(
    method: string,
    path: string,
    body?: string,
  ): Promise<{ status: number; headers: Record<string, unknown>; text: string }>;
  watch(path: string): Promise<AsyncIterator<Buffer>>;
  close(): Promise<void>;
}

function clientOf(kubeconfigFile: string): Client {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigFile);
  const { server = '', caData = '' } = config.getCurrentCluster() ?? {};
  const dispatcher = new Agent({ connect: { ca: Buffer.from(caData, 'base64') }, headersTimeout: 60_000 });
  const options = { dispatcher, headers: { authorization: `Bearer ${config.getCurrentUser()?.token}` } };
  return {
    send: async (method, path, body) => {
      const answer = await request(new URL(path, server), { ...options, method, body: body ?? null });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
    watch: async (path) => {
      const { body } = await request(new URL(`${path}?watch=true`, server), options);
      return (body as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    },
    close: () => dispatcher.destroy(),
  };
}

const isPut = ({ method }: ProxiedRequest): boolean => method === 'PUT';

async function staysPending(promise: Promise<unknown>): Promise<boolean> {
  const pause = new Promise<'pending'>((resolve) => setTimeout(() => resolve('pending'), 200));
  return (await Promise.race([promise.then(() => 'settled'), pause])) === 'pending';
}

let folder: string;
let upstream: SmallApiServer;
let proxy: ApiProxy;
let client: Client;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyframe-api-proxy-test-'));
  upstream = new SmallApiServer();
  await upstream.start(join(folder, 'kubeconfig'));
  proxy = await ApiProxy.start(join(folder, 'kubeconfig'));
  client = clientOf(proxy.kubeconfigFile);
});

afterEach(async () => {
  await client.close();
  await proxy.close();
  upstream.stop();
  await rm(folder, { recursive: true });
});

describe('its certificate', () => {
  test('is trusted with its own kubeconfig and with no other', async () => {
    const other = makeAuthority();
    writeKubeconfig(join(folder, 'other'), { server: proxy.url, ca: other.certificate, user: 'other', token: 'token' });
    const stranger = clientOf(join(folder, 'other'));
    await expect(stranger.send('GET', '/')).rejects.toThrow('certificate');
    await stranger.close();
    expect((await client.send('GET', '/')).status).toBe(201);
    expect((await stat(proxy.kubeconfigFile)).mode & 0o777).toBe(0o600);
  });
});

describe('forwarding', () => {
  test('keeps method, path, query, body, token, status and headers', async () => {
    const answer = await client.send('PUT', '/api/v1/x?fieldManager=y', '{"a":"ü"}');
    expect(answer).toMatchObject({ status: 201, headers: { 'x-from': 'upstream' } });
    expect(JSON.parse(answer.text)).toEqual({ method: 'PUT', url: '/api/v1/x?fieldManager=y', body: '{"a":"ü"}' });
    expect([...upstream.tokens]).toEqual(['Bearer token-of-the-client']);
    expect(proxy.count(isPut)).toBe(1);
    const [passage] = proxy.passages(isPut);
    expect(passage?.request.query.get('fieldManager')).toBe('y');
    expect(passage?.status).toBe(201);
  });

  test('passes each event of a watch on at once, and ends the watch when its reader goes', async () => {
    const events = await client.watch('/api/v1/secrets');
    upstream.send('one');
    expect(String((await events.next()).value)).toBe('one\n');
    upstream.send('two');
    expect(String((await events.next()).value)).toBe('two\n');
    expect(proxy.countOpen(({ isWatch }) => isWatch)).toBe(1);
    await client.close();
    await waitFor('the proxy to have let go', () => proxy.countOpen(({ isWatch }) => isWatch) === 0);
    expect(proxy.count(({ isWatch }) => isWatch)).toBe(1);
    await waitFor('the watch has ended', () => upstream.openWatches === 0);
  });
});

describe('faults', () => {
  test('a request held before it is forwarded happens only when released, and others pass it', async () => {
    const hold = proxy.hold(isPut, { nth: 2 });
    await client.send('PUT', '/1', 'first');
    const second = client.send('PUT', '/2', 'second');
    expect(String((await hold.arrived()).body)).toBe('second');
    await client.send('POST', '/3', 'third');
    expect(upstream.written).toEqual(['first', 'third']);
    hold.release();
    expect((await second).status).toBe(201);
    expect(upstream.written).toEqual(['first', 'third', 'second']);
  });

  test('a request held after the answer has happened, and its client does not know yet', async () => {
    const hold = proxy.hold(isPut, { when: 'after' });
    const put = client.send('PUT', '/1', 'written');
    await hold.arrived();
    expect(upstream.written).toEqual(['written']);
    expect(await staysPending(put)).toBe(true);
    hold.release();
    expect((await put).headers['x-from']).toBe('upstream');
  });

  test('a held request still happens when its client has died, if the test releases it', async () => {
    const hold = proxy.hold(isPut);
    const put = client.send('PUT', '/1', 'late');
    await hold.arrived();
    await Promise.all([client.close(), expect(put).rejects.toThrow()]);
    hold.release();
    await waitFor('the late request is written', () => upstream.written.includes('late'));
  });

  test('a held request that the test cuts never happens', async () => {
    const hold = proxy.hold(isPut);
    const put = client.send('PUT', '/1', 'never');
    await hold.arrived();
    hold.cut();
    await expect(put).rejects.toThrow();
    expect(upstream.written).toEqual([]);
  });

  test.each([
    { when: 'before' as const, written: [] },
    { when: 'after' as const, written: ['x'] },
  ])('a connection cut $when the API server had the request leaves $written written', async ({ when, written }) => {
    const cut = proxy.cut(isPut, { when });
    await expect(client.send('PUT', '/1', 'x')).rejects.toThrow();
    await cut.arrived();
    expect(upstream.written).toEqual(written);
  });

  test.each([
    { when: 'before' as const, written: ['again', 'again'] },
    { when: 'after' as const, written: ['x', 'again', 'again'] },
  ])('an answer of the proxy $when forwarding is the only one its client gets', async ({ when, written }) => {
    const tooMany = failureAnswer(429, 'TooManyRequests', { 'retry-after': '1' });
    const answered = proxy.answer(isPut, tooMany, { when });
    const answer = await client.send('PUT', '/1', 'x');
    expect(answer).toMatchObject({ status: 429, headers: { 'retry-after': '1' } });
    expect(JSON.parse(answer.text)).toMatchObject({ kind: 'Status', code: 429, reason: 'TooManyRequests' });
    await answered.arrived();
    expect((await client.send('PUT', '/1', 'again')).status).toBe(201);
    expect((await client.send('PUT', '/1', 'again')).status).toBe(201);
    expect(upstream.written).toEqual(written);
  });

  test('a rule strikes as often as ordered', async () => {
    proxy.answer(isPut, failureAnswer(500, 'InternalError'), { times: 2 });
    const statuses = [];
    for (let i = 0; i < 3; i += 1) statuses.push((await client.send('PUT', '/1', 'x')).status);
    expect(statuses).toEqual([500, 500, 201]);
  });

  test('a delay takes as long as ordered', async () => {
    proxy.delay(isPut, 300);
    const startMs = performance.now();
    await client.send('PUT', '/1', 'x');
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(295);
  });
});

describe('connections', () => {
  test('a frozen watch stays open and silent until the thaw, while requests go on', async () => {
    const events = await client.watch('/api/v1/secrets');
    proxy.freeze(({ isWatch }) => isWatch);
    const next = events.next();
    upstream.send('frozen');
    expect(await staysPending(next)).toBe(true);
    const later = client.watch('/api/v1/other');
    expect(await staysPending(later)).toBe(true);
    expect((await client.send('PUT', '/1', 'x')).status).toBe(201);
    proxy.thaw();
    expect(String((await next).value)).toBe('frozen\n');
    await later;
  });

  test('only the connections of matching requests are killed when the test asks for that', async () => {
    const [secrets, others] = [await client.watch('/secrets'), await client.watch('/others')];
    const next = others.next();
    proxy.kill(({ path }) => path === '/secrets');
    await expect(secrets.next()).rejects.toThrow();
    upstream.send('still here');
    expect(String((await next).value)).toBe('still here\n');
  });

  test('down, it ends what is open and refuses what is new, until it accepts again', async () => {
    const events = await client.watch('/secrets');
    proxy.refuse();
    proxy.kill();
    await expect(events.next()).rejects.toThrow();
    await expect(client.send('PUT', '/1', 'x')).rejects.toThrow('ECONNREFUSED');
    await proxy.accept();
    expect((await client.send('PUT', '/1', 'x')).status).toBe(201);
  });

  test('an API server that is down breaks the connection, as it would without the proxy', async () => {
    upstream.stop();
    await expect(client.send('PUT', '/1', 'x')).rejects.toThrow();
  });
});
