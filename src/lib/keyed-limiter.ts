export interface KeyedLimiterOptions {
  /** How many works of one key run at once. */
  readonly atOnce: number;
  /** How many more of one key may wait. */
  readonly waiting: number;
  /** How long one waits for its turn, in milliseconds. */
  readonly waitMs: number;
  /** Makes the error of a work that is not run: too many wait already, or its turn did not come in time. */
  readonly refusal: () => Error;
}

/** The works of one key: those that run, and the turns of those that wait, in their order. */
interface Lane {
  running: number;
  readonly turns: Set<() => void>;
}

/** Runs works, of each key only a few at once and the rest in the order in which they came. */
export class KeyedLimiter {
  readonly #options: KeyedLimiterOptions;
  readonly #lanes = new Map<string, Lane>();

  constructor(options: KeyedLimiterOptions) {
    this.#options = options;
  }

  /** How many keys have works that run or wait. */
  get keys(): number {
    return this.#lanes.size;
  }

  /** Runs `work` when its turn comes, and answers what it answers. Throws what it throws, and the `refusal`. */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lane(key);
    if (lane.running < this.#options.atOnce) lane.running += 1;
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
    const { waiting, waitMs, refusal } = this.#options;
    if (turns.size >= waiting) throw refusal();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    turns.add(resolve);
    const timer = setTimeout(() => {
      turns.delete(resolve);
      reject(refusal());
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
    // The place passes on, so that nobody who comes meanwhile takes it.
    lane.turns.delete(next);
    next();
  }
}
