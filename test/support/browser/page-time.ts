import type { Page } from 'playwright-core';
import { waitFor } from '../fixtures/wait-for.ts';
import { stepMs } from './watched-page.ts';

/** The last half second passes slowly: a response that comes late in real time still finds a clock that runs its timers. */
const [longTickMs, shortTickMs, slowMs] = [250, 1, 500];
/** The clock runs while it is asked for the time. */
const marginMs = 1_000;

/** Stops the clock of a page whose clock is installed. */
export async function stopClock(page: Page): Promise<void> {
  await page.clock.pauseAt((await page.evaluate<number>('Date.now()')) + marginMs);
}

/**
 * Lets at most `limitMs` pass for a page until `look` returns true, however long a slow machine takes for that: what a timer
 * of the page brings later does not come in time.
 */
export async function withinPageTime(
  page: Page,
  limitMs: number,
  look: () => Promise<boolean> | boolean,
): Promise<void> {
  await stopClock(page);
  let passedMs = marginMs;
  const what = `what the page does within ${limitMs} ms`;
  await waitFor(
    what,
    async () => {
      const tickMs = limitMs - passedMs > slowMs ? longTickMs : shortTickMs;
      if (passedMs + tickMs <= limitMs) {
        await page.clock.runFor(tickMs);
        passedMs += tickMs;
      }
      return look();
    },
    { timeoutMs: stepMs, pollMs: 20 },
  );
  await page.clock.resume();
}
