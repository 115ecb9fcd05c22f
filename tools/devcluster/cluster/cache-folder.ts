import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';

/**
 * The folder that outlives checkouts: built binaries, and the data of clusters while they run. KEYFRAME_CACHE_DIR, else
 * `keyframe` in the user's cache folder (XDG Base Directory Specification, which demands to ignore a relative path).
 * Made if absent, for its owner alone.
 */
export function cacheFolder(env: NodeJS.ProcessEnv): string {
  const folder = chooseCacheFolder(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

function chooseCacheFolder({ KEYFRAME_CACHE_DIR: own, XDG_CACHE_HOME: shared }: NodeJS.ProcessEnv): string {
  if (own !== undefined && own !== '') return resolve(own);
  const base = shared !== undefined && isAbsolute(shared) ? shared : join(homedir(), '.cache');
  return join(base, 'keyframe');
}
