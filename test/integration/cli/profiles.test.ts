import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { CliRunner } from '../../support/cli/cli.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';

const resources = new AsyncDisposableStack();
let api: TestApi;
let world: World;
let cli: CliRunner;
/** Two addresses of one server: to the command they are two servers. */
let urls: readonly [string, string];
let owner: string;
let viewer: string;

beforeAll(async () => {
  api = await startTestApi();
  resources.defer(() => api.close());
  world = await createWorld(api.services);
  urls = [`http://127.0.0.1:${api.port}`, `http://localhost:${api.port}`];
  [owner, viewer] = [world.owner.token.reveal(), world.viewer.token.reveal()];
  cli = await CliRunner.create();
  resources.defer(() => cli.remove());
});
afterEach(() => {
  rmSync(cli.userFile, { force: true });
  rmSync(join(cli.folder, '.keyframe.json'), { force: true });
});
afterAll(() => resources.disposeAsync());

async function login(token: string, ...flags: string[]): Promise<void> {
  await cli.output(['login', '--token', '-', ...flags], { input: token });
}

async function user(flags: string[] = [], env: Record<string, string> = {}): Promise<string> {
  return (await cli.output(['whoami', '--output', 'name', ...flags], { env })).trim();
}

describe('login to a second server', () => {
  test('keeps the token of the first one, and each server gets its own', async () => {
    await login(owner, '--url', urls[0]);
    await login(viewer, '--url', urls[1]);
    expect(await user()).toBe(world.viewer.email);
    expect(await user(['--url', urls[0]])).toBe(world.owner.email);
    expect(await user([], { KEYFRAME_URL: urls[0] })).toBe(world.owner.email);
    await login(owner, '--url', urls[0]);
    expect(await user()).toBe(world.owner.email);
    expect(await user(['--url', urls[1]])).toBe(world.viewer.email);
  });

  test('and a trusted .keyframe.json chooses between them', async () => {
    await login(owner, '--url', urls[0]);
    await login(viewer, '--url', urls[1]);
    const path = join(cli.folder, '.keyframe.json');
    const text = JSON.stringify({ url: urls[0] });
    writeFileSync(path, text);
    expect((await cli.run(['whoami'])).code).toBe(7);
    cli.trust(path, text);
    expect(await user()).toBe(world.owner.email);
  });

  test('login --list shows the servers and no token', async () => {
    expect((await cli.run(['login', '--list'])).stderr).toContain('No token is stored');
    await login(owner, '--url', urls[0]);
    await login(viewer, '--url', urls[1], '--profile', 'other');
    const { stdout } = await cli.run(['login', '--list']);
    expect(stdout).toBe(
      `PROFILE  SERVER${' '.repeat(urls[0].length - 6)}  DEFAULT\n-        ${urls[0]}  yes\nother    ${urls[1]}  -\n`,
    );
    expect(await cli.output(['login', '--list', '--output', 'name'])).toBe(`${urls[0]}\nother\n`);
  });

  test('logout removes the token of one server', async () => {
    await login(owner, '--url', urls[0]);
    await login(viewer, '--url', urls[1]);
    await cli.output(['logout', '--url', urls[0]]);
    expect((await cli.run(['whoami', '--url', urls[0]])).code).toBe(3);
    expect(await user()).toBe(world.viewer.email);
    await cli.output(['logout']);
    expect(readFileSync(cli.userFile, 'utf8')).not.toContain('kf_');
  });
});

describe('a profile', () => {
  test('is a second sign-in at the same server, by --profile or KEYFRAME_PROFILE', async () => {
    await login(owner, '--url', urls[0]);
    await login(viewer, '--url', urls[0], '--profile', 'reader');
    expect(await user()).toBe(world.owner.email);
    expect(await user(['--profile', 'reader'])).toBe(world.viewer.email);
    expect(await user([], { KEYFRAME_PROFILE: 'reader' })).toBe(world.viewer.email);
    // A flag takes precedence over variables, and a token in a variable over the name of a stored one.
    expect(await user(['--profile', 'reader'], { KEYFRAME_TOKEN: owner })).toBe(world.viewer.email);
    expect(await user([], { KEYFRAME_PROFILE: 'reader', KEYFRAME_TOKEN: owner })).toBe(world.owner.email);
  });

  test('brings its server', async () => {
    await login(viewer, '--url', urls[1], '--profile', 'reader');
    expect(await cli.output(['whoami', '--profile', 'reader'])).toContain(`Server:        ${urls[1]}`);
    expect((await cli.run(['whoami'])).code).not.toBe(0);
  });

  test('is sent to no other server, and one that does not exist says how to create it', async () => {
    await login(viewer, '--url', urls[1], '--profile', 'reader');
    const other = await cli.run(['whoami', '--profile', 'reader', '--url', urls[0]]);
    expect(other.code).toBe(3);
    expect(other.stderr).toContain(`profile reader is for ${urls[1]}, and its token is not sent to ${urls[0]}`);
    const unknown = await cli.run(['whoami', '--profile', 'redaer', '--url', urls[0]]);
    expect(unknown.code).toBe(3);
    expect(unknown.stderr).toContain('there is no profile redaer');
    expect(unknown.stderr).toContain('keyframe login --list');
  });

  test.each(['constructor', '__proto__', 'toString'])('that has no name of its own is none: %s', async (name) => {
    await login(viewer, '--url', urls[1], '--profile', 'reader');
    const { code, stderr } = await cli.run(['whoami', '--profile', name, '--url', urls[0]]);
    expect(code).toBe(3);
    expect(stderr).toContain(`there is no profile ${name}`);
    await login(viewer, '--url', urls[0], '--profile', name);
    expect(await user(['--profile', name])).toBe(world.viewer.email);
  });

  test('needs a name', async () => {
    const { code, stderr } = await cli.run(['login', '--token', '-', '--url', urls[0], '--profile', ''], {
      input: viewer,
    });
    expect(code).toBe(2);
    expect(stderr).toContain('--profile must not be empty');
  });

  test('is stored by token set, and removed by logout', async () => {
    expect((await cli.run(['token', 'set', '-', '--profile', 'ci'], { input: viewer })).code).toBe(2);
    await cli.output(['token', 'set', '-', '--profile', 'ci', '--url', urls[0]], { input: viewer });
    expect(await user(['--profile', 'ci'])).toBe(world.viewer.email);
    await cli.output(['logout', '--profile', 'ci']);
    expect((await cli.run(['whoami', '--profile', 'ci', '--url', urls[0]])).code).toBe(3);
  });

  test.each([
    { profiles: [] },
    { profiles: { a: 7 } },
    { profiles: { a: { url: 'http://127.0.0.1' } } },
    { tokens: 'kf_pat_secret' },
    { tokens: { 'http://127.0.0.1': { token: 'kf_pat_secret' } } },
  ])('in a malformed file is reported without its content: %j', async (content) => {
    await login(owner, '--url', urls[0]);
    writeFileSync(cli.userFile, JSON.stringify(content));
    const { code, stderr } = await cli.run(['whoami', '--url', urls[0]]);
    expect(code).toBe(2);
    expect(stderr).toContain('must be');
    expect(stderr).not.toContain('kf_pat_secret');
  });
});
