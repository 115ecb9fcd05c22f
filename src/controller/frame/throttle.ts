import type { Clock } from '../../lib/clock.ts';

export interface ThrottleDeps {
  readonly clock: Clock;
  /** The minimum time between two wakes of one key, in milliseconds, once its burst is used up. */
  readonly intervalMs: number;
  /** How many events of a key in a row enqueue at once; default 1. Each interval gives one back. */
  readonly burst?: number;
  readonly enqueue: (key: string) => void;
}

interface Recent {
  /** How many more events enqueue at once. */
  left: number;
  /** Whether an event came that has not woken yet. */
  hasMore: boolean;
  cancel: () => void;
}

/**
 * Bounds how often each key is woken: the first events at once, all further ones of an interval together at its end.
 */
export class Throttle {
  readonly #deps: ThrottleDeps;
  readonly #burst: number;
  /** The keys whose burst is not whole. */
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

  /** Forgets what came of a key; its next event wakes at once. */
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

// An owner that edits a resource without pause must not keep the controller from the resources of others. A few edits in
// a row are a person or a script at work, and are all acted on at once.
const editIntervalMs = 1000;
const editBurst = 5;

/** Bounds how often edits of a resource's spec and annotations have it reconciled. */
export function editThrottle(clock: Clock, enqueue: (key: string) => void): Throttle {
  return new Throttle({ clock, intervalMs: editIntervalMs, burst: editBurst, enqueue });
}
