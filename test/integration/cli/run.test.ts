import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { type CliFolder, type CliSite, withCliSite } from '../../support/cli/cli-site.ts';

let site: CliSite;
let folder: CliFolder;

const secrets = {
  A: 'hunter2',
  EMPTY: '',
  LINES: 'one\n $HOME `id` "it\'s" \\\r\n\u001B🔑 ',
  'a.b': 'dotted',
  '-x': 'dashed',
  TZ: 'from the environment',
};

withCliSite(async (given) => {
  site = given;
  folder = await site.newFolder();
  await folder.patch({ set: secrets });
});

/** A program in JavaScript, as arguments of `run`. */
function script(source: string): string[] {
  return ['run', '--', process.execPath, '-e', source];
}

/** A program that says «ready», and each of these signals when it gets it; it ends itself at the second one. */
function listener(signals: readonly string[], isTalkative = true): string[] {
  const on = signals.map((name) => `process.on('${name}', () => { got += 1; console.log('got ${name}'); });`).join('');
  return script(`let got = 0; ${isTalkative ? on : ''} setInterval(() => {}, 1000); console.log('ready');`);
}

async function variablesOf(args: readonly string[], env: Record<string, string> = {}): Promise<Record<string, string>> {
  const text = await folder.output(['run', ...args, '--', process.execPath, '-p', 'JSON.stringify(process.env)'], {
    env,
  });
  return JSON.parse(text) as Record<string, string>;
}

describe('variables', () => {
  test('the secrets are there to the byte, ours are kept, and the secret wins', async () => {
    const variables = await variablesOf([], { OWN: 'mine', A: 'mine' });
    expect(variables).toMatchObject({ ...secrets, OWN: 'mine' });
  });

  test('with --keep-existing ours win', async () => {
    expect(await variablesOf(['--keep-existing'], { A: 'mine' })).toMatchObject({
      A: 'mine',
      EMPTY: '',
      'a.b': 'dotted',
    });
  });

  test('our token is not handed on unless --keep-token is given', async () => {
    const token = site.world.viewer.token.reveal();
    folder.write('token', token);
    const byFile = { KEYFRAME_TOKEN: '', KEYFRAME_TOKEN_FILE: folder.pathOf('token') };
    for (const env of [{ KEYFRAME_TOKEN: token }, byFile]) {
      const variables = await variablesOf([], env);
      expect(Object.keys(variables).filter((name) => name.startsWith('KEYFRAME_'))).toEqual(['KEYFRAME_URL']);
      expect(await variablesOf(['--keep-token'], env)).toMatchObject(env);
    }
  });

  test('a secret that is called so is handed on only if a list names it', async () => {
    const other = await site.newFolder();
    await other.patch({ set: { KEYFRAME_TOKEN: 'inner' } });
    const program = ['--', process.execPath, '-p', 'process.env.KEYFRAME_TOKEN'];
    const { code, stdout, stderr } = await other.run(['run', ...program]);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain('KEYFRAME_TOKEN is a variable by which a value can run code');
    expect(await other.output(['run', '--only', 'KEYFRAME_TOKEN', ...program])).toBe('inner\n');
  });

  test('--revision gives those of the past', async () => {
    const other = await site.newFolder();
    await other.patch({ set: { A: 'old' } });
    await other.patch({ set: { A: 'new' } });
    expect(await other.output(['run', '--revision', '1', '--', process.execPath, '-p', 'process.env.A'])).toBe('old\n');
  });

  test('a NUL, and more than a variable can hold, are refused by name, and nothing is run', async () => {
    const other = await site.newFolder();
    await other.patch({ set: { WITH_NUL: 'hunter\0' } });
    const args = ['run', '--', process.execPath, '-e', 'console.log("run")'];
    const nul = await other.run(args);
    expect(nul).toMatchObject({ code: 2, stdout: '' });
    expect(nul.stderr).toContain('a variable cannot hold the NUL character that is in WITH_NUL');
    await other.patch({ set: { WITH_NUL: 'x'.repeat(200 * 1024) } });
    const large = await other.run(args);
    expect(large).toMatchObject({ code: 2, stdout: '' });
    expect(large.stderr).toContain('too large for a variable of a program (on Linux 128 KiB): WITH_NUL\n');
    expect(large.stderr).toContain('keyframe pull --file');
  });
});

describe('secrets by which a value can run code', () => {
  // Each would make the program, or one that it starts, write this file.
  const attack = (path: string): Record<string, string> => ({
    NODE_OPTIONS: `--import=data:text/javascript,process.getBuiltinModule('fs').writeFileSync('${path}','')`,
    BASH_ENV: path,
    GIT_SSH_COMMAND: `touch ${path}`,
    PATH: dirname(path),
  });

  test('are refused by name, and no program is run', async () => {
    const other = await site.newFolder();
    const path = other.pathOf('ran');
    await other.patch({ set: { ...attack(path), DATABASE_URL: 'db', HTTPS_PROXY: 'http://proxy', ENV: 'production' } });
    const { code, stdout, stderr } = await other.run(['run', '--', process.execPath, '-e', 'console.log("run")']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toMatch(
      /^error: BASH_ENV, GIT_SSH_COMMAND, NODE_OPTIONS, PATH are variables by which a value can run/,
    );
    expect(stderr).toContain(`may write ${other.place}, add --allow-loader-variables`);
    expect(stderr).not.toContain(path);
    expect(existsSync(path)).toBe(false);
  });

  test('are handed over with --allow-loader-variables, and stay ours with --keep-existing', async () => {
    const other = await site.newFolder();
    const path = other.pathOf('ran');
    await other.patch({ set: attack(path) });
    const args = [process.execPath, '-p', 'process.env.GIT_SSH_COMMAND'];
    const allowed = await other.output(['run', '--allow-loader-variables', '--', ...args]);
    expect(allowed).toBe(`touch ${path}\n`);
    expect(existsSync(path)).toBe(true);
    const env = { NODE_OPTIONS: '--no-warnings', BASH_ENV: '/dev/null', GIT_SSH_COMMAND: 'ssh' };
    expect(await other.output(['run', '--keep-existing', '--', ...args], { env })).toBe('ssh\n');
  });

  test("a program is found in the caller's PATH, not in that of the secrets", async () => {
    const other = await site.newFolder();
    for (const [name, says] of [
      ['own', 'own'],
      ['foreign', 'foreign'],
    ] as const) {
      mkdirSync(other.pathOf(name));
      other.write(`${name}/tool`, `#!/bin/sh\necho ${says} $0 $PATH\n`);
      chmodSync(other.pathOf(`${name}/tool`), 0o755);
    }
    await other.patch({ set: { PATH: other.pathOf('foreign') } });
    // A file that may not be executed hides no other one behind it.
    mkdirSync(other.pathOf('text'));
    other.write('text/tool', 'no program');
    chmodSync(other.pathOf('text/tool'), 0o644);
    const env = { PATH: [other.pathOf('text'), other.pathOf('own')].join(delimiter) };
    const args = ['run', '--allow-loader-variables', '--', 'tool'];
    const tool = other.pathOf('own/tool');
    expect(await other.output(args, { env })).toBe(`own ${tool} ${other.pathOf('foreign')}\n`);
    const none = await other.run(args, { env: { PATH: other.pathOf('text') } });
    expect(none).toMatchObject({ code: 126, stderr: 'error: tool cannot be run: it may not be executed\n' });
    expect((await other.run(args, { env: { PATH: '' } })).code).toBe(127);
    expect(await other.output(args, { env: { PATH: '' }, folder: 'own' })).toMatch(/^own /);
  });
});

describe('the program', () => {
  test('gets its arguments as they are, also those that look like ours', async () => {
    const text = await folder.output([
      ...script('console.log(JSON.stringify(process.argv.slice(1)))'),
      '--',
      '-e',
      'x y',
      '--yes',
      '',
    ]);
    expect(JSON.parse(text)).toEqual(['-e', 'x y', '--yes', '']);
    const bare = await folder.output(['run', 'printf', '%s|', '--reveal', '-o']);
    expect(bare).toBe('--reveal|-o|');
  });

  test('reads our input and writes to our outputs', async () => {
    const source = 'process.stdin.pipe(process.stdout); console.error("to stderr")';
    const { stdout, stderr, code } = await folder.run(script(source), { input: 'in\0put' });
    expect({ stdout, stderr, code }).toEqual({ stdout: 'in\0put', stderr: 'to stderr\n', code: 0 });
  });

  test.each([0, 1, 2, 7, 130, 255])('that ends with %i gives us this exit code', async (code) => {
    const end = await folder.run(['run', '--', 'sh', '-c', `exit ${code}`]);
    expect({ code: end.code, signal: end.signal, stderr: end.stderr }).toEqual({ code, signal: null, stderr: '' });
  });

  test.each([
    ['TERM', 143],
    ['KILL', 137],
    ['INT', 130],
    ['SEGV', 139],
  ])('that a SIG%s ends gives us %i', async (name, code) => {
    expect((await folder.run(['run', '--', 'sh', '-c', `kill -${name} $$`])).code).toBe(code);
  });

  test('that is not there gives 127, and that is none gives 126', async () => {
    const missing = await folder.run(['run', '--', 'no-such-program']);
    expect(missing).toMatchObject({
      code: 127,
      stderr: 'error: no-such-program cannot be run: there is no such program\n',
    });
    folder.write('file', 'text');
    chmodSync(folder.pathOf('file'), 0o644);
    const none = await folder.run(['run', '--', './file']);
    expect(none).toMatchObject({ code: 126, stderr: 'error: ./file cannot be run: it may not be executed\n' });
    const odd = await folder.run(['run', '--', 'A=hunter2 x']);
    expect(odd).toMatchObject({ code: 127, stderr: 'error: the program cannot be run: there is no such program\n' });
  });

  test('is not run where the secrets cannot be had', async () => {
    const echo = ['--', 'sh', '-c', 'echo run'];
    expect(await folder.run(['run', '-e', 'none', ...echo])).toMatchObject({ code: 5, stdout: '' });
    const unknown = await folder.run(['run', ...echo], { env: { KEYFRAME_TOKEN: 'kf_pat_unknown' } });
    expect(unknown).toMatchObject({ code: 3, stdout: '' });
    expect(await folder.run(['run'])).toMatchObject({ code: 2, stdout: '' });
    expect(await folder.run(['run', '--', ''])).toMatchObject({ code: 2, stdout: '' });
  });
});

describe('signals', () => {
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const)(
    '%s is passed on to the program',
    async (signal) => {
      const command = folder.start(listener([signal]));
      await command.shows('ready');
      command.process.kill(signal);
      await command.shows(`got ${signal}`);
      // It lives on, and so do we until another one ends it.
      expect(command.process.exitCode).toBeNull();
      command.process.kill(signal === 'SIGTERM' ? 'SIGHUP' : 'SIGTERM');
      expect(await command.ended).toMatchObject({ code: signal === 'SIGTERM' ? 129 : 143, stderr: '' });
    },
  );

  test('a program that ends by the signal gives us 128 and its number', async () => {
    const command = folder.start(listener([], false));
    await command.shows('ready');
    command.process.kill('SIGTERM');
    expect(await command.ended).toMatchObject({ code: 143, signal: null });
  });

  test('at a terminal Ctrl-C reaches the program once, and it decides', async () => {
    const source = `let got = 0;
      process.on('SIGINT', () => { got += 1; if (got === 1) setTimeout(() => { console.log('got ' + got); process.exit(3); }, 300); });
      console.log('tty ' + [0, 1, 2].map((fd) => require('node:tty').isatty(fd)).join());
      setInterval(() => {}, 1000);`;
    const command = folder.startOnTerminal(script(source));
    await command.shows('tty true,true,true');
    command.type('\u0003');
    expect(await command.ended).toMatchObject({ code: 3, stdout: expect.stringContaining('got 1') });
  });

  test('at a terminal a program is still ended by a SIGTERM that we get', async () => {
    const command = folder.startOnTerminal(
      script('console.log("parent " + process.ppid + "."); setInterval(() => {}, 1000);'),
    );
    await command.shows('.');
    const parent = /parent (\d+)\./.exec(command.shown)?.[1];
    process.kill(Number(parent), 'SIGTERM');
    expect((await command.ended).code).toBe(143);
  });
});
