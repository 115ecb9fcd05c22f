import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { CliError } from '../cli-error.ts';
import { exitCodes } from '../exit-codes.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly variables: Readonly<NodeJS.ProcessEnv>;
  /** The command runs at a terminal, which sends Ctrl-C and Ctrl-\ to the child itself. */
  readonly hasTerminal: boolean;
}

const sentByTerminal: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT'];
const passedOn: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2', ...sentByTerminal];

/** How a program ended. */
export interface ChildEnd {
  readonly exitCode: number;
  /** Why it could not be run, where it could not. */
  readonly fault?: string;
}

// Exit codes as shells have them.
const faults: Readonly<Record<string, ChildEnd>> = {
  ENOENT: { exitCode: 127, fault: 'there is no such program' },
  EACCES: { exitCode: 126, fault: 'it may not be executed' },
  EPERM: { exitCode: 126, fault: 'it may not be executed' },
  ENOEXEC: { exitCode: 126, fault: 'it is no program for this machine' },
  ENOTDIR: { exitCode: 127, fault: 'there is no such program' },
};

/**
 * Runs a program with our terminal or pipes and in our process group, and passes signals on to it. Answers the exit code as a
 * shell tells it: the program's own, 128 and the signal that ended it, 127 where there is no such program and 126 where it
 * cannot be run.
 *
 * @throws CliError where the variables are too large for the system.
 */
export async function runChild({ command, args, variables, hasTerminal }: ChildOptions): Promise<ChildEnd> {
  // Listened to before the child is there: a signal that comes meanwhile reaches it as its first.
  const early: NodeJS.Signals[] = [];
  let pass = (signal: NodeJS.Signals): void => void early.push(signal);
  const forward = (signal: NodeJS.Signals): void => {
    if (!(hasTerminal && sentByTerminal.includes(signal))) pass(signal);
  };
  for (const signal of passedOn) process.on(signal, forward);
  try {
    const child = spawn(command, args, { env: variables, stdio: 'inherit' });
    const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
    pass = (signal) => void child.kill(signal);
    for (const signal of early) pass(signal);
    const [code, signal] = await ended;
    return { exitCode: code ?? 128 + constants.signals[signal ?? 'SIGKILL'] };
  } catch (error) {
    // Some of them are thrown by spawn, others come as the event «error».
    const { code = '' } = error as NodeJS.ErrnoException;
    const fault = faults[code];
    if (fault !== undefined) return fault;
    throw code === 'E2BIG' ? tooLarge() : error;
  } finally {
    for (const signal of passedOn) process.off(signal, forward);
  }
}

function tooLarge(): CliError {
  const message = 'the secrets are too large for the variables of a program (on Linux 128 KiB each)';
  return new CliError(exitCodes.usage, message, { next: ['Hand them over in a file: keyframe pull --file <path>'] });
}
