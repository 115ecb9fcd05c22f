import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecure } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { HttpsTransport } from '../../../src/agent/transport.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';

/** Requests of a controller to a server. */

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

let folder: string;
let tokenFile: string;
let server: Server;
const resources: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'keyframe-transport-'));
  tokenFile = join(folder, 'token');
  writeFileSync(tokenFile, 'first-token\n');
});

afterEach(() => {
  for (const end of resources.splice(0)) end();
  rmSync(folder, { recursive: true });
});

async function listening(made: Server): Promise<number> {
  server = made;
  resources.push(() => {
    made.closeAllConnections();
    made.close();
  });
  await new Promise<void>((resolve) => void made.listen(0, '127.0.0.1', resolve));
  return (made.address() as AddressInfo).port;
}

function listenerOf(handle: Handler): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => void text(request).then((body) => handle(request, response, body));
}

async function serve(handle: Handler): Promise<HttpsTransport> {
  return transportTo(`http://127.0.0.1:${await listening(createPlain(listenerOf(handle)))}`);
}

function transportTo(url: string, caFile?: string): HttpsTransport {
  return new HttpsTransport({ url, caFile, tokenFile, cluster: () => 'fra-1' });
}

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
}

const problem = (code: string, detail = 'what to do'): object => ({ code, detail, status: 0 });
const post = async (transport: HttpsTransport, timeoutMs = 5_000): Promise<unknown> =>
  await transport.post('/hello', '{"a":"é"}', { timeoutMs, maxAnswerBytes: 1_000 });

describe('a request', () => {
  test('has the token, the cluster, the process and the body', async () => {
    const seen: unknown[] = [];
    const transport = await serve(({ method, url, headers }, response, body) => {
      const { authorization, 'keyframe-cluster': cluster, 'keyframe-process': process } = headers;
      seen.push({ method, url, authorization, cluster, process, body });
      send(response, 200, { result: 1 });
    });
    expect(await post(transport)).toEqual({ result: 1 });
    await post(transport);
    const [one, other] = seen as { process: string }[];
    expect(one).toEqual({
      method: 'POST',
      url: '/api/v1/cluster/hello',
      authorization: 'Bearer first-token',
      cluster: 'fra-1',
      process: expect.stringMatching(/^[0-9a-f-]{36}$/),
      body: '{"a":"é"}',
    });
    expect(other?.process).toBe(one?.process);
  });

  test('uses a connection again', async () => {
    const ports = new Set<number | undefined>();
    const transport = await serve(({ socket }, response) => {
      ports.add(socket.remotePort);
      send(response, 200, {});
    });
    for (let index = 0; index < 3; index += 1) await post(transport);
    expect(ports.size).toBe(1);
  });

  test('is sent once more on a new connection if the server had closed the old one', async () => {
    let served = 0;
    const transport = await serve(({ socket }, response) => {
      served += 1;
      if (served === 2) socket.destroy();
      else send(response, 200, { served });
    });
    expect(await post(transport)).toEqual({ served: 1 });
    expect(await post(transport)).toEqual({ served: 3 });
  });

  test('is sent once more on a new connection if the server had closed all idle ones', async () => {
    let served = 0;
    const old = new Set<unknown>();
    const bothCame = Promise.withResolvers<void>();
    const transport = await serve(({ socket }, response) => {
      served += 1;
      if (old.has(socket)) socket.destroy();
      else void bothCame.promise.then(() => send(response, 200, { served }));
      old.add(socket);
      if (served === 2) bothCame.resolve();
    });
    await Promise.all([post(transport), post(transport)]);
    expect(old.size).toBe(2);
    expect(await post(transport)).toEqual({ served: 4 });
  });

  test('is not sent again if a new connection breaks', async () => {
    let served = 0;
    const transport = await serve(({ socket }) => {
      served += 1;
      socket.destroy();
    });
    await expect(post(transport)).rejects.toMatchObject({ code: 'store_unavailable' });
    expect(served).toBe(1);
  });

  test('fails before the name of the cluster is known', async () => {
    const unknown = new DomainError('cluster_unavailable', 'not listed yet');
    const transport = new HttpsTransport({
      url: 'http://127.0.0.1:9',
      caFile: undefined,
      tokenFile,
      cluster: () => {
        throw unknown;
      },
    });
    await expect(post(transport)).rejects.toBe(unknown);
  });
});

describe('the token', () => {
  const authorizations: (string | undefined)[] = [];
  const refusing: Handler = ({ headers }, response) => {
    authorizations.push(headers.authorization);
    if (headers.authorization === 'Bearer next-token') send(response, 200, {});
    else send(response, 401, problem('unauthenticated', 'the home token is unknown'));
  };

  beforeEach(() => void authorizations.splice(0));

  test('is read at each request', async () => {
    const transport = await serve(refusing);
    writeFileSync(tokenFile, 'next-token');
    expect(await post(transport)).toEqual({});
    expect(authorizations).toEqual(['Bearer next-token']);
  });

  test('that is refused is not sent again, unless the file has another one', async () => {
    const transport = await serve((request, response, body) => {
      if (authorizations.length === 1) writeFileSync(tokenFile, 'next-token');
      refusing(request, response, body);
    });
    await expect(post(transport)).rejects.toMatchObject({
      code: 'cluster_unknown',
      detail: 'the home token is unknown',
    });
    expect(authorizations).toEqual(['Bearer first-token']);
    expect(await post(transport)).toEqual({});
    expect(authorizations).toEqual(['Bearer first-token', 'Bearer first-token', 'Bearer next-token']);
  });

  test('before a new one works on while the server does not know the new one', async () => {
    let known = 'Bearer first-token';
    const transport = await serve(({ headers: { authorization } }, response) => {
      authorizations.push(authorization);
      if (authorization === known) send(response, 200, {});
      else send(response, 401, problem('unauthenticated'));
    });
    await post(transport);
    writeFileSync(tokenFile, 'next-token');
    expect([await post(transport), await post(transport)]).toEqual([{}, {}]);
    expect(authorizations.slice(1)).toEqual(['Bearer next-token', 'Bearer first-token', 'Bearer first-token']);
    known = 'Bearer next-token';
    expect([await post(transport), await post(transport)]).toEqual([{}, {}]);
    expect(authorizations.slice(4)).toEqual(['Bearer first-token', 'Bearer next-token', 'Bearer next-token']);
  });

  test('stays in use while its file is missing', async () => {
    const transport = await serve((_request, response) => send(response, 200, {}));
    await post(transport);
    rmSync(tokenFile);
    expect(await post(transport)).toEqual({});
  });

  test('that never was there is missed by name', async () => {
    rmSync(tokenFile);
    const transport = await serve((_request, response) => send(response, 200, {}));
    await expect(post(transport)).rejects.toMatchObject({
      code: 'cluster_unknown',
      detail: expect.stringContaining('KEYFRAME_CLUSTER_TOKEN_FILE cannot be read (ENOENT)'),
    });
  });

  test('is in no error', async () => {
    const transport = await serve((_request, response) => send(response, 500, problem('internal')));
    const error = await post(transport).catch((thrown: unknown) => thrown);
    expect(JSON.stringify(error) + String(error)).not.toContain('first-token');
  });
});

describe('an answer', () => {
  test.each<[status: number, body: object, expected: object]>([
    [401, problem('unauthenticated'), { code: 'cluster_unknown', detail: 'what to do' }],
    [401, problem('cluster_unknown'), { code: 'cluster_unknown' }],
    [403, problem('cluster_disabled'), { code: 'cluster_disabled' }],
    [404, problem('not_found'), { code: 'protocol_unsupported', detail: expect.stringContaining('upgrade it first') }],
    [413, problem('payload_too_large'), { code: 'payload_too_large' }],
    [422, problem('invalid_input'), { code: 'invalid_input' }],
    [426, problem('protocol_unsupported'), { code: 'protocol_unsupported', detail: 'what to do' }],
    [429, problem('limit_exceeded'), { code: 'overloaded', retryAfterSeconds: 7 }],
    [500, problem('internal'), { code: 'internal' }],
    [503, problem('store_unavailable'), { code: 'store_unavailable', retryAfterSeconds: undefined }],
    [503, problem('overloaded'), { code: 'overloaded', retryAfterSeconds: undefined }],
    [418, problem('made_later'), { code: 'internal', detail: 'what to do' }],
    [502, { message: 'no backend' }, { code: 'store_unavailable', detail: expect.stringContaining('answered 502') }],
    [301, {}, { code: 'store_unavailable' }],
    [404, { message: 'default backend' }, { code: 'store_unavailable' }],
  ])('with status %i and %j is an error of the server', async (status, body, expected) => {
    const transport = await serve((_request, response) => send(response, status, body, { 'retry-after': '7' }));
    await expect(post(transport)).rejects.toMatchObject(expected);
  });

  test.each(['<html>', '{"cut', '[]', '"text"'])('of 200 with %s is not one of Keyframe', async (body) => {
    const transport = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': body === '<html>' ? 'text/html' : 'application/json' });
      response.end(body);
    });
    await expect(post(transport)).rejects.toMatchObject({
      code: 'store_unavailable',
      detail: expect.stringContaining('KEYFRAME_SERVER_URL'),
    });
  });

  test.each([
    ['with its length', { 'content-length': '1016' }],
    ['without its length', {}],
  ])('that is larger than any of its method is none, %s', async (_, headers) => {
    const body = JSON.stringify({ result: 'a'.repeat(1_003) });
    const transport = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', ...headers });
      response.write(body.slice(0, 10));
      response.end(body.slice(10));
    });
    await expect(post(transport)).rejects.toMatchObject({
      code: 'store_unavailable',
      detail: expect.stringContaining('more than the 1000 bytes'),
    });
  });

  test('that never comes is given up in time', async () => {
    const transport = await serve(() => {});
    await expect(post(transport, 50)).rejects.toMatchObject({
      code: 'store_unavailable',
      detail: expect.stringContaining('did not answer within 0.05 seconds'),
    });
  });

  test('that stops in its middle is given up in time', async () => {
    const transport = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"result":');
    });
    await expect(post(transport, 50)).rejects.toMatchObject({ code: 'store_unavailable' });
  });

  test('cannot come where nothing listens', async () => {
    const port = await listening(createPlain());
    server.close();
    await expect(post(transportTo(`http://127.0.0.1:${port}`))).rejects.toMatchObject({
      code: 'store_unavailable',
      detail: 'the server of Keyframe cannot be reached: nothing listens there',
    });
  });
});

describe('over TLS', () => {
  const authority = makeAuthority();
  const subject = { names: ['localhost'], addresses: ['127.0.0.1'] };

  async function secure(signed = authority.issue(subject)): Promise<string> {
    const { certificate: cert, key } = signed;
    const port = await listening(
      createSecure(
        { cert, key },
        listenerOf((_request, response) => send(response, 200, {})),
      ),
    );
    return `https://127.0.0.1:${port}`;
  }

  function caFileOf(certificate: string): string {
    const file = join(folder, 'ca.crt');
    writeFileSync(file, certificate);
    return file;
  }

  test('the authorities of the file are trusted', async () => {
    expect(await post(transportTo(await secure(), caFileOf(authority.certificate)))).toEqual({});
  });

  test('no other authority is', async () => {
    const url = await secure();
    for (const transport of [transportTo(url), transportTo(url, caFileOf(makeAuthority().certificate))]) {
      await expect(post(transport)).rejects.toMatchObject({
        code: 'store_unavailable',
        detail: expect.stringContaining('KEYFRAME_SERVER_CA_FILE'),
      });
    }
  });

  test('a certificate for another host is refused', async () => {
    const url = await secure(authority.issue({ names: ['elsewhere.test'], addresses: ['127.0.0.2'] }));
    await expect(post(transportTo(url, caFileOf(authority.certificate)))).rejects.toMatchObject({
      code: 'store_unavailable',
      detail: expect.stringContaining('KEYFRAME_SERVER_URL'),
    });
  });

  test('the file is read again after a certificate was refused', async () => {
    const transport = transportTo(await secure(), caFileOf(makeAuthority().certificate));
    await expect(post(transport)).rejects.toThrow();
    caFileOf(authority.certificate);
    await expect(post(transport)).rejects.toThrow();
    expect(await post(transport)).toEqual({});
  });
});

describe('a stream', () => {
  const abort = (): AbortController => {
    const made = new AbortController();
    resources.push(() => made.abort());
    return made;
  };

  async function read(texts: AsyncIterable<string>): Promise<string> {
    let all = '';
    for await (const part of texts) all += part;
    return all;
  }

  test('gives its text as it comes, on a connection of its own', async () => {
    const ports: (number | undefined)[] = [];
    const transport = await serve(({ socket, method }, response) => {
      ports.push(socket.remotePort);
      if (method === 'POST') return send(response, 200, {});
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      // A character of two bytes in two parts.
      response.write(Buffer.from([0x61, 0xc3]));
      setTimeout(() => response.end(Buffer.from([0xa9])), 20);
    });
    await post(transport);
    const texts = await transport.stream('/events', abort().signal);
    await post(transport);
    expect(await read(texts)).toBe('aé');
    expect(ports[0]).toBe(ports[2]);
    expect(ports[1]).not.toBe(ports[0]);
  });

  test('that is refused is an error', async () => {
    const transport = await serve((_request, response) => send(response, 401, problem('unauthenticated')));
    await expect(transport.stream('/events', abort().signal)).rejects.toMatchObject({ code: 'cluster_unknown' });
  });

  test('ends with its signal', async () => {
    const transport = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(': one\n\n');
    });
    const own = abort();
    const texts = await transport.stream('/events', own.signal);
    setTimeout(() => own.abort(), 20);
    await expect(read(texts)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
