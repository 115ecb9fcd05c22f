import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const root = '/sys/fs/cgroup';
const patienceMs = 5_000;
const pollMs = 10;

/**
 * Removes a control group in which no process runs any more, with those below it, from every hierarchy: the one of version 2
 * or those of version 1, each a folder of its own (cgroups(7)).
 */
export function removeControlGroup(name: string): void {
  const hierarchies = existsSync(join(root, 'cgroup.controllers')) ? [root] : foldersIn(root);
  for (const hierarchy of hierarchies) removeTree(join(hierarchy, name));
}

// The files in there are the kernel's and go with the folder. A process that has just ended may still be counted.
function removeTree(folder: string): void {
  if (!existsSync(folder)) return;
  for (const inner of foldersIn(folder)) removeTree(inner);
  const deadlineMs = Date.now() + patienceMs;
  const pause = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      return rmdirSync(folder);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Two hierarchies may be one under two names, of which one is a link.
      if (code === 'ENOENT') return;
      if (code !== 'EBUSY' || Date.now() > deadlineMs) throw error;
    }
    Atomics.wait(pause, 0, 0, pollMs);
  }
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(folder, entry.name));
}
