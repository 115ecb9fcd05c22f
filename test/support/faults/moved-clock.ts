import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { checkoutDirectory } from '../../../tools/checkout.ts';

/**
 * A wall clock for the processes that are started with it, which is ahead of the machine's and can be put forward and
 * back: a day need not be waited for. Timers that run already are not moved, as on a machine whose clock is set.
 */
export class MovedClock {
  readonly #folder = mkdtempSync(join(tmpdir(), 'keyframe-clock-'));
  #aheadMs: number;

  constructor(resources: AsyncDisposableStack, aheadMs: number) {
    resources.defer(() => rmSync(this.#folder, { recursive: true, force: true }));
    this.#aheadMs = aheadMs;
    this.#write();
  }

  get #file(): string {
    return join(this.#folder, 'offset');
  }

  /** For node, before the program. */
  get nodeArgs(): readonly string[] {
    return ['--import', pathToFileURL(join(checkoutDirectory, 'test/support/faults/moved-clock-preload.ts')).href];
  }

  /** To be added to the process's environment. */
  get env(): Readonly<Record<string, string>> {
    return { MOVED_CLOCK_FILE: this.#file };
  }

  /** What it shows, in milliseconds since the epoch. */
  now(): number {
    return Date.now() + this.#aheadMs;
  }

  /** Puts it forward, or back. */
  move(byMs: number): void {
    this.#aheadMs += byMs;
    this.#write();
  }

  #write(): void {
    const offset = Buffer.alloc(8);
    offset.writeDoubleBE(this.#aheadMs);
    writeFileSync(this.#file, offset);
  }
}
