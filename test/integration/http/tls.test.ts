import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TLSSocket, connect as connectTls } from 'node:tls';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConfigError } from '../../../src/config/source.ts';
import { loadServerConfig } from '../../../src/config/server-config.ts';
import { lookIntoFiles, watchCertificate } from '../../../src/http/certificate-watch.ts';
import { HttpServer } from '../../../src/http/server.ts';
import { readCertificate } from '../../../src/lib/certificate.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { type Certificate, makeAuthority } from '../../support/fixtures/certificate.ts';
import { Programs } from '../../support/api/program.ts';
import { createTestDatabase } from '../../support/database/postgres.ts';
import { newRootKey } from '../../support/api/services.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';

/** The API over TLS that the server itself terminates. */

const resources = new AsyncDisposableStack();
const authority = makeAuthority();
const subject = { names: ['localhost'], addresses: ['127.0.0.1'] };
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tls-'));
  resources.defer(() => rm(folder, { recursive: true }));
});

afterAll(() => resources.disposeAsync());

function files(name: string): { certificateFile: string; keyFile: string } {
  return { certificateFile: join(folder, `${name}.crt`), keyFile: join(folder, `${name}.key`) };
}

function write(name: string, { certificate, key }: Certificate): { certificateFile: string; keyFile: string } {
  const paths = files(name);
  writeFileSync(paths.certificateFile, certificate);
  writeFileSync(paths.keyFile, key);
  return paths;
}

/** The response over TLS that trusts the authority alone. */
async function responseOf(port: number, path: string): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, path, ca: authority.certificate, agent: false });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response.resume();
}

async function handshake(port: number): Promise<TLSSocket> {
  const socket = connectTls({ host: '127.0.0.1', port, ca: authority.certificate });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  return socket;
}

const variables = { portVariable: 'KEYFRAME_PORT', hostVariable: 'KEYFRAME_HOST' };

async function listen(limits: object = {}): Promise<HttpServer> {
  const tls = readCertificate(write(`own-${Math.random()}`, authority.issue(subject)));
  const server = await HttpServer.listen((_request, response) => response.end('yes'), {
    host: '127.0.0.1',
    port: 0,
    ...variables,
    tls,
    ...limits,
  });
  resources.defer(() => server.close(0));
  return server;
}

describe('with a certificate', () => {
  test('the program serves the API over https alone, for a year, and metrics over http', async () => {
    const database = await createTestDatabase();
    const programs = new Programs();
    try {
      const { certificateFile, keyFile } = write('program', authority.issue(subject));
      const env = { DATABASE_URL: database.url, ROOT_KEY: newRootKey() };
      const tls = { TLS_CERTIFICATE_FILE: certificateFile, TLS_KEY_FILE: keyFile };
      const { server, port, metricsPort } = await programs.start({ args: ['api'], env: { ...env, ...tls } });
      expect((await responseOf(port, '/api/v1/me')).statusCode).toBe(401);
      for (const path of ['/', '/api/v1/me', '/healthz', '/docs', '/cli', '/nowhere', '/sign-in/oidc']) {
        const { headers } = await responseOf(port, path);
        expect([path, headers['strict-transport-security']]).toEqual([path, 'max-age=31536000']);
      }
      await expect(fetch(`http://127.0.0.1:${port}/api/v1/me`)).rejects.toThrow();
      expect((await fetch(`http://127.0.0.1:${metricsPort}/healthz`)).status).toBe(200);
      const ended = server.end('SIGTERM');
      expect(await ended).toMatchObject({ code: 0 });
    } finally {
      await programs.endAll();
      await database.drop();
    }
  });

  test('a renewed certificate is used by the next connection, and a wrong one is reported once and not used', async () => {
    const [first, second] = [authority.issue(subject), authority.issue(subject)];
    const paths = write('renewed', first);
    const current = readCertificate(paths);
    const lines: string[] = [];
    const logger = createLogger('info', { write: (line) => void lines.push(line) });
    const server = await HttpServer.listen((_request, response) => response.end('yes'), {
      host: '127.0.0.1',
      port: 0,
      ...variables,
      tls: current,
    });
    resources.defer(() => server.close(0));
    const watch = watchCertificate({
      look: lookIntoFiles(paths, current),
      renew: (pair) => server.renew(pair),
      logger,
      user: 'the API',
      intervalMs: 5,
    });
    resources.defer(() => watch.end());
    const serial = async (): Promise<string> => {
      const socket = await handshake(server.port);
      const { serialNumber } = socket.getPeerCertificate();
      socket.destroy();
      return serialNumber;
    };
    const before = await serial();
    writeFileSync(paths.keyFile, second.key);
    await waitFor('the fault', () => lines.length > 0);
    expect(await serial()).toBe(before);
    writeFileSync(paths.certificateFile, second.certificate);
    await waitFor('the new certificate', async () => (await serial()) !== before);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([
      'the new certificate of the API cannot be used: the former one stays in use',
      'the API uses the renewed certificate',
    ]);
    expect(lines.join('')).not.toContain('PRIVATE KEY');
  });
});

describe('the limits of connections', () => {
  test('count a connection before its handshake, and replace it first', async () => {
    const server = await listen({ maxConnectionsPerPeer: 2 });
    const silent = connect(server.port, '127.0.0.1');
    await once(silent, 'connect');
    const busy = await handshake(server.port);
    const isGone = once(silent, 'close');
    const next = await handshake(server.port);
    await isGone;
    expect([busy.destroyed, next.destroyed]).toEqual([false, false]);
    busy.destroy();
    next.destroy();
    await waitFor('the connections to be gone', () => server.connections === 0);
  });

  test('end a connection that never begins its handshake', async () => {
    const server = await listen({ headersTimeoutMs: 200, requestTimeoutMs: 200 });
    const silent = connect(server.port, '127.0.0.1');
    silent.on('error', () => undefined);
    await once(silent, 'close');
    await waitFor('the connection to be gone', () => server.connections === 0);
  });

  test('a connection that is unused does not hold up the end', async () => {
    const server = await listen();
    const unused = await handshake(server.port);
    const startMs = performance.now();
    await server.close(180_000);
    expect(performance.now() - startMs).toBeLessThan(90_000);
    unused.destroy();
  });
});

describe('the configuration is refused', () => {
  const rootKey = newRootKey();

  function faultsOf(tls: Readonly<Record<string, string>>): readonly string[] {
    const env = {
      KEYFRAME_DATABASE_URL: 'postgresql://a:b@c/d',
      KEYFRAME_ROOT_KEY: rootKey,
      ...Object.fromEntries(Object.entries(tls).map(([name, value]) => [`KEYFRAME_TLS_${name}`, value])),
    };
    try {
      loadServerConfig('api', { env, readTextFile: (path) => contents[path] ?? '' });
    } catch (error) {
      if (error instanceof ConfigError) return error.faults;
      throw error;
    }
    return [];
  }

  const pair = authority.issue(subject);
  const contents: Readonly<Record<string, string>> = {
    '/crt': pair.certificate,
    '/key': pair.key,
    '/other-key': authority.issue(subject).key,
    '/text': 'canary',
  };

  test.each([
    ['with one file', { CERTIFICATE_FILE: '/crt' }, 'needs KEYFRAME_TLS_KEY_FILE'],
    ['without a certificate', { CERTIFICATE_FILE: '/text', KEY_FILE: '/key' }, 'without a valid certificate in PEM'],
    ['without a key', { CERTIFICATE_FILE: '/crt', KEY_FILE: '/text' }, 'without a valid private key in PEM'],
    ['with the key of another one', { CERTIFICATE_FILE: '/crt', KEY_FILE: '/other-key' }, 'is for another key'],
  ])('%s', (_case, tls, fault) => {
    const faults = faultsOf(tls);
    expect(faults).toEqual([expect.stringContaining(fault)]);
    expect(faults.join('')).not.toContain('canary');
  });

  test('only then', () => expect(faultsOf({ CERTIFICATE_FILE: '/crt', KEY_FILE: '/key' })).toEqual([]));
});
