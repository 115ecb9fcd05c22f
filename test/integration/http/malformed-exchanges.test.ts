import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type HttpClient, type TestApi, startTestApi } from '../../support/api/http.ts';
import { createWorld } from '../../support/api/services.ts';

let api: TestApi;
let owner: HttpClient;
let path: string;
let authorization: string;

beforeAll(async () => {
  api = await startTestApi();
  const world = await createWorld(api.services);
  owner = api.client(world.owner.token);
  path = `/secrets/${world.slugs.organization}/web/prod/KEY`;
  authorization = `Authorization: Bearer ${world.owner.token.reveal()}`;
  await owner.expectStatus(201, 'PUT', path, { value: 'kept' });
});

afterAll(() => api.close());

/** What comes back for raw bytes until the connection is closed, or until nothing more comes. */
async function exchange(bytes: string, quietMs = 1_000): Promise<string> {
  const socket = connect(api.port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  socket.on('error', () => {});
  socket.setTimeout(quietMs, () => socket.destroy());
  socket.write(Buffer.from(bytes, 'latin1'));
  await once(socket, 'close');
  return Buffer.concat(chunks).toString('latin1');
}

/** The statuses of all answers in what came back. */
function statusesOf(answers: string): number[] {
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** A request that deletes the key, where a reader of the bytes takes it for one. */
const hidden = (): string => `DELETE /api/v1${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`;
const json = 'Content-Type: application/json\r\n';

/** Each gets the hidden request, and the head of a valid one up to its framing. */
type Exchange = (parts: { readonly hidden: string; readonly put: string }) => string;

const chunked = 'Transfer-Encoding: chunked\r\n';
const exchanges: readonly (readonly [string, Exchange])[] = [
  ['a length and chunks', ({ hidden: inner, put }) => `${put}Content-Length: 5\r\n${chunked}\r\n0\r\n\r\n${inner}`],
  ['chunks and a length', ({ hidden: inner, put }) => `${put}${chunked}Content-Length: 5\r\n\r\n0\r\n\r\n${inner}`],
  ['two lengths', ({ hidden: inner, put }) => `${put}Content-Length: 0\r\nContent-Length: 5\r\n\r\n${inner}`],
  ['two equal lengths', ({ hidden: inner, put }) => `${put}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${inner}`],
  ['a list of lengths', ({ hidden: inner, put }) => `${put}Content-Length: 0, 5\r\n\r\n${inner}`],
  ['a negative length', ({ hidden: inner, put }) => `${put}Content-Length: -1\r\n\r\n${inner}`],
  ['a signed length', ({ hidden: inner, put }) => `${put}Content-Length: +0\r\n\r\n${inner}`],
  ['a hexadecimal length', ({ hidden: inner, put }) => `${put}Content-Length: 0x0\r\n\r\n${inner}`],
  ['an empty length', ({ hidden: inner, put }) => `${put}Content-Length:\r\n\r\n${inner}`],
  ['a huge length', ({ hidden: inner, put }) => `${put}Content-Length: 18446744073709551616\r\n\r\n${inner}`],
  [
    'a space before the colon',
    ({ hidden: inner, put }) => `${put}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
  ],
  ['another coding', ({ hidden: inner, put }) => `${put}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`],
  [
    'chunks, then identity',
    ({ hidden: inner, put }) => `${put}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
  ],
  [
    'a folded coding',
    ({ hidden: inner, put }) => `${put}Transfer-Encoding:\r\n chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n${inner}`,
  ],
  ['a chunk that is no number', ({ hidden: inner, put }) => `${put}${chunked}\r\nx\r\n\r\n${inner}`],
  ['a negative chunk', ({ hidden: inner, put }) => `${put}${chunked}\r\n-1\r\n\r\n${inner}`],
  ['a huge chunk', ({ hidden: inner, put }) => `${put}${chunked}\r\nfffffffffffffffff\r\n\r\n${inner}`],
  ['a chunk without its end', ({ hidden: inner, put }) => `${put}${chunked}\r\n2\r\n{}0\r\n\r\n${inner}`],
  ['a chunk that ends with a line feed alone', ({ hidden: inner, put }) => `${put}${chunked}\r\n2\n{}\n0\n\n${inner}`],
  [
    'a chunk with a carriage return in its extension',
    ({ hidden: inner, put }) => `${put}${chunked}\r\n0;a\rb\r\n\r\n${inner}`,
  ],
  ['a line feed alone between headers', ({ hidden: inner }) => `GET /healthz HTTP/1.1\nHost: x\n\n${inner}`],
  ['a carriage return alone between headers', ({ hidden: inner }) => `GET /healthz HTTP/1.1\rHost: x\r\r${inner}`],
  [
    'a carriage return within a header',
    ({ hidden: inner }) => `GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\rb\r\n\r\n${inner}`,
  ],
  ['a NUL within a header', ({ hidden: inner }) => `GET /healthz HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n${inner}`],
  ['a header without a name', ({ hidden: inner }) => `GET /healthz HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n${inner}`],
  ['a header without a colon', ({ hidden: inner }) => `GET /healthz HTTP/1.1\r\nHost: x\r\nabc\r\n\r\n${inner}`],
  ['a space within a header name', ({ hidden: inner }) => `GET /healthz HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n${inner}`],
  ['a space before the first header', ({ hidden: inner }) => `GET /healthz HTTP/1.1\r\n Host: x\r\n\r\n${inner}`],
  ['no method', ({ hidden: inner }) => ` /healthz HTTP/1.1\r\nHost: x\r\n\r\n${inner}`],
  ['an unknown method', ({ hidden: inner }) => `FETCH /healthz HTTP/1.1\r\nHost: x\r\n\r\n${inner}`],
  ['a method in small letters', ({ hidden: inner }) => `get /healthz HTTP/1.1\r\nHost: x\r\n\r\n${inner}`],
  ['no target', ({ hidden: inner }) => `GET HTTP/1.1\r\nHost: x\r\n\r\n${inner}`],
  ['a target with a space', ({ hidden: inner }) => `GET /health z HTTP/1.1\r\nHost: x\r\n\r\n${inner}`],
  ['a target with a tab', ({ hidden: inner }) => `GET /health\tz HTTP/1.1\r\nHost: x\r\n\r\n${inner}`],
  ['a target without a slash', ({ hidden: inner }) => `GET healthz HTTP/1.1\r\nHost: x\r\n\r\n${inner}`],
  ['a version that is none', ({ hidden: inner }) => `GET /healthz HTTP/9.9\r\nHost: x\r\n\r\n${inner}`],
  ['another protocol', ({ hidden: inner }) => `GET /healthz SMTP/1.1\r\nHost: x\r\n\r\n${inner}`],
  ['no version', ({ hidden: inner }) => `GET /healthz\r\n\r\n${inner}`],
  ['the beginning of HTTP/2', ({ hidden: inner }) => `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${inner}`],
  ['the beginning of TLS', ({ hidden: inner }) => `\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03${inner}`],
  [
    'two Hosts',
    ({ hidden: inner }) => `GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\nConnection: close\r\n\r\n${inner}`,
  ],
  ['a fragment', () => hidden().replace('KEY', 'KEY#x')],
  ['an encoded slash', () => hidden().replace('/KEY', '%2FKEY')],
  ['dots in the path', () => hidden().replace('/KEY', '/../prod/KEY')],
  ['a doubled slash', () => hidden().replace('/KEY', '//KEY')],
  ['a parameter in the path', () => hidden().replace('KEY', 'KEY;x')],
  ['a NUL in the path', () => hidden().replace('KEY', 'KEY%00')],
];

describe('a malformed exchange is refused, and no request is found within it:', () => {
  const answers = new Map<string, Promise<string>>();

  // All at once: many connections stay open, and it takes a while to see that nothing more comes.
  beforeAll(async () => {
    const put = `PUT /api/v1${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n${json}`;
    for (const [name, exchangeOf] of exchanges) answers.set(name, exchange(exchangeOf({ hidden: hidden(), put })));
    await Promise.all(answers.values());
  });

  test.each(exchanges)('%s', async (name) => {
    const statuses = statusesOf((await answers.get(name)) ?? '');
    expect(statuses.filter((status) => status < 400 || status === 500)).toEqual([]);
  });

  test('and none was done', async () => {
    expect(answers.size).toBe(exchanges.length);
    expect(await owner.expectStatus(200, 'GET', path)).toMatchObject({ value: 'kept', version: 1 });
  });

  test('but where it stands by itself, it is done', async () => {
    const alone = hidden().replace('Host: x', 'Host: x\r\nConnection: close');
    expect(statusesOf(await exchange(alone, 90_000))).toEqual([204]);
    await owner.expectStatus(404, 'GET', path);
  });
});
