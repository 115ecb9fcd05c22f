import { serverProgram } from '../../tools/build/server.ts';
import { readFileSync, readdirSync } from 'node:fs';

/** Processor time in milliseconds, by the name of a program. */
export type ProcessTimes = ReadonlyMap<string, number>;

interface Running {
  readonly parent: number;
  readonly name: string;
  readonly timeMs: number;
}

// The unit of /proc/PID/stat on Linux.
const tickMs = 10;

/** What this process and all that it started have used since their starts; nothing where there is no /proc. */
export function processTimes(): ProcessTimes {
  const running = new Map(readPids().flatMap((pid) => readProcess(pid).map((found) => [pid, found] as const)));
  const times = new Map<string, number>();
  for (const [pid, { name, timeMs }] of running)
    if (isWithin(running, pid)) times.set(name, (times.get(name) ?? 0) + timeMs);
  return times;
}

/** What was used between two readings. */
export function usedBetween(before: ProcessTimes, after: ProcessTimes): ProcessTimes {
  return new Map([...after].map(([name, timeMs]) => [name, timeMs - (before.get(name) ?? 0)]));
}

function isWithin(running: ReadonlyMap<number, Running>, pid: number): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = running.get(at)?.parent)
    if (at === process.pid) return true;
  return false;
}

function readPids(): number[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
  } catch {
    return [];
  }
}

/** One that has ended meanwhile is none. */
function readProcess(pid: number): Running[] {
  try {
    // The name in parentheses may hold spaces; parent, user and system time are the fields 4, 14 and 15.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const timeMs = (Number(fields[11]) + Number(fields[12])) * tickMs;
    return [{ parent: Number(fields[1]), name: nameOf(pid), timeMs }];
  } catch {
    return [];
  }
}

function nameOf(pid: number): string {
  if (pid === process.pid) return 'this bench';
  const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const program = args.indexOf(serverProgram);
  if (program !== -1) return `keyframe-server ${args[program + 1]}`;
  return /(postgres|etcd|kube-apiserver)/.exec(args[0] ?? '')?.[1] ?? 'others';
}
