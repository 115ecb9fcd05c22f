import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { CliError } from '../../../core/cli-error.ts';
import { exitCodes } from '../../../core/exit-codes.ts';
import { findProgram } from './program-path.ts';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly variables: Readonly<NodeJS.ProcessEnv>;
  /** The caller's own PATH, in which the program is looked up. */
  readonly callerPath: string | undefined;
  /** Its standard output is our standard error. */
  readonly isOutputOnError?: boolean;
}

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

/** A program that was started. */
export interface StartedChild {
  /**
   * Its exit code as a shell reports it: the program's own, 128 and the signal that ended it, 127 if there is no such
   * program and 126 if it cannot be run.
   */
  readonly ended: Promise<ChildEnd>;
  kill(signal: NodeJS.Signals): void;
}

/**
 * Starts a program with our terminal or pipes and in our process group.
 *
 * @throws CliError if the variables are too large for the system.
 */
export function startChild({
  command,
  args,
  variables,
  callerPath,
  isOutputOnError = false,
}: ChildOptions): StartedChild {
  const program = findProgram(command, callerPath);
  if (program === undefined) return notStarted(noSuchProgram);
  try {
    const stdio: StdioOptions = ['inherit', isOutputOnError ? 2 : 'inherit', 'inherit'];
    const child = spawn(program, args, { argv0: command, env: variables, stdio });
    return { ended: endOf(child, variables), kill: (signal) => void child.kill(signal) };
  } catch (error) {
    return notStarted(faultOf(error, variables));
  }
}

async function endOf(child: ChildProcess, variables: ChildOptions['variables']): Promise<ChildEnd> {
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return { exitCode: code ?? 128 + constants.signals[signal ?? 'SIGKILL'] };
  } catch (error) {
    return faultOf(error, variables);
  }
}

function notStarted(end: ChildEnd): StartedChild {
  return { ended: Promise.resolve(end), kill: () => undefined };
}

/** Some errors are thrown by spawn, others come as the event «error». */
function faultOf(error: unknown, variables: ChildOptions['variables']): ChildEnd {
  const { code = '' } = error as NodeJS.ErrnoException;
  const fault = faults[code];
  if (fault !== undefined) return fault;
  throw code === 'E2BIG' ? tooLarge(variables) : error;
}

// What Linux allows for one variable, with its name and a NUL. It is more with larger pages of memory.
const maxVariableBytes = 128 * 1024;
const shownLargest = 3;

/** Names the variables that are too large, else the largest ones. */
export function tooLarge(variables: ChildOptions['variables']): CliError {
  const sizes = Object.entries(variables)
    .map(([key, value = '']) => ({ key, bytes: Buffer.byteLength(`${key}=${value}`) + 1 }))
    .toSorted((left, right) => right.bytes - left.bytes);
  const large = sizes.filter(({ bytes }) => bytes > maxVariableBytes);
  const named = (large.length > 0 ? large : sizes.slice(0, shownLargest)).map(({ key }) => key).join(', ');
  const message =
    large.length > 0
      ? `too large for a variable of a program (on Linux 128 KiB): ${named}`
      : `the variables are too large together for a program; the largest are ${named}`;
  return new CliError(exitCodes.usage, message, { next: ['Hand them over in a file: keyframe pull --file <path>'] });
}
