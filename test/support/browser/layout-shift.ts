import type { Page } from 'playwright-core';

/** How far a page moved under its reader since it was opened: the sum of its layout shifts without recent input. */
export async function layoutShift(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((resolve) => {
    let sum = 0;
    new PerformanceObserver((list) => {
      for (const { value, hadRecentInput } of list.getEntries()) sum += hadRecentInput ? 0 : value;
    }).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => resolve(sum), 100);
  })`);
}
