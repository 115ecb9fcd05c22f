import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type Server, createServer as createPlainServer } from 'node:http';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { StatusOutput } from '../../../src/cli/output/shapes.ts';
import { CliRunner, type CommandOptions } from '../../support/cli/cli.ts';
import type { CommandEnd } from '../../support/cli/running-command.ts';
import { ConnectProxy } from '../../support/faults/connect-proxy.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';

const token = 'kf_pat_of_a_test';
const authority = makeAuthority();
const resources = new AsyncDisposableStack();
const scope = ['-o', 'acme', '-p', 'shop', '-e', 'production'];
const serverUrl = 'https://keyframe.test';
let cli: CliRunner;
let authorityFile: string;
let secure: Server;
let plain: Server;
let proxy: ConnectProxy;
/** The Authorization headers that the server got. */
const tokens: (string | undefined)[] = [];

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

async function proxyTo(server: Server, isSecure = false): Promise<ConnectProxy> {
  const certificate = authority.issue({ names: [], addresses: ['127.0.0.1'] });
  const made = await ConnectProxy.start({ target: portOf(server), ...(isSecure ? { certificate } : {}) });
  resources.defer(() => made.close());
  return made;
}

beforeAll(async () => {
  const { certificate: cert, key } = authority.issue({ names: ['keyframe.test'], addresses: ['192.0.2.1'] });
  const body = JSON.stringify({ key: 'A', value: 'hunter2', version: 1 });
  const answer: Parameters<typeof createPlainServer>[1] = ({ headers }, response) => {
    tokens.push(headers.authorization);
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  };
  secure = createServer({ cert, key }, answer);
  plain = createPlainServer(answer);
  for (const server of [secure, plain]) {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    resources.defer(() => {
      server.closeAllConnections();
      server.close();
    });
  }
  proxy = await proxyTo(secure);
  cli = await CliRunner.create({ token: { reveal: () => token } });
  resources.defer(() => cli.remove());
  authorityFile = join(cli.folder, 'authority.pem');
  writeFileSync(authorityFile, authority.certificate);
});
afterAll(() => resources.disposeAsync());
afterEach(() => {
  proxy.answer = undefined;
  for (const list of [tokens, proxy.asked, proxy.credentials, proxy.readTokens]) list.length = 0;
});

/** `keyframe get A` of a server behind the proxy. */
async function get(env: CommandOptions['env'] = {}, ...flags: readonly string[]): Promise<CommandEnd> {
  const known = { KEYFRAME_URL: serverUrl, NODE_EXTRA_CA_CERTS: authorityFile, HTTPS_PROXY: proxy.url() };
  return await cli.run(['get', 'A', ...scope, ...flags], { env: { ...known, ...env } });
}

describe('a server of https behind a proxy', () => {
  test('is reached through a tunnel, in which the proxy reads no token', async () => {
    expect(await get()).toMatchObject({ code: 0, stdout: 'hunter2', stderr: '' });
    expect(proxy.asked).toEqual(['CONNECT keyframe.test:443']);
    expect([proxy.credentials, proxy.readTokens]).toEqual([[undefined], [undefined]]);
    expect(tokens).toEqual([`Bearer ${token}`]);
  });

  test('is reached by its IP address', async () => {
    expect(await get({ KEYFRAME_URL: 'https://192.0.2.1:8443' })).toMatchObject({ code: 0, stdout: 'hunter2' });
    expect(proxy.asked).toEqual(['CONNECT 192.0.2.1:8443']);
  });

  test('is reached through an https proxy', async () => {
    const other = await proxyTo(secure, true);
    expect(await get({ HTTPS_PROXY: other.url('ada:x@') })).toMatchObject({ code: 0, stdout: 'hunter2', stderr: '' });
    expect(other.credentials).toEqual([`Basic ${Buffer.from('ada:x').toString('base64')}`]);
  });

  test('must have a certificate with its own name', async () => {
    const { code, stderr } = await get({ KEYFRAME_URL: 'https://other.test' });
    expect(code).toBe(1);
    expect(stderr).toContain('CERT_ALTNAME_INVALID');
    expect(stderr).toContain(`https://other.test (through the proxy ${proxy.url()} of HTTPS_PROXY) cannot be reached`);
    expect(tokens).toEqual([]);
  });

  test('gets the user and password of the variable at the proxy, decoded', async () => {
    await get({ HTTPS_PROXY: proxy.url('ada:pass%3Aword%C3%A9@') });
    expect(proxy.credentials).toEqual([`Basic ${Buffer.from('ada:pass:wordé').toString('base64')}`]);
  });

  test('is asked for completions through it', async () => {
    const { stdout } = await cli.run(['__complete', '--', 'get', ...scope, ''], {
      env: { KEYFRAME_URL: serverUrl, NODE_EXTRA_CA_CERTS: authorityFile, HTTPS_PROXY: proxy.url() },
    });
    expect(stdout).toContain(':');
    expect(proxy.asked).toContain('CONNECT keyframe.test:443');
  });

  test('is named with its proxy by status, without the password', async () => {
    const env = { KEYFRAME_URL: serverUrl, HTTPS_PROXY: proxy.url('ada:hunter3@') };
    const { stdout, stderr } = await cli.run(['status', '--output', 'json'], { env });
    expect((JSON.parse(stdout) as StatusOutput).server.proxy).toEqual({ url: proxy.url(), source: 'HTTPS_PROXY' });
    const table = await cli.run(['status'], { env });
    expect(table.stdout).toContain(`${proxy.url()} (HTTPS_PROXY)`);
    expect(stdout + stderr + table.stdout + table.stderr).not.toContain('hunter3');
  });
});

describe('a proxy that does not pass requests on', () => {
  const advice = 'NO_PROXY=keyframe.test';

  test.each([
    ['without a user', '', 'demands a user and a password'],
    ['with a user', 'ada:hunter3@', 'does not accept the user and password of the variable'],
  ])('answers 407 %s', async (_, credentials, message) => {
    proxy.answer = 407;
    const { code, stderr } = await get({ HTTPS_PROXY: proxy.url(credentials) });
    expect(code).toBe(1);
    expect(stderr).toContain(`error: the proxy ${proxy.url()} of HTTPS_PROXY ${message}\n`);
    expect(stderr).toContain('http://USER:PASSWORD@proxy.example.com:3128');
    expect(stderr).toContain(advice);
    expect(stderr).not.toContain('hunter3');
    expect(proxy.asked).toHaveLength(1);
  });

  test('answers 403', async () => {
    proxy.answer = 403;
    const { code, stderr } = await get();
    expect(code).toBe(1);
    expect(stderr).toContain(`of HTTPS_PROXY does not connect to ${serverUrl}: it answered 403\n`);
    expect(stderr).toContain(advice);
  });

  test('is dead, for reads and writes', async () => {
    const env = { KEYFRAME_URL: serverUrl, https_proxy: 'http://ada:hunter3@127.0.0.1:9' };
    for (const args of [
      ['get', 'A'],
      ['set', 'A=1'],
    ]) {
      const { code, stderr } = await cli.run([...args, ...scope], { env });
      expect(code).toBe(1);
      expect(stderr).toContain(
        'error: the proxy http://127.0.0.1:9 of https_proxy cannot be reached: nothing listens there\n',
      );
      expect(stderr).toContain(advice);
      expect(stderr).not.toMatch(/may have been made|hunter3/);
    }
  });

  test('never answers', async () => {
    proxy.answer = 'nothing';
    const { code, stderr } = await get({}, '--timeout', '1');
    expect(code).toBe(1);
    expect(stderr).toContain(`error: the proxy ${proxy.url()} of HTTPS_PROXY has not answered for 1 second\n`);
    expect(stderr).toContain('--timeout <seconds>');
  });

  test('speaks no HTTP', async () => {
    const other = createTcpServer((socket) => void socket.on('error', () => undefined).end('SSH-2.0\r\n'));
    await once(other.listen(0, '127.0.0.1'), 'listening');
    resources.defer(() => void other.close());
    const { code, stderr } = await get({ HTTPS_PROXY: `127.0.0.1:${(other.address() as AddressInfo).port}` });
    expect(code).toBe(1);
    expect(stderr).toContain('of HTTPS_PROXY cannot be reached: it does not speak HTTP\n');
  });

  test('is malformed in its variable', async () => {
    const { code, stderr } = await get({ HTTPS_PROXY: 'socks5://ada:hunter3@proxy:1080' });
    expect(code).toBe(2);
    expect(stderr).toContain('error: HTTPS_PROXY must be the address of an http or https proxy\n');
    expect(stderr).not.toContain('hunter3');
  });
});

describe('a server that needs no proxy', () => {
  test('is connected to directly if NO_PROXY names it', async () => {
    const { code, stderr } = await get({ NO_PROXY: 'test' });
    expect(code).toBe(1);
    expect(stderr).toContain(`error: ${serverUrl} cannot be reached`);
    expect(proxy.asked).toEqual([]);
  });

  test('is this machine, whatever the variables of the command and of Node.js say', async () => {
    const env = {
      KEYFRAME_URL: `http://127.0.0.1:${portOf(plain)}`,
      HTTP_PROXY: proxy.url(),
      http_proxy: proxy.url(),
      NODE_USE_ENV_PROXY: '1',
    };
    expect(await get(env)).toMatchObject({ code: 0, stdout: 'hunter2' });
    expect(proxy.asked).toEqual([]);
    expect(tokens).toEqual([`Bearer ${token}`]);
  });
});

describe('a server of http behind a proxy', () => {
  const env = { KEYFRAME_URL: 'http://keyframe.test:8700', KEYFRAME_INSECURE_HTTP: '1' };

  test('gets requests with its whole address', async () => {
    const other = await proxyTo(plain);
    expect(await get({ ...env, HTTP_PROXY: other.url('ada:x@') })).toMatchObject({ code: 0, stdout: 'hunter2' });
    expect(other.asked).toEqual(['GET http://keyframe.test:8700/api/v1/secrets/acme/shop/production/A']);
    expect(other.credentials).toEqual([`Basic ${Buffer.from('ada:x').toString('base64')}`]);
  });

  test('may have made a change that it was sent before it was silent', async () => {
    const other = await proxyTo(plain);
    other.answer = 'nothing';
    const { code, stderr } = await cli.run(['set', 'A=1', ...scope, '--timeout', '1'], {
      env: { ...env, HTTP_PROXY: other.url() },
    });
    expect(code).toBe(1);
    expect(stderr).toContain(`error: ${env.KEYFRAME_URL} has not answered for 1 second\n`);
    expect(stderr).toContain('may have been made');
  });

  test('is not reached if the proxy refuses', async () => {
    const other = await proxyTo(plain);
    other.answer = 407;
    const { code, stderr } = await get({ ...env, HTTP_PROXY: other.url() });
    expect(code).toBe(1);
    expect(stderr).toContain('of HTTP_PROXY demands a user and a password\n');
  });
});
