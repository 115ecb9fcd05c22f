import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { beforeEach, describe, expect, test } from '@jest/globals';
import dotenv from 'dotenv';
import { parse } from 'yaml';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';
import { sentence } from '../../support/fixtures/interface-sentences.ts';

let site: CliSite;
let folder: CliFolder;

const secrets = {
  A: 'hunter2',
  EMPTY: '',
  LINES: 'hunter3\n $HOME `id` $(id) \\ "it\'s"\r\n\n',
  OTHERS: '\u0001\u001B[2J\u2028 🔑',
};

withCliSite((given) => {
  site = given;
});
beforeEach(async () => {
  folder = await site.newFolder();
  await folder.patch({ set: secrets });
});
describe('formats', () => {
  test('env is the default, and the dotenv package reads it', async () => {
    const text = await folder.output(['pull']);
    expect(dotenv.parse(text)).toEqual({ ...secrets, LINES: expect.any(String) });
    expect(text).toContain('LINES="');
    expect(text).toContain('# keyframe:json\n');
  });

  test('json and yaml are read by the readers of their own', async () => {
    expect(JSON.parse(await folder.output(['pull', '--format', 'json']))).toEqual(secrets);
    expect(parse(await folder.output(['pull', '--format', 'yaml']))).toEqual(secrets);
  });

  test.each(['sh', 'bash'])('shell is for eval, and %s expands nothing of it', async (shell) => {
    const text = await folder.output(['pull', '--format', 'shell']);
    const output = execFileSync(shell, ['-c', 'eval "$(cat)"; exec env -0'], {
      input: text,
      env: { PATH: process.env['PATH'], HOME: '/nowhere' },
    });
    const variables = output
      .toString()
      .split('\0')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]);
    expect(Object.fromEntries(variables)).toMatchObject(secrets);
  });

  test.each(['shell', 'env'])(
    '%s refuses keys by which a value can run code, unless they are allowed',
    async (format) => {
      const other = await site.newFolder();
      await other.patch({ set: { A: 'hunter2', LD_PRELOAD: 'hunter3' } });
      const args = ['pull', '--format', format];
      for (const more of [[], ['--file', 'all.txt']]) {
        const { code, stdout, stderr } = await other.run([...args, ...more]);
        expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
        expect(stderr).toMatch(/^error: LD_PRELOAD is a variable by which a value can run code/);
        expect(stderr).not.toContain('hunter');
      }
      expect(existsSync(other.pathOf('all.txt'))).toBe(false);
      const text = await other.output([...args, '--allow-loader-variables']);
      expect(text).toContain('LD_PRELOAD=');
      expect(text).toContain('hunter3');
    },
  );

  test('env warns of values that a shell would run, and shell, which quotes them, does not', async () => {
    const other = await site.newFolder();
    await other.patch({ set: { A: "it's `hunter2`", B: 'plain $HOME `hunter2`', C: `it's "hunter2"; hunter2` } });
    for (const more of [[], ['--file', 'all.env']]) {
      const { code, stderr } = await other.run(['pull', '--format', 'env', ...more]);
      expect(code).toBe(0);
      expect(stderr).toMatch(/^warning: a shell that loads this output can run a part of A, C\. /);
      expect(stderr).not.toContain('hunter');
    }
    expect((await other.run(['pull', '--format', 'shell'])).stderr).toBe('');
  });

  test.each(['json', 'yaml', 'k8s-secret'])(
    '%s, which no program loads as its variables, takes any key',
    async (format) => {
      const other = await site.newFolder();
      await other.patch({ set: { LD_PRELOAD: 'x' } });
      expect(await other.output(['pull', '--format', format])).toContain('LD_PRELOAD');
    },
  );

  test('shell refuses what a shell cannot hold, and prints nothing', async () => {
    await folder.patch({ set: { 'a.b': 'hunter2' } });
    const { code, stdout, stderr } = await folder.run(['pull', '--format', 'shell']);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('--format shell: a shell has no variable called a.b');
    await folder.patch({ set: { A: 'hunter2\0' }, delete: ['a.b'] });
    expect((await folder.run(['pull', '--format', 'shell'])).stderr).toContain(
      'a shell cannot hold the NUL character in A',
    );
  });

  test('k8s-secret is a manifest with the name that is given, else that of the environment', async () => {
    const manifest: unknown = parse(
      await folder.output(['pull', '--format', 'k8s-secret', '--name', 'app', '--namespace', 'web']),
    );
    const data = Object.fromEntries(
      Object.entries(secrets).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
    );
    expect(manifest).toEqual({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'app', namespace: 'web' },
      type: 'Opaque',
      data,
    });
    expect(parse(await folder.output(['pull', '--format', 'k8s-secret']))).toMatchObject({
      metadata: { name: folder.scope.environment },
    });
    const { code, stderr } = await folder.run(['pull', '--format', 'k8s-secret', '--name', 'App']);
    expect(code).toBe(2);
    expect(stderr).toContain("a Secret's name must be of lower-case letters");
  });

  test('--output json is the answer of the server, and name are the keys', async () => {
    expect(JSON.parse(await folder.output(['pull', '--output', 'json']))).toEqual(await folder.list());
    expect(await folder.output(['pull', '--output', 'name'])).toBe('A\nEMPTY\nLINES\nOTHERS\n');
  });

  test(`-o, -p and -e name the environment, and --revision its past ${sentence('4.9.10')}`, async () => {
    const other = await site.newFolder();
    const { organization, project, environment } = folder.scope;
    const flags = ['-o', organization, '-p', project, '-e', environment, '--format', 'json'];
    await folder.patch({ set: { A: 'changed' }, delete: ['EMPTY'] });
    expect(JSON.parse(await other.output(['pull', ...flags]))).toMatchObject({ A: 'changed' });
    expect(JSON.parse(await other.output(['pull', ...flags, '--revision', '1']))).toEqual(secrets);
    expect(await other.output(['pull', '--format', 'json'])).toBe('{}\n');
    expect(await other.output(['pull'])).toBe('');
  });
});

describe('on a terminal', () => {
  test.each([
    [[]],
    [['--format', 'json']],
    [['--output', 'json']],
    [['--output', 'yaml']],
    [['--format', 'k8s-secret']],
  ])('values are hidden (%j)', async (args) => {
    const { code, shown } = await folder.onTerminal(['pull', ...args]);
    expect(code).toBe(0);
    expect(shown).toContain('LINES');
    expect(shown).not.toMatch(/hunter|aHVudGVy/);
  });

  test('--reveal shows them, but nothing that would move the cursor', async () => {
    const { shown } = await folder.onTerminal(['pull', '--reveal']);
    expect(shown).toContain('A=hunter2\r\n');
    expect(shown).not.toContain('\u001B[2J');
  });
});

describe('--file', () => {
  const mode = (name: string): number => statSync(folder.pathOf(name)).mode & 0o777;

  test('is written for its owner alone, in the format of its name', async () => {
    const { stdout, stderr } = await folder.run(['pull', '--file', 'all.yaml']);
    expect(stdout).toBe('');
    expect(stderr).toBe(`Wrote 4 secrets of ${folder.place} to all.yaml (mode 600)\n`);
    expect(parse(folder.read('all.yaml'))).toEqual(secrets);
    expect(mode('all.yaml')).toBe(0o600);
    await folder.output(['pull', '--file', '.env']);
    expect(folder.read('.env')).toBe(await folder.output(['pull']));
    await folder.output(['pull', '--file', 'all.txt', '--format', 'json']);
    expect(JSON.parse(folder.read('all.txt'))).toEqual(secrets);
    expect(readdirSync(folder.pathOf('.')).sort()).toEqual(['.env', '.keyframe.json', 'all.txt', 'all.yaml']);
  });

  test('is written at a terminal as well, where nothing of it is shown', async () => {
    const { shown } = await folder.onTerminal(['pull', '--file', '.env']);
    expect(shown).not.toContain('hunter');
    expect(folder.read('.env')).toContain('hunter2');
  });

  test('that holds something else is replaced only after a yes; the same is written again without a question', async () => {
    folder.write('.env', 'MINE=1\n');
    chmodSync(folder.pathOf('.env'), 0o644);
    const { code, stderr } = await folder.run(['pull', '--file', '.env']);
    expect(code).toBe(7);
    expect(stderr).toContain('.env exists with different content. Replace it?');
    expect(folder.read('.env')).toBe('MINE=1\n');
    await folder.output(['pull', '--file', '.env', '--yes']);
    expect(folder.read('.env')).toContain('hunter2');
    expect(mode('.env')).toBe(0o600);
    chmodSync(folder.pathOf('.env'), 0o644);
    await folder.output(['pull', '--file', '.env']);
    expect(mode('.env')).toBe(0o600);
  });

  test('a link stays, and the file that it leads to is replaced', async () => {
    folder.write('target', 'mine');
    symlinkSync(folder.pathOf('target'), folder.pathOf('.env'));
    expect((await folder.run(['pull', '--file', '.env'])).code).toBe(7);
    await folder.output(['pull', '--file', '.env', '--yes']);
    expect(lstatSync(folder.pathOf('.env')).isSymbolicLink()).toBe(true);
    expect(folder.read('target')).toContain('hunter2');
    expect(mode('target')).toBe(0o600);
  });

  test('that cannot be written is reported, and leaves nothing behind', async () => {
    mkdirSync(folder.pathOf('dir.env'));
    execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', folder.pathOf('pipe.env')]);
    for (const [path, message] of [
      ['none/.env', 'none/.env cannot be written: its folder does not exist'],
      ['dir.env', 'dir.env is not a file'],
      ['pipe.env', 'pipe.env is not a file'],
    ] as const) {
      const { code, stderr } = await folder.run(['pull', '--file', path, '--yes']);
      expect(code).toBe(2);
      expect(stderr).toContain(message);
      expect(stderr).not.toContain('hunter');
    }
    expect(readdirSync(folder.pathOf('.')).sort()).toEqual(['.keyframe.json', 'dir.env', 'pipe.env']);
  });

  test('where the server refuses, a file that is there stays', async () => {
    folder.write('.env', 'MINE=1\n');
    const { code } = await folder.run(['pull', '--file', '.env', '--yes', '-e', 'none']);
    expect(code).toBe(5);
    expect(folder.read('.env')).toBe('MINE=1\n');
  });
});

test('--format docker writes a file for docker run, and refuses variables that can run code', async () => {
  const other = await site.newFolder();
  await other.patch({ set: { A: '"x" # y', B: '' } });
  expect(await other.output(['pull', '--format', 'docker'])).toBe('A="x" # y\nB=\n');
  await other.patch({ set: { NODE_OPTIONS: '--import=x', PEM: 'hunter\n2' } });
  expect(await other.run(['pull', '--format', 'docker'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('line breaks or NULs in PEM'),
  });
  await other.patch({ delete: ['PEM'] });
  expect(await other.run(['pull', '--format', 'docker'])).toMatchObject({ code: 7, stdout: '' });
});

test.each([
  [['--output', 'json', '--format', 'env'], "--output prints the server's answer"],
  [['--output', 'json', '--file', 'x.json'], "--output prints the server's answer"],
  [['--name', 'app'], '--name and --namespace belong to --format k8s-secret'],
  [['--format', 'toml'], 'must be one of env, json, yaml, shell, docker, k8s-secret'],
  [['extra'], 'too many arguments'],
])('%j is refused with exit code 2', async (args, message) => {
  const { code, stdout, stderr } = await folder.run(['pull', ...args]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});
