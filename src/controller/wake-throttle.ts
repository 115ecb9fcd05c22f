import type { Clock } from '../lib/clock.ts';

export interface WakeThrottleDeps {
  readonly clock: Clock;
  /** The least time between two wakes of one key. */
  readonly intervalMs: number;
  readonly wake: (key: string) => void;
}

/** Wakes each key at most once an interval: the first event at once, all that come before its end together at its end. */
export class WakeThrottle {
  readonly #deps: WakeThrottleDeps;
  /** Of each key that was woken within the last interval: whether more came since. */
  readonly #recent = new Map<string, { more: boolean }>();

  constructor(deps: WakeThrottleDeps) {
    this.#deps = deps;
  }

  wake(key: string): void {
    const recent = this.#recent.get(key);
    if (recent !== undefined) {
      recent.more = true;
      return;
    }
    const opened = { more: false };
    this.#recent.set(key, opened);
    this.#deps.clock.after(this.#deps.intervalMs, () => {
      this.#recent.delete(key);
      if (opened.more) this.wake(key);
    });
    this.#deps.wake(key);
  }
}
