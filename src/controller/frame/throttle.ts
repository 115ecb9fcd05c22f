import type { Clock } from '../../lib/clock.ts';

export interface ThrottleDeps {
  readonly clock: Clock;
  /** The minimum time between two calls for one key after its burst, in milliseconds. */
  readonly intervalMs: number;
  /** How many events of a key in a row pass at once. Each interval without an event restores one. Default: 1. */
  readonly burst?: number;
  readonly enqueue: (key: string) => void;
}

interface Recent {
  /** How many more events pass at once. */
  left: number;
  /** Whether an event waits for the end of the interval. */
  hasMore: boolean;
  cancel: () => void;
}

/**
 * Limits how often each key is enqueued: the first events at once, all further ones of an interval together at its end.
 */
export class Throttle {
  readonly #deps: ThrottleDeps;
  readonly #burst: number;
  /** The keys with recent events. */
  readonly #recent = new Map<string, Recent>();

  constructor(deps: ThrottleDeps) {
    this.#deps = deps;
    this.#burst = deps.burst ?? 1;
  }

  enqueue(key: string): void {
    const recent = this.#recent.get(key) ?? this.#open(key);
    if (recent.left === 0) {
      recent.hasMore = true;
      return;
    }
    recent.left -= 1;
    this.#deps.enqueue(key);
  }

  /** Drops the state of a key. Its next event passes at once. */
  forget(key: string): void {
    this.#recent.get(key)?.cancel();
    this.#recent.delete(key);
  }

  #open(key: string): Recent {
    const opened: Recent = { left: this.#burst, hasMore: false, cancel: () => {} };
    this.#recent.set(key, opened);
    this.#arm(key, opened);
    return opened;
  }

  #arm(key: string, recent: Recent): void {
    recent.cancel = this.#deps.clock.after(this.#deps.intervalMs, () => {
      recent.left += 1;
      if (recent.left < this.#burst || recent.hasMore) this.#arm(key, recent);
      else this.#recent.delete(key);
      if (!recent.hasMore) return;
      recent.hasMore = false;
      this.enqueue(key);
    });
  }
}

// Continuous edits of a resource must not delay the resources of other owners. A few edits in a row are normal and are all
// handled at once.
const editIntervalMs = 1000;
const editBurst = 5;

/** Limits how often edits of a resource's spec and annotations enqueue it. */
export function editThrottle(clock: Clock, enqueue: (key: string) => void): Throttle {
  return new Throttle({ clock, intervalMs: editIntervalMs, burst: editBurst, enqueue });
}
