import { FairQueue } from './fair-queue.ts';

/** How many jobs wait, and how long. */
export interface WaitingLimits {
  /** Maximum number of waiting jobs of one owner. */
  readonly maxWaiting: number;
  /** Maximum time that a job waits, in milliseconds. */
  readonly waitMs: number;
  /** Makes the error for a job that does not run, because too many wait or it has waited too long. */
  readonly makeError: () => Error;
}

/** A number of places for jobs. Jobs above it wait. Owners take turns, and the jobs of one owner start in their order. */
export class Turns {
  readonly #places: number;
  readonly #limits: WaitingLimits | undefined;
  readonly #waiting = new FairQueue<string, () => void>();
  #running = 0;

  /** Without limits, all jobs wait as long as it takes. */
  constructor(places: number, limits?: WaitingLimits) {
    this.#places = places;
    this.#limits = limits;
  }

  /** Whether no job runs or waits. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Runs `work` when its turn comes and returns its result. Throws what `work` throws, or the error of the limits. */
  async run<T>(work: () => Promise<T>, owner = ''): Promise<T> {
    if (this.#running < this.#places) this.#running += 1;
    else await this.#turn(owner);
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  async #turn(owner: string): Promise<void> {
    const limits = this.#limits;
    if (limits !== undefined && this.#waiting.sizeOf(owner) >= limits.maxWaiting) throw limits.makeError();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#waiting.add(owner, resolve);
    const giveUp = ({ makeError }: WaitingLimits): void => {
      this.#waiting.remove(owner, resolve);
      reject(makeError());
    };
    const timer = limits && setTimeout(() => giveUp(limits), limits.waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  #leave(): void {
    const [next] = this.#waiting.take(1);
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    // The place passes directly to the next job, so that no new job takes it.
    next();
  }
}
