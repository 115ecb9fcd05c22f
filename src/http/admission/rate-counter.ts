import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';

/** How much of its limit one key has used. */
export interface RateState {
  readonly limit: number;
  /** What was counted of it in the present window. */
  readonly used: number;
  /** Whole seconds until the window ends; at least 1. */
  readonly resetSeconds: number;
}

/** The length of a window; each key's begins when it is first counted. */
export const windowSeconds = 60;
// Of more than these the oldest are forgotten, so that nobody can fill the memory with keys.
const defaultMaxKeys = 10_000;

/** Counts for each key, in this process, how often it comes in a minute, or how much of something it takes. */
export class RateCounter {
  readonly #limiter: RateLimiterMemory;
  readonly #limit: number;
  readonly #maxKeys: number;
  readonly #keys = new Set<string>();

  constructor({ limit, maxKeys = defaultMaxKeys }: { readonly limit: number; readonly maxKeys?: number }) {
    this.#limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds });
    this.#limit = limit;
    this.#maxKeys = maxKeys;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#keys.size;
  }

  /** The key's state without counting; undefined in no window. */
  async look(key: string): Promise<RateState | undefined> {
    const found = await this.#limiter.get(key);
    return found === null || found.msBeforeNext <= 0 ? undefined : this.#state(found);
  }

  /** Counts the key once, or by an amount; above the limit too. */
  async count(key: string, amount = 1): Promise<RateState> {
    // Not `consume`: above the limit it throws what is no error.
    const counted = await this.#limiter.penalty(key, amount);
    if (counted.isFirstInDuration || !this.#keys.has(key)) await this.#remember(key);
    return this.#state(counted);
  }

  async #remember(key: string): Promise<void> {
    this.#keys.delete(key);
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size <= this.#maxKeys || oldest === undefined) return;
    this.#keys.delete(oldest);
    await this.#limiter.delete(oldest);
  }

  #state({ consumedPoints, msBeforeNext }: RateLimiterRes): RateState {
    const resetSeconds = Math.max(1, Math.ceil(msBeforeNext / 1000));
    return { limit: this.#limit, used: consumedPoints, resetSeconds };
  }
}
