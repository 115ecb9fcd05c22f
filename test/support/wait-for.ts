import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface WaitOptions {
  /** 90 s if absent: a limit for what hangs, which a slow machine does not reach. */
  readonly timeoutMs?: number;
  /** If absent, 40 ms at first, then a tenth of the time waited, up to 250 ms: a long wait costs little CPU time. */
  readonly pollMs?: number;
}

const shortestPollMs = 40;
const longestPollMs = 250;

/**
 * Looks again and again until the look answers something other than undefined or false, and answers that. A look may throw
 * while the time is not up, for example by an expectation. Throws an Error that tells what was awaited, for how long,
 * and what the last look saw.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 90_000, pollMs }: WaitOptions = {},
): Promise<T> {
  const beganMs = Date.now();
  const deadlineMs = beganMs + timeoutMs;
  for (;;) {
    const last = await attempt(look);
    if (last.seen !== undefined && last.seen !== false) return last.seen;
    if (Date.now() > deadlineMs) {
      const saw = last.error === undefined ? `the last look answered ${inspect(last.seen)}` : inspectError(last.error);
      throw new Error(`Waited ${timeoutMs} ms in vain for ${what}: ${saw}`, { cause: last.error });
    }
    const grownMs = (Date.now() - beganMs) / 10;
    await sleep(pollMs ?? Math.min(Math.max(grownMs, shortestPollMs), longestPollMs));
  }
}

async function attempt<T>(look: () => Promise<T> | T): Promise<{ seen?: T; error?: unknown }> {
  try {
    return { seen: await look() };
  } catch (error) {
    return { error };
  }
}

function inspectError(error: unknown): string {
  return `the last look failed: ${error instanceof Error ? error.message : inspect(error)}`;
}
