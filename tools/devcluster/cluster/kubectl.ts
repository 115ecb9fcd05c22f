import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants as systemConstants } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries } from './build.ts';
import { ClusterError, runProgram } from './cluster-error.ts';
import { findKubectl } from './kubectl-program.ts';
import { findPublished } from './published-cluster.ts';

/** Runs kubectl against the running cluster of this checkout, and ends as it ends. */
async function main(): Promise<void> {
  const cluster = findPublished();
  if (cluster === undefined) {
    throw new ClusterError(
      'No cluster of this checkout runs. Start one in another terminal: npm run cluster, or npm start.',
    );
  }
  const program = findKubectl(process.env) ?? (await builtKubectl());
  // In the environment of this one process: as a flag, it would stand before the names of kubectl's plugins.
  const env = {
    ...process.env,
    KUBECONFIG: cluster.kubeconfig,
    KUBECACHEDIR: join(cluster.runFolder, 'kubectl-cache'),
  };
  const child = spawn(program, process.argv.slice(2), { env, stdio: 'inherit' });
  // kubectl decides what becomes of a signal. bootstrap.mjs starts this in a group of its own, so that nothing, not even a Ctrl-C
  // at the terminal, reaches kubectl unless it is handed on here.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void child.kill(signal));
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  process.exitCode = code ?? 128 + (signal === null ? 0 : systemConstants.signals[signal]);
}

async function builtKubectl(): Promise<string> {
  // Standard output is kubectl's.
  const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
  return kubectl;
}

await runProgram(main);
