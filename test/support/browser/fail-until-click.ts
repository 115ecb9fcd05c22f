import type { Page, Route } from 'playwright-core';

/** Clicks on "Try again", after which the requests succeed. */
type TryAgain = () => Promise<void>;

/**
 * Lets the requests of a page fail until the user tries again. What the page requests again by itself meanwhile fails too, so
 * it does not matter how long the test takes until then.
 */
export async function failUntilClick(page: Page, urls: string): Promise<TryAgain> {
  const isClicked = (): Promise<unknown> => page.evaluate('globalThis.isClicked').catch(() => undefined);
  await page.route(urls, async (route: Route) => {
    if (route.request().resourceType() !== 'fetch' || (await isClicked()) === true) await route.continue();
    else await route.fulfill({ status: 500, body: 'broken' });
  });
  return async () => {
    await page.evaluate(
      `document.addEventListener('click', () => { globalThis.isClicked = true; }, { capture: true })`,
    );
    await page.getByRole('button', { name: 'Try again' }).click();
  };
}
