import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from './devcluster/cluster/cache-folder.ts';

/** A version of an npm package that only some tests need, so that it is no dependency. */
export interface PinnedPackage {
  readonly name: string;
  readonly version: string;
  /** As npm names it. */
  readonly integrity: string;
  /** What is unpacked of it, such as `bin/node`; default everything. */
  readonly path?: string;
}

const run = promisify(execFile);

/** The folder of the package. It is downloaded once, into the cache folder. Throws if it is another one than was pinned. */
export async function pinnedPackage(wanted: PinnedPackage): Promise<string> {
  const cache = cacheFolder(process.env);
  const folder = join(cache, `${fileNameOf(wanted)}-${wanted.version}`);
  if (!existsSync(folder)) await download(wanted, { cache, folder });
  return folder;
}

/** As npm names the file of a package, without version and ending. */
function fileNameOf({ name }: PinnedPackage): string {
  return name.replace('@', '').replace('/', '-');
}

async function download(
  wanted: PinnedPackage,
  { cache, folder }: { readonly cache: string; readonly folder: string },
): Promise<void> {
  const { name, version, integrity, path } = wanted;
  const fresh = mkdtempSync(join(cache, 'package-'));
  try {
    const options = ['--silent', `--pack-destination=${fresh}`];
    await run('npm', ['pack', `${name}@${version}`, ...options], { cwd: fresh, timeout: 240_000 });
    const file = join(fresh, `${fileNameOf(wanted)}-${version}.tgz`);
    const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    if (found !== integrity) throw new Error(`${name}@${version} is not the package that was pinned`);
    await run('tar', ['-xzf', file, '-C', fresh, path === undefined ? 'package' : `package/${path}`]);
    renameSync(join(fresh, 'package'), folder);
  } catch (error) {
    // Another run may have been faster.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
