import { Turns, type WaitingLimits } from './turns.ts';

/** The limits of waiting hold for each key. */
export interface KeyedLimiterOptions extends WaitingLimits {
  /** Maximum number of running jobs for each key. */
  readonly concurrency: number;
}

/** Limits concurrent jobs for each key. Jobs above the limit wait; owners of jobs of one key take turns. */
export class KeyedLimiter {
  readonly #options: KeyedLimiterOptions;
  readonly #turns = new Map<string, Turns>();

  constructor(options: KeyedLimiterOptions) {
    this.#options = options;
  }

  /** How many keys have running or waiting jobs. */
  get keys(): number {
    return this.#turns.size;
  }

  /** Runs `work` when its turn comes and returns its result. Throws what `work` throws, or the error of `makeError`. */
  async run<T>(key: string, work: () => Promise<T>, owner?: string): Promise<T> {
    const turns = this.#turns.get(key) ?? new Turns(this.#options.concurrency, this.#options);
    this.#turns.set(key, turns);
    try {
      return await turns.run(work, owner);
    } finally {
      if (turns.isIdle) this.#turns.delete(key);
    }
  }
}
