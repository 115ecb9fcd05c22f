import { existsSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { BodyOf } from '../../../src/client/call.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';
import { CliRunner } from '../../support/cli/cli.ts';

const token = 'kf_pat_of_a_test';
const user: BodyOf<'GET /me'> = {
  type: 'user',
  id: 'x',
  name: 'Ann',
  instanceAdmin: false,
  session: null,
  organizations: [],
  rolesByPlace: [],
  waitingInvitations: 0,
  serverVersion: '1.0.0',
  expiresAt: null,
};
const scope = ['-o', 'acme', '-p', 'shop', '-e', 'production'];
let cli: CliRunner;

/** A server that answers as a test wants, and keeps the Authorization headers that it is sent. */
let foreign: Server;
let foreignUrl: string;
const leaked: (string | undefined)[] = [];
let foreignAnswer: { status: number; headers?: Record<string, string>; body: string } = { status: 200, body: '' };

beforeAll(async () => {
  cli = await CliRunner.create();
  foreign = createServer((request, response) => {
    leaked.push(request.headers.authorization);
    response.writeHead(foreignAnswer.status, foreignAnswer.headers).end(foreignAnswer.body);
  });
  await new Promise<void>((resolve) => void foreign.listen(0, '127.0.0.1', resolve));
  foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
});

afterAll(() => {
  foreign.close();
  cli.remove();
});

afterEach(() => {
  leaked.length = 0;
});

describe('plain http to another machine', () => {
  // It leads to this machine and yet is no name of loopback to the command.
  const elsewhere = (): string => foreignUrl.replace('127.0.0.1', '0.0.0.0');

  test.each([
    ['whoami', ['whoami'], { KEYFRAME_TOKEN: token }],
    ['login', ['login', '--token', token], {}],
  ])('is refused before anything is sent: %s', async (_, args, env) => {
    const { code, stderr } = await cli.run([...args, '--url', elsewhere()], { env });
    expect(code).toBe(7);
    expect(stderr).toContain(`error: ${elsewhere()} is plain http on another machine`);
    expect(stderr).toContain(`Use https: ${elsewhere().replace('http:', 'https:')}`);
    expect(stderr).toContain('--insecure-http or set KEYFRAME_INSECURE_HTTP=1');
    expect(stderr).not.toContain(token);
    expect(leaked).toEqual([]);
  });

  test.each([
    ['the flag', ['--insecure-http'], undefined],
    ['the variable', [], '1'],
  ])('is used where %s allows it', async (_, flags, variable) => {
    const env = { KEYFRAME_URL: elsewhere(), KEYFRAME_TOKEN: token, KEYFRAME_INSECURE_HTTP: variable };
    await cli.run([...flags, 'whoami'], { env });
    expect(leaked).toEqual([`Bearer ${token}`]);
  });

  test('is not allowed by a variable that is 0, and one that is neither is an error', async () => {
    const env = { KEYFRAME_URL: elsewhere(), KEYFRAME_TOKEN: token };
    expect((await cli.run(['whoami'], { env: { ...env, KEYFRAME_INSECURE_HTTP: '0' } })).code).toBe(7);
    expect((await cli.run(['whoami'], { env: { ...env, KEYFRAME_INSECURE_HTTP: 'yes' } })).code).toBe(2);
    expect(leaked).toEqual([]);
  });

  test.each(['keyframe.keyframe.svc', 'localhost.example.com', '127.0.0.1.example.com', '[::2]', '128.0.0.1'])(
    'is what %s means',
    async (host) => {
      const env = { KEYFRAME_URL: `http://${host}:9`, KEYFRAME_TOKEN: token };
      expect((await cli.run(['whoami'], { env })).code).toBe(7);
    },
  );

  test.each(['localhost', '127.0.0.1', '127.1.2.3', '[::1]'])('is not what %s means', async (host) => {
    // An unused port: the request fails because nothing answers there.
    const { code } = await cli.run(['whoami'], { env: { KEYFRAME_URL: `http://${host}:9`, KEYFRAME_TOKEN: token } });
    expect(code).toBe(1);
  });
});

describe('what the server or the network does', () => {
  const run = async (address: string): Promise<{ code: number | null; stderr: string }> =>
    await cli.run(['whoami'], { env: { KEYFRAME_URL: address, KEYFRAME_TOKEN: token } });

  test('where nothing listens it ends with 1 and says so', async () => {
    const { code, stderr } = await run('http://127.0.0.1:9');
    expect(code).toBe(1);
    expect(stderr).toContain('http://127.0.0.1:9 cannot be reached: nothing listens there');
  });

  test('what is no Keyframe server ends with 1, and a redirection is not followed with the token', async () => {
    foreignAnswer = { status: 200, body: '<html>hello</html>' };
    expect(await run(foreignUrl)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not as Keyframe does'),
    });
    const redirections = [301, 302, 303, 307, 308];
    for (const status of redirections) {
      foreignAnswer = { status, headers: { location: '/elsewhere' }, body: '' };
      expect(await run(foreignUrl)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('redirects to another address'),
      });
    }
    expect(leaked).toHaveLength(1 + redirections.length);
  });

  test('JSON of another kind is reported as what it is, and login stores no token for it', async () => {
    const headers = { 'content-type': 'application/json' };
    for (const answer of [
      { body: 'null' },
      { body: '[]' },
      { body: '"x"' },
      { body: '{' },
      { status: 304, body: '' },
    ]) {
      foreignAnswer = { status: 200, headers, ...answer };
      expect(await run(foreignUrl)).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(/^error: .* answered (200|304), but not as Keyframe does/),
      });
    }
    foreignAnswer = { status: 200, headers, body: '{}' };
    const login = await cli.run(['login', '--url', foreignUrl, '--token', token]);
    expect(login).toMatchObject({ code: 1, stderr: expect.stringContaining('not as Keyframe does') });
    expect(existsSync(cli.userFile)).toBe(false);
  });

  test('a read is tried again where the server is just being replaced, a write is not', async () => {
    foreignAnswer = { status: 503, body: '' };
    expect((await run(foreignUrl)).code).toBe(1);
    expect(leaked).toHaveLength(3);
    const env = { KEYFRAME_URL: foreignUrl, KEYFRAME_TOKEN: token };
    expect((await cli.run(['snapshot', 'create', ...scope], { env })).code).toBe(1);
    expect(leaked).toHaveLength(4);
  });

  test('https needs a certificate that is trusted, of a known authority or of a named one', async () => {
    const authority = makeAuthority();
    const { certificate: cert, key } = authority.issue({ names: [], addresses: ['127.0.0.1'] });
    const server = createTlsServer(
      { cert, key },
      (request, response) => void foreign.emit('request', request, response),
    );
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const file = join(cli.folder, 'authority.pem');
    writeFileSync(file, authority.certificate);
    foreignAnswer = { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(user) };
    expect(await run(address)).toMatchObject({ code: 1, stderr: expect.stringContaining('NODE_EXTRA_CA_CERTS') });
    expect(leaked).toEqual([]);
    const env = { KEYFRAME_URL: address, KEYFRAME_TOKEN: token, NODE_EXTRA_CA_CERTS: file };
    expect(await cli.output(['whoami'], { env })).toContain('Ann');
    server.closeAllConnections();
    server.close();
  });

  test.each(['ftp://example.com', 'example.com', 'https://user:password@example.com', 'https://example.com/?x=1'])(
    'the address %s is refused before anything is sent',
    async (address) => {
      const { code, stderr } = await run(address);
      expect(code).toBe(2);
      expect(stderr).toMatch(/KEYFRAME_URL must be an address such as/);
      expect(stderr).not.toContain('password');
    },
  );

  test('control characters in the server’s answers do not reach a terminal', async () => {
    const me = { ...user, name: 'a\u001B[2Jb\nc\u202Ed' };
    foreignAnswer = { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(me) };
    const env = { KEYFRAME_URL: foreignUrl, KEYFRAME_TOKEN: token };
    expect(await cli.output(['whoami'], { env })).toContain(String.raw`User:          a\u{1b}[2Jb\nc\u{202e}d`);
  });
});
