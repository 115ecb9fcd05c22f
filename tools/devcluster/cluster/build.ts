import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type BinaryName, type BinaryRecipe, cachedPath, recipeOf } from './binaries.ts';
import { withBuildLock } from './build-lock.ts';
import { BuildProgress } from './build-progress.ts';
import { cacheFolder } from './cache-folder.ts';
import { ClusterError } from './cluster-error.ts';
import { goEnvironment, requireGo } from './go-toolchain.ts';
import { onProcessEnd } from './process-end.ts';

const partialMark = '.partial-';
// The compiler writes the file in its last seconds, so one this old is no longer in use.
const partialLifeMs = 3_600_000;
const shownErrorLines = 15;

export interface BuildOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Where progress is reported; nothing is written when all is cached. */
  readonly output: { write(text: string): unknown; isTTY?: boolean };
}

/**
 * Where the wanted binaries lie; those that the cache lacks are compiled first, which takes minutes.
 * Throws ClusterError that says what to install, or with the end of the compiler's words.
 */
export async function ensureBinaries<N extends BinaryName>(
  names: readonly N[],
  options: BuildOptions,
): Promise<Record<N, string>> {
  const cache = cacheFolder(options.env);
  const paths = Object.fromEntries(
    names.map((name) => [name, cachedPath(cache, recipeOf(name, options.env))]),
  ) as Record<N, string>;
  if (missing(names, paths).length === 0) return paths;
  mkdirSync(join(cache, 'bin'), { recursive: true });
  const reportWaiting = (pid: number): void =>
    void options.output.write(`Another process (${pid}) is building Kubernetes into ${cache}: waiting for it.\n`);
  await withBuildLock(join(cache, 'build.lock'), reportWaiting, () => buildMissing(names, paths, cache, options));
  return paths;
}

function missing<N extends BinaryName>(names: readonly N[], paths: Record<N, string>): N[] {
  return names.filter((name) => !existsSync(paths[name]));
}

async function buildMissing<N extends BinaryName>(
  names: readonly N[],
  paths: Record<N, string>,
  cache: string,
  { env, output }: BuildOptions,
): Promise<void> {
  const wanted = missing(names, paths);
  if (wanted.length === 0) return;
  const recipes = wanted.map((name) => recipeOf(name, env));
  for (const { moduleFolder } of recipes) requireGo(env, moduleFolder);
  removeOldPartial(join(cache, 'bin'));
  const progress = new BuildProgress(recipes, output);
  progress.announce(cache);
  for (const [index, name] of wanted.entries()) {
    await progress.during(index, () => compile(recipeOf(name, env), paths[name], env));
  }
}

// What a crash left over.
function removeOldPartial(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const changedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (name.includes(partialMark) && Date.now() - changedAtMs > partialLifeMs) rmSync(path, { force: true });
  }
}

async function compile(
  { name, moduleFolder, goPackage, ldflags }: BinaryRecipe,
  path: string,
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const partial = join(dirname(path), `${basename(path)}${partialMark}${process.pid}`);
  const flags = ['-mod=readonly', '-buildvcs=false', '-trimpath', '-ldflags', ldflags, '-o', partial];
  const go = spawn('go', ['build', ...flags, goPackage], {
    cwd: moduleFolder,
    env: goEnvironment(env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const forget = onProcessEnd(() => {
    go.kill('SIGTERM');
    rmSync(partial, { force: true });
  });
  try {
    const { code, said } = await outcome(go);
    if (code !== 0) throw new ClusterError(buildFailure(name, said));
    renameSync(partial, path);
  } finally {
    forget();
    rmSync(partial, { force: true });
  }
}

async function outcome(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, said };
}

function buildFailure(name: string, said: string): string {
  const tail = said.trim().split('\n').slice(-shownErrorLines);
  return [
    `Building ${name} failed. Its sources come from the Go module proxy (GOPROXY): is the network there? Go said:`,
    ...tail.map((line) => `  ${line}`),
  ].join('\n');
}
