import type { Clock } from '../../../src/lib/clock.ts';

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is moved. */
export class FakeClock implements Clock {
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(now = Date.UTC(2026, 0, 1)) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { at: this.#now + delayMs, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Milliseconds until each timer that is set, the next first. */
  get pending(): number[] {
    return [...this.#timers].map(({ at }) => at - this.#now).sort((a, b) => a - b);
  }

  /** Is later by so much, as for a process that stood still: nothing has fired yet. */
  jump(byMs: number): void {
    this.#now += byMs;
  }

  /** Goes on by so much, firing what is due in its order, and lets what follows from it happen. */
  async advance(byMs: number): Promise<void> {
    const until = this.#now + byMs;
    for (;;) {
      const due = [...this.#timers].filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.callback();
      await settled();
    }
    this.#now = until;
    await settled();
  }
}

/** Resolves when all that is ready to run has run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
