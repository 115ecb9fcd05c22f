export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Returns a number in [0, 1); Math.random by default. */
  readonly random?: () => number;
}

/**
 * Milliseconds to wait before retry `attempt` (from 1): doubles each time up to `maxMs`. Half of the delay is random, so
 * that clients that failed together do not retry together.
 */
export function backoffMs(attempt: number, { initialMs, maxMs, random = Math.random }: BackoffOptions): number {
  const ceilingMs = Math.min(maxMs, initialMs * 2 ** Math.min(attempt - 1, 30));
  return ceilingMs / 2 + (ceilingMs / 2) * random();
}
