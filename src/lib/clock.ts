/** The time and timers, so that tests can control both. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after a delay in milliseconds. The returned function cancels it. */
  after(delayMs: number, callback: () => void): () => void;
}

/**
 * Milliseconds on a monotonic clock, which also runs while the process is stopped. Only differences have a meaning.
 */
export type SteadyNow = () => number;

export const steadyNow: SteadyNow = () => performance.now();

// Node fires a timer of more than 2^31-1 ms immediately, so a longer timer is chained.
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
