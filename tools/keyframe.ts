import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { buildCli } from './build/cli.ts';

/** Runs the `keyframe` command of this checkout, built if need be, in the folder where npm was called; ends as it ends. */
const program = await buildCli();
const child = spawn(process.execPath, [program, ...process.argv.slice(2)], {
  stdio: 'inherit',
  cwd: process.env['INIT_CWD'] ?? process.cwd(),
});
// The command decides what becomes of a signal. bootstrap.mjs starts this in a group of its own, so that nothing reaches the
// command unless it is handed on here.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void child.kill(signal));
const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
process.exitCode = code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
