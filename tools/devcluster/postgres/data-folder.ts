import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { isRunning, ownIdentity } from '../../process-identity.ts';
import type { Binaries } from './binaries.ts';
import type { PostgresHome } from './home.ts';
import { findOwner, ownerMark, releaseDataFolder } from './postmaster.ts';

/** The data of one server: `data/`, its password and its log. */
export interface DataFolder {
  readonly directory: string;
  readonly data: string;
  readonly logFile: string;
  readonly password: string;
  readonly temporary: boolean;
}

// Folders that bear their owner's mark are of use to that process alone.
const temporaryPrefix = 'temporary-';
const unfinishedPrefix = 'unfinished-';

/** Opens the named data, or a temporary folder of this process's own; makes them by initdb if they are not there. */
export async function openDataFolder(home: PostgresHome, binaries: Binaries, name?: string): Promise<DataFolder> {
  const directory = join(home.directory, name ?? ownName(temporaryPrefix));
  if (!existsSync(directory)) await makeDataFolder(home, binaries, directory);
  return {
    directory,
    data: join(directory, 'data'),
    logFile: join(directory, 'postgres.log'),
    password: readFileSync(join(directory, 'password'), 'utf8'),
    temporary: name === undefined,
  };
}

/** Stops the servers and removes the folders of processes that ended without doing so. */
export async function removeLeftovers(home: PostgresHome): Promise<void> {
  for (const name of readdirSync(home.directory)) {
    if (!name.startsWith(temporaryPrefix) && !name.startsWith(unfinishedPrefix)) continue;
    const owner = findOwner(name);
    if (owner !== undefined && isRunning(owner)) continue;
    await releaseDataFolder(join(home.directory, name, 'data'));
    rmSync(join(home.directory, name), { recursive: true, force: true });
  }
}

function ownName(prefix: string): string {
  return `${prefix}${ownerMark(ownIdentity())}-${randomBytes(4).toString('hex')}`;
}

// Under another name first: data and password appear together, or not at all, whenever this ends.
async function makeDataFolder(home: PostgresHome, binaries: Binaries, directory: string): Promise<void> {
  const unfinished = join(home.directory, ownName(unfinishedPrefix));
  const data = join(unfinished, 'data');
  const passwordFile = join(unfinished, 'password');
  mkdirSync(unfinished);
  // The server's account has to pass through, whatever the caller's umask says.
  chmodSync(unfinished, 0o711);
  mkdirSync(data, { mode: 0o700 });
  writeFileSync(passwordFile, randomBytes(24).toString('hex'), { mode: 0o600 });
  giveTo(home, data, passwordFile);
  try {
    await initialise(home, binaries, { data, passwordFile });
    renameSync(unfinished, directory);
  } catch (error) {
    // It failed, or another run was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
}

function giveTo({ account }: PostgresHome, ...paths: string[]): void {
  if (account === undefined) return;
  for (const path of paths) chownSync(path, account.uid, account.gid);
}

async function initialise(
  home: PostgresHome,
  { initdb, major }: Binaries,
  { data, passwordFile }: { data: string; passwordFile: string },
): Promise<void> {
  const child = spawn(
    initdb,
    [
      `--pgdata=${data}`,
      '--username=keyframe',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Since 17 it has locales itself, which are the same on every machine.
      ...(major < 17 ? ['--locale=C'] : ['--locale-provider=builtin', '--locale=C.UTF-8']),
      '--no-instructions',
      '--no-sync',
    ],
    { ...home.account, cwd: '/', env: { PATH: process.env['PATH'], TZ: 'UTC' }, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  const ended = new Promise<string | undefined>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? undefined : `exit code ${code}`));
  });
  const [, complaint, fault] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  if (fault !== undefined) throw new Error(`PostgreSQL's initdb failed (${fault}): ${complaint.trim()}`);
}
