import { beforeAll, expect, test } from '@jest/globals';
import type { TestUser } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { lookAt } from '../support/browser/looks.ts';

const site = dashboardSite();
let ann: TestUser;

beforeAll(async () => {
  ann = await createVisitor(site.api, 'ann', { instanceAdmin: true });
});

test('the sign-in, also with an error', async () => {
  const { page } = await site.visit('/sign-in');
  await page.getByLabel('Personal token').waitFor();
  expect(await lookAt(page, 'sign-in')).toEqual([]);
  await page.getByLabel('Personal token').fill('kf_svc_x');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  expect(await lookAt(page, 'sign-in-refused')).toEqual([]);
});

test('the first steps, and the menu of the account', async () => {
  const { page } = await site.visitAs(ann, '/');
  expect(await lookAt(page, 'first-steps')).toEqual([]);
  await page.getByRole('button', { name: 'Account:' }).click();
  expect(await lookAt(page, 'account-menu')).toEqual([]);
});

test('the sessions, also with the dialog and a failure', async () => {
  await site.visitAs(ann, '/');
  const { page } = await site.visitAs(ann, '/sessions');
  await page.getByText('This browser', { exact: true }).waitFor();
  expect(await lookAt(page, 'sessions')).toEqual([]);
  await page.getByRole('button', { name: 'End all others' }).click();
  expect(await lookAt(page, 'sessions-dialog')).toEqual([]);
  await page.route('**/api/v1/sessions', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.reload();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'sessions-failed')).toEqual([]);
});

test('a page that does not exist', async () => {
  const { page } = await site.visitAs(ann, '/no-such-page');
  await page.getByRole('heading', { name: 'Page not found' }).waitFor();
  expect(await lookAt(page, 'not-found')).toEqual([]);
});
