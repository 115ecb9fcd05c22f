import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import { sendResponse } from '../../../src/http/response/send-response.ts';
import { HttpServer } from '../../../src/http/server.ts';

const kibibyte = 1024;
const stallTimeoutMs = 400;
const local = { host: '127.0.0.1', port: 0, portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };
const unlimited = { hold: () => {}, release: () => {}, awaitClient: () => {}, continue: () => {} };
let server: HttpServer;

afterEach(() => server.close(0));

/** Serves a stream without end; counts how many events were fetched, and whether it was ended. */
async function serveEvents(patienceMs = stallTimeoutMs): Promise<{ fetched: number; ended: Promise<void> }> {
  const end = Promise.withResolvers<void>();
  const seen = { fetched: 0, ended: end.promise };
  const stream = async function* events(signal: AbortSignal): AsyncGenerator<string> {
    try {
      while (!signal.aborted) {
        seen.fetched += 1;
        yield `data: ${'x'.repeat(64 * kibibyte)}\n\n`;
      }
    } finally {
      end.resolve();
    }
  };
  server = await HttpServer.listen(
    (_request, response) =>
      void sendResponse(response, { status: 200, content: stream }, { stallTimeoutMs: patienceMs, work: unlimited }),
    local,
  );
  return seen;
}

function reader(): ReturnType<typeof connect> {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  socket.on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  return socket;
}

test('a reader that takes nothing makes nothing pile up, and is cut off', async () => {
  const seen = await serveEvents();
  const socket = reader().pause();
  await seen.ended;
  // What the kernel takes for both sides, and no more.
  expect(seen.fetched).toBeLessThan(1000);
  socket.destroy();
});

test('a reader that takes some of it again and again is kept, and fetches no faster than it takes', async () => {
  // A process that stands still for seconds must not make the reader look slow.
  const patienceMs = 5000;
  const seen = await serveEvents(patienceMs);
  const socket = reader();
  const startedAt = performance.now();
  let bytes = 0;
  let pauses = 0;
  const done = Promise.withResolvers<void>();
  socket.once('close', done.resolve);
  socket.on('data', (chunk) => {
    bytes += chunk.length;
    if (bytes < (pauses + 1) * 3 * 1024 * kibibyte) return;
    pauses += 1;
    socket.pause();
    if (pauses === 10) done.resolve();
    else setTimeout(() => socket.resume(), patienceMs / 8);
  });
  await done.promise;
  expect(pauses).toBe(10);
  expect(performance.now() - startedAt).toBeGreaterThan(patienceMs);
  // What was read, and what the kernel takes for both sides.
  expect(seen.fetched * 64 * kibibyte).toBeLessThan(bytes + 64 * 1024 * kibibyte);
  socket.destroy();
  await seen.ended;
});
