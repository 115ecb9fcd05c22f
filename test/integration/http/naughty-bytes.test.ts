import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { type Asked, KeepAliveClient, type Reply } from '../../support/api/keep-alive-client.ts';
import {
  brokenUtf8,
  expectNamedFault,
  isRepeated,
  megabyte,
  naughtyMark,
  naughtyStrings,
  percentBytes,
} from '../../support/api/naughty-strings.ts';
import { type World, createWorld } from '../../support/api/services.ts';

let api: TestApi;
let world: World;
let client: KeepAliveClient;
let authorization: string;
let org: string;
let place: string;

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  client = new KeepAliveClient(api.port);
  authorization = `Bearer ${world.owner.token.reveal()}`;
  org = world.slugs.organization;
  place = `${org}/web/prod`;
});

afterAll(async () => {
  client.close();
  await api.close();
});

function ask(asked: Asked): Promise<Reply> {
  return client.ask({ authorization, ...asked });
}

async function expectServing(): Promise<void> {
  expect(await ask({ method: 'GET', path: '/me' })).toMatchObject({ status: 200 });
}

describe('bytes that are no UTF-8 are malformed', () => {
  test.each([...brokenUtf8])('%s', async (_what, bytes) => {
    const body = Buffer.concat([Buffer.from(`{"value":"${naughtyMark}`), bytes, Buffer.from('"}')]);
    const inName = Buffer.concat([Buffer.from('{"value":"","'), bytes, Buffer.from(`${naughtyMark}":1}`)]);
    const path = `/secrets/${place}/${percentBytes(bytes)}`;
    for (const asked of [
      { method: 'PUT', path: `/secrets/${place}/BROKEN`, body },
      { method: 'PUT', path: `/secrets/${place}/BROKEN`, body: inName },
      { method: 'GET', path },
      { method: 'GET', path: `/secrets/${percentBytes(bytes)}/web/prod` },
    ]) {
      const reported = await ask(asked);
      expect(JSON.parse(reported.text)).toMatchObject({ status: 400, code: 'malformed_request' });
      expect(reported.text).not.toContain(naughtyMark);
    }
    // In a query every byte stands for something.
    const query = await ask({ method: 'GET', path: `/secrets/${place}?prefix=${percentBytes(bytes)}` });
    expectNamedFault(query, bytes.toString(), /^prefix$/);
    await expectServing();
  });
});

/** Sends bytes as they are, and answers all that comes back until the connection ends. */
function exchange(head: readonly (string | Buffer)[]): Promise<string> {
  const bytes = Buffer.concat(head.map((part) => Buffer.from(part)));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(api.port, '127.0.0.1', () => socket.write(bytes));
    socket.setTimeout(90_000, () => socket.destroy(new Error('no answer within 90 s')));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // The server need not read what is too long to its end.
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined));
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
  });
}

function requestOf(
  method: string,
  path: string | Buffer,
  header: readonly (string | Buffer)[] = [],
): (string | Buffer)[] {
  const rest = `\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization}\r\n`;
  return [`${method} /api/v1`, path, ` HTTP/1.1${rest}`, ...header, header.length === 0 ? '\r\n' : '\r\n\r\n'];
}

const rawStrings: [string, Buffer][] = [
  ...[...naughtyStrings].map(([what, text]): [string, Buffer] => [what, Buffer.from(text)]),
  ...brokenUtf8,
];

describe('sent as raw bytes, each string has an answer that is no 5xx and does not repeat it, as', () => {
  async function expectAnswers(request: (bytes: Buffer) => (string | Buffer)[]): Promise<string[]> {
    const answers = await Promise.all(rawStrings.map(async ([, bytes]) => exchange(request(bytes))));
    for (const [index, answer] of answers.entries()) {
      const [what, bytes] = rawStrings[index] ?? ['', Buffer.alloc(0)];
      // A line break in the first line makes that an HTTP/0.9 request, and the rest another request, which is garbage.
      const wanted = what === 'line breaks' ? /^(?:HTTP\/1\.1 [234]|$)/ : /^HTTP\/1\.1 [234]/;
      expect([what, answer.slice(0, 10)]).toEqual([what, expect.stringMatching(wanted)]);
      if (isRepeated(answer, bytes.toString('latin1'))) throw new Error(`${what} was repeated: ${answer}`);
    }
    await expectServing();
    return answers;
  }

  test('part of the path', async () => {
    await expectAnswers((bytes) => requestOf('GET', Buffer.concat([Buffer.from(`/secrets/${place}/`), bytes])));
  });

  test('part of the query', async () => {
    await expectAnswers((bytes) => requestOf('GET', Buffer.concat([Buffer.from(`/secrets/${place}?prefix=`), bytes])));
  });

  test.each(['If-None-Match', 'Accept', 'User-Agent', 'X-Forwarded-For', 'X-Request-Id', 'Content-Type', 'Cookie'])(
    'the header %s of a read',
    async (name) => {
      const answers = await expectAnswers((bytes) => requestOf('GET', `/secrets/${place}`, [`${name}: `, bytes]));
      expect(answers.filter((answer) => answer.startsWith('HTTP/1.1 304'))).toEqual([]);
    },
  );

  test('the header Last-Event-ID of a list of changes', async () => {
    await expectAnswers((bytes) => requestOf('GET', `/changes/${place}`, ['Last-Event-ID: ', bytes]));
  });

  test('the name of a header', async () => {
    await expectAnswers((bytes) => requestOf('GET', '/me', [bytes, ': x']));
  });

  test('the header Idempotency-Key of a snapshot', async () => {
    const snapshots = await expectAnswers((bytes) =>
      requestOf('POST', `/snapshots/${place}`, ['Content-Length: 0\r\nIdempotency-Key: ', bytes]),
    );
    expect(snapshots.some((answer) => answer.startsWith('HTTP/1.1 201'))).toBe(true);
  });

  test('the Authorization', async () => {
    const answers = await Promise.all(
      rawStrings.map(async ([, bytes]) =>
        exchange([
          'GET /api/v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ',
          bytes,
          '\r\n\r\n',
        ]),
      ),
    );
    expect(answers.filter((answer) => !/^HTTP\/1\.1 40[01] /.test(answer))).toEqual([]);
    expect(answers.join('')).not.toContain(naughtyMark);
    await expectServing();
  });
});

describe('1 MB where it cannot be is refused, in', () => {
  test.each<[string, () => (string | Buffer)[]]>([
    ['a path', () => requestOf('GET', `/secrets/${place}/${megabyte}`)],
    ['a query', () => requestOf('GET', `/secrets/${place}?prefix=${megabyte}`)],
    ['a header', () => requestOf('GET', '/me', [`If-None-Match: ${megabyte}`])],
    ['the name of a header', () => requestOf('GET', '/me', [`${megabyte}: x`])],
    ['the method', () => requestOf(megabyte.toUpperCase(), '/me')],
  ])('%s', async (_what, request) => {
    const answer = await exchange(request());
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).not.toContain(naughtyMark.toUpperCase());
    expect(answer).not.toContain(naughtyMark);
    await expectServing();
  });
});

test('nothing of all this is in the log', () => {
  expect(api.logs.length).toBeGreaterThan(500);
  expect(JSON.stringify(api.logs)).not.toContain(naughtyMark);
});
