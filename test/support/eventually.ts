import { setTimeout as pause } from 'node:timers/promises';

export interface EventuallyOptions {
  /** Default: 15 s. */
  readonly limitMs?: number;
  /** Between two looks; default: 20 ms. */
  readonly everyMs?: number;
}

/**
 * Looks again and again until `look` answers something else than undefined or false, and answers that. Throws with
 * `what` did not happen, and what the last look threw, after the limit.
 */
export async function eventually<Found>(
  what: string,
  look: () => Promise<Found | undefined | false> | Found | undefined | false,
  { limitMs = 15_000, everyMs = 20 }: EventuallyOptions = {},
): Promise<Found> {
  const deadline = performance.now() + limitMs;
  let cause: unknown;
  do {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await pause(everyMs);
  } while (performance.now() < deadline);
  throw new Error(`${what}: not so within ${limitMs} ms`, { cause });
}
