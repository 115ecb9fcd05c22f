import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

export interface CapturedProcessOptions {
  /** What to call it in messages. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Its whole environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

// The read ends when the pipe closes, which the kernel does however the test's own process ends.
const guardScript = 'read -r word && exit 0; kill -KILL "$1"';

/**
 * A process whose output is kept. It does not outlive the one that started it, even if that is killed by force or the
 * process itself is suspended.
 */
export class CapturedProcess {
  readonly name: string;
  readonly ended: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #guard: ChildProcess | undefined;
  readonly #output: Buffer[] = [];
  #end: ProcessEnd | undefined;

  constructor({ name, program, args, env = {} }: CapturedProcessOptions) {
    this.name = name;
    this.#child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => void this.#output.push(chunk));
    }
    this.ended = this.#awaitEnd();
    if (this.#child.pid !== undefined) this.#guard = startGuard(this.#child.pid);
  }

  /** Everything it has written so far, standard output and error as they came. */
  get output(): Buffer {
    return Buffer.concat(this.#output);
  }

  /** Throws if it could not be started. */
  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error(`${this.name} was not started`);
    return pid;
  }

  get isRunning(): boolean {
    return this.#end === undefined;
  }

  /** Sends a signal, such as SIGSTOP or SIGCONT; nothing if it has ended. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it by a signal, and by SIGKILL if it has not ended `limitMs` milliseconds later. */
  async end(signal: NodeJS.Signals = 'SIGTERM', limitMs = 15_000): Promise<ProcessEnd> {
    // A suspended process gets no signal but SIGKILL before it goes on.
    if (this.isRunning && signal !== 'SIGKILL') this.signal('SIGCONT');
    if (this.isRunning) this.signal(signal);
    await Promise.race([this.ended, pause(limitMs, undefined, { ref: false })]);
    if (this.isRunning) this.signal('SIGKILL');
    return this.ended;
  }

  async #awaitEnd(): Promise<ProcessEnd> {
    // «close» comes when the output has been read to its end as well; a program that cannot be started gives «error».
    const [code, signal] = (await once(this.#child, 'close').catch(() => [null, null])) as [
      ProcessEnd['code'],
      ProcessEnd['signal'],
    ];
    this.#guard?.stdin?.end('ended\n');
    this.#end = { code, signal };
    return this.#end;
  }
}

function startGuard(pid: number): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', guardScript, 'keyframe-guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.on('error', () => undefined);
  guard.stdin.on('error', () => undefined);
  guard.unref();
  return guard;
}
