import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { CliError } from '../../../cli-error.ts';
import { exitCodes } from '../../../exit-codes.ts';
import { findProgram } from './program-path.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly variables: Readonly<NodeJS.ProcessEnv>;
  /** The caller's own PATH, in which the program is looked up. */
  readonly callerPath: string | undefined;
  /** The command runs at a terminal, which sends Ctrl-C and Ctrl-\ to the child itself. */
  readonly hasTerminal: boolean;
}

const sentByTerminal: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const passedOn: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', ...sentByTerminal];

/** How a program ended. */
export interface ChildEnd {
  readonly exitCode: number;
  /** Why it could not be run. */
  readonly fault?: string;
}

const noSuchProgram: ChildEnd = { exitCode: 127, fault: 'there is no such program' };

// Exit codes as shells have them.
const faults: Readonly<Record<string, ChildEnd>> = {
  ENOENT: noSuchProgram,
  EACCES: { exitCode: 126, fault: 'it may not be executed' },
  EPERM: { exitCode: 126, fault: 'it may not be executed' },
  ENOEXEC: { exitCode: 126, fault: 'it is no program for this machine' },
  ENOTDIR: noSuchProgram,
};

/**
 * Runs a program with our terminal or pipes and in our process group, and passes signals on to it. Returns the exit code as a
 * shell does: the program's own, 128 and the signal that ended it, 127 if there is no such program and 126 if it
 * cannot be run.
 *
 * @throws CliError if the variables are too large for the system.
 */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { command, args, variables, callerPath, hasTerminal } = options;
  const program = findProgram(command, callerPath);
  if (program === undefined) return noSuchProgram;
  // Installed before the child starts: a signal that arrives earlier is sent to it first.
  const early: NodeJS.Signals[] = [];
  let pass = (signal: NodeJS.Signals): void => void early.push(signal);
  const forward = (signal: NodeJS.Signals): void => {
    if (!(hasTerminal && sentByTerminal.includes(signal))) pass(signal);
  };
  for (const signal of passedOn) process.on(signal, forward);
  try {
    const child = spawn(program, args, { argv0: command, env: variables, stdio: 'inherit' });
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    pass = (signal) => void child.kill(signal);
    for (const signal of early) pass(signal);
    const [code, signal] = await ended;
    return { exitCode: code ?? 128 + constants.signals[signal ?? 'SIGKILL'] };
  } catch (error) {
    return faultOf(error);
  } finally {
    for (const signal of passedOn) process.off(signal, forward);
  }
}

/** Some errors are thrown by spawn, others come as the event «error». */
function faultOf(error: unknown): ChildEnd {
  const { code = '' } = error as NodeJS.ErrnoException;
  const fault = faults[code];
  if (fault !== undefined) return fault;
  throw code === 'E2BIG' ? tooLarge() : error;
}

function tooLarge(): CliError {
  const message = 'the secrets are too large for the variables of a program (on Linux 128 KiB each)';
  return new CliError(exitCodes.usage, message, { next: ['Hand them over in a file: keyframe pull --file <path>'] });
}
