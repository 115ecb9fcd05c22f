import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/** A server whose name is never found. */
export const unresolvedUrl = 'https://keyframe.example';

type Variables = Readonly<Record<string, string>>;

/**
 * The environment of a process in which no lookup of a host's name ends. It writes `the lookup has begun` to standard
 * error. `folder` is an existing one that gets a pipe.
 */
export function endlessLookup(folder: string): Variables {
  const { env, begin } = laterEndlessLookup(folder);
  begin();
  return env;
}

/** The same for a process whose lookups end until `begin` is called. */
export function laterEndlessLookup(folder: string): { readonly env: Variables; readonly begin: () => void } {
  const pipe = join(folder, 'endless-lookup');
  const preload = pathToFileURL(join(checkoutDirectory, 'test/support/faults/endless-lookup-preload.ts')).href;
  const begin = (): void => void execFileSync('sh', ['-c', 'mkfifo "$1"', 'sh', pipe]);
  return { env: { ENDLESS_LOOKUP_PIPE: pipe, NODE_OPTIONS: `--import=${preload}` }, begin };
}
