import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type DashboardSite, startDashboardSite } from '../support/browser/dashboard-site.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let site: DashboardSite;
let large: ShownOrganization;

// Other programs use the same processors: the best of some attempts is what the page itself needs.
const attempts = 10;
const keys = Array.from({ length: 10_000 }, (_, index) => `KEY_${String(index).padStart(5, '0')}`);

beforeAll(async () => {
  site = await startDashboardSite(resources);
  large = await createOrganization(site.api, 'large', ['shop/production']);
  const set = Object.fromEntries(keys.map((key) => [key, `value of ${key}`]));
  await site.api.client(large.owner.token).expectStatus(200, 'PATCH', '/secrets/large/shop/production', { set });
});
afterAll(() => resources.disposeAsync());

/** Runs what is done to the page, and returns its longest task meanwhile: 0 if none took 50 milliseconds. */
async function longestTaskMs(page: Page, act: () => Promise<void>): Promise<number> {
  await page.evaluate(`window.longest = 0;
    window.observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    });
    window.observer.observe({ type: 'longtask' })`);
  await act();
  return page.evaluate<number>(`new Promise((resolve) => setTimeout(() => {
    window.observer.disconnect();
    resolve(window.longest);
  }, 200))`);
}

async function leastOf(measure: () => Promise<number>, limit: number): Promise<number> {
  let least = Infinity;
  for (let attempt = 0; attempt < attempts && least >= limit; attempt += 1) least = Math.min(least, await measure());
  return least;
}

test('ten thousand keys show their first rows within a second', async () => {
  const { page } = await site.visitAs(large.owner, '/');
  const measure = async (): Promise<number> => {
    await page.goto(`${site.origin}/orgs/large`);
    const link = page.getByRole('link', { name: 'shop / production' });
    await link.waitFor();
    // The page itself notes both times: the test's own searches take long on a busy machine.
    await page.evaluate(`addEventListener('click', ({ timeStamp }) => {
      window.firstRow = new Promise((resolve) => {
        const observer = new MutationObserver(() => {
          if (document.querySelector('a[title="KEY_00000"]') === null) return;
          observer.disconnect();
          resolve(performance.now() - timeStamp);
        });
        observer.observe(document.body, { childList: true, subtree: true });
      });
    }, { capture: true, once: true })`);
    await link.click();
    return page.evaluate<number>('window.firstRow');
  };
  expect(await leastOf(measure, 1_000)).toBeLessThan(1_000);
  expect(await page.getByText('10,000 keys').count()).toBe(1);
  expect(await page.getByRole('row').count()).toBeLessThan(60);
});

test('they scroll and are filtered without a task over 200 ms', async () => {
  const { page } = await site.visitAs(large.owner, '/orgs/large/environments/shop/production');
  await page.getByRole('link', { name: 'KEY_00000' }).waitFor();
  await page.mouse.move(600, 500);
  const scroll = async (): Promise<void> => {
    await page.evaluate('window.scrollTo(0, 0)');
    for (let step = 0; step < 30; step += 1) await page.mouse.wheel(0, 1_500);
    // The wheel moves the page smoothly, and would move it again after the jump to its end.
    const isAtRest = `new Promise((resolve) => {
      const before = window.scrollY;
      setTimeout(() => resolve(window.scrollY === before), 200);
    })`;
    await waitFor('the page to be at rest', () => page.evaluate<boolean>(isAtRest));
    await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
    // A search by role would be a long task itself.
    await page.locator('a[title="KEY_09999"]').waitFor();
  };
  expect(await leastOf(() => longestTaskMs(page, scroll), 200)).toBeLessThan(200);
  const last = page.getByRole('row').filter({ hasText: 'KEY_09999' });
  expect(await last.getAttribute('aria-rowindex')).toBe('10001');
  await last.getByRole('button', { name: 'Reveal KEY_09999' }).click();
  await last.getByText('value of KEY_09999').waitFor();

  const filter = async (): Promise<void> => {
    await page.getByLabel('Filter by name').fill('');
    await page.getByLabel('Filter by name').pressSequentially('key_0777');
    await page.getByText('10 keys found').waitFor();
  };
  expect(await leastOf(() => longestTaskMs(page, filter), 200)).toBeLessThan(200);
  await page.getByRole('link', { name: 'KEY_07770' }).waitFor();
});

test('the keyboard alone goes from row to row, and into the drawer and back', async () => {
  const { page } = await site.visitAs(large.owner, '/orgs/large/environments/shop/production');
  await page.getByRole('link', { name: 'KEY_00000' }).focus();
  for (let step = 0; step < 90; step += 1) await page.keyboard.press('Tab');
  const focused = await page.evaluate<string>('document.activeElement.textContent');
  expect(focused).toBe('KEY_00030');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'KEY_00030' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('KEY_00030');
});
