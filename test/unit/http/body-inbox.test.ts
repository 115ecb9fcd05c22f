import type { IncomingMessage, RequestListener } from 'node:http';
import { type Socket, connect } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, jest, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { readJson } from '../../../src/http/request/body.ts';
import { BodyInbox } from '../../../src/http/request/body-inbox.ts';
import { bodyLimits } from '../../../src/wire/contract/body-limits.ts';
import { problemOf, sendProblem } from '../../../src/http/response/problem.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const work = {
  hold: () => {},
  release: () => {},
  compute: () => Promise.resolve(),
  awaitClient: () => {},
  continue: () => {},
};
const mebibyte = 1024 * 1024;
let server: HttpServer;
const sockets: Socket[] = [];

afterEach(async () => {
  jest.useRealTimers();
  for (const socket of sockets.splice(0)) socket.destroy();
  await server?.close(0);
});

async function serve(listener: RequestListener): Promise<void> {
  const address = { host: '127.0.0.1', port: 0, portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };
  server = await HttpServer.listen(listener, address);
}

/** Answers with the length of the value, or with the error. Bodies to `/refused` are refused. */
const answerLength: RequestListener = (request, response) => {
  void (async () => {
    try {
      if (request.url === '/refused') throw new DomainError('forbidden', 'no');
      const invite = (): void => void (request.headers.expect === undefined || response.writeContinue());
      const { value } = (await readJson({ request, limits: bodyLimits.values, work, invite })) as { value: string };
      response.end(`${value.length}.`);
    } catch (error) {
      BodyInbox.abandon(request, response);
      sendProblem(response, problemOf(error, 'test'));
    }
  })();
};

interface Peer {
  readonly socket: Socket;
  text: string;
}

function open(): Peer {
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket.on('error', () => {}));
  const peer = { socket, text: '' };
  socket.on('data', (chunk: Buffer) => (peer.text += chunk.toString()));
  return peer;
}

function headOf(path: string, header: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${header}\r\n\r\n`;
}

const body = (length: number): string => `{"value":"${'x'.repeat(length)}"}`;

/** Each byte is a chunk. */
function inBytes(text: string): string {
  return `${text.replaceAll(/[^]/g, '1\r\n$&\r\n')}0\r\n\r\n`;
}

test('a body that no route reads yet stays in a small buffer, and is complete when it is read', async () => {
  const reading = Promise.withResolvers<void>();
  const requests: IncomingMessage[] = [];
  await serve((request, response) => {
    requests.push(request);
    void reading.promise.then(() => answerLength(request, response));
  });
  const peer = open();
  const { socket } = peer;
  const text = body(3 * mebibyte);
  socket.write(headOf('/', `Content-Length: ${text.length}`) + text);
  await waitFor('the head to arrive', () => requests.length === 1);
  await pause(50);
  const [request] = requests as [IncomingMessage];
  expect(BodyInbox.of(request).length).toBeLessThanOrEqual(80 * 1024);
  expect(request.readableLength).toBe(0);
  reading.resolve();
  await waitFor('the answer', () => peer.text.endsWith(`${3 * mebibyte}.`));
});

test('a body in chunks of one byte is refused, and a short one is read', async () => {
  await serve(answerLength);
  const [short, long] = [open(), open()];
  short.socket.write(headOf('/', 'Transfer-Encoding: chunked') + inBytes(body(800)));
  await waitFor('the answer', () => short.text.endsWith('800.'));
  long.socket.write(headOf('/', 'Transfer-Encoding: chunked') + inBytes(body(20_000)));
  await waitFor('the answer', () => long.text.includes('HTTP/1.1 400'));
  expect(long.text).toContain('the chunks of the body have fewer than 64 bytes');
});

test('the chunks of one byte that follow a refusal cost no call each', async () => {
  let parts = 0;
  await serve((request, response) => {
    request.on('data', () => (parts += 1));
    answerLength(request, response);
  });
  const peer = open();
  peer.socket.write(headOf('/', 'Transfer-Encoding: chunked') + inBytes(body(20_000)));
  await waitFor('the answer', () => peer.text.includes('HTTP/1.1 400'));
  expect(parts).toBeGreaterThan(1_000);
  expect(parts).toBeLessThan(1_100);
  // The next connection may use the parser of the first one.
  peer.socket.destroy();
  await waitFor('the connection to close', () => server.connections === 0);
  const next = open();
  const text = body(5);
  next.socket.write(headOf('/', `Content-Length: ${text.length}`) + text);
  await waitFor('the next response', () => next.text.endsWith('5.'));
});

test('a connection delivers the next body after one in chunks of one byte that no route read', async () => {
  await serve((request, response) => {
    if (request.url === '/unread') request.once('end', () => response.end('unread.'));
    else answerLength(request, response);
  });
  const peer = open();
  peer.socket.write(headOf('/unread', 'Transfer-Encoding: chunked') + inBytes(body(2_000)));
  await waitFor('the response', () => peer.text.endsWith('unread.'));
  const text = body(5);
  peer.socket.write(headOf('/', `Content-Length: ${text.length}`) + text);
  await waitFor('the next response', () => peer.text.endsWith('5.'));
});

test('a connection delivers the whole next body, which arrived together with one in chunks of one byte', async () => {
  const closeListeners: number[] = [];
  await serve((request, response) => {
    closeListeners.push(request.socket.listenerCount('close'));
    if (request.url === '/unread') request.once('end', () => response.end('unread.'));
    else answerLength(request, response);
  });
  const peer = open();
  const text = body(5);
  for (let count = 1; count <= 3; count += 1) {
    const unread = headOf('/unread', 'Transfer-Encoding: chunked') + inBytes(body(2_000));
    peer.socket.write(`${unread}${headOf('/', `Content-Length: ${text.length}`)}${text}`);
    await waitFor('both responses', () => peer.text.split('HTTP/1.1 ').length > 2 * count);
    expect(peer.text).toMatch(/unread\.[^]*\r\n5\.$/);
  }
  // Node warns of a leak above ten.
  expect(new Set(closeListeners).size).toBe(1);
});

test('no request is handled that arrived together with a refused body', async () => {
  const paths: (string | undefined)[] = [];
  await serve((request, response) => {
    paths.push(request.url);
    answerLength(request, response);
  });
  const peer = open();
  const closed = new Promise((resolve) => void peer.socket.once('close', resolve));
  const refused = headOf('/refused', 'Transfer-Encoding: chunked') + inBytes(body(2_000));
  peer.socket.write(`${refused}${headOf('/next', 'Content-Length: 0')}`);
  await waitFor('the response', () => peer.text.includes('HTTP/1.1 403'));
  peer.socket.end();
  await closed;
  expect(peer.text).toContain('Connection: close');
  expect(paths).toEqual(['/refused']);
});

test('the client of a large refused body gets the response, and its connection is closed without reading the rest', async () => {
  await serve(answerLength);
  const peer = open();
  const { socket } = peer;
  const closed = new Promise((resolve) => void socket.once('close', resolve));
  socket.write(headOf('/refused', `Content-Length: ${2 ** 40}`));
  const flood = setInterval(() => {
    if (socket.writableLength < mebibyte) socket.write(Buffer.alloc(mebibyte));
  }, 5);
  await waitFor('the response', () => peer.text.includes('HTTP/1.1 403'));
  expect(peer.text).toContain('Connection: close');
  const written = socket.bytesWritten - socket.writableLength;
  await closed;
  clearInterval(flood);
  // What the kernel takes for both sides.
  expect(socket.bytesWritten - written).toBeLessThan(64 * mebibyte);
});

test('a connection stays open after a small body was refused', async () => {
  await serve(answerLength);
  const peer = open();
  peer.socket.write(headOf('/refused', 'Content-Length: 1000'));
  await waitFor('the response', () => peer.text.includes('HTTP/1.1 403'));
  expect(peer.text).not.toContain('Connection: close');
  const text = body(5);
  peer.socket.write('x'.repeat(1000) + headOf('/', `Content-Length: ${text.length}`) + text);
  await waitFor('the next response', () => peer.text.endsWith('5.'));
});

test('a client that waits with its body is invited only if the body is wanted', async () => {
  await serve(answerLength);
  const [wanted, refused] = [open(), open()];
  const text = body(5);
  wanted.socket.write(headOf('/', `Expect: 100-continue\r\nContent-Length: ${text.length}`));
  await waitFor('the invitation', () => wanted.text.startsWith('HTTP/1.1 100 Continue\r\n\r\n'));
  wanted.socket.write(text);
  await waitFor('the response', () => wanted.text.endsWith('5.'));
  refused.socket.write(headOf('/refused', 'Expect: 100-continue\r\nContent-Length: 1000'));
  await waitFor('the response', () => refused.text.includes('HTTP/1.1 403'));
  expect(refused.text).not.toContain('100 Continue');
  // Otherwise the server would take the next request as the body.
  expect(refused.text).toContain('Connection: close');
});

test('a body that arrives too slowly is refused with 408, and a steady one is not', async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
  const socket = { resume: () => {}, pause: () => {} };
  const headers = { 'content-type': 'application/json', 'content-length': String(2 * mebibyte) };
  const request = Object.assign(new Readable({ read: () => {} }), { headers, socket }) as unknown as IncomingMessage;
  BodyInbox.open(request);
  const reading = readJson({ request, limits: bodyLimits.values, work, invite: () => {} });
  const failed = reading.catch((error: unknown) => error);
  const isSettled = async (): Promise<boolean> => (await Promise.race([failed, Promise.resolve('open')])) !== 'open';
  for (let second = 0; second < 20; second += 1) {
    (request as unknown as Readable).push(Buffer.alloc(40 * 1024, ' '));
    await jest.advanceTimersByTimeAsync(1_000);
  }
  expect(await isSettled()).toBe(false);
  // Nothing more arrives: what came in time buys some seconds.
  await jest.advanceTimersByTimeAsync(14_000);
  expect(await isSettled()).toBe(false);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(await failed).toMatchObject({
    code: 'request_timeout',
    detail: 'the body arrived more slowly than 32 KiB a second; try again',
  });
});
