import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { writeFolderFile } from '../../../src/cli/settings/folder-file.ts';
import { CliRunner } from '../../support/cli/cli.ts';
import { type TestApi, startTestApi } from '../../support/api/http.ts';
import { createWorld, type World } from '../../support/api/services.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';

let api: TestApi;
let world: World;
let cli: CliRunner;
let url: string;
let token: string;
let scope: string[];

/** The server of an attacker: it keeps the Authorization headers that it is sent. */
let foreign: Server;
let foreignUrl: string;
const leaked: (string | undefined)[] = [];

beforeAll(async () => {
  api = await startTestApi();
  world = await createWorld(api.services);
  url = `http://127.0.0.1:${api.port}`;
  token = world.owner.token.reveal();
  cli = await CliRunner.create();
  const { organization, project, environment } = world.slugs;
  scope = ['-o', organization, '-p', project, '-e', environment];
  foreign = createServer((request, response) => {
    leaked.push(request.headers.authorization);
    response.end('hello');
  });
  await new Promise<void>((resolve) => void foreign.listen(0, '127.0.0.1', resolve));
  foreignUrl = `http://127.0.0.1:${(foreign.address() as AddressInfo).port}`;
});

afterAll(async () => {
  foreign.close();
  cli.remove();
  await api.close();
});

afterEach(() => {
  rmSync(cli.userFile, { force: true });
  rmSync(join(cli.folder, '.keyframe.json'), { force: true });
  leaked.length = 0;
});

function stored(): unknown {
  return JSON.parse(readFileSync(cli.userFile, 'utf8'));
}

function storeUserFile(content: unknown, mode = 0o600): void {
  mkdirSync(dirname(cli.userFile), { recursive: true });
  writeFileSync(cli.userFile, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(cli.userFile, mode);
}

/** A folder file that the user trusts. */
function writeFolder(content: unknown): void {
  const path = join(cli.folder, '.keyframe.json');
  const text = JSON.stringify(content);
  writeFileSync(path, text);
  cli.trust(path, text);
}

describe('login', () => {
  test('tries the token, stores it for its owner alone, and later commands use it', async () => {
    const { code, stdout, stderr } = await cli.run(['login', '--url', `${url}/`, '--token', token]);
    expect(code).toBe(0);
    expect(stdout).toContain(world.owner.email);
    expect(stdout + stderr).not.toContain(token);
    expect(stored()).toEqual({ url, token });
    expect(statSync(cli.userFile).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(cli.userFile)).mode & 0o777).toBe(0o700);
    expect(await cli.json(['whoami'])).toMatchObject({ type: 'user', id: world.owner.id });
  });

  test('reads the token from standard input, or from a file', async () => {
    await cli.output(['login', '--url', url, '--token', '-'], { input: `${token}\n` });
    expect(stored()).toEqual({ url, token });
    rmSync(cli.userFile);
    writeFileSync(join(cli.folder, 'token.txt'), `${token}\n`);
    await cli.output(['login', '--url', url, '--token-file', 'token.txt']);
    expect(stored()).toEqual({ url, token });
  });

  test('asks for the token on a terminal and does not show it', async () => {
    const { shown, code } = await cli.onTerminal(['login', '--url', url], [[`Token for ${url}:`, `${token}\r`]]);
    expect(code).toBe(0);
    expect(shown).not.toContain(token);
    expect(stored()).toEqual({ url, token });
  });

  test('stores nothing where the server refuses the token, and ends with 3', async () => {
    const { code, stderr } = await cli.run(['login', '--url', url, '--token', 'kf_pat_wrong']);
    expect(code).toBe(3);
    expect(stderr).not.toContain('kf_pat_wrong');
    expect(() => stored()).toThrow('ENOENT');
  });

  test('without a token and a terminal it says how to give one', async () => {
    const { code, stderr } = await cli.run(['login', '--url', url]);
    expect(code).toBe(2);
    expect(stderr).toContain('--token - <');
  });

  test('warns where a variable will win over what it stored', async () => {
    const { stderr } = await cli.run(['login', '--url', url, '--token', token], { env: { KEYFRAME_TOKEN: 'other' } });
    expect(stderr).toContain('KEYFRAME_TOKEN');
  });

  test("does not send a token to the address of a folder's file unasked", async () => {
    writeFolder({ url: foreignUrl });
    expect((await cli.run(['login', '--token', token])).code).toBe(7);
    expect(leaked).toEqual([]);
  });

  test('logout forgets the token and keeps the address', async () => {
    await cli.output(['login', '--url', url, '--token', token]);
    await cli.output(['logout']);
    expect(stored()).toEqual({ url });
    const { code, stderr } = await cli.run(['whoami']);
    expect(code).toBe(3);
    expect(stderr).toContain(`keyframe login --url ${url}`);
    expect((await cli.run(['logout'])).stderr).toBe('No token is stored.\n');
  });
});

describe('token set', () => {
  test(`stores the token for later commands, from the argument or standard input ${sentence('4.9.9')}`, async () => {
    const env = { KEYFRAME_URL: url };
    await cli.output(['token', 'set', token], { env });
    expect(stored()).toEqual({ url, token });
    rmSync(cli.userFile);
    await cli.output(['token', 'set', '-'], { input: `${token}\n` });
    expect(stored()).toEqual({ token });
    const modes = [cli.userFile, dirname(cli.userFile)].map((path) => statSync(path).mode & 0o777);
    expect(modes).toEqual([0o600, 0o700]);
    expect((await cli.run(['whoami'], { env })).code).toBe(0);
  });

  test('refuses what is no token without repeating it', async () => {
    for (const wrong of ['swordfish-17', 'kf_svc_two words', '']) {
      const { code, stderr } = await cli.run(['token', 'set', wrong]);
      expect(code).toBe(2);
      expect(stderr).not.toContain('swordfish');
      expect(stderr).not.toContain('two words');
    }
  });
});

describe('where settings come from', () => {
  test('a file that others may read is repaired with a warning', async () => {
    storeUserFile({ url, token }, 0o644);
    const first = await cli.run(['whoami']);
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/^warning: others could read .* \(mode 644\)/);
    expect(statSync(cli.userFile).mode & 0o777).toBe(0o600);
    expect((await cli.run(['whoami'])).stderr).toBe('');
  });

  test('a file that is not as it must be ends with 2 and shows nothing of what it holds', async () => {
    for (const content of [`{"token": "${token}`, JSON.stringify({ token: 7 }), '[]x', 'null']) {
      storeUserFile(content);
      const { code, stderr } = await cli.run(['whoami']);
      expect(code).toBe(2);
      expect(stderr).toContain('keyframe login');
      expect(stderr).not.toContain(token);
    }
  });

  test('a folder in place of the file ends with 2, and so does a folder that init may not write into', async () => {
    mkdirSync(cli.userFile, { recursive: true });
    const read = await cli.run(['whoami']);
    expect(read).toMatchObject({ code: 2, stderr: expect.stringContaining('config.json is not a file') });
    rmSync(cli.userFile, { recursive: true });
    const fault = 'cannot be written (ENOENT)';
    expect(() => writeFolderFile(join(cli.folder, 'nowhere'), { organization: 'acme' })).toThrow(fault);
  });

  test('a flag wins over a variable, and that over the stored address', async () => {
    storeUserFile({ url: 'http://127.0.0.1:9', token });
    const env = { KEYFRAME_URL: 'http://127.0.0.1:9', KEYFRAME_TOKEN: token };
    expect((await cli.run(['--url', url, 'whoami'], { env })).code).toBe(0);
    expect((await cli.run(['whoami', '--url', url], { env })).code).toBe(0);
    expect((await cli.run(['whoami'], { env: { KEYFRAME_URL: url, KEYFRAME_TOKEN: token } })).code).toBe(0);
    expect((await cli.run(['whoami'], { env })).code).toBe(1);
  });

  test('a token comes from a file as well, and not from two places', async () => {
    writeFileSync(join(cli.folder, 'token.txt'), token);
    const env = { KEYFRAME_URL: url, KEYFRAME_TOKEN_FILE: join(cli.folder, 'token.txt') };
    expect((await cli.run(['whoami'], { env })).code).toBe(0);
    const both = await cli.run(['whoami'], { env: { ...env, KEYFRAME_TOKEN: token } });
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('keep one of them');
    const missing = await cli.run(['whoami'], { env: { ...env, KEYFRAME_TOKEN_FILE: '/nowhere' } });
    expect(missing.stderr).toContain('KEYFRAME_TOKEN_FILE names a file that cannot be read: there is no such file');
  });

  test("a stored token is sent to its own server and to no other, whatever a folder's file says", async () => {
    storeUserFile({ url, token });
    writeFolder({ url: foreignUrl });
    const led = await cli.run(['whoami']);
    expect(led.code).toBe(3);
    expect(led.stderr).toContain(`not for ${foreignUrl}`);
    expect((await cli.run(['whoami', '--url', foreignUrl])).code).toBe(3);
    storeUserFile({ token });
    expect((await cli.run(['whoami'])).code).toBe(3);
    expect(leaked).toEqual([]);
  });

  test.each([
    ['a variable', (): Record<string, string> => ({ KEYFRAME_TOKEN: token }), []],
    ['a file of a variable', (): Record<string, string> => ({ KEYFRAME_TOKEN_FILE: 'token.txt' }), []],
    ['a file of a flag', (): Record<string, string> => ({}), ['--token-file', 'token.txt']],
  ] as const)("the token of %s is not sent to a server that a folder's file alone names", async (_of, env, flags) => {
    writeFileSync(join(cli.folder, 'token.txt'), token);
    writeFolder({ url: foreignUrl });
    for (const user of [{}, { url, token }]) {
      storeUserFile(user);
      const { code, stderr } = await cli.run(['whoami', ...flags], { env: env() });
      expect(code).toBe(3);
      expect(stderr).toContain(`KEYFRAME_URL=${foreignUrl}`);
    }
    expect(leaked).toEqual([]);
    writeFolder({ url });
    expect((await cli.run(['whoami', ...flags], { env: env() })).code).toBe(0);
    writeFolder({ url: foreignUrl });
    await cli.run(['whoami', ...flags, '--url', foreignUrl], { env: env() });
    expect(leaked).toEqual([`Bearer ${token}`]);
  });

  test("the folder's file is found from below it, and what is wrong with it is reported", async () => {
    const env = { KEYFRAME_URL: url, KEYFRAME_TOKEN: token };
    const { organization, project, environment } = world.slugs;
    writeFolder({ organization, project, environment });
    mkdirSync(join(cli.folder, 'a', 'b'), { recursive: true });
    expect((await cli.run(['snapshot', 'list'], { env, folder: 'a/b' })).code).toBe(0);
    const other = await cli.run(['snapshot', 'list', '-p', 'other'], { env });
    expect(other.code).toBe(2);
    expect(other.stderr).toContain('-e <environment>');
    for (const wrong of [{ organisation: 'x' }, { organization: 1 }, []]) {
      writeFolder(wrong);
      const { code, stderr } = await cli.run(['snapshot', 'list'], { env });
      expect(code).toBe(2);
      expect(stderr).toContain('.keyframe.json');
    }
  });

  test('init writes the file of the folder once the environment is found', async () => {
    const env = { KEYFRAME_URL: url, KEYFRAME_TOKEN: token };
    const { organization, project, environment } = world.slugs;
    const missing = await cli.run(['init', '-o', organization, '-p', project, '-e', 'nowhere'], { env });
    expect(missing.code).toBe(5);
    await cli.output(['init', ...scope], { env });
    const file = join(cli.folder, '.keyframe.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ organization, project, environment });
    expect((await cli.run(['versions', 'NONE'], { env })).code).toBe(5);
    await cli.output(['init', '-e', environment, '--url', url], { env });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ url, organization, project, environment });
  });
});
