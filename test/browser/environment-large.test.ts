import { beforeAll, expect, test } from '@jest/globals';
import { dashboardSite } from '../support/browser/dashboard-site.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';

const site = dashboardSite();
let large: ShownOrganization;

const keys = Array.from({ length: 10_000 }, (_, index) => `KEY_${String(index).padStart(5, '0')}`);

beforeAll(async () => {
  large = await createOrganization(site.api, 'large', ['shop/production']);
  const set = Object.fromEntries(keys.map((key) => [key, `value of ${key}`]));
  await site.api.client(large.owner.token).expectStatus(200, 'PATCH', '/secrets/large/shop/production', { set });
});

// test/bench/large-environment.ts measures how long it takes.
test('of ten thousand keys, only the visible ones are in the page', async () => {
  const { page } = await site.visitAs(large.owner, '/orgs/large/environments/shop/production');
  await page.getByRole('link', { name: 'KEY_00000' }).waitFor();
  expect(await page.getByText('10,000 keys').count()).toBe(1);
  const rows = (): Promise<number> => page.getByRole('row').count();
  expect(await rows()).toBeLessThan(60);
  await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
  const last = page.getByRole('row').filter({ hasText: 'KEY_09999' });
  await last.waitFor();
  expect(await rows()).toBeLessThan(60);
  expect(await last.getAttribute('aria-rowindex')).toBe('10001');
  await last.getByRole('button', { name: 'Reveal KEY_09999' }).click();
  await last.getByText('value of KEY_09999').waitFor();
  await page.getByLabel('Filter by name').fill('key_0777');
  await page.getByText('10 keys found').waitFor();
  await page.getByRole('link', { name: 'KEY_07770' }).waitFor();
});

test('the keyboard alone goes from row to row, and into the drawer and back', async () => {
  const { page } = await site.visitAs(large.owner, '/orgs/large/environments/shop/production');
  await page.getByRole('link', { name: 'KEY_00000' }).focus();
  for (let row = 1; row <= 30; row += 1) {
    for (let stop = 0; stop < 3; stop += 1) await page.keyboard.press('Tab');
    // As for a person, the next row is in the page before the key is pressed again.
    await page.getByRole('link', { name: keys[row + 1] ?? '' }).waitFor({ state: 'attached' });
  }
  const focused = await page.evaluate<string>('document.activeElement.textContent');
  expect(focused).toBe('KEY_00030');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'KEY_00030' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.locator('a:focus', { hasText: 'KEY_00030' }).waitFor();
});
