import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { HttpClient } from '../support/api/http.ts';
import { enrol } from '../support/api/services.ts';
import { recordSharedRead } from '../support/api/shared-read.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { expectForgotten } from '../support/browser/forgotten.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { lookAt } from '../support/browser/looks.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';

const site = dashboardSite();
let acme: ShownOrganization;
let owner: HttpClient;
const canary = 'canary-of-the-audit-4711';

beforeAll(async () => {
  acme = await createOrganization(site.api, 'acme', ['shop/production']);
  owner = site.api.client(acme.owner.token);
  await owner.expectStatus(201, 'PUT', '/secrets/acme/shop/production/DATABASE_URL', { value: canary });
  await owner.expectStatus(200, 'GET', '/secrets/acme/shop/production/DATABASE_URL');
});

const rows = (page: Page) => page.getByRole('table', { name: 'Audit entries' }).locator('tbody').getByRole('row');
const queryOf = (page: Page): string => new URL(page.url()).search;

test('finds who read a secret, and names the command that shows the same', async () => {
  const { page } = await site.visitAs(acme.owner, '/');
  await page.getByRole('link', { name: 'Audit' }).click();
  const read = page.getByRole('row', { name: /^secret\.read/ });
  await read.waitFor();
  expect(await read.innerText()).toMatch(
    /secret\.read\s+shop \/ production · DATABASE_URL.*\s+ann@acme\.example\s+User\s+(?:just now|.* ago)\s+Done/,
  );
  expect(await lookAt(page, 'audit')).toEqual([]);
  expect(await layoutShift(page)).toBeLessThan(0.02);

  await page.getByLabel('Action').fill('secret.');
  await page.keyboard.press('Enter');
  await page.waitForURL(/action=secret\.$/);
  await page.getByText('keyframe audit -o acme --action secret.', { exact: true }).waitFor();
  await page.getByLabel('Time').selectOption('Last 7 days');
  await page.getByLabel('Actor', { exact: true }).fill('ANN@acme.example');
  await page.keyboard.press('Enter');
  const command = `keyframe audit -o acme --action secret. --actor ${acme.owner.id} --since 7d`;
  await page.getByText(command, { exact: true }).waitFor();
  // Until the answer arrives, the former entries stay.
  await page.getByRole('row', { name: /^environment\.create/ }).waitFor({ state: 'detached' });
  expect(await rows(page).getByRole('link').allInnerTexts()).toEqual(['secret.read', 'secret.write']);
  expect(queryOf(page)).toBe(`?action=secret.&since=7d&actor=${acme.owner.id}`);
  await page.reload();
  await read.waitFor();
  expect(await page.getByLabel('Actor', { exact: true }).inputValue()).toBe('ann@acme.example');

  await read.getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'secret.read' });
  await drawer.getByText(acme.owner.id).waitFor();
  expect(await drawer.innerText()).toMatch(/key\s+DATABASE_URL/i);
  expect(await lookAt(page, 'audit-entry')).toEqual([]);
  await drawer.getByRole('button', { name: 'Only this action' }).click();
  await drawer.waitFor({ state: 'detached' });
  await page.getByText('--action secret.read').waitFor();
  await page.getByRole('row', { name: /^secret\.write/ }).waitFor({ state: 'detached' });
  expect(await rows(page).count()).toBe(1);
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('row', { name: /^project\.create/ }).waitFor();
  expect(queryOf(page)).toBe('');
  await expectForgotten(page, canary);

  // On a phone the links of the header scroll, and the one of the page is in view.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.reload();
  await read.waitFor();
  const { x = 0, width = 0 } = (await page.getByRole('link', { name: 'Audit', exact: true }).boundingBox()) ?? {};
  expect(x + width).toBeLessThanOrEqual(390);
  expect(await page.evaluate<number>('window.scrollY')).toBe(0);
});

test('a mistyped filter is named and sends nothing; an unknown action finds nothing, and says why', async () => {
  const { page, requests } = await site.visitAs(acme.owner, '/orgs/acme/audit');
  await rows(page).first().waitFor();
  const before = requests.filter((request) => request.url().includes('/audit/')).length;
  await page.getByLabel('Actor', { exact: true }).fill('cy@example.com');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('No member or service token has this name.').waitFor();
  await page.getByLabel('Action').fill('Secret!');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').getByText('An action is like secret.list').waitFor();
  expect(await lookAt(page, 'audit-fault')).toEqual([]);
  expect(requests.filter((request) => request.url().includes('/audit/')).length).toBe(before);
  await page.goto(`${site.origin}/orgs/acme/audit?action=secret.reed&actor=robot&type=x&since=y`);
  await page.getByText('No action is called secret.reed.').waitFor();
  expect(await lookAt(page, 'audit-empty')).toEqual([]);
});

test('a dry run reads as planned, and what was done as done', async () => {
  const tried = await createOrganization(site.api, 'tried', ['a/b']);
  const client = site.api.client(tried.owner.token);
  await client.expectStatus(201, 'PUT', '/secrets/tried/a/b/KEY', { value: 'x' });
  await client.expectStatus(201, 'POST', '/environments/tried/a', { slug: 'c' });
  const copy = { from: { project: 'a', environment: 'b' }, mode: 'changed' };
  await client.expectStatus(200, 'POST', '/environments/tried/a/c/copy', { ...copy, dryRun: true });
  const { page } = await site.visitAs(tried.owner, '/orgs/tried/audit?action=environment.copy');
  await rows(page).first().getByText('Planned').waitFor();
  await client.expectStatus(200, 'POST', '/environments/tried/a/c/copy', copy);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await rows(page).first().getByText('Done').waitFor();
});

test('an entry that SecretSyncs share names the first of them, and its drawer each of them', async () => {
  const fleet = await createOrganization(site.api, 'fleet', ['a/b']);
  const slugs = { organization: 'fleet', project: 'a', environment: 'b' };
  const secretSyncs = await recordSharedRead(site.api.services, slugs);
  const { page } = await site.visitAs(fleet.owner, '/orgs/fleet/audit?action=secret.list');
  const row = page.getByRole('row', { name: /^secret\.list/ });
  await row.getByText('SecretSyncs team-a/web-0, team-a/web-1, team-a/web-2 and 4 more').waitFor();
  await row.getByText('Service token in test', { exact: true }).waitFor();
  await row.getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'secret.list' });
  await drawer.getByText('team-a/web-1 · source base', { exact: true }).waitFor();
  const lines = await drawer.getByRole('listitem').allInnerTexts();
  expect(lines).toHaveLength(secretSyncs.length);
  for (const [index, { name, uid, requestId }] of secretSyncs.entries()) {
    expect(lines[index]).toContain(name);
    expect(lines[index]).toContain(`uid ${uid} · request ${requestId}`);
  }
  expect(await lookAt(page, 'audit-shared')).toEqual([]);
});

test('two filters that are chosen before the page is rendered again both count', async () => {
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/audit');
  await rows(page).first().waitFor();
  await page.evaluate(`for (const [index, value] of ['user', '24h'].entries()) {
    const field = document.querySelectorAll('.audit-filters select')[index];
    field.value = value;
    field.dispatchEvent(new Event('change', { bubbles: true }));
  }`);
  await page.getByText('--actor-type user').waitFor();
  expect(queryOf(page)).toBe('?type=user&since=24h');
});

test('earlier entries are loaded by a button, a hundred at a time, and each entry once', async () => {
  const many = await createOrganization(site.api, 'many', ['a/b']);
  const client = site.api.client(many.owner.token);
  for (let index = 0; index < 120; index += 1) {
    await client.expectStatus(201, 'PUT', `/secrets/many/a/b/KEY_${index}`, { value: 'x' });
  }
  const { page } = await site.visitAs(many.owner, '/orgs/many/audit?action=secret.write');
  const table = page.getByRole('table', { name: 'Audit entries' });
  await rows(page).first().waitFor();
  expect(await table.getAttribute('aria-rowcount')).toBe('101');
  await page.route('**/api/v1/audit/**', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.getByRole('button', { name: 'Load earlier entries' }).click();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await table.getAttribute('aria-rowcount')).toBe('101');
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('table[aria-rowcount="121"]').waitFor();
  expect(await page.getByRole('button', { name: 'Load earlier entries' }).count()).toBe(0);
});

test('a denial is shown to the admins, and the page refuses a viewer', async () => {
  const viewer = await createVisitor(site.api, 'vic');
  await enrol(site.api.services, acme.owner, viewer, { organization: 'acme', role: 'viewer' });
  await site.api.client(viewer.token).expectStatus(403, 'GET', '/audit/acme');
  const other = (await site.visitAs(viewer, '/orgs/acme/audit')).page;
  await other.getByText('Only admins read the audit').waitFor();
  expect(await other.getByRole('link', { name: 'Audit' }).count()).toBe(0);
  await other.goto(`${site.origin}/audit`);
  await other.getByText('Only instance admins read the audit of the instance').waitFor();
  expect(await lookAt(other, 'audit-refused')).toEqual([]);

  const { page } = await site.visitAs(acme.owner, `/orgs/acme/audit?actor=${viewer.id}`);
  const denied = page.getByRole('row', { name: /^audit\.list/ });
  await denied.getByText('Denied').waitFor();
});

test('a failure is shown in place of the entries, and an instance admin reads those of the instance', async () => {
  const { page } = await site.visitAs(acme.owner, '/');
  await page.route('**/api/v1/audit*', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.getByRole('button', { name: 'Account:' }).click();
  await page.getByRole('link', { name: 'Audit of the instance' }).click();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'audit-failed')).toEqual([]);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page
    .getByRole('row', { name: /^session\.create/ })
    .first()
    .waitFor();
  await page.getByText('keyframe audit --instance', { exact: true }).waitFor();
});
