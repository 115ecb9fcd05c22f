import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type TestApi, expectProblem, startTestApi } from '../../support/http.ts';
import { type World, createWorld } from '../../support/services.ts';
import { waitFor } from '../../support/wait-for.ts';

const mebibyte = 1024 * 1024;
let api: TestApi;
let world: World;
let path: string;
const sockets: Socket[] = [];

beforeAll(async () => {
  api = await startTestApi({ workLimits: { bytes: 15 * mebibyte } });
  world = await createWorld(api.services);
  path = `/secrets/${world.slugs.organization}/web/prod`;
  // More than the kernel keeps for both sides of a connection.
  const value = 'x'.repeat(256 * 1024);
  for (const prefix of ['A', 'B']) {
    const set = Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`${prefix}${index}`, value]));
    await api.client(world.owner.token).expectStatus(200, 'PATCH', path, { set });
  }
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await api.close();
});

/** Asks and takes nothing of the answer, or sends a part of a body and not the rest. */
function hang(token: { reveal(): string }, head: string, body = ''): Socket {
  const socket = connect(api.port, '127.0.0.1').pause();
  sockets.push(socket.on('error', () => {}));
  socket.write(`${head} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token.reveal()}\r\n`);
  socket.write(body === '' ? '\r\n' : `Content-Type: application/json\r\nContent-Length: 8000000\r\n\r\n${body}`);
  return socket;
}

test('answers that wait for slow readers take so much memory and no more', async () => {
  const viewer = api.client(world.viewer.token);
  const slow = hang(world.viewer.token, `GET /api/v1${path}`);
  await waitFor('the answer to wait', async () => (await viewer.send('GET', path)).status === 503);
  await expectProblem(viewer.send('GET', path), 'overloaded');
  expect((await viewer.send('GET', `${path}?values=false`)).status).toBe(200);
  slow.destroy();
  await waitFor('the memory to be free', async () => (await viewer.send('GET', path)).status === 200);
});

test('so do bodies that arrive slowly', async () => {
  const [developer, admin] = [api.client(world.developer.token), api.client(world.admin.token)];
  const part = `{"value":"${'x'.repeat(7 * mebibyte)}`;
  const hanging = Array.from({ length: 2 }, () => hang(world.developer.token, `PUT /api/v1${path}/A0`, part));
  const answered = hanging.map(async (socket) => String((await once(socket.resume(), 'data'))[0]));
  expect(await Promise.race(answered)).toMatch(/^HTTP\/1.1 503 /);
  expect((await developer.send('PUT', `${path}/A1`, { value: 'small' })).status).toBe(200);
  expect((await admin.send('PUT', `${path}/A2`, { value: 'y'.repeat(200 * 1024) })).status).toBe(200);
});
