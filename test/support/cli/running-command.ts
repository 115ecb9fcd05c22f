import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

/** How a command ended. */
export interface CommandEnd {
  /** Its exit code; null where a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A command that was started with pipes. It is killed when it takes too long. */
export class RunningCommand {
  readonly process: ChildProcessWithoutNullStreams;
  readonly ended: Promise<CommandEnd>;
  #shown = '';
  #seen = 0;
  #hasEnded = false;

  constructor(child: ChildProcessWithoutNullStreams, limitMs = 90_000) {
    this.process = child;
    const output = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (text: string) => {
        output[name] += text;
        this.#shown += text;
      });
    }
    // A command that reads no input may be gone before it is written.
    child.stdin.on('error', () => undefined);
    const timer = setTimeout(() => void child.kill('SIGKILL'), limitMs);
    this.ended = once(child, 'close').then(([code, signal]) => {
      clearTimeout(timer);
      this.#hasEnded = true;
      return { code: code as number | null, signal: signal as NodeJS.Signals | null, ...output };
    });
  }

  /** What it has written so far on both of its outputs. */
  get shown(): string {
    return this.#shown;
  }

  /** Waits until it shows this text, behind what was waited for before. */
  async shows(text: string): Promise<void> {
    for (;;) {
      const hasEnded = this.#hasEnded;
      const at = this.#shown.indexOf(text, this.#seen);
      if (at !== -1) {
        this.#seen = at + text.length;
        return;
      }
      if (hasEnded) throw new Error(`it has ended and not shown «${text}» but:\n${this.#shown}`);
      await pause(5);
    }
  }

  /** Like `shows`, for a limited time. Returns whether it was shown. */
  async showsWithin(text: string, limitMs: number): Promise<boolean> {
    const endMs = performance.now() + limitMs;
    while (!this.#hasEnded && performance.now() < endMs) {
      if (this.#shown.includes(text, this.#seen)) {
        await this.shows(text);
        return true;
      }
      await pause(5);
    }
    return false;
  }

  /** Types this. */
  type(text: string): void {
    this.process.stdin.write(text);
  }
}
