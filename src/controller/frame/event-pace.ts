import type { Clock } from '../../lib/clock.ts';

interface Recorded {
  readonly generation: number;
  readonly atMs: number;
}

const intervalMs = 600_000;

/**
 * Limits Events about what others can cause again and again: at most one in ten minutes for each resource, reason and
 * generation of the spec.
 */
export class EventPace {
  readonly #clock: Clock;
  /** By resource, then by reason. */
  readonly #recorded = new Map<string, Map<string, Recorded>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether an Event may be recorded now. Then it counts as recorded. */
  take(key: string, reason: string, generation = 0): boolean {
    const last = this.#recorded.get(key)?.get(reason);
    const now = this.#clock.now();
    if (last?.generation === generation && now - last.atMs < intervalMs) return false;
    const reasons = this.#recorded.get(key) ?? new Map<string, Recorded>();
    this.#recorded.set(key, reasons.set(reason, { generation, atMs: now }));
    return true;
  }

  forget(key: string): void {
    this.#recorded.delete(key);
  }

  clear(): void {
    this.#recorded.clear();
  }
}
