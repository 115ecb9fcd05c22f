import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutDirectory } from './checkout.ts';
import { withBuildLock } from './cluster/build-lock.ts';
import { onProcessEnd } from './cluster/process-end.ts';

const dist = join(checkoutDirectory, 'dist');
const stampFile = join(dist, '.built-from');

let build: Promise<string> | undefined;

/**
 * Builds keyframe-server if its sources have changed since the last build; once, even if several processes ask at the
 * same time. Answers the program. Throws with the compiler's words if it does not compile.
 */
export function buildServer(): Promise<string> {
  build ??= buildIfNeeded();
  return build;
}

async function buildIfNeeded(): Promise<string> {
  mkdirSync(dist, { recursive: true });
  await withBuildLock(
    join(dist, '.build-lock'),
    () => undefined,
    async () => {
      const wanted = sourceState();
      if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return;
      await compile();
      writeFileSync(stampFile, wanted);
    },
  );
  return join(dist, 'main.js');
}

function compile(): Promise<void> {
  const tsc = join(checkoutDirectory, 'node_modules', 'typescript', 'bin', 'tsc');
  const args = [tsc, '-p', join(checkoutDirectory, 'tsconfig.build.json')];
  return new Promise((resolve, reject) => {
    const compiler = execFile(process.execPath, args, (error, output) => {
      forget();
      if (error === null) resolve();
      else reject(new Error(`keyframe-server does not compile:\n${output}`));
    });
    const forget = onProcessEnd(() => void compiler.kill('SIGKILL'));
  });
}

/** Changes whenever a source file is added, removed or written. */
function sourceState(): string {
  const digest = createHash('sha256');
  const sources = readdirSync(join(checkoutDirectory, 'src'), { recursive: true, encoding: 'utf8' }).sort();
  const files = [
    'tsconfig.json',
    'tsconfig.build.json',
    'package-lock.json',
    ...sources.map((name) => join('src', name)),
  ];
  for (const file of files) {
    const { mtimeMs, size } = statSync(join(checkoutDirectory, file));
    digest.update(`${file}\0${mtimeMs}\0${size}\0`);
  }
  return digest.digest('hex');
}
