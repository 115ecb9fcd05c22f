export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** A number in [0, 1): Math.random, or a test's own. */
  readonly random?: () => number;
}

/**
 * Milliseconds to wait before try `attempt` (the first retry is 1): doubled each time up to `maxMs`, then half of it
 * random, so that many who failed together do not come back together.
 */
export function backoffMs(attempt: number, { initialMs, maxMs, random = Math.random }: BackoffOptions): number {
  const ceilingMs = Math.min(maxMs, initialMs * 2 ** Math.min(attempt - 1, 30));
  return ceilingMs / 2 + (ceilingMs / 2) * random();
}
