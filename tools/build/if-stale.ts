import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../checkout.ts';
import { withBuildLock } from '../devcluster/cluster/build-lock.ts';

/** Where what is built lies. */
export const dist = join(checkoutDirectory, 'dist');

export interface Build {
  /** A word for its stamp and lock. */
  readonly name: string;
  /** Files and folders that it is made of, from the top of the repository. */
  readonly sources: readonly string[];
  /** The file that it makes. */
  readonly program: string;
  readonly build: () => Promise<void>;
}

/**
 * Builds a program if its sources have changed since the last time; once, even if several processes ask at the same time.
 * Answers the program. Throws what `build` throws.
 */
export async function buildIfStale({ name, sources, program, build }: Build): Promise<string> {
  mkdirSync(dist, { recursive: true });
  const stamp = stampOf(name);
  const isFresh = (wanted: string): boolean =>
    existsSync(program) && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted;
  if (isFresh(sourceState(sources))) return program;
  await withBuildLock(
    join(dist, `.${name}-build-lock`),
    () => undefined,
    async () => {
      const wanted = sourceState(sources);
      if (isFresh(wanted)) return;
      await build();
      writeFileSync(stamp, wanted);
    },
  );
  return program;
}

/** Has the next `buildIfStale` of this name build, whatever was built before. */
export function forgetBuild(name: Build['name']): void {
  rmSync(stampOf(name), { force: true });
}

function stampOf(name: Build['name']): string {
  return join(dist, `.${name}-built-from`);
}

/** Changes whenever a source file is added, removed or written. */
function sourceState(sources: readonly string[]): string {
  const digest = createHash('sha256');
  for (const file of sources.flatMap(filesOf)) {
    const { mtimeMs, size } = statSync(join(checkoutDirectory, file));
    digest.update(`${file}\0${mtimeMs}\0${size}\0`);
  }
  return digest.digest('hex');
}

function filesOf(source: string): string[] {
  const path = join(checkoutDirectory, source);
  if (!statSync(path).isDirectory()) return [source];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  return names.map((name) => join(source, name));
}
