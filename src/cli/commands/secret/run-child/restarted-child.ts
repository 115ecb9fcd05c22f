import { type ChildEnd, type ChildOptions, type StartedChild, startChild } from './child-process.ts';
import type { ForwardedSignals } from './forwarded-signals.ts';
import { CliError } from '../../../core/cli-error.ts';

/** Newer variables for a program that runs. */
export interface NewVariables {
  readonly variables: NodeJS.ProcessEnv;
  /** Keys and revision, as users read them. */
  readonly reason: string;
}

export interface RestartOptions {
  readonly child: ChildOptions;
  readonly signals: ForwardedSignals;
  /** Newer variables, once there are some. */
  readonly next: () => Promise<NewVariables>;
  /** What asks the program to end. */
  readonly signal: NodeJS.Signals;
  /** How long it may take to end; then it is killed. */
  readonly graceMs: number;
  readonly note: (line: string) => void;
  readonly warn: (line: string) => void;
}

/**
 * Runs a program, and starts it again whenever there are newer variables. Ends as the program does, unless it ended for
 * such a restart. If it cannot be started with the newer variables, it is started with the former ones.
 */
export async function runRestartedChild({
  child: options,
  signals,
  next,
  signal,
  graceMs,
  note,
  warn,
}: RestartOptions): Promise<ChildEnd> {
  let { variables } = options;
  let child = startChild(options);
  let wait = next();
  for (;;) {
    signals.sendTo(child);
    const first = await Promise.race([child.ended, wait]);
    if ('exitCode' in first) return first;
    note(`Restarting: ${first.reason}`);
    const began = performance.now();
    const end = await ended(child, { signal, graceMs, warn });
    // Asked to end during the restart, or shortly before it. A program may also take an earlier signal and run on.
    if (signals.hasEndingSince(began - graceMs)) return end;
    try {
      child = startChild({ ...options, variables: first.variables });
      ({ variables } = first);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      warn(`${error.message}; started again with the former values`);
      child = startChild({ ...options, variables });
    }
    wait = next();
  }
}

async function ended(
  child: StartedChild,
  { signal, graceMs, warn }: Pick<RestartOptions, 'signal' | 'graceMs' | 'warn'>,
): Promise<ChildEnd> {
  child.kill(signal);
  const timer = setTimeout(() => {
    warn(`the program did not end within ${graceMs / 1000} seconds of ${signal}, and is killed`);
    child.kill('SIGKILL');
  }, graceMs);
  try {
    return await child.ended;
  } finally {
    clearTimeout(timer);
  }
}
