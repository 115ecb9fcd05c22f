import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync, readlinkSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../checkout.ts';

/** The user that PostgreSQL runs as when it can't be the caller. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Where binaries and data of this checkout's servers lie. */
export interface PostgresHome {
  readonly directory: string;
  /** Set where the caller is root, whom PostgreSQL refuses to run as. */
  readonly account?: Account;
}

/**
 * The home of this checkout's servers, made if absent: `.dev/postgres`. For root it is a folder under /var/tmp, to which
 * `.dev/postgres` points, because the account that the server runs as may not be able to enter the checkout.
 */
export function postgresHome(checkout: string = checkoutDirectory): PostgresHome {
  const link = join(checkout, '.dev', 'postgres');
  mkdirSync(join(checkout, '.dev'), { recursive: true });
  if (process.getuid?.() !== 0) {
    mkdirSync(link, { recursive: true });
    return { directory: link };
  }
  const account = serverAccount();
  const key = createHash('sha256').update(checkout).digest('hex').slice(0, 12);
  const directory = `/var/tmp/keyframe-${key}`;
  makeOwnDirectory(directory);
  requireReachable(directory, account);
  pointTo(directory, link);
  return { directory, account };
}

// Anyone may write to /var/tmp: a folder that another user put there first must not be trusted with what we run.
function makeOwnDirectory(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const found = lstatSync(directory);
  if (found.isDirectory() && found.uid === 0 && (found.mode & 0o022) === 0) return chmodSync(directory, 0o711);
  throw new Error(`${directory} belongs to another user, or others may write to it: remove it and try again.`);
}

function requireReachable(directory: string, { uid, gid }: Account): void {
  const tried = spawnSync('/bin/sh', ['-c', 'test -x "$0"', directory], { uid, gid, cwd: '/' });
  if (tried.status === 0) return;
  throw new Error(
    `PostgreSQL cannot run as root, and user ${uid} cannot enter ${directory}. ` +
      'Run this as an ordinary user, or let everybody enter /var/tmp.',
    { cause: tried.error },
  );
}

function serverAccount(): Account {
  for (const name of ['postgres', 'nobody']) {
    const uid = idOf('-u', name);
    const gid = idOf('-g', name);
    if (uid !== undefined && gid !== undefined && uid !== 0) return { uid, gid };
  }
  throw new Error(
    'PostgreSQL cannot run as root, and there is neither a user "postgres" nor "nobody" on this machine. ' +
      'Run this as an ordinary user.',
  );
}

function idOf(option: '-u' | '-g', name: string): number | undefined {
  try {
    return Number(execFileSync('id', [option, name], { encoding: 'utf8', stdio: 'pipe' }));
  } catch {
    return undefined;
  }
}

// A signpost for people only; nothing reads it, so a run at the same time that was faster is fine.
function pointTo(directory: string, link: string): void {
  const present = statSync(link, { throwIfNoEntry: false }) !== undefined;
  if (present && lstatSync(link).isSymbolicLink() && readlinkSync(link) === directory) return;
  rmSync(link, { recursive: true, force: true });
  try {
    symlinkSync(directory, link);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
