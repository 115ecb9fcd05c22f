import type { Page } from 'playwright-core';

/** Lets the server do the next POST to an address, and loses its response. Every other request passes. */
export async function loseCreation(page: Page, url: string): Promise<void> {
  let isLost = false;
  await page.route(url, async (route) => {
    if (isLost || route.request().method() !== 'POST') return route.continue();
    isLost = true;
    await route.fetch();
    await route.abort();
  });
}
