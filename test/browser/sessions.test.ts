import { expect, test } from '@jest/globals';
import type { TestUser } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { prismaOf } from '../support/database/prisma.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const site = dashboardSite();

const newUser = (name: string): Promise<TestUser> => createVisitor(site.api, name);

test('a user sees each browser, and ends the session of another one', async () => {
  const user = await newUser('bo');
  const other = (await site.visitAs(user, '/')).page;
  const { page } = await site.visitAs(user, '/sessions');
  const rows = page.getByRole('list', { name: 'Sessions' }).getByRole('listitem');
  await rows.nth(1).waitFor();
  expect(await rows.count()).toBe(2);
  expect(await rows.filter({ hasText: 'This browser' }).count()).toBe(1);
  expect(await rows.filter({ hasText: 'This browser' }).getByRole('button').count()).toBe(0);
  await page.getByRole('button', { name: 'End the session of Chrome' }).click();
  await page.getByText('You are signed in nowhere else.').waitFor();
  expect(await rows.count()).toBe(1);
  await page.getByRole('status').getByText('The session of Chrome on Linux has ended.', { exact: true }).waitFor();

  await other.getByRole('link', { name: 'Sessions' }).click();
  await other.getByText('Your session has ended. Sign in again.').waitFor();
});

test('all other sessions end after a question, by the keyboard alone', async () => {
  const user = await newUser('cy');
  const others = [await site.visitAs(user, '/'), await site.visitAs(user, '/')];
  const { page } = await site.visitAs(user, '/sessions');
  const open = page.getByRole('button', { name: 'End all others' });
  await open.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'End 2 other sessions?' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('End all others');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByText('You are signed in nowhere else.').waitFor();
  for (const { page: other } of others) {
    await other.reload();
    await other.waitForURL('**/sign-in');
  }
  await page.reload();
  await page.getByText('This browser', { exact: true }).waitFor();
});

test('signing out ends the session, and leaves nothing behind', async () => {
  const user = await newUser('di');
  const { page } = await site.visitAs(user, '/');
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByText('This browser', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Account: di@example.com' }).click();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL('**/sign-in');
  expect(await page.context().cookies()).toEqual([]);
  const left = await prismaOf(site.api.services.database).session.count({ where: { userId: user.id, endedAt: null } });
  expect(left).toBe(0);
  await page.goBack();
  await page.waitForURL('**/sign-in');
  expect(await page.locator('body').innerText()).not.toContain('di@example.com');
});

test('a page that is left open notices the end of its session, by a request that is marked as no use of it', async () => {
  const user = await newUser('ed');
  const { page } = await site.visitAs(user, '/', { fromMs: Date.now() });
  await page.getByText('ed@example.com').first().waitFor();
  // Other requests may still belong to the visit itself.
  const polled = page.waitForRequest('**/api/v1/me');
  await page.clock.fastForward('01:30');
  expect((await polled).headers()['x-keyframe-background']).toBe('1');

  await site.api.client(user.token).expectStatus(204, 'DELETE', '/sessions');
  const notice = page.getByText('Your session has ended. Sign in again.');
  // A request that began before the end may be under way still, and the page then sends no other one.
  await waitFor('the page to notice the end', async () => {
    await page.clock.fastForward('01:30');
    return notice.isVisible();
  });
});

test('a failure of the list is shown, and a second try loads it', async () => {
  const user = await newUser('flo');
  const { page } = await site.visitAs(user, '/');
  await page.route('**/api/v1/sessions', (route) => route.abort());
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('alert').getByText('could not be reached').waitFor();
  await page.unroute('**/api/v1/sessions');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('This browser', { exact: true }).waitFor();
  expect(await page.getByRole('alert').count()).toBe(0);
});
