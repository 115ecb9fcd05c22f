import { serverProgram } from '../../tools/build/server.ts';
import { openProcessTable, type ProcessStat, type ProcessTable } from '../../tools/test-run/process-table.ts';

/** Processor time in milliseconds, by the name of a program. */
export type ProcessTimes = ReadonlyMap<string, number>;

/** What this process and all that it started have used since their starts; nothing where there is no /proc. */
export function processTimes(): ProcessTimes {
  const times = new Map<string, number>();
  const table = openProcessTable();
  if (table === undefined) return times;
  const running = new Map(table.read(new Set()).stats.map((stat) => [stat.pid, stat]));
  for (const { pid, ownMs } of running.values()) {
    if (!isWithin(running, pid)) continue;
    const name = nameOf(table, pid);
    times.set(name, (times.get(name) ?? 0) + ownMs);
  }
  return times;
}

/** What was used between two readings. */
export function usedBetween(before: ProcessTimes, after: ProcessTimes): ProcessTimes {
  return new Map([...after].map(([name, timeMs]) => [name, timeMs - (before.get(name) ?? 0)]));
}

function isWithin(running: ReadonlyMap<number, ProcessStat>, pid: number): boolean {
  for (let at: number | undefined = pid; at !== undefined; at = running.get(at)?.parent)
    if (at === process.pid) return true;
  return false;
}

function nameOf(table: ProcessTable, pid: number): string {
  if (pid === process.pid) return 'this bench';
  const args = table.args(pid);
  const program = args.indexOf(serverProgram);
  if (program !== -1) return `keyframe-server ${args[program + 1]}`;
  return /(postgres|etcd|kube-apiserver)/.exec(args[0] ?? '')?.[1] ?? 'others';
}
