import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type Socket, connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type HttpLimits, HttpServer, defaultHttpLimits } from '../../../src/http/server.ts';
import { problem } from '../../../src/wire/problem.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** Each limit of the server, against raw sockets. A limit that is off would let the connection live far longer. */

// No test waits for it unless the limit under test does not work.
const neverMs = 180_000;
const off: Partial<HttpLimits> = {
  headersTimeoutMs: neverMs,
  requestTimeoutMs: neverMs,
  keepAliveTimeoutMs: neverMs,
  stallTimeoutMs: neverMs,
};
const soonMs = 300;
const head = 'GET / HTTP/1.1\r\nHost: x\r\n';

let server: HttpServer | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close(0);
});

const answerDone: RequestListener = (request, response) => {
  request.resume().once('end', () => response.end('done'));
};

async function serve(limits: Partial<HttpLimits>, handler: RequestListener = answerDone): Promise<void> {
  const variables = { portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };
  server = await HttpServer.listen(handler, { host: '127.0.0.1', port: 0, ...variables, ...off, ...limits });
}

interface Peer {
  readonly socket: Socket;
  readonly text: () => string;
  readonly closed: Promise<'closed'>;
}

/** Connects from an address of the loopback network. */
async function open(localAddress = '127.0.0.1'): Promise<Peer> {
  // Keeps its side open, as an attacker does.
  const socket = connect({ port: server?.port ?? 0, host: '127.0.0.1', localAddress, allowHalfOpen: true });
  sockets.push(socket);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
  const closed = Promise.withResolvers<'closed'>();
  socket.once('close', () => closed.resolve('closed'));
  // Of a socket that keeps its side open, only its next write shows that the server has closed.
  socket.once('end', () => {
    const probe = setInterval(() => socket.write('x'), 20);
    socket.once('close', () => clearInterval(probe));
  });
  await once(socket, 'connect');
  return { socket, text: () => Buffer.concat(chunks).toString(), closed: closed.promise };
}

function isClosed({ closed }: Peer): Promise<boolean> {
  return Promise.race([closed.then(() => true), pause(neverMs / 2, false, { ref: false })]);
}

async function answered(peer: Peer, answers = 1): Promise<void> {
  while (peer.text().split('done').length <= answers) {
    if (peer.socket.destroyed) throw new Error(`the connection was closed after: ${peer.text()}`);
    await pause(5);
  }
}

function problemIn(text: string): unknown {
  expect(text).toMatch(/^HTTP\/1\.1 400 /);
  return problem.parse(JSON.parse(text.split('\r\n\r\n')[1] ?? ''));
}

test('the defaults are the documented limits, and what the server really uses', async () => {
  await serve({ ...defaultHttpLimits });
  expect(server?.limits).toEqual({
    headersTimeoutMs: 15_000,
    requestTimeoutMs: 60_000,
    keepAliveTimeoutMs: 65_000,
    checkIntervalMs: 1_000,
    maxHeaderBytes: 16_384,
    stallTimeoutMs: 30_000,
    maxConnections: 4_096,
    maxConnectionsPerPeer: 1_024,
  });
});

describe('the time for the header of a request', () => {
  test('ends a half-sent header with an answer, although more of it arrives all the time', async () => {
    await serve({ headersTimeoutMs: soonMs });
    const peer = await open();
    peer.socket.write(head);
    const drip = setInterval(() => peer.socket.write('x'), 20);
    const closed = await isClosed(peer);
    clearInterval(drip);
    expect(closed).toBe(true);
    expect(problemIn(peer.text())).toMatchObject({ detail: 'the request did not arrive in time' });
  });

  test('ends a connection on which nothing was sent, without an answer', async () => {
    await serve({ headersTimeoutMs: soonMs });
    const peer = await open();
    expect(await isClosed(peer)).toBe(true);
    expect(peer.text()).toBe('');
  });

  test('runs for each request of a connection', async () => {
    // Longer than the process stands still between the connection and its first request.
    const headersTimeoutMs = 10 * soonMs;
    await serve({ headersTimeoutMs });
    const peer = await open();
    peer.socket.write(`${head}\r\n`);
    await answered(peer);
    await pause(1.5 * headersTimeoutMs);
    expect(peer.socket.destroyed).toBe(false);
    peer.socket.write(head);
    expect(await isClosed(peer)).toBe(true);
  });
});

test('the time for a whole request ends a body that does not arrive, although some of it does', async () => {
  await serve({ headersTimeoutMs: soonMs / 3, requestTimeoutMs: soonMs });
  const peer = await open();
  peer.socket.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
  const drip = setInterval(() => peer.socket.write('x'), 20);
  const closed = await isClosed(peer);
  clearInterval(drip);
  expect(closed).toBe(true);
  expect(peer.text()).not.toContain('done');
});

test('the time of an idle connection ends it after its answer', async () => {
  await serve({ keepAliveTimeoutMs: soonMs });
  const peer = await open();
  peer.socket.write(`${head}\r\n`);
  await answered(peer);
  expect(await isClosed(peer)).toBe(true);
});

test('a header above its size is refused, and one below is not', async () => {
  await serve({ maxHeaderBytes: 2_000 });
  const [small, large] = [await open(), await open()];
  small.socket.write(`${head}X: ${'x'.repeat(1_800)}\r\n\r\n`);
  await answered(small);
  large.socket.write(`${head}X: ${'x'.repeat(2_000)}\r\n\r\n`);
  expect(await isClosed(large)).toBe(true);
  expect(problemIn(large.text())).toMatchObject({ detail: 'the headers of the request are too large' });
});

test('a refused connection ends although its peer does not close', async () => {
  await serve({});
  const peer = await open();
  peer.socket.removeAllListeners('end');
  peer.socket.write('garbage\r\n\r\n');
  await once(peer.socket, 'end');
  expect(problemIn(peer.text())).toMatchObject({ detail: 'this is not a valid HTTP request' });
  await waitFor('the connection to be gone', () => server?.connections === 0, { timeoutMs: neverMs / 2 });
});

describe('the number of connections', () => {
  const many: RequestListener = (request, response) => {
    if (request.url === '/wait') return;
    response.end('done');
  };

  test('is never exceeded: a new one displaces the one that waits longest for its header', async () => {
    await serve({ maxConnections: 3 }, many);
    const [oldest, served, younger] = [await open(), await open(), await open()];
    served.socket.write(`${head}\r\n`);
    await answered(served);
    const fresh = await open();
    expect(await isClosed(oldest)).toBe(true);
    fresh.socket.write(`${head}\r\n`);
    await answered(fresh);
    expect([served, younger, fresh].map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
  });

  test('displaces an idle connection if none waits for its header, and never one that is served', async () => {
    await serve({ maxConnections: 2 }, many);
    const [waiting, idle] = [await open(), await open()];
    waiting.socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
    idle.socket.write(`${head}\r\n`);
    await answered(idle);
    await arrived(1);
    const fresh = await open();
    expect(await isClosed(idle)).toBe(true);
    fresh.socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
    await arrived(2);
    const refused = await open();
    expect(await isClosed(refused)).toBe(true);
    expect([waiting, fresh].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  });

  test('displaces the oldest connection whose reader does not take its complete answer, also of a client that pipelines', async () => {
    // More than the kernel keeps for both sides.
    const large = Buffer.alloc(32 * 1024 * 1024);
    await serve({ maxConnections: 4 }, (request, response) => {
      if (request.url === '/large') response.end(large);
      else many(request, response);
    });
    const [waiting, oldest, pipelining, younger] = [await open(), await open(), await open(), await open()];
    waiting.socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
    await arrived(1);
    const unread = 'GET /large HTTP/1.1\r\nHost: x\r\n\r\n';
    for (const [count, peer] of [oldest, pipelining, younger].entries()) {
      peer.socket.pause();
      peer.socket.write(peer === pipelining ? `${unread}GET /wait HTTP/1.1\r\nHost: x\r\n\r\n` : unread);
      await arrived(count + 2);
    }
    for (const slow of [oldest, pipelining]) {
      const fresh = await open();
      fresh.socket.write('GET /wait HTTP/1.1\r\nHost: x\r\n\r\n');
      slow.socket.resume();
      expect(await isClosed(slow)).toBe(true);
      await arrived(4);
    }
    expect([waiting, younger].map(({ socket }) => socket.destroyed)).toEqual([false, false]);
  });

  test('of one address is bounded, and leaves room for other addresses', async () => {
    await serve({ maxConnections: 6, maxConnectionsPerPeer: 3 }, many);
    const other = await open('127.0.0.2');
    const flood = [];
    for (let count = 0; count < 12; count += 1) flood.push(await open('127.0.0.1'));
    for (const peer of flood.slice(0, -3)) expect(await isClosed(peer)).toBe(true);
    other.socket.write(`${head}\r\n`);
    await answered(other);
    expect(flood.slice(-3).map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
  });

  test('of a trusted proxy is bounded by the whole alone, and 0 turns the bound of an address off', async () => {
    for (const limits of [
      { maxConnectionsPerPeer: 1, trustedProxies: ['127.0.0.0/8'] },
      { maxConnectionsPerPeer: 0 },
    ]) {
      await serve(limits, many);
      const peers = [await open(), await open(), await open()];
      for (const peer of peers) {
        peer.socket.write(`${head}\r\n`);
        await answered(peer);
      }
      expect(peers.map(({ socket }) => socket.destroyed)).toEqual([false, false, false]);
      await server?.close(0);
    }
  });

  test('is kept by half-open connections of several addresses, and a new address gets in all the same', async () => {
    await serve({ maxConnections: 60, maxConnectionsPerPeer: 20 }, many);
    for (let count = 0; count < 240; count += 1) {
      const half = await open(`127.0.0.${2 + (count % 6)}`);
      half.socket.write(head);
    }
    const honest = await open('127.0.0.1');
    honest.socket.write(`${head}\r\n`);
    await answered(honest);
    expect(server?.connections).toBeLessThanOrEqual(60);
  });

  /** Waits until the server serves so many requests. */
  async function arrived(count: number): Promise<void> {
    await waitFor(`${count} requests to be served`, () => server?.serving === count);
  }
});
