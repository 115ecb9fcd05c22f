import { readdirSync, readFileSync } from 'node:fs';

/** A process and the processor time that it has used since it started. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** When it started. Together with the number, it names one process for good. */
  readonly stamp: string;
  /** Of its main thread. It changes when the process executes another program. */
  readonly name: string;
  readonly ownMs: number;
  /** Of its children that have ended and that it has waited for, and of theirs. */
  readonly endedChildrenMs: number;
}

/** Where the processes of this system are read from. */
export interface ProcessTable {
  /** All processes except those to leave out, in the order of their numbers: almost always a parent before its children. */
  read(leftOut: ReadonlySet<number>): { readonly pids: readonly number[]; readonly stats: readonly ProcessStat[] };
  one(pid: number): ProcessStat | undefined;
  /** The command line of a process; empty if it has ended. */
  args(pid: number): readonly string[];
}

// The unit of Linux for programs: 100 ticks a second, whatever the kernel uses itself.
const tickMs = 10;

/** Reads a line of /proc/PID/stat; see proc_pid_stat(5). The name is in parentheses and may hold any of them. */
export function parseStat(line: string): ProcessStat {
  const end = line.lastIndexOf(')');
  const fields = line.slice(end + 2).split(' ');
  // The first field after the name is the third of the manual page.
  const field = (number: number): string => fields[number - 3] ?? '';
  const ms = (number: number): number => Number(field(number)) * tickMs;
  return {
    pid: Number.parseInt(line, 10),
    parent: Number(field(4)),
    stamp: field(22),
    name: line.slice(line.indexOf('(') + 1, end),
    ownMs: ms(14) + ms(15),
    endedChildrenMs: ms(16) + ms(17),
  };
}

/** The processes in /proc; undefined on a system without it. */
export function openProcessTable(folder = '/proc'): ProcessTable | undefined {
  const one = (pid: number): ProcessStat | undefined => {
    const line = readIfPresent(`${folder}/${pid}/stat`);
    return line === undefined ? undefined : parseStat(line);
  };
  if (one(process.pid) === undefined) return undefined;
  return {
    one,
    read(leftOut) {
      const pids = readdirSync(folder).filter(isNumber).map(Number);
      const stats = pids.flatMap((pid) => (leftOut.has(pid) ? [] : (one(pid) ?? [])));
      return { pids, stats };
    },
    args: (pid) => (readIfPresent(`${folder}/${pid}/cmdline`) ?? '').split('\0').filter((text) => text !== ''),
  };
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}

// A process may end at any moment.
function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
