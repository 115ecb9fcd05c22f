import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface WaitOptions {
  /** 15 s if absent. */
  readonly timeoutMs?: number;
  /** 25 ms if absent. */
  readonly pollMs?: number;
}

/**
 * Looks again and again until the look answers something other than undefined or false, and answers that. A look may throw
 * while the time is not up, for example by an expectation. Throws an Error that tells what was awaited, for how long,
 * and what the last look saw.
 */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  { timeoutMs = 15_000, pollMs = 25 }: WaitOptions = {},
): Promise<T> {
  const deadlineMs = Date.now() + timeoutMs;
  for (;;) {
    const last = await attempt(look);
    if (last.seen !== undefined && last.seen !== false) return last.seen;
    if (Date.now() > deadlineMs) {
      const saw = last.error === undefined ? `the last look answered ${inspect(last.seen)}` : inspectError(last.error);
      throw new Error(`Waited ${timeoutMs} ms in vain for ${what}: ${saw}`, { cause: last.error });
    }
    await sleep(pollMs);
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
