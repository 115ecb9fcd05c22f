import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Client } from 'pg';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { postgresHome } from '../../../tools/devcluster/postgres/home.ts';
import { type PostgresServer, startPostgres } from '../../../tools/devcluster/postgres/server.ts';
import { findProcess } from '../../../tools/process-identity.ts';

const cleanUps: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp();
});

async function start(options: Parameters<typeof startPostgres>[0] = {}): Promise<PostgresServer> {
  const server = await startPostgres({ durable: false, ...options });
  cleanUps.push(() => server.stop());
  return server;
}

function ownName(): string {
  const name = `test-${randomBytes(6).toString('hex')}`;
  cleanUps.push(() => rmSync(join(postgresHome().directory, name), { recursive: true, force: true }));
  return name;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Another process that starts a server and stays; answers once the server is up. */
async function startElsewhere(name?: string): Promise<{ owner: ChildProcess; pid: number; folder: string }> {
  const program = `
    const { startPostgres } = await import(${JSON.stringify(join(checkoutDirectory, 'tools/devcluster/postgres/server.ts'))});
    const server = await startPostgres({ durable: false, name: ${JSON.stringify(name)} });
    console.log(JSON.stringify({ pid: server.pid, logFile: server.logFile }));
    setInterval(() => {}, 1000);`;
  const args = ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', program];
  const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanUps.push(() => void owner.kill('SIGKILL'));
  const [line] = (await once(owner.stdout, 'data')) as [Buffer];
  const { pid, logFile } = JSON.parse(line.toString()) as { pid: number; logFile: string };
  return { owner, pid, folder: dirname(logFile) };
}

async function killOwner(owner: ChildProcess): Promise<void> {
  const ended = once(owner, 'exit');
  owner.kill('SIGKILL');
  await ended;
}

// The guard is the owner's only other child.
function guardOf({ pid }: ChildProcess): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  const guard = children.find((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('keyframe-guard'));
  if (guard === undefined) throw new Error('There is no guard.');
  return guard;
}

function isAlive(pid: number): boolean {
  return findProcess(pid) !== undefined;
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 90_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('It did not come to pass within 90 s.');
    await sleep(50);
  }
}

describe('a server', () => {
  test('takes settings, wants its password, listens on loopback alone and never runs as root', async () => {
    const server = await start({ settings: { track_commit_timestamp: 'on' } });
    const url = server.urlOf('postgres');
    const [row] = await query(
      url,
      `SELECT current_setting('track_commit_timestamp') AS tracked, current_setting('listen_addresses') AS listens`,
    );
    expect(row).toEqual({ tracked: 'on', listens: '127.0.0.1' });
    const wrong = new URL(url);
    wrong.password = 'wrong';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0);
  });

  test('without a name leaves nothing when it stops, and may be stopped twice', async () => {
    const server = await start();
    const folder = dirname(server.logFile);
    expect(existsSync(folder)).toBe(true);
    await server.stop();
    await server.stop();
    expect(isAlive(server.pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });

  test('starts under a umask that keeps everything from others', async () => {
    const umask = process.umask(0o077);
    cleanUps.push(() => void process.umask(umask));
    const server = await start();
    expect(await query(server.urlOf('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('with a name keeps its data, also over a crash', async () => {
    const name = ownName();
    const first = await start({ name });
    await query(first.urlOf('postgres'), 'CREATE TABLE kept AS SELECT 1 AS id');
    await first.stop();
    const second = await start({ name });
    await query(second.urlOf('postgres'), 'INSERT INTO kept VALUES (2)');
    await second.crash();
    expect(isAlive(second.pid)).toBe(false);
    const third = await start({ name, port: second.port });
    expect(third.urlOf('postgres')).toBe(second.urlOf('postgres'));
    expect(await query(third.urlOf('postgres'), 'SELECT count(*)::int AS rows FROM kept')).toEqual([{ rows: 2 }]);
  });

  test('is refused on data that a living process uses, which it names', async () => {
    const name = ownName();
    const { owner, pid } = await startElsewhere(name);
    await expect(startPostgres({ name })).rejects.toThrow(`Process ${owner.pid} is using the database`);
    await killOwner(owner);
    await until(() => !isAlive(pid));
  });

  test('starts although its old note names a process of another program', async () => {
    const name = ownName();
    const first = await start({ name });
    const note = join(dirname(first.logFile), 'data', 'postmaster.pid');
    const text = readFileSync(note, 'utf8');
    await first.stop();
    // Of the same user: of others the server itself knows that they are none of its kind.
    const stranger = spawn('sleep', ['60'], { ...postgresHome().account, cwd: '/', stdio: 'ignore' });
    cleanUps.push(() => void stranger.kill());
    writeFileSync(note, text.replace(/^\d+/, String(stranger.pid)));
    const second = await start({ name });
    expect(await query(second.urlOf('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('that can not take its port says so, with its log, and leaves nothing', async () => {
    const { port } = await start();
    const before = readdirSync(postgresHome().directory).filter((name) => name.includes(`-${process.pid}-`));
    await expect(startPostgres({ port, durable: false })).rejects.toThrow(
      `did not start on port ${port}. The end of its log`,
    );
    expect(readdirSync(postgresHome().directory).filter((name) => name.includes(`-${process.pid}-`))).toEqual(before);
  });
});

describe('a killed run', () => {
  test('takes its server and its data with it', async () => {
    const { owner, pid, folder } = await startElsewhere();
    expect(isAlive(pid)).toBe(true);
    await killOwner(owner);
    await until(() => !isAlive(pid) && !existsSync(folder));
  });

  test('stops its server in order and keeps named data', async () => {
    const { owner, pid, folder } = await startElsewhere(ownName());
    await killOwner(owner);
    await until(() => !isAlive(pid));
    expect(readFileSync(join(folder, 'postgres.log'), 'utf8')).toContain('received fast shutdown request');
    await sleep(300);
    expect(existsSync(join(folder, 'data', 'PG_VERSION'))).toBe(true);
  });

  test('whose guard was killed as well is cleaned up at the next start', async () => {
    const { owner, pid, folder } = await startElsewhere();
    process.kill(guardOf(owner), 'SIGKILL');
    await killOwner(owner);
    expect(isAlive(pid)).toBe(true);
    await start();
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(folder)).toBe(false);
  });

  test('leaves named data to the next one, which stops the orphan first', async () => {
    const name = ownName();
    const { owner, pid } = await startElsewhere(name);
    process.kill(guardOf(owner), 'SIGKILL');
    await killOwner(owner);
    const server = await start({ name });
    expect(isAlive(pid)).toBe(false);
    expect(await query(server.urlOf('postgres'), 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  });

  test('does not take the data of a living one with it', async () => {
    const living = await startElsewhere();
    await start();
    expect(isAlive(living.pid)).toBe(true);
    expect(readdirSync(postgresHome().directory)).toContain(living.folder.split('/').at(-1));
    await killOwner(living.owner);
  });
});
