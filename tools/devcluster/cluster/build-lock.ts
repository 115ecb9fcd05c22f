import { linkSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, ownIdentity, type ProcessIdentity } from '../../process-identity.ts';
import { machineName } from './machine.ts';

interface Holder {
  readonly machine: string;
  readonly process: ProcessIdentity;
}

const heartbeatMs = 5_000;
// A holder on another machine that shares the folder can only be judged by its heartbeat.
const silenceMs = 120_000;

/**
 * Lets one builder at a time work in a cache folder; the others wait. It only saves work: a builder writes to
 * a temporary name and renames it, so two builders at once, which a crash at the wrong moment can bring about, do no harm.
 */
export async function withBuildLock<T>(
  path: string,
  onWait: (pid: number) => void,
  work: () => Promise<T>,
): Promise<T> {
  let isReported = false;
  while (!take(path)) {
    const holder = read(path);
    if (holder !== undefined && !isReported) {
      isReported = true;
      onWait(holder.process.pid);
    }
    if (isAbandoned(path, holder)) rmSync(path, { force: true });
    else await sleep(250);
  }
  const heartbeat = setInterval(() => touch(path), heartbeatMs);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    if (read(path)?.process.pid === process.pid) rmSync(path, { force: true });
  }
}

// A link appears with its content, and fails if the name is taken.
function take(path: string): boolean {
  const own = `${path}.${process.pid}`;
  const holder: Holder = { machine: machineName(), process: ownIdentity() };
  writeFileSync(own, JSON.stringify(holder), { mode: 0o600 });
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function isAbandoned(path: string, holder: Holder | undefined): boolean {
  if (holder?.machine === machineName()) return !isRunning(holder.process);
  const changedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return changedAtMs !== undefined && Date.now() - changedAtMs > silenceMs;
}

function read(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Holder;
  } catch {
    return undefined;
  }
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // Taken away as abandoned while this process was suspended: the build goes on, see above.
  }
}
