import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import type { RequestListener, ServerResponse } from 'node:http';
import { type Socket, connect } from 'node:net';
import { setImmediate, setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { HttpServer } from '../../../src/http/server.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

let server: HttpServer;
const sockets: Socket[] = [];
/** The paths in the order in which their requests were handled. */
let handled: string[] = [];

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close(0);
});

async function serve(listener: (response: ServerResponse, path: string) => void): Promise<void> {
  handled = [];
  const address = { host: '127.0.0.1', port: 0, portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };
  const handler: RequestListener = (request, response) => {
    handled.push(request.url ?? '');
    listener(response, request.url ?? '');
  };
  server = await HttpServer.listen(handler, address);
}

interface Client {
  readonly socket: Socket;
  text: string;
}

function send(...paths: readonly string[]): Client {
  const socket = connect({ port: server.port, host: '127.0.0.1' });
  sockets.push(socket.on('error', () => {}));
  const client = { socket, text: '' };
  socket.on('data', (chunk: Buffer) => (client.text += chunk.toString()));
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  return client;
}

test('a request is handled when the response to the one before is complete', async () => {
  const first = Promise.withResolvers<void>();
  await serve((response, path) => {
    if (path !== '/1') response.end(`${path}.`);
    else void first.promise.then(() => response.end(`${path}.`));
  });
  const client = send('/1', '/2', '/3');
  await waitFor('the first request', () => handled.length > 0);
  await pause(100);
  expect(handled).toEqual(['/1']);
  first.resolve();
  await waitFor('the last response', () => client.text.endsWith('/3.'));
  expect(handled).toEqual(['/1', '/2', '/3']);
  expect(client.text.match(/\/[0-9]\.(?!1 )/g)).toEqual(['/1.', '/2.', '/3.']);
});

test('a connection that sends too many requests in advance is closed without handling them', async () => {
  let parsed = 0;
  const count = (): void => void (parsed += 1);
  subscribe('http.server.request.start', count);
  await serve((response, path) => {
    if (path !== '/wait') response.end('done');
  });
  const client = send(...Array.from({ length: 1_000 }, () => '/wait'));
  await once(client.socket, 'close');
  unsubscribe('http.server.request.start', count);
  expect(handled).toEqual(['/wait']);
  expect(parsed).toBeLessThan(20);
  // Another connection uses the same parser.
  const next = send('/next');
  await waitFor('the response', () => next.text.endsWith('done'));
});

test('the requests of one connection are handled in different turns of the event loop', async () => {
  let turn = 0;
  const turns: number[] = [];
  await serve((response) => {
    turns.push(turn);
    response.end('done');
  });
  send(...Array.from({ length: 9 }, () => '/many'));
  while (turns.length < 9) {
    await setImmediate();
    turn += 1;
  }
  expect(new Set(turns).size).toBe(9);
});

test('a connection is served until its last waiting request is', async () => {
  const serving: number[] = [];
  await serve((response) => {
    response.once('close', () => process.nextTick(() => serving.push(server.serving)));
    response.end('done');
  });
  send('/1', '/2', '/3');
  await waitFor('the responses', () => serving.length === 3);
  expect(serving).toEqual([1, 1, 0]);
});

test('a connection with a waiting request is not read until that is handled', async () => {
  const first = Promise.withResolvers<void>();
  let connection: Socket | undefined;
  await serve((response, path) => {
    connection = response.req.socket;
    void first.promise.then(() => response.end(`${path}.`));
  });
  const client = send('/1');
  await waitFor('the first request', () => handled.length > 0);
  client.socket.write('POST /2 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello');
  await waitFor('the second request to arrive', () => connection?.bytesRead === client.socket.bytesWritten);
  const { bytesRead } = connection as Socket;
  client.socket.write('GET /3 HTTP/1.1\r\nHost: x\r\n\r\n');
  await pause(100);
  expect(connection?.bytesRead).toBe(bytesRead);
  first.resolve();
  await waitFor('the last response', () => client.text.endsWith('/3.'));
  expect(handled).toEqual(['/1', '/2', '/3']);
});

test('no request is handled after a response that closes the connection', async () => {
  await serve((response) => response.setHeader('Connection', 'close').end('done'));
  const client = send('/1', '/2');
  await once(client.socket, 'close');
  expect(handled).toEqual(['/1']);
});
