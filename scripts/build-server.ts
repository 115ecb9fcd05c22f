import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { buildIfStale, dist } from './build-if-stale.ts';
import { checkoutDirectory } from './checkout.ts';
import { onProcessEnd } from './cluster/process-end.ts';

let build: Promise<string> | undefined;

/**
 * Builds keyframe-server if its sources have changed since the last build; once, even if several processes ask at the
 * same time. Answers the program. Throws with the compiler's words if it does not compile.
 */
export function buildServer(): Promise<string> {
  build ??= buildIfStale({
    name: 'server',
    sources: ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json', 'src'],
    program: join(dist, 'main.js'),
    build: compileServer,
  });
  return build;
}

/** Compiles the server into dist. Throws with the compiler's words if it does not compile. */
function compileServer(): Promise<void> {
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
