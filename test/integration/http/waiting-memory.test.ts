import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestApi, expectProblem, startTestApi } from '../../support/api/http.ts';
import { type World, createWorld } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

const mebibyte = 1024 * 1024;
let api: TestApi;
let world: World;
let path: string;
const sockets: Socket[] = [];
const readers: ChildProcess[] = [];
// With a small buffer for what it receives, which Node cannot ask for: a kernel may else keep all of the answer itself.
const slowReader = `
import socket, sys, time
reader = socket.socket()
reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
reader.connect(('127.0.0.1', int(sys.argv[1])))
reader.sendall(sys.stdin.buffer.read())
print(reader.recv(12).decode(), flush=True)
time.sleep(60)
`;

beforeAll(async () => {
  api = await startTestApi({ workLimits: { transferBytes: 15 * mebibyte, patienceMs: 600_000, waitMs: 200 } });
  world = await createWorld(api.services);
  path = `/secrets/${world.slugs.organization}/web/prod`;
  const value = 'x'.repeat(256 * 1024);
  for (const prefix of ['A', 'B']) {
    const set = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`${prefix}${index}`, value]));
    await api.client(world.owner.token).expectStatus(200, 'PATCH', path, { set });
  }
});

afterAll(async () => {
  for (const reader of readers) reader.kill();
  for (const socket of sockets) socket.destroy();
  await api.close();
});

/** Asks, and takes no more of the answer than its status. */
async function readSlowly(token: {
  reveal(): string;
}): Promise<{ readonly reader: ChildProcess; readonly status: string }> {
  const reader = spawn('python3', ['-c', slowReader, String(api.port)], { stdio: ['pipe', 'pipe', 'inherit'] });
  readers.push(reader);
  reader.stdin.end(`GET /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token.reveal()}\r\n\r\n`);
  const [status] = (await once(reader.stdout, 'data')) as [Buffer];
  return { reader, status: status.toString().trim() };
}

/** Sends a part of a body and not the rest. */
function sendSlowly(token: { reveal(): string }, part: string): Socket {
  const socket = connect(api.port, '127.0.0.1').pause();
  sockets.push(socket.on('error', () => {}));
  socket.write(`PATCH /api/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token.reveal()}\r\n`);
  socket.write(`Content-Type: application/json\r\nContent-Length: 8000000\r\n\r\n${part}`);
  return socket;
}

test('answers that wait for slow readers take so much memory and no more', async () => {
  const viewer = api.client(world.viewer.token);
  const { reader, status } = await readSlowly(world.viewer.token);
  expect(status).toBe('HTTP/1.1 200');
  await expectProblem(viewer.send('GET', path), 'overloaded');
  expect((await viewer.send('GET', `${path}?values=false`)).status).toBe(200);
  reader.kill();
  await waitFor('the memory to be free', async () => (await viewer.send('GET', path)).status === 200);
});

test('so do bodies that arrive slowly', async () => {
  const [developer, admin] = [api.client(world.developer.token), api.client(world.admin.token)];
  const part = `{"set":{"A0":"${'x'.repeat(7 * mebibyte)}`;
  const hanging = Array.from({ length: 2 }, () => sendSlowly(world.developer.token, part));
  const answered = hanging.map(async (socket) => String((await once(socket.resume(), 'data'))[0]));
  expect(await Promise.race(answered)).toMatch(/^HTTP\/1.1 503 /);
  expect((await developer.send('PUT', `${path}/A1`, { value: 'small' })).status).toBe(200);
  expect((await admin.send('PUT', `${path}/A2`, { value: 'y'.repeat(200 * 1024) })).status).toBe(200);
});
