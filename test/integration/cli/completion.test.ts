import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { installPackages } from '../../../tools/devcluster/image/make-image.ts';
import { Tools } from '../../../tools/devcluster/image/tools.ts';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';
import { TestSyncReader } from '../../support/api/sync-reader.ts';
import type { RunningCommand } from '../../support/cli/running-command.ts';
import { prismaOf } from '../../support/database/prisma.ts';
import { endlessLookup, unresolvedUrl } from '../../support/faults/endless-lookup.ts';

const canary = 'swordfish-canary-4711';
let site: CliSite;
let folder: CliFolder;

withCliSite(async (given) => {
  site = given;
  folder = await site.newFolder();
  await folder.patch({ set: { DATABASE_URL: canary, DATABASE_PASSWORD: canary, API_KEY: canary } });
  await folder.patch({ set: { API_KEY: `${canary}-2` } });
});

type Env = Record<string, string | undefined>;

/** Without it a slow machine leaves out what the server knows. */
const patient = ['--timeout', '60'];

/** What `keyframe __complete` offers for these words, with patience for the server. */
function offered(words: readonly string[], env: Env = {}): Promise<string[]> {
  return offeredSoon([...patient, ...words], env);
}

/** What it offers for these words alone: the candidates without descriptions, and the directive last. */
async function offeredSoon(words: readonly string[], env: Env = {}): Promise<string[]> {
  const { code, stdout, stderr } = await folder.run(['__complete', '--', ...words], { env });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toContain('swordfish');
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t')[0] ?? '');
}

describe('__complete offers', () => {
  test('keys of the environment of the folder, or of the flags', async () => {
    expect(await offered(['get', 'DATA'])).toEqual(['DATABASE_PASSWORD', 'DATABASE_URL', ':words']);
    expect(await offered(['unset', 'API_KEY', ''])).toEqual(['API_KEY', 'DATABASE_PASSWORD', 'DATABASE_URL', ':words']);
    expect(await offered(['edit', 'API'])).toEqual(['API_KEY', ':words']);
    expect(await offered(['edit', '--format', ''])).toEqual(['env', 'yaml', 'json', ':words']);
    expect(await offered(['edit', '--draft', ''])).toEqual([':files']);
    expect(await offered(['get', '-e', 'no-such', ''])).toEqual([':words']);
    const { organization, project } = site.world.slugs;
    const other = await site.newFolder();
    await other.patch({ set: { OTHER: canary } });
    const { environment } = other.scope;
    expect(await offered(['get', '-o', organization, `--project=${project}`, '--env', environment, ''])).toEqual([
      'OTHER',
      ':words',
    ]);
  });

  test('slugs of organizations, projects and environments', async () => {
    const { organization, project } = site.world.slugs;
    expect(await offered(['list', '-o', ''])).toContain(organization);
    expect(await offered(['list', `--org=${organization.slice(0, 2)}`])).toContain(organization);
    expect(await offered(['list', '-p', ''])).toContain(project);
    expect(await offered(['project', 'show', ''])).toContain(project);
    expect(await offered(['list', '-e', ''])).toContain(folder.scope.environment);
    expect(await offered(['env', 'delete', ''])).toContain(folder.scope.environment);
  });

  test('slugs of what is deleted, to undelete and purge', async () => {
    const { organization, project } = site.world.slugs;
    const run = async (...words: string[]): Promise<void> => {
      expect(await folder.run(words)).toMatchObject({ code: 0 });
    };
    await run('org', 'create', 'gone-org');
    await run('org', 'delete', 'gone-org', '--yes');
    await run('project', 'create', 'gone-project', '-o', organization);
    await run('project', 'delete', 'gone-project', '-o', organization, '--yes');
    await run('env', 'create', 'gone-env', '-o', organization, '-p', project);
    await run('env', 'delete', 'gone-env', '-o', organization, '-p', project, '--yes');
    for (const verb of ['undelete', 'purge']) {
      expect(await offered(['org', verb, ''])).toEqual(['gone-org', ':words']);
      expect(await offered(['project', verb, ''])).toEqual(['gone-project', ':words']);
      expect(await offered(['env', verb, ''])).toEqual(['gone-env', ':words']);
    }
  });

  test('versions of the key that was given', async () => {
    expect(await offered(['rollback', 'API_KEY', '--version', ''])).toEqual(['2', '1', ':words']);
    expect(await offered(['get', 'DATABASE_URL', '--version', ''])).toEqual(['1', ':words']);
    expect(await offered(['set', 'API_KEY=x', '--expected-version', ''])).toEqual(['2', '1', ':words']);
    expect(await offered(['rollback', '--version', ''])).toEqual([':words']);
  });

  test('ids of snapshots and tokens, with their names as descriptions', async () => {
    const id = (await folder.output(['snapshot', 'create', '-n', 'before release', '--output', 'name'])).trim();
    expect(await offered(['snapshot', 'restore', ''])).toEqual([id, ':words']);
    const { stdout } = await folder.run(['__complete', '--', ...patient, 'snapshot', 'show', '']);
    expect(stdout).toContain(`${id}\tbefore release `);
    const create = ['token', 'create-service', '-n', 'ci', '-s', 'organization', '-p', 'read', '--output', 'json'];
    const token = JSON.parse((await folder.run(create)).stdout) as { id: string; token: string };
    const { organization } = site.world.slugs;
    const words = ['token', 'revoke-service', '-o', organization, '--id', ''];
    expect(await offered(words)).toContain(token.id);
    expect((await folder.run(['__complete', '--', ...patient, ...words])).stdout).not.toContain(token.token);
    const personal = JSON.parse(await folder.output(['token', 'list', '--output', 'json'])) as {
      personalTokens: { id: string }[];
    };
    expect((await offered(['token', 'revoke', ''])).slice(0, -1)).toEqual(personal.personalTokens.map((one) => one.id));
  });

  test('to revoke or rotate only live tokens, and to reinstate only revoked keyless ones', async () => {
    const { services } = site.api;
    const { organization } = site.world.slugs;
    const past = new Date(Date.now() - 60_000);
    const valued = async (): Promise<string> => (await site.world.serviceToken()).id;
    const [live, revoked, expired] = [await valued(), await valued(), await valued()];
    const keyless = async (namespace: string): Promise<string> =>
      (await new TestSyncReader(services, site.world, { namespace }).enter()).tokenId;
    const [kept, barred] = [await keyless('kept'), await keyless('barred')];
    for (const id of [revoked, barred]) {
      await folder.output(['token', 'revoke-service', '--yes', '-o', organization, '--id', id]);
    }
    const where = { serviceTokenId: expired };
    await prismaOf(services.database).serviceTokenCredential.updateMany({ where, data: { expiresAt: past } });
    for (const verb of ['revoke-service', 'rotate-service']) {
      const ids = await offered(['token', verb, '-o', organization, '--id', '']);
      expect(ids).toEqual(expect.arrayContaining([live, kept]));
      for (const ended of [revoked, expired, barred]) expect(ids).not.toContain(ended);
    }
    expect(await offered(['token', 'reinstate', '-o', organization, '--id', ''])).toEqual([barred, ':words']);
    const personal = await folder.json<{ id: string }>(['token', 'create', '-n', 'short']);
    expect(await offered(['token', 'revoke', ''])).toContain(personal.id);
    await folder.output(['token', 'revoke', '--yes', personal.id]);
    expect(await offered(['token', 'revoke', ''])).not.toContain(personal.id);
  });

  test('commands, flags, choices, files and the program of run without a server', async () => {
    const env = { KEYFRAME_TOKEN: undefined };
    expect(await offeredSoon(['snapshot', 'res'], env)).toEqual(['restore', ':words']);
    expect(await offeredSoon(['list', '--rev'], env)).toEqual(['--revision', '--reveal', ':words']);
    expect(await offeredSoon(['list', '--output=j'], env)).toEqual(['json', ':words']);
    expect(await offeredSoon(['push', ''], env)).toEqual([':files']);
    expect(await offeredSoon(['run', '-e', 'x', '--', 'git', ''], env)).toEqual([':program 5']);
    expect(await offeredSoon(['no-such-command', ''], env)).toEqual([':words']);
    expect(await offeredSoon(['help', 'snapshot', 'res'], env)).toEqual(['restore', ':words']);
    expect(await offeredSoon([], env)).toContain('snapshot');
  });
});

describe('__complete is silent', () => {
  test('and sends no request without a token, or in a folder that is not trusted', async () => {
    let requests = 0;
    const server = createServer((_, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await offered(['get', ''], { KEYFRAME_URL: url, KEYFRAME_TOKEN: undefined })).toEqual([':words']);
    expect(requests).toBe(0);
    const other = await site.newFolder();
    rmSync(join(dirname(other.userFile), 'trusted-folders.json'));
    const untrusted = await other.run(['__complete', '--', 'get', ''], { env: { KEYFRAME_URL: url } });
    expect(untrusted).toMatchObject({ code: 0, stdout: ':words\n', stderr: '' });
    expect(requests).toBe(0);
    expect(await offered(['get', ''], { KEYFRAME_URL: url })).toEqual([':words']);
    expect(requests).toBe(1);
    server.close();
  });

  test('about a value that is being typed, which it sends nowhere', async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer(({ url: path }, response) => {
      asked.push(path);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ secrets: [] }));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const env = { KEYFRAME_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    for (const words of [[`API_KEY=${canary}`], ['API_KEY', '=', canary], ['A=1', `API_KEY=${canary} and more`]]) {
      expect(await offered(['set', ...words], env)).toEqual([':words']);
    }
    expect(asked).toEqual([]);
    expect(await offered(['set', 'A=1', 'API'], env)).toEqual([':words']);
    expect(asked).toEqual([expect.stringContaining('prefix=API')]);
    expect(await offered(['set', `API_KEY=${canary}`, '--expected-version', ''], env)).toEqual([':words']);
    expect(await offered(['set', `API KEY${canary}`, '--expected-version', ''], env)).toEqual([':words']);
    expect(asked.slice(1)).toEqual([expect.stringMatching(/\/API_KEY\?limit=\d+$/)]);
    server.close();
  });

  test('about a server that does not answer, after about a second, and about one that is not there', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const begin = performance.now();
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await offeredSoon(['get', ''], { KEYFRAME_URL: url })).toEqual([':words']);
    expect(performance.now() - begin).toBeLessThan(60_000);
    expect(await offeredSoon(['get', ''], { KEYFRAME_URL: 'http://127.0.0.1:9' })).toEqual([':words']);
    server.closeAllConnections();
    server.close();
  });

  test('about a server that answers later, unless --timeout waits for it', async () => {
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      setTimeout(() => response.end(JSON.stringify({ secrets: [{ key: 'LATE', version: 1 }] })), 2_000);
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const env = { KEYFRAME_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
    expect(await offered(['get', ''], env)).toEqual(['LATE', ':words']);
    expect(await offeredSoon(['--timeout', '0', 'get', ''], env)).toEqual([':words']);
    server.closeAllConnections();
    server.close();
  });

  test('about a server whose name is looked up without end, after about a second', async () => {
    const own = await site.newFolder();
    const env = { ...endlessLookup(own.folder), KEYFRAME_URL: unresolvedUrl };
    const { code, stdout, stderr } = await own.run(['__complete', '--', 'get', ''], { env });
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: ':words\n', stderr: 'the lookup has begun\n' });
  });

  test('about words from the server that a shell would run', async () => {
    const secrets = ['$(touch hacked)', '`id`', 'A B', ';ls', '--yes', 'GOOD'].map((key) => ({ key, version: 1 }));
    let body: object = { secrets };
    const server = createServer((_, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await offered(['get', ''], { KEYFRAME_URL: url })).toEqual(['GOOD', ':words']);
    const organizations = [{ slug: 'acme', displayName: 'a\u001B[2Jb\tc\n:files' }];
    body = { organizations };
    const { stdout } = await folder.run(['__complete', '--', ...patient, 'list', '-o', ''], {
      env: { KEYFRAME_URL: url },
    });
    expect(stdout).toBe(String.raw`acme<TAB>a\u{1b}[2Jb\tc\n:files`.replace('<TAB>', '\t') + '\n:words\n');
    server.close();
  });

  test('about a user file that others can read, which it neither uses nor repairs', async () => {
    const env = { KEYFRAME_TOKEN: undefined };
    const own = await site.newFolder();
    await own.patch({ set: { MINE: canary } });
    await own.output(['login', '--token', '-'], { input: site.world.owner.token.reveal(), env });
    const complete = async (): Promise<unknown> => await own.run(['__complete', '--', ...patient, 'get', ''], { env });
    expect(await complete()).toMatchObject({ stdout: 'MINE\tversion 1\n:words\n', stderr: '' });
    chmodSync(own.userFile, 0o644);
    expect(await complete()).toMatchObject({ code: 0, stdout: ':words\n', stderr: '' });
    expect(statSync(own.userFile).mode & 0o777).toBe(0o644);
  });
});

// Ctrl-U. Ctrl-C can be lost while a shell still redraws the line.
const removeLine = '\u0015';

describe('in an interactive bash', () => {
  test('Tab completes a key, and the history gets nothing', async () => {
    const env = { HISTFILE: join(folder.folder, 'history'), INPUTRC: '/dev/null' };
    const shell = folder.startBashOnTerminal('exec bash --norc --noprofile -i', { env });
    shell.type(`PS1=rea''dy'> '\n`);
    await shell.shows('ready> ');
    shell.type('source <(keyframe completion bash)\n');
    await shell.shows('ready> ');
    shell.type('echo keyframe; keyframe get DATABASE_U');
    await pressTabUntil(shell, 'DATABASE_URL ');
    shell.type(`${removeLine}exit\n`);
    const { stdout } = await shell.ended;
    expect(stdout).not.toContain('swordfish');
    const history = existsSync(env.HISTFILE) ? readFileSync(env.HISTFILE, 'utf8') : '';
    expect(history).not.toContain('__complete');
  });
});

const runs = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

/** Whether tests can run in a shell: it is there, or `install` can install its package. */
const canRun = (shell: string): boolean => runs(shell) || (process.getuid?.() === 0 && runs('apt-get'));

async function install(shell: string): Promise<void> {
  if (!runs(shell)) await installPackages(new Tools(), [shell]);
}

const installMs = 600_000;

/** Completion offers nothing if the server takes more than a second, as on a busy machine. Then users press Tab again. */
async function pressTabUntil(shell: RunningCommand, shown: string): Promise<void> {
  for (let tries = 0; tries < 5; tries += 1) {
    shell.type('\t');
    if (await shell.showsWithin(shown, 4_000)) return;
  }
  throw new Error(`Tab does not show «${shown}»`);
}

(canRun('zsh') ? describe : describe.skip)('in an interactive zsh', () => {
  beforeAll(() => install('zsh'), installMs);

  test('Tab completes a key, and the value of a flag after =', async () => {
    const shell = folder.startBashOnTerminal('exec zsh -f -i');
    shell.type(
      `PS1=rea''dy'> '; unsetopt prompt_cr prompt_sp; zle_highlight=(suffix:none); autoload -U compinit; compinit -u -D\n`,
    );
    await shell.shows('ready> ');
    shell.type('source <(keyframe completion zsh)\n');
    await shell.shows('ready> ');
    shell.type('echo keyframe; keyframe get DATABASE_U');
    await pressTabUntil(shell, 'DATABASE_URL ');
    shell.type('--output=js');
    await pressTabUntil(shell, '--output=json ');
    shell.type(`${removeLine}exit\n`);
    const { stdout } = await shell.ended;
    expect(stdout).not.toContain('swordfish');
  });
});

(canRun('fish') ? describe : describe.skip)('in fish', () => {
  beforeAll(() => install('fish'), installMs);

  /** What Tab offers behind this line. */
  const offeredByFish = async (line: string): Promise<string[]> => {
    const script = `keyframe completion fish | source; complete -C ${JSON.stringify(line)}`;
    const { code, stdout, stderr } = await folder.startBashOnTerminal(`fish --no-config -c '${script}'`).ended;
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    return stdout.trimEnd().split('\r\n');
  };

  test('keys with their descriptions, values of flags and files are offered', async () => {
    expect(await offeredByFish('keyframe get DATABASE_U')).toEqual(['DATABASE_URL\tversion 1']);
    expect(await offeredByFish('keyframe list --output=js')).toEqual(['--output=json']);
    folder.write('values.env', 'A=1\n');
    expect((await offeredByFish('keyframe push val')).map((line) => line.split('\t')[0])).toEqual(['values.env']);
  });
});

describe('the script of every shell', () => {
  test('hands the words over on standard input, where other users cannot see them', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = await folder.output(['completion', shell]);
      expect(script).toMatch(/printf '%s\\0' .*\| command keyframe __complete 2>\/dev\/null/);
      expect(script).not.toContain('eval');
    }
  });
});
