import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from '../../scripts/checkout.ts';
import { withBuildLock } from '../../scripts/cluster/build-lock.ts';
import { CapturedProcess } from './captured-process.ts';

const dist = join(checkoutDirectory, 'dist');
const stampFile = join(dist, '.built-from');

let build: Promise<string> | undefined;

/**
 * Builds the server if its sources have changed since the last build, once even if several test files ask at the same
 * time. Answers the program. Throws with the compiler's words if it does not compile.
 */
export function builtServer(): Promise<string> {
  build ??= buildIfNeeded();
  return build;
}

async function buildIfNeeded(): Promise<string> {
  mkdirSync(dist, { recursive: true });
  await withBuildLock(join(dist, '.build-lock'), () => undefined, async () => {
    const wanted = sourceState();
    if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
    await compile();
    writeFileSync(stampFile, wanted);
  });
  return join(dist, 'main.js');
}

async function compile(): Promise<void> {
  const tsc = join(checkoutDirectory, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', join(checkoutDirectory, 'tsconfig.build.json')];
  const compiler = new CapturedProcess({ name: 'tsc', program: process.execPath, args });
  const { code } = await compiler.ended;
  if (code !== 0) throw new Error(`The server does not compile:\n${compiler.output.toString()}`);
}

/** Changes whenever a source file is added, removed or written. */
function sourceState(): string {
  const digest = createHash('sha256');
  const sources = readdirSync(join(checkoutDirectory, 'src'), { recursive: true, encoding: 'utf8' }).sort();
  for (const file of ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', ...sources.map((name) => join('src', name))]) {
    const { mtimeMs, size } = statSync(join(checkoutDirectory, file));
    digest.update(`${file}\0${mtimeMs}\0${size}\0`);
  }
  return digest.digest('hex');
}
