import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { checkoutDirectory } from '../checkout.ts';

export interface CommandOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Its output goes on to the terminal instead of being kept. */
  readonly shown?: boolean;
  readonly limitMs: number;
  /** Called with the number of its process once it runs. */
  readonly onStart?: (pid: number) => void;
}

export interface CommandResult {
  /** Undefined if it was ended by a signal or could not be started. */
  readonly exitCode: number | undefined;
  readonly output: string;
  readonly durationMs: number;
}

const graceMs = 60_000;

/** Runs commands, each in its own process group, so that an interruption reaches everything that they started. */
export class Commands {
  readonly #running = new Set<ChildProcess>();
  #interrupted = false;

  /** Whether `interrupt` was called: what follows is not worth starting. */
  get interrupted(): boolean {
    return this.#interrupted;
  }

  /** Sends a signal to everything that the running commands have started; each `run` returns when its command has ended. */
  interrupt(signal: NodeJS.Signals): void {
    this.#interrupted = true;
    for (const child of this.#running) this.#endGroup(child, signal);
  }

  /** Runs one command in the checkout's folder to its end. Never throws: a command that does not start has failed. */
  async run(program: string, args: readonly string[], options: CommandOptions): Promise<CommandResult> {
    const begun = performance.now();
    const child = spawn(program, args, {
      cwd: checkoutDirectory,
      env: options.env ?? process.env,
      detached: true,
      stdio: ['ignore', options.shown ? 'inherit' : 'pipe', options.shown ? 'inherit' : 'pipe'],
    });
    this.#running.add(child);
    if (child.pid !== undefined) options.onStart?.(child.pid);
    const kept: string[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => kept.push(text));
    }
    const limit = setTimeout(() => {
      kept.push(`Stopped: it took longer than ${options.limitMs / 60_000} minutes.\n`);
      this.#endGroup(child, 'SIGTERM');
    }, options.limitMs);
    const exitCode = await ended(child, kept);
    clearTimeout(limit);
    this.#running.delete(child);
    return { exitCode, output: kept.join(''), durationMs: performance.now() - begun };
  }

  #endGroup(child: ChildProcess, signal: NodeJS.Signals): void {
    signalGroup(child, signal);
    setTimeout(
      () => child.exitCode === null && child.signalCode === null && signalGroup(child, 'SIGKILL'),
      graceMs,
    ).unref();
  }
}

async function ended(child: ChildProcess, kept: string[]): Promise<number | undefined> {
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code ?? undefined;
  } catch (error) {
    kept.push(`${child.spawnfile} could not be started: ${String(error)}\n`);
    return undefined;
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
