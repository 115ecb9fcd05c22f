/** The time, and timers on it, so that tests can own both. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after a delay in milliseconds; the answer cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/**
 * Milliseconds on a clock that nobody sets and that goes on while the process is stopped; only differences mean something.
 */
export type SteadyNow = () => number;

export const steadyNow: SteadyNow = () => performance.now();

// Node fires a timer of more than 2^31-1 ms at once; a longer one is chained.
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, callback) {
    let timer: NodeJS.Timeout;
    const arm = (remainingMs: number): void => {
      const stepMs = Math.min(Math.max(remainingMs, 0), maxTimerMs);
      timer = setTimeout(() => (remainingMs > stepMs ? arm(remainingMs - stepMs) : callback()), stepMs);
    };
    arm(delayMs);
    return () => clearTimeout(timer);
  },
};
