import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { audienceFor, jwtText, testAudience } from '../../support/ci/jwt-text.ts';
import { TokenServer } from '../../support/ci/token-server.ts';
import { CliRunner } from '../../support/cli/cli.ts';

const id = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
const place = ['-o', 'acme', '-p', 'shop', '-e', 'production'];

let cli: CliRunner;
let server: TokenServer;

beforeAll(async () => {
  cli = await CliRunner.create();
  server = await TokenServer.start();
});

afterAll(async () => {
  await server.close();
  cli.remove();
});

afterEach(() => {
  server.reset();
  rmSync(join(cli.folder, 'token'), { force: true });
});

/** A JWT that the server accepts. */
function goodJwt(): string {
  const jwt = jwtText();
  server.accepted.add(jwt);
  return jwt;
}

async function whoami(env: Readonly<Record<string, string>>): ReturnType<CliRunner['run']> {
  return await cli.run(['whoami'], { env: { KEYFRAME_URL: server.url, ...env } });
}

describe('KEYFRAME_TOKEN', () => {
  test('may be a JWT, which is sent as it is, and whose scope names the environment', async () => {
    const jwt = goodJwt();
    expect(await whoami({ KEYFRAME_TOKEN: `${jwt}\n` })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('ci'),
    });
    const { code, stdout } = await cli.run(['get', 'A'], { env: { KEYFRAME_URL: server.url, KEYFRAME_TOKEN: jwt } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hunter2' });
    expect(new Set(server.presented)).toEqual(new Set([jwt]));
  });

  test.each([
    ['that was cut', () => jwtText().split('.').slice(0, 2).join('.'), 'holds a JWT that has 2 parts of 3'],
    ['for another program', () => jwtText({ aud: 'https://kubernetes.default.svc' }), 'for the audience https://kub'],
    ['for several programs', () => jwtText({ aud: [testAudience, 'x'] }), 'holds a JWT for several audiences'],
    ['for a person', () => jwtText({ aud: 'keyframe' }), 'and not for one service token of Keyframe'],
  ])('is refused before anything is sent for a JWT %s', async (_what, make, message) => {
    const jwt = make();
    const { code, stderr } = await whoami({ KEYFRAME_TOKEN: jwt });
    expect(code).toBe(2);
    expect(stderr).toContain(`error: KEYFRAME_TOKEN`);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain(jwt.split('.')[1]);
    expect(server.presented).toEqual([]);
  });

  test('says of a JWT that the server refuses when it expired, and who sees what is wrong', async () => {
    const now = Math.floor(Date.now() / 1000);
    const jwt = jwtText({ aud: audienceFor(id), iat: now - 7500, exp: now - 7400 });
    const { code, stderr } = await whoami({ KEYFRAME_TOKEN: jwt });
    expect(code).toBe(3);
    expect(stderr).toContain('The JWT expired 2 h ago by the clock of this machine: request a new one');
    expect(stderr).toContain(`keyframe token explain ${id}`);
    expect(stderr).not.toContain('keyframe login');
    expect(server.presented).toEqual([jwt]);
    const later = await whoami({ KEYFRAME_TOKEN: jwtText() });
    expect(later).toMatchObject({ code: 3, stderr: expect.not.stringContaining('expired') });
  });

  test('is not stored if it is a JWT', async () => {
    const jwt = goodJwt();
    for (const args of [
      ['token', 'set', jwt],
      ['login', '--token', jwt],
    ]) {
      const { code, stderr } = await cli.run(args, { env: { KEYFRAME_URL: server.url } });
      expect(code).toBe(2);
      expect(stderr).toContain('holds a JWT, which ends soon and is not stored');
      expect(stderr).toContain('KEYFRAME_TOKEN_FILE');
    }
    expect(server.presented).toEqual([]);
  });
});

describe('KEYFRAME_TOKEN_FILE', () => {
  test('is read again if the server refuses the token, and the request is sent once more', async () => {
    const old = jwtText();
    const path = join(cli.folder, 'token');
    writeFileSync(path, old);
    const fresh = goodJwt();
    server.onToken = () => writeFileSync(path, `${fresh}\n`);
    expect(await whoami({ KEYFRAME_TOKEN_FILE: path })).toMatchObject({ code: 0 });
    expect(server.presented).toEqual([old, fresh]);
  });

  test('is not sent twice if the file still holds what was refused', async () => {
    writeFileSync(join(cli.folder, 'token'), jwtText());
    expect((await whoami({ KEYFRAME_TOKEN_FILE: 'token' })).code).toBe(3);
    expect(server.presented).toHaveLength(1);
  });

  test('is read again for each connection of a command that runs for long', async () => {
    const path = join(cli.folder, 'token');
    writeFileSync(path, goodJwt());
    const running = cli.start(['watch', ...place], { env: { KEYFRAME_URL: server.url, KEYFRAME_TOKEN_FILE: path } });
    await running.shows('Watching');
    const fresh = goodJwt();
    writeFileSync(path, fresh);
    server.accepted.delete(server.presented[0] ?? '');
    await running.shows('Connected again');
    // While it is being written, the token of before counts.
    writeFileSync(path, '');
    await running.shows('Connected again');
    running.process.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(server.presented.slice(-2)).toEqual([fresh, fresh]);
  });

  test.each([
    ['a substitution of the shell', 'KEYFRAME_TOKEN_FILE=<(printf %s "$JWT") keyframe get A'],
    // A second reading would wait for another writer.
    ['a named pipe', 'mkfifo token; printf %s "$JWT" > token & KEYFRAME_TOKEN_FILE=token timeout 20 keyframe get A'],
  ])('may be %s, which is read only once', async (_what, script) => {
    const jwt = goodJwt();
    const env = { KEYFRAME_URL: server.url, JWT: jwt };
    expect(await cli.bash(script, { env })).toMatchObject({ code: 0, stdout: 'hunter2' });
    // The scope of the token, and the value.
    expect(server.presented).toEqual([jwt, jwt]);
    server.accepted.clear();
    rmSync(join(cli.folder, 'token'), { force: true });
    expect(await cli.bash(script, { env })).toMatchObject({ code: 3 });
  });

  test.each([
    ['too large', () => writeFileSync(join(cli.folder, 'token'), 'x'.repeat(70_000)), 'is longer than 65536 bytes'],
    ['empty', () => writeFileSync(join(cli.folder, 'token'), '\n'), 'does not hold a token: it is empty'],
    ['not there', () => undefined, 'cannot be read: there is no such file'],
    [
      'a JWT that was cut',
      () => writeFileSync(join(cli.folder, 'token'), 'eyJhbGci'),
      'holds a JWT that has 1 part of 3',
    ],
  ])('that is %s is an error of usage', async (_what, make, message) => {
    make();
    const { code, stderr } = await whoami({ KEYFRAME_TOKEN_FILE: 'token' });
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    expect(server.presented).toEqual([]);
  });

  test('that this user may not read is named as such', async () => {
    const path = join(cli.folder, 'token');
    writeFileSync(path, goodJwt(), { mode: 0o000 });
    // Root may read every file, but not without its capabilities.
    const powerless = process.getuid?.() === 0 ? 'setpriv --inh-caps=-all --bounding-set=-all' : '';
    const env = { KEYFRAME_URL: server.url, KEYFRAME_TOKEN_FILE: path };
    const { code, stderr } = await cli.bash(`exec ${powerless} keyframe whoami`, { env });
    expect(stderr).toContain('KEYFRAME_TOKEN_FILE names a file that cannot be read: permission denied');
    expect(code).toBe(2);
  });
});
