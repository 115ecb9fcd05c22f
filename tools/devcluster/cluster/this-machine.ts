import { spawnSync } from 'node:child_process';
import type { MachineView, ProgramAnswer } from './discovery.ts';
import { isExecutable } from '../../../src/lib/executable.ts';

const programPatienceMs = 15_000;

/** The machine that this process runs on, seen with this environment. */
export function thisMachine(env: NodeJS.ProcessEnv): MachineView {
  return { env, run: (program, args) => runProgram(program, args, env), isExecutable };
}

function runProgram(program: string, args: readonly string[], env: NodeJS.ProcessEnv): ProgramAnswer | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    env,
    encoding: 'utf8',
    timeout: programPatienceMs,
  });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') return undefined;
  return { status, stdout, stderr: error === undefined ? stderr : error.message };
}
