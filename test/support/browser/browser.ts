import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { preparedChromium } from './chromium.ts';

// The read ends when the pipe closes, which the kernel does however the test's own process ends. The browser ends then too, and
// writes files until it has.
const guardScript = `
read -r word && exit 0
absent=0
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  rm -rf "$1"
  sleep 0.3
  if [ -e "$1" ]; then absent=0; else absent=$((absent + 1)); fi
  [ "$absent" -eq 3 ] && exit 0
done
`;

const onlyThisMachine = ['MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1'];

/**
 * Starts a browser without a window. It and its files are gone once `resources` is disposed of, and also if this process is
 * killed. `resolverRules` say what of localhost is reached; all by default.
 */
export async function startBrowser(
  resources: AsyncDisposableStack,
  resolverRules: readonly string[] = ['EXCLUDE localhost'],
): Promise<Browser> {
  const { program, env } = preparedChromium();
  const folder = mkdtempSync(join(tmpdir(), 'keyframe-browser-'));
  const guard = startGuard(folder);
  resources.defer(() => {
    guard.stdin?.end('ended\n');
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  });
  // Only a persistent context takes a folder; the contexts of the tests are separate from it and from each other.
  const context = await chromium.launchPersistentContext(join(folder, 'profile'), {
    executablePath: program,
    artifactsDir: join(folder, 'artifacts'),
    env: { ...(process.env as Record<string, string>), ...env, TMPDIR: folder },
    args: [
      // No other host: what a page requests there fails, and the test with it.
      `--host-resolver-rules=${[...resolverRules, ...onlyThisMachine].join(', ')}`,
      '--font-render-hinting=none',
    ],
  });
  resources.defer(() => context.close());
  const browser = context.browser();
  if (browser === null) throw new Error('the browser has ended');
  return browser;
}

function startGuard(folder: string): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', guardScript, 'keyframe-guard', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  return guard;
}
