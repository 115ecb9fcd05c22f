import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { dashboardSite } from '../support/browser/dashboard-site.ts';
import { onRequest } from '../support/browser/edit-scene.ts';
import { lookAt } from '../support/browser/looks.ts';
import { createOrganization } from '../support/browser/organization.ts';
import { reloadAsks } from '../support/browser/reload-asks.ts';
import type { TestUser } from '../support/api/services.ts';

/** Panels whose change is under way cannot be closed: that would not stop the change, and nothing would report it. */

const site = dashboardSite();
let owner: TestUser;

beforeAll(async () => {
  ({ owner } = await createOrganization(site.api, 'acme', ['shop/production', 'shop/staging']));
  const client = site.api.client(owner.token);
  for (const value of ['one', 'two']) {
    await client.expectStatus(200, 'PATCH', '/secrets/acme/shop/production', { set: { A: value } });
  }
  await client.expectStatus(200, 'PATCH', '/secrets/acme/shop/staging', { set: { A: 'staged' } });
  await client.expectStatus(201, 'POST', '/service-tokens/acme', {
    name: 'ci',
    scope: 'organization',
    permission: 'read',
  });
});

interface Panel {
  readonly name: string;
  readonly path: string;
  readonly request: { readonly method: string; readonly path: string };
  /** Presses all buttons until the change is under way. */
  readonly begin: (page: Page) => Promise<void>;
  /** Buttons that would leave the panel without a report. */
  readonly exits: readonly string[];
  /** What the panel or the page says afterwards. */
  readonly report: string;
}

const environment = '/orgs/acme/environments/shop/production';
const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

const panels: readonly Panel[] = [
  {
    name: 'a revert',
    path: `${environment}/history`,
    request: { method: 'POST', path: '/changes/acme/shop/production/*/revert' },
    begin: async (page) => {
      await page.getByRole('link', { name: 'Revision 2' }).click();
      await press(page, 'Revert this change');
      await page.getByRole('list', { name: 'Planned changes' }).waitFor();
      await press(page, 'Revert revision 2');
    },
    exits: ['Close', 'Back'],
    report: 'Reverted revision 2',
  },
  {
    name: 'a promotion',
    path: `${environment}/compare?with=shop%2Fstaging`,
    request: { method: 'POST', path: '/environments/acme/shop/production/copy' },
    begin: async (page) => {
      await page.getByLabel('Choose A').check();
      await press(page, 'Promote to production');
      await page.getByRole('list', { name: 'Planned changes' }).waitFor();
      await press(page, 'Promote');
    },
    exits: ['Close', 'Back'],
    report: 'Promoted from shop/staging',
  },
  {
    name: 'a rollback',
    path: `${environment}?key=A`,
    request: { method: 'POST', path: '/versions/acme/shop/production/A/rollback' },
    begin: async (page) => {
      await page.getByRole('article', { name: 'Version 1' }).getByRole('button', { name: 'Roll back' }).click();
      await press(page, 'Roll back to v1');
    },
    exits: ['Close', 'Roll back'],
    report: 'has the value of version 1.',
  },
  {
    name: 'a snapshot',
    path: `${environment}/history`,
    request: { method: 'POST', path: '/snapshots/acme/shop/production' },
    begin: async (page) => {
      await press(page, 'Take a snapshot');
      await page.getByLabel('Name').fill('before');
      await press(page, 'Take the snapshot');
    },
    exits: ['Close', 'Cancel'],
    report: 'The snapshot holds',
  },
  {
    name: 'the creation of a token',
    path: '/orgs/acme/tokens',
    request: { method: 'POST', path: '/service-tokens/acme' },
    begin: async (page) => {
      await press(page, 'New token');
      await page.getByLabel('Name').fill('deploy');
      await page.getByLabel('Place').selectOption('The whole organization');
      await press(page, 'Create token');
    },
    exits: ['Close', 'Cancel'],
    report: 'The token exists.',
  },
  {
    name: 'the rotation of a token',
    path: '/orgs/acme/tokens',
    request: { method: 'POST', path: '/service-tokens/acme/*/rotate' },
    begin: async (page) => {
      await page.getByRole('link', { name: 'ci', exact: true }).click();
      await press(page, 'Rotate the token ci');
      await page.getByRole('dialog', { name: 'Give ci a new value?' }).getByRole('button', { name: 'Rotate' }).click();
    },
    exits: ['Close'],
    report: 'The token has a new value.',
  },
  {
    name: 'an invitation',
    path: '/orgs/acme/members',
    request: { method: 'PUT', path: '/organizations/acme/roles/*' },
    begin: async (page) => {
      await press(page, 'Invite or give a role');
      await page.getByLabel('For').selectOption('A group of the identity provider');
      await page.getByLabel('Group', { exact: true }).fill('platform');
      await press(page, 'Give the role');
    },
    exits: ['Close', 'Cancel'],
    report: 'has the role.',
  },
];

test.each(panels)('$name stays open while it is under way, and reports its result', async (panel) => {
  const { page } = await site.visitAs(owner, panel.path);
  const [begun, released] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  await onRequest(page, panel.request, async (route) => {
    // A plan is a request to the same path.
    if (route.request().postData()?.includes('"dryRun":true') === true) return route.continue();
    const response = await route.fetch();
    begun.resolve(undefined);
    await released.promise;
    return route.fulfill({ response });
  });
  await panel.begin(page);
  await begun.promise;
  const drawer = page.locator('dialog.drawer[open]');
  for (const exit of panel.exits) {
    const button = drawer.getByRole('button', { name: exit, exact: true }).first();
    expect([exit, await button.getAttribute('aria-disabled')]).toEqual([exit, 'true']);
    await button.dispatchEvent('click');
  }
  // Chromium closes a dialog at the second Escape in a row, whatever the page says.
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Escape');
  await page.mouse.click(5, 400);
  await drawer.waitFor();
  expect(await lookAt(page, `under-way-${panel.name.replaceAll(' ', '-')}`)).toEqual([]);
  expect(await reloadAsks(page)).toBe('beforeunload');
  released.resolve(undefined);
  await page.getByText(panel.report).waitFor();
});

test('a panel can be closed again if the server never responds to its change', async () => {
  const { page } = await site.visitAs(owner, '/sessions');
  const waits: number[] = [];
  await page.exposeFunction('noteWait', (ms: number) => void waits.push(ms));
  await page.addInitScript(() => {
    const original = AbortSignal.timeout.bind(AbortSignal);
    AbortSignal.timeout = (ms) => {
      (globalThis as unknown as { noteWait: (ms: number) => void }).noteWait(ms);
      return original(ms / 100);
    };
  });
  await page.goto(new URL(`${environment}/history`, page.url()).href);
  await onRequest(page, { method: 'POST', path: '/snapshots/acme/shop/production' }, () => new Promise(() => {}));
  await press(page, 'Take a snapshot');
  await page.getByLabel('Name').fill('never');
  await press(page, 'Take the snapshot');
  const drawer = page.locator('dialog.drawer[open]');
  await drawer.getByText('The server did not respond in time. The change may have been made').waitFor();
  expect(waits).toEqual([120_000]);
  await drawer.getByRole('button', { name: 'Close', exact: true }).click();
  await drawer.waitFor({ state: 'detached' });
});
