import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/** A server whose name is never found. */
export const unresolvedUrl = 'https://keyframe.example';

/**
 * The environment of a process in which no lookup of a host's name ends. It writes `the lookup has begun` to standard
 * error. `folder` is an existing one that gets a pipe.
 */
export function endlessLookup(folder: string): Readonly<Record<string, string>> {
  const pipe = join(folder, 'endless-lookup');
  execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', pipe]);
  const preload = pathToFileURL(join(checkoutDirectory, 'test/support/faults/endless-lookup-preload.ts')).href;
  return { ENDLESS_LOOKUP_PIPE: pipe, NODE_OPTIONS: `--import=${preload}` };
}
