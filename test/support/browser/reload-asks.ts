import type { Page } from 'playwright-core';

/** Reloads the page, and stays on it if the browser asks. Returns what the browser asked. */
export async function reloadAsks(page: Page): Promise<string> {
  const asked = page.waitForEvent('dialog');
  await page.evaluate('setTimeout(() => location.reload(), 0); undefined');
  const dialog = await asked;
  await dialog.dismiss();
  return dialog.type();
}
