export interface KeyedLimiterOptions {
  /** Maximum number of running jobs for each key. */
  readonly concurrency: number;
  /** Maximum number of waiting jobs for each key. */
  readonly maxWaiting: number;
  /** Maximum time that a job waits, in milliseconds. */
  readonly waitMs: number;
  /** Makes the error for a job that does not run, because too many wait or it has waited too long. */
  readonly makeError: () => Error;
}

/** The jobs of one key. `turns` starts the waiting jobs, in the order of their arrival. */
interface Lane {
  running: number;
  readonly turns: Set<() => void>;
}

/** Limits concurrent jobs for each key. Jobs above the limit wait and start in the order of their arrival. */
export class KeyedLimiter {
  readonly #options: KeyedLimiterOptions;
  readonly #lanes = new Map<string, Lane>();

  constructor(options: KeyedLimiterOptions) {
    this.#options = options;
  }

  /** How many keys have running or waiting jobs. */
  get keys(): number {
    return this.#lanes.size;
  }

  /** Runs `work` when its turn comes and returns its result. Throws what `work` throws, or the error of `makeError`. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lane(key);
    if (lane.running < this.#options.concurrency) lane.running += 1;
    else await this.#turn(lane);
    try {
      return await work();
    } finally {
      this.#leave(key, lane);
    }
  }

  #lane(key: string): Lane {
    const lane = this.#lanes.get(key) ?? { running: 0, turns: new Set() };
    this.#lanes.set(key, lane);
    return lane;
  }

  async #turn({ turns }: Lane): Promise<void> {
    const { maxWaiting, waitMs, makeError } = this.#options;
    if (turns.size >= maxWaiting) throw makeError();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    turns.add(resolve);
    const timer = setTimeout(() => {
      turns.delete(resolve);
      reject(makeError());
    }, waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #leave(key: string, lane: Lane): void {
    const [next] = lane.turns;
    if (next === undefined) {
      lane.running -= 1;
      if (lane.running === 0) this.#lanes.delete(key);
      return;
    }
    // The slot passes directly to the next job, so that no new job takes it.
    lane.turns.delete(next);
    next();
  }
}
