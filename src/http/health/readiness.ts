import type { Clock } from '../../lib/clock.ts';

export interface ReadinessDeps {
  /** Each returns what it waits for, or undefined. A check that throws counts as not ready. */
  readonly checks: readonly (() => Promise<string | undefined>)[];
  readonly clock: Pick<Clock, 'now' | 'after'>;
}

// /readyz is public: however often it is called, the database is queried at most once in this time.
const cacheMs = 200;
const checkTimeoutMs = 2000;

/** Whether this process can serve. */
export class Readiness {
  readonly #deps: ReadinessDeps;
  #shuttingDown = false;
  #last: { readonly at: number; readonly blocker: Promise<string | undefined> } | undefined;

  constructor(deps: ReadinessDeps) {
    this.#deps = deps;
  }

  /** Makes the process not ready from now on, whatever its checks return. */
  shutDown(): void {
    this.#shuttingDown = true;
  }

  /** Why the process is not ready, as a sentence without data; undefined if it is ready. Never throws. */
  blocker(): Promise<string | undefined> {
    if (this.#shuttingDown) return Promise.resolve('this process is shutting down');
    const now = this.#deps.clock.now();
    if (this.#last === undefined || now - this.#last.at >= cacheMs) this.#last = { at: now, blocker: this.#check() };
    return this.#last.blocker;
  }

  async #check(): Promise<string | undefined> {
    const blockers = await Promise.all(this.#deps.checks.map((check) => this.#bounded(check)));
    return blockers.find((blocker) => blocker !== undefined);
  }

  async #bounded(check: () => Promise<string | undefined>): Promise<string | undefined> {
    const late = Promise.withResolvers<string>();
    const cancel = this.#deps.clock.after(checkTimeoutMs, () => late.resolve('the database did not respond in time'));
    try {
      return await Promise.race([check(), late.promise]);
    } catch {
      return 'the database cannot be reached';
    } finally {
      cancel();
    }
  }
}
