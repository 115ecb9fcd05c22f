import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** How much of its limit one key has used. */
export interface RateState {
  readonly limit: number;
  /** Count within the present window. */
  readonly used: number;
  /** Whole seconds until the window ends; at least 1. */
  readonly resetSeconds: number;
}

/** Length of a window. The window of a key begins when the key is first counted. */
export const windowSeconds = 60;
// Above this number the oldest keys are dropped, so that clients cannot fill the memory with keys.
const defaultMaxKeys = 10_000;

/** Counts requests or bytes for each key within a minute, in this process. */
export class RateCounter {
  readonly #limiter: RateLimiterMemory;
  readonly #limit: number;
  readonly #keys: LRUCache<string, true>;

  constructor({ limit, maxKeys = defaultMaxKeys }: { readonly limit: number; readonly maxKeys?: number }) {
    this.#limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds });
    this.#limit = limit;
    this.#keys = new LRUCache({
      max: maxKeys,
      dispose: (_value, key, reason) => {
        if (reason === 'evict') void this.#limiter.delete(key);
      },
    });
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#keys.size;
  }

  /** The state of a key, without counting; undefined if the key has no window. */
  async peek(key: string): Promise<RateState | undefined> {
    const found = await this.#limiter.get(key);
    return found === null || found.msBeforeNext <= 0 ? undefined : this.#state(found);
  }

  /** Counts the key once, or by an amount, also above the limit. */
  async count(key: string, amount = 1): Promise<RateState> {
    // Not `consume`, which throws above the limit.
    const counted = await this.#limiter.penalty(key, amount);
    if (counted.isFirstInDuration || !this.#keys.has(key)) this.#keys.set(key, true);
    return this.#state(counted);
  }

  #state({ consumedPoints, msBeforeNext }: RateLimiterRes): RateState {
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    return { limit: this.#limit, used: consumedPoints, resetSeconds };
  }
}
