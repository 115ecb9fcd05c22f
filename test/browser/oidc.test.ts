import { expect, test } from '@jest/globals';
import { meUserView } from '../../src/wire/me.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { lookAt } from '../support/browser/looks.ts';
import { TestIssuer } from '../support/oidc/issuer.ts';
import { newAccount } from '../support/oidc/site.ts';

let issuer: TestIssuer;
const site = dashboardSite(async (resources) => {
  issuer = await TestIssuer.start();
  resources.defer(() => issuer.close());
  return { issuer };
});

test('a user signs in at the issuer, which is another site, and comes back to the page that they asked for', async () => {
  const account = newAccount();
  issuer.account = account;
  const { page, complaints } = await site.visit('/sessions');
  await page.getByRole('link', { name: 'Sign in with Test Login' }).waitFor();
  expect(await lookAt(page, 'sign-in-oidc')).toEqual([]);
  await page.getByRole('link', { name: 'Sign in with Test Login' }).click();
  await page.getByText('This browser', { exact: true }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/sessions');
  await page.getByText('with single sign-on').waitFor();
  const me = meUserView.parse(await page.evaluate(`fetch('/api/v1/me').then((response) => response.json())`));
  expect(me).toMatchObject({ name: account.claims?.['email'], organizations: [] });
  const cookies = await page.context().cookies(site.origin);
  expect(cookies.map(({ name, sameSite, httpOnly, secure }) => [name, sameSite, httpOnly, secure])).toEqual([
    ['__Host-keyframe', 'Strict', true, true],
  ]);
  expect(complaints.filter((text) => !text.includes(' 401 '))).toEqual([]);
});

test('an account that may not sign in gets a page that says why, and no session', async () => {
  const taken = await createVisitor(site.api, 'taken');
  issuer.account = newAccount({ email: taken.email });
  const { page } = await site.visit('/sign-in');
  await page.getByRole('link', { name: 'Sign in with Test Login' }).click();
  await page.waitForURL((url) => url.origin === site.origin && url.pathname !== '/sign-in');
  await page.getByRole('heading').first().waitFor();
  expect(await lookAt(page, 'sign-in-oidc-refused')).toEqual([]);
  const cookies = await page.context().cookies(site.origin);
  expect(cookies.filter(({ name }) => name === '__Host-keyframe')).toEqual([]);
});

test('a user links an account of the issuer, and unlinks it', async () => {
  issuer.account = newAccount();
  const { page } = await site.visitAs(await createVisitor(site.api, 'lea'), '/sign-in-methods');
  await page.getByText('No account is linked.').waitFor();
  await page.getByRole('link', { name: 'Link Test Login' }).click();
  await page.getByRole('list', { name: 'Linked accounts' }).getByText(issuer.account.sub).waitFor();
  expect(await lookAt(page, 'sign-in-methods-linked')).toEqual([]);
  await page.getByRole('button', { name: 'Unlink the account of' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Unlink' }).click();
  await page.getByText('No account is linked.').waitFor();
});
