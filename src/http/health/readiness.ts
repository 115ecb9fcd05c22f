import type { Clock } from '../../lib/clock.ts';

export interface ReadinessDeps {
  /** Each answers what it waits for, or undefined. One that throws counts as not ready. */
  readonly checks: readonly (() => Promise<string | undefined>)[];
  readonly clock: Pick<Clock, 'now' | 'after'>;
}

// Anyone may ask: however often they do, the database is asked once in this time.
const keptMs = 200;
const checkTimeoutMs = 2000;

/** Whether this process can serve. */
export class Readiness {
  readonly #deps: ReadinessDeps;
  #shuttingDown = false;
  #last: { readonly at: number; readonly fault: Promise<string | undefined> } | undefined;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
  }

  /** From now on the process is not ready, whatever its checks say. */
  shutDown(): void {
    this.#shuttingDown = true;
  }

  /** What stands in the way, as a sentence without data; undefined when ready. Never throws. */
  fault(): Promise<string | undefined> {
    if (this.#shuttingDown) return Promise.resolve('this process is shutting down');
    const now = this.#deps.clock.now();
    if (this.#last === undefined || now - this.#last.at >= keptMs) this.#last = { at: now, fault: this.#check() };
    return this.#last.fault;
  }

  async #check(): Promise<string | undefined> {
    const faults = await Promise.all(this.#deps.checks.map((check) => this.#bounded(check)));
    return faults.find((fault) => fault !== undefined);
  }

  async #bounded(check: () => Promise<string | undefined>): Promise<string | undefined> {
    const late = Promise.withResolvers<string>();
    const cancel = this.#deps.clock.after(checkTimeoutMs, () => late.resolve('the database does not answer in time'));
    try {
      return await Promise.race([check(), late.promise]);
    } catch {
      return 'the database cannot be reached';
    } finally {
      cancel();
    }
  }
}
