import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Names one process for good: its number alone may later belong to another one. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in whatever unit the system counts; compared only for equality. */
  readonly stamp: string;
}

/** The process that runs under this number now; undefined if there is none, or if it has ended and merely waits to be collected. */
export function findProcess(pid: number): ProcessIdentity | undefined {
  const stamp = process.platform === 'linux' ? linuxStamp(pid) : psField(pid, 'lstart')?.replace(/\W+/g, '');
  return stamp === undefined ? undefined : { pid, stamp };
}

/** This very process. */
export function ownIdentity(): ProcessIdentity {
  return findProcess(process.pid) ?? { pid: process.pid, stamp: '0' };
}

/** Whether that process, and not a later one with its number, still runs. */
export function isRunning(identity: ProcessIdentity): boolean {
  return findProcess(identity.pid)?.stamp === identity.stamp;
}

/** The command line of a process, its arguments parted by spaces; undefined if it does not run or is not ours to see. */
export function commandLine(pid: number): string | undefined {
  if (process.platform !== 'linux') return psField(pid, 'args');
  return readIfPresent(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim();
}

// See proc_pid_stat(5): the second field is the command in brackets and may hold anything, so count from the last bracket.
function linuxStamp(pid: number): string | undefined {
  const stat = readIfPresent(`/proc/${pid}/stat`);
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state] = fields ?? [];
  return state === 'Z' || state === 'X' ? undefined : fields?.[19];
}

function psField(pid: number, field: string): string | undefined {
  try {
    const text = execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8', stdio: 'pipe' }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
