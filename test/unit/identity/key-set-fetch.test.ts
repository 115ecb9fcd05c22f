import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KeyFetchFault } from '../../../src/domain/trusted-issuers.ts';
import { type FetchRules, fetchKeySet, KeyFetchError } from '../../../src/identity/key-set-fetch.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { JwtSigner } from '../../support/oidc/jwt-signer.ts';
import { KeyServer } from '../../support/oidc/key-server.ts';

const signer = new JwtSigner('ES256', 'key-1');
const inside = { allowsPrivateAddresses: true };
let server: KeyServer;

beforeAll(async () => {
  server = await KeyServer.start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  server.answer = undefined;
  server.requests = 0;
  server.keys = [signer.jwk];
});

async function faultOf(
  source: { url?: string; ca?: string | null },
  rules: FetchRules = inside,
): Promise<KeyFetchFault> {
  const error: unknown = await fetchKeySet({ url: server.url, ca: server.ca, ...source }, rules).catch(
    (one: unknown) => one,
  );
  if (error instanceof KeyFetchError) return error.fault;
  throw error instanceof Error ? error : new Error('the keys were fetched');
}

describe('keys are fetched', () => {
  test('by an address', async () => {
    const { x, y } = signer.jwk;
    expect(await fetchKeySet(server, inside)).toEqual([{ kty: 'EC', alg: 'ES256', kid: 'key-1', crv: 'P-256', x, y }]);
  });

  test('by a name', async () => {
    const url = server.url.replace('127.0.0.1', 'localhost');
    expect(await fetchKeySet({ url, ca: server.ca }, inside)).toHaveLength(1);
  });

  test('without keys that cannot be used', async () => {
    server.keys = [{ ...new JwtSigner('RS256').jwk, use: 'enc' }, signer.jwk];
    expect(await fetchKeySet(server, inside)).toHaveLength(1);
  });
});

describe('keys are not fetched', () => {
  test('from a loopback address without the setting, and nothing is sent to it', async () => {
    expect(await faultOf({}, { allowsPrivateAddresses: false })).toBe('address');
    expect(server.requests).toBe(0);
  });

  test('from a name with a loopback address', async () => {
    const url = server.url.replace('127.0.0.1', 'localhost');
    expect(await faultOf({ url }, { allowsPrivateAddresses: false })).toBe('address');
  });

  test.each(['127.1', '2130706433', '0x7f000001', '0177.0.0.1', '[::ffff:127.0.0.1]'])(
    'from loopback that is written as %s',
    async (host) => {
      expect(await faultOf({ url: server.url.replace('127.0.0.1', host) }, { allowsPrivateAddresses: false })).toBe(
        'address',
      );
    },
  );

  test('without https', async () => {
    await using plain = createServer((_request, response) => response.end('{"keys":[]}')).listen(0, '127.0.0.1');
    await new Promise((resolve) => plain.once('listening', resolve));
    const { port } = plain.address() as AddressInfo;
    expect(await faultOf({ url: `http://127.0.0.1:${port}/keys` })).toBe('https');
    expect(await faultOf({ url: `https://127.0.0.1:${port}/keys` })).toBe('unreachable');
  });

  test('from a server whose certificate another authority signed', async () => {
    expect(await faultOf({ ca: makeAuthority().certificate })).toBe('unreachable');
    expect(await faultOf({ ca: null })).toBe('unreachable');
    expect(server.requests).toBe(0);
  });

  test('from a server whose certificate has another name', async () => {
    const authority = makeAuthority();
    await using other = await KeyServer.start({
      ...authority,
      issue: () => authority.issue({ names: ['issuer.example'], addresses: [] }),
    });
    expect(await faultOf(other)).toBe('unreachable');
    expect(other.requests).toBe(0);
  });

  test('from a port where nothing listens', async () => {
    const closed = await KeyServer.start();
    await closed[Symbol.asyncDispose]();
    expect(await faultOf(closed)).toBe('unreachable');
  });

  test.each<[string, KeyFetchFault, RequestListener]>([
    ['after a redirect', 'response', (_request, response) => response.writeHead(302, { location: server.url }).end()],
    ['from status 404', 'response', (_request, response) => response.writeHead(404).end('{"keys":[]}')],
    ['from status 206', 'response', (_request, response) => response.writeHead(206).end('{"keys":[]}')],
    ['from text', 'no_key_set', (_request, response) => response.end('<html>keys</html>')],
    ['from JSON of another kind', 'no_key_set', (_request, response) => response.end('{"issuer":"a"}')],
    [
      'from a set without usable keys',
      'no_key_set',
      (_request, response) => response.end('{"keys":[{"kty":"oct","k":"AA"}]}'),
    ],
    [
      'from 21 keys',
      'no_key_set',
      (_request, response) => response.end(JSON.stringify({ keys: Array.from({ length: 21 }, () => signer.jwk) })),
    ],
    [
      'from more than 256 KiB',
      'too_large',
      (_request, response) => response.end(`{"keys":[]}${' '.repeat(256 * 1024)}`),
    ],
    ['from a connection that breaks', 'unreachable', (request) => request.socket.destroy()],
    [
      'from half an answer',
      'unreachable',
      (request, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('{"keys":');
        setImmediate(() => request.socket.destroy());
      },
    ],
  ])('%s', async (_name, fault, answer) => {
    server.answer = answer;
    expect(await faultOf({})).toBe(fault);
    expect(server.requests).toBe(1);
  });

  test('from a body without an end', async () => {
    let sent = 0;
    server.answer = (_request, response) => {
      const more = (): void => {
        sent += 65_536;
        if (!response.destroyed) response.write(' '.repeat(65_536), () => setImmediate(more));
      };
      more();
    };
    expect(await faultOf({})).toBe('too_large');
    expect(sent).toBeLessThan(10 * 1024 * 1024);
  });

  test.each<[string, RequestListener]>([
    ['that answers nothing', () => undefined],
    ['that sends headers only', (_request, response) => response.writeHead(200).flushHeaders()],
    [
      'that sends a byte at a time',
      (_request, response) => {
        const timer = setInterval(() => response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('from a server %s', async (_name, answer) => {
    server.answer = answer;
    expect(await faultOf({}, { ...inside, timeoutMs: 150 })).toBe('timeout');
  });
});

test('an error has nothing that the server sent', async () => {
  server.answer = (_request, response) => response.end('canary-text');
  const error: unknown = await fetchKeySet(server, inside).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(KeyFetchError);
  expect(JSON.stringify(Object.getOwnPropertyNames(error).map((name) => (error as never)[name]))).not.toContain(
    'canary',
  );
});
