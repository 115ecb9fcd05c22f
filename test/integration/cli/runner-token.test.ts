import { readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { GitHubRunner } from '../../support/ci/github-runner.ts';
import { jwtText, testAudience } from '../../support/ci/jwt-text.ts';
import { TokenServer } from '../../support/ci/token-server.ts';
import { CliRunner } from '../../support/cli/cli.ts';

const place = ['-o', 'acme', '-p', 'shop', '-e', 'production'];

let cli: CliRunner;
let server: TokenServer;
let runner: GitHubRunner;
/** JWTs that the runner gave. */
const given: string[] = [];
let lifeSeconds = 300;
let isAccepted = true;

beforeAll(async () => {
  cli = await CliRunner.create();
  server = await TokenServer.start();
  runner = await GitHubRunner.start({
    jwtFor: (aud) => {
      const jwt = jwtText({ aud }, { lifeSeconds });
      given.push(jwt);
      if (isAccepted) server.accepted.add(jwt);
      return jwt;
    },
  });
});

afterAll(async () => {
  await runner.close();
  await server.close();
  cli.remove();
});

afterEach(() => {
  server.reset();
  for (const list of [given, runner.asked, runner.faults]) list.length = 0;
  lifeSeconds = 300;
  isAccepted = true;
});

async function whoami(
  env: Readonly<Record<string, string | undefined>>,
  args: readonly string[] = [],
): ReturnType<CliRunner['run']> {
  return await cli.run(['whoami', ...args], { env: { KEYFRAME_URL: server.url, ...env } });
}

describe('KEYFRAME_AUDIENCE', () => {
  const job = (): Record<string, string> => ({
    KEYFRAME_AUDIENCE: testAudience,
    GITHUB_ACTIONS: 'true',
    ...runner.variables,
  });

  test('lets the runner of GitHub give the JWT, once for the whole command, and nothing is stored', async () => {
    const { code, stdout } = await cli.run(['get', 'A'], { env: { KEYFRAME_URL: server.url, ...job() } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'hunter2' });
    expect(runner.asked).toEqual([testAudience]);
    expect(server.presented).toEqual([given[0], given[0]]);
    const files = readdirSync(join(cli.folder, '..'), { recursive: true, withFileTypes: true });
    expect(files.filter((file) => file.isFile()).map(({ name }) => name)).toEqual([]);
  });

  test('is named by status as where the token comes from', async () => {
    const { stdout } = await cli.run(['status', ...place], { env: { KEYFRAME_URL: server.url, ...job() } });
    expect(stdout).toMatch(/^Token: +from KEYFRAME_AUDIENCE$/m);
    expect(stdout).toMatch(/^Service token: +ci$/m);
  });

  test('counts only without another token', async () => {
    const jwt = jwtText();
    server.accepted.add(jwt);
    writeFileSync(join(cli.folder, 'token'), jwt);
    expect((await whoami({ ...job(), KEYFRAME_TOKEN: jwt })).code).toBe(0);
    expect((await whoami({ ...job(), KEYFRAME_TOKEN_FILE: 'token' })).code).toBe(0);
    expect((await whoami(job(), ['--token-file', 'token'])).code).toBe(0);
    expect(runner.asked).toEqual([]);
    expect(server.presented).toEqual([jwt, jwt, jwt]);
  });

  test.each(['keyframe', 'keyframe/x/service-tokens/y', `${testAudience}/z`, 'https://github.com/acme'])(
    'that is %s is an error before anything is sent',
    async (audience) => {
      const { code, stderr } = await whoami({ ...job(), KEYFRAME_AUDIENCE: audience });
      expect(code).toBe(2);
      expect(stderr).toContain('KEYFRAME_AUDIENCE must have the form keyframe/<instance>/service-tokens/<id>');
      expect(runner.asked).toEqual([]);
    },
  );

  test('in a job without the permission says which one is missing', async () => {
    for (const missing of Object.keys(runner.variables)) {
      const { code, stderr } = await whoami({ ...job(), [missing]: undefined });
      expect(code).toBe(3);
      expect(stderr).toContain('it lacks `permissions: id-token: write`');
    }
    // Also if the scope of the token would name the environment.
    const list = await cli.run(['list'], {
      env: { KEYFRAME_URL: server.url, ...job(), ACTIONS_ID_TOKEN_REQUEST_URL: '' },
    });
    expect(list).toMatchObject({ code: 3, stderr: expect.stringContaining('id-token: write') });
    expect(server.presented).toEqual([]);
  });

  test('outside GitHub says what to set there', async () => {
    const { code, stderr } = await whoami({ KEYFRAME_AUDIENCE: testAudience });
    expect(code).toBe(3);
    expect(stderr).toContain('is no job of GitHub Actions');
    expect(stderr).toContain('Elsewhere set KEYFRAME_TOKEN or KEYFRAME_TOKEN_FILE');
  });

  test.each([
    ['refuses', [{ status: 403 }], 3, 'gave no JWT: it answered 403', 1],
    ['redirects', [{ status: 302, headers: { location: '/elsewhere' } }], 1, 'answered 302 without a token', 1],
    ['says nothing', [{ status: 200, body: '' }], 1, 'answered 200 without a token', 1],
    ['gives no value', [{ status: 200, body: '{"value":1}' }], 1, 'answered 200 without a token', 1],
    ['gives what is no JWT', [{ status: 200, body: '{"value":"a.b"}' }], 2, 'holds a JWT that has 2 parts of 3', 1],
    ['answers without an end', [{ status: 200, body: 'x'.repeat(70_000) }], 1, 'that is longer than 65536 bytes', 1],
    ['fails three times', [{ status: 500 }, undefined, { status: 503 }], 1, 'answered 503 without a token', 3],
  ])('reports a runner that %s', async (...[, faults, exitCode, message, requests]) => {
    runner.faults.push(...faults);
    const { code, stderr } = await whoami(job());
    expect(stderr).toContain(message);
    expect(code).toBe(exitCode);
    expect(stderr).not.toContain(runner.requestToken);
    expect(runner.asked).toHaveLength(requests);
    expect(server.presented).toEqual([]);
  });

  test('is tried again if the runner fails for a moment', async () => {
    runner.faults.push({ status: 503 }, undefined);
    expect((await whoami(job())).code).toBe(0);
    expect(runner.asked).toHaveLength(3);
  });

  test('reports a runner that cannot be reached, and one that is silent', async () => {
    const away = await whoami({ ...job(), ACTIONS_ID_TOKEN_REQUEST_URL: 'http://127.0.0.1:9/?api-version=2.0' });
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('cannot be reached: nothing listens there'),
    });
    const silent = createServer(() => undefined);
    await new Promise<void>((resolve) => void silent.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const waited = await whoami({ ...job(), ACTIONS_ID_TOKEN_REQUEST_URL: address }, ['--timeout', '1']);
    expect(waited).toMatchObject({ code: 1, stderr: expect.stringContaining('has not answered in time') });
    silent.closeAllConnections();
    silent.close();
  });

  test.each(['http://0.0.0.0:9/', 'ftp://127.0.0.1/', 'x'])('sends its token to no runner at %s', async (address) => {
    const { code, stderr } = await whoami({ ...job(), ACTIONS_ID_TOKEN_REQUEST_URL: address });
    expect(code).toBe(7);
    expect(stderr).toContain('ACTIONS_ID_TOKEN_REQUEST_URL must be an https address; nothing was sent');
  });

  test('asks once for a JWT that the server refuses at once', async () => {
    isAccepted = false;
    expect((await whoami(job())).code).toBe(3);
    expect(runner.asked).toHaveLength(1);
    expect(server.presented).toHaveLength(1);
  });

  test('asks again before a JWT ends, in a command that runs for long', async () => {
    lifeSeconds = 1;
    const running = cli.start(['watch', ...place], { env: { KEYFRAME_URL: server.url, ...job() } });
    await running.shows('Watching');
    await running.shows('Connected again');
    server.accepted.delete(given[0] ?? '');
    await running.shows('Connected again');
    running.process.kill('SIGINT');
    const { code, stderr } = await running.ended;
    expect(code).toBe(130);
    expect(stderr).not.toContain('error');
    expect(given.length).toBeGreaterThan(1);
    expect(new Set(server.presented).size).toBe(given.length);
  });
});

test.each([
  ['with KEYFRAME_AUDIENCE', true, [], []],
  ['with --keep-token', true, ['--keep-token'], ['ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_URL']],
  ['without', false, [], ['ACTIONS_ID_TOKEN_REQUEST_TOKEN', 'ACTIONS_ID_TOKEN_REQUEST_URL']],
])('run hands on what asks the runner, %s', async (_what, isAsked, flags, handed) => {
  const jwt = jwtText();
  server.accepted.add(jwt);
  const env = { KEYFRAME_URL: server.url, ...runner.variables, GITHUB_ACTIONS: 'true' };
  const token = isAsked ? { KEYFRAME_AUDIENCE: testAudience } : { KEYFRAME_TOKEN: jwt };
  const args = ['run', ...flags, ...place, '--', process.execPath, '-p', 'JSON.stringify(process.env)'];
  const variables = JSON.parse(await cli.output(args, { env: { ...env, ...token } })) as Record<string, string>;
  expect(variables).toMatchObject({ A: 'hunter2' });
  expect(
    Object.keys(variables)
      .filter((name) => name.startsWith('ACTIONS_'))
      .sort(),
  ).toEqual(handed);
  expect(variables).not.toHaveProperty('KEYFRAME_TOKEN');
});
