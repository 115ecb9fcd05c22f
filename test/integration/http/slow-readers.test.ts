import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { HttpServer } from '../../../src/http/server.ts';

const mebibyte = 1024 * 1024;
const variables = { portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };
const local = { host: '127.0.0.1', port: 0, ...variables };

describe('a reader that is slow', () => {
  // More than the kernel keeps for both sides.
  const answerBytes = 32 * mebibyte;
  const stallTimeoutMs = 400;
  let server: HttpServer;

  afterEach(() => server.close(0));

  /** Answers whether the one answer was cut off. */
  async function serve(limits = { stallTimeoutMs }): Promise<() => Promise<boolean>> {
    const cut = Promise.withResolvers<boolean>();
    server = await HttpServer.listen(
      (_request, response) => {
        response.once('close', () => cut.resolve(!response.writableFinished));
        response.end(Buffer.alloc(answerBytes));
      },
      { ...local, ...limits },
    );
    return () => Promise.race([cut.promise, pause(90_000, false, { ref: false })]);
  }

  test('and takes nothing is cut off', async () => {
    const cut = await serve();
    const socket = connect({ port: server.port, host: '127.0.0.1' }).pause();
    socket.on('error', () => {});
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    const startedAt = performance.now();
    expect(await cut()).toBe(true);
    expect(performance.now() - startedAt).toBeGreaterThan(stallTimeoutMs / 2);
    socket.destroy();
  });

  test('but takes some of it again and again gets all of it, however long that takes', async () => {
    // The kernel's buffers hide several of the reader's pauses from the server, and a busy machine makes each longer.
    const patience = { stallTimeoutMs: 5000 };
    const cut = await serve(patience);
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    let bytes = 0;
    let paused = 0;
    const startedAt = performance.now();
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      if (bytes < (paused + 1) * mebibyte) return;
      paused += 1;
      socket.pause();
      setTimeout(() => socket.resume(), patience.stallTimeoutMs / 25);
    });
    await once(socket, 'close');
    expect(await cut()).toBe(false);
    expect(bytes).toBeGreaterThan(answerBytes);
    expect(performance.now() - startedAt).toBeGreaterThan(patience.stallTimeoutMs);
  });

  test('is not who waits for an answer, or keeps its connection between two requests', async () => {
    server = await HttpServer.listen(
      (_request, response) => void setTimeout(() => response.end('done'), stallTimeoutMs * 2),
      { ...local, stallTimeoutMs },
    );
    const socket = connect({ port: server.port, host: '127.0.0.1' });
    let text = '';
    socket.on('data', (chunk) => (text += String(chunk)));
    for (let answers = 1; answers <= 2; answers += 1) {
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      while (text.split('done').length <= answers && !socket.destroyed) await pause(10);
      await pause(stallTimeoutMs * 2);
      expect(socket.destroyed).toBe(false);
    }
    expect(text.split('done')).toHaveLength(3);
    socket.destroy();
  });
});
