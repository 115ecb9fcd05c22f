import type { Clock, SteadyNow } from '../../lib/clock.ts';
import type { Logger } from '../../observability/logger.ts';
import { clockSkewed } from './messages.ts';

export interface ServerClockDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly steadyNow: SteadyNow;
  readonly logger: Logger;
  /** Called after an answer has moved it by more than a second: timers that rest on the former time are wrong. */
  readonly onStep: () => void;
}

// The time in a slower answer may be wrong by half of this.
const maxRoundTripMs = 2_000;
const maxStepMs = 1_000;
// A synchronized clock is seldom wrong by a second.
const maxSkewMs = 30_000;

/**
 * The database's clock, by the times in its answers. Expiries are of that clock. Between two answers it runs with the
 * steady clock of this process, so a step of the wall clock does not move it.
 */
export class ServerClock {
  readonly #deps: ServerClockDeps;
  /** How far it is ahead of the steady clock; undefined before the first answer. */
  #aheadMs: number | undefined;
  #isSkewLogged = false;

  constructor(deps: ServerClockDeps) {
    this.#deps = deps;
  }

  /** Milliseconds since the epoch. Before the first answer by the clock of this process. */
  now(): number {
    const { clock, steadyNow } = this.#deps;
    return this.#aheadMs === undefined ? clock.now() : Math.round(steadyNow() + this.#aheadMs);
  }

  /** How far the clock of this process is ahead of it; 0 before the first answer. */
  get skewMs(): number {
    return this.#deps.clock.now() - this.now();
  }

  /** What to do if the clocks differ by much; undefined if they do not. */
  get warning(): string | undefined {
    const { skewMs } = this;
    return Math.abs(skewMs) > maxSkewMs ? clockSkewed(skewMs) : undefined;
  }

  /** Notes the time in an answer, which came just now. `askedAt` is by the steady clock. */
  note(time: Date, askedAt: number): void {
    const roundTripMs = this.#deps.steadyNow() - askedAt;
    if (this.#aheadMs !== undefined && roundTripMs > maxRoundTripMs) return;
    const before = this.now();
    this.#aheadMs = time.getTime() - (askedAt + roundTripMs / 2);
    if (Math.abs(this.now() - before) > maxStepMs) this.#deps.onStep();
    const { warning } = this;
    if (warning !== undefined && !this.#isSkewLogged) this.#deps.logger.warn(warning);
    this.#isSkewLogged = warning !== undefined;
  }
}
