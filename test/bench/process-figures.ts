import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** What a process holds, as Linux reports it. */
export interface ProcessFigures {
  readonly residentBytes: number;
  /** The most that it has been. */
  readonly peakBytes: number;
  /** Connections and listening sockets. */
  readonly sockets: number;
}

/** Reads the figures of a process. Throws if it has ended, or if there is no /proc. */
export function processFigures(pid: number): ProcessFigures {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const bytesOf = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) * 1024;
  const sockets = readdirSync(`/proc/${pid}/fd`).filter(isSocket(pid)).length;
  return { residentBytes: bytesOf('VmRSS'), peakBytes: bytesOf('VmHWM'), sockets };
}

/** Of descriptors that were open a moment ago. */
function isSocket(pid: number): (descriptor: string) => boolean {
  return (descriptor) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${descriptor}`).startsWith('socket:');
    } catch {
      return false;
    }
  };
}

/** The process whose program and arguments name all these words. Throws if there is none. */
export function findProcess(...words: readonly string[]): number {
  const found = readdirSync('/proc').find((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    const command = commandOf(pid);
    return words.every((word) => command.includes(word));
  });
  if (found === undefined) throw new Error(`no process runs ${words.join(' ')}`);
  return Number(found);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
