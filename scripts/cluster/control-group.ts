import { existsSync, readdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';

const root = '/sys/fs/cgroup';

/**
 * Removes a control group in which no process runs any more, with those below it, from every hierarchy: the one of version 2
 * or those of version 1, each a folder of its own (cgroups(7)).
 */
export function removeControlGroup(name: string): void {
  const hierarchies = existsSync(join(root, 'cgroup.controllers')) ? [root] : foldersIn(root);
  for (const hierarchy of hierarchies) removeTree(join(hierarchy, name));
}

// The files in there are the kernel's and go with the folder.
function removeTree(folder: string): void {
  if (!existsSync(folder)) return;
  for (const inner of foldersIn(folder)) removeTree(inner);
  try {
    rmdirSync(folder);
  } catch (error) {
    // Two hierarchies may be one under two names, of which one is a link.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(folder, entry.name));
}
