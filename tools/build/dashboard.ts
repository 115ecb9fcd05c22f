import { execFile } from 'node:child_process';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildIfStale, dist } from './if-stale.ts';
import { checkoutDirectory } from '../checkout.ts';

/** The folder of the built dashboard. */
export const dashboardFolder = join(dist, 'dashboard');

/**
 * Builds the dashboard if its sources have changed since the last build; once, even if several processes ask at the same
 * time. Returns its page, which lies in `dashboardFolder`. Throws what Vite prints.
 */
export function buildDashboard(): Promise<string> {
  const sources = [
    'package-lock.json',
    'src/dashboard',
    'src/wire',
    'src/domain',
    'src/lib',
    'tools/build/dashboard.ts',
    'tools/build/dashboard-files.ts',
    'tools/build/compress.ts',
  ];
  return buildIfStale({ name: 'dashboard', sources, program: join(dashboardFolder, 'index.html'), build: bundle });
}

async function bundle(): Promise<void> {
  const fresh = `${dashboardFolder}.${process.pid}`;
  // A process of its own: Vite and React read NODE_ENV, which Jest sets to "test".
  await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'dashboard-files.ts'), fresh], {
    cwd: checkoutDirectory,
    env: { ...process.env, NODE_ENV: 'production' },
  });
  rmSync(dashboardFolder, { recursive: true, force: true });
  renameSync(fresh, dashboardFolder);
}
