import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLine, findProcess, isRunning, type ProcessIdentity } from '../../process-identity.ts';

interface PostmasterLines {
  readonly pid: number;
  /** "starting", "ready", "stopping" …; absent in the first moments. */
  readonly status: string | undefined;
}

const stopLimitMs = 15_000;

/** What a server calls itself, so that its command line names the process that started it. */
export function ownerMark({ pid, stamp }: ProcessIdentity): string {
  return `keyframe-${pid}-${stamp}`;
}

/** The owner that `ownerMark` wrote; undefined if there is none in the text. */
export function findOwner(text: string): ProcessIdentity | undefined {
  const [, pid, stamp] = /keyframe-(\d+)-(\w+)/.exec(text) ?? [];
  return pid === undefined || stamp === undefined ? undefined : { pid: Number(pid), stamp };
}

/** What the server's own postmaster.pid says, as pg_ctl reads it; undefined if there is none. */
export function postmasterLines(data: string): PostmasterLines | undefined {
  try {
    const lines = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), status: lines[7]?.trim() };
  } catch {
    return undefined;
  }
}

/**
 * Makes data free for a start: stops the server that a crashed run left on them, and removes a postmaster.pid that belongs
 * to no server (its number may be another process's by now). Throws if the run that uses them is alive.
 */
export async function releaseDataFolder(data: string): Promise<void> {
  const lines = postmasterLines(data);
  if (lines === undefined) return;
  const server = findProcess(lines.pid);
  const command = commandLine(lines.pid) ?? '';
  if (server !== undefined && command.includes(` -D ${data} `)) {
    const owner = findOwner(command);
    if (owner !== undefined && isRunning(owner)) {
      throw new Error(`Process ${owner.pid} is using the database in ${data}: stop that run first.`);
    }
    await stopOrphan(server);
  }
  rmSync(join(data, 'postmaster.pid'), { force: true });
}

async function stopOrphan(server: ProcessIdentity): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    signalIfThere(server.pid, signal);
    const deadline = Date.now() + stopLimitMs;
    while (isRunning(server) && Date.now() < deadline) await sleep(25);
    if (!isRunning(server)) return;
  }
}

function signalIfThere(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
