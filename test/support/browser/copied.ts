import type { Locator, Page } from 'playwright-core';

/**
 * Presses a button that copies, and returns what is on the clipboard once the page has confirmed it. The page itself looks out
 * for the confirmation, which it shows for two seconds only. The context needs the permissions of the clipboard.
 */
export async function copiedBy(page: Page, button: Locator): Promise<string> {
  await button.waitFor();
  await page.evaluate(`window.confirmedCopy = new Promise((resolve) => {
    const isConfirmation = ({ target }) => target.textContent.trim() === 'Copied';
    new MutationObserver((changes) => changes.some(isConfirmation) && resolve()).observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
    });
  }); undefined`);
  await button.click();
  await page.evaluate('window.confirmedCopy');
  return page.evaluate<string>('navigator.clipboard.readText()');
}
