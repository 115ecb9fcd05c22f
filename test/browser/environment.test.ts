import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { enrol } from '../support/api/services.ts';
import { copiedBy } from '../support/browser/copied.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { lookAt } from '../support/browser/looks.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';
import { stopClock } from '../support/browser/page-time.ts';
import { prismaOf } from '../support/database/prisma.ts';

const site = dashboardSite();
let acme: ShownOrganization;
let changedAtMs: number;
const canary = 'c4n4ry-9d1f-value';
const path = '/orgs/acme/environments/shop/production';

beforeAll(async () => {
  acme = await createOrganization(site.api, 'acme', ['shop/production', 'shop/empty']);
  const set = {
    API_KEY: canary,
    DATABASE_URL: 'postgres://shop@db/shop',
    EMPTY: '',
    MARKUP: `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`,
    TLS_CERT: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
  };
  const client = site.api.client(acme.owner.token);
  await client.expectStatus(200, 'PATCH', '/secrets/acme/shop/production', { set, comment: 'first values' });
  await client.expectStatus(200, 'PUT', '/secrets/acme/shop/production/DATABASE_URL', { value: 'postgres://new' });
  changedAtMs = Date.now();
});

const row = (page: Page, key: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name: key }) });

/** How many reads of one value are in the audit. */
async function reads(): Promise<number> {
  const prisma = prismaOf(site.api.services.database);
  return prisma.auditEntry.count({ where: { action: 'secret.read', actorId: acme.owner.id } });
}

test('lists keys, versions and who changed each, and no value', async () => {
  const { page, complaints } = await site.visitAs(acme.owner, '/', changedAtMs);
  const bodies: string[] = [];
  page.on(
    'response',
    (response) =>
      void response.text().then(
        (text) => bodies.push(text),
        () => undefined,
      ),
  );
  await page.getByRole('link', { name: 'shop / production' }).click();
  await row(page, 'API_KEY').waitFor();
  expect(await row(page, 'DATABASE_URL').innerText()).toMatch(/Hidden\s+v2\s+just now by ann@acme\.example/);
  expect(await page.getByRole('table', { name: 'Keys' }).getAttribute('aria-rowcount')).toBe('6');
  await page.getByText('Revision 2').waitFor();
  expect(await lookAt(page, 'environment')).toEqual([]);
  expect(await layoutShift(page)).toBeLessThan(0.02);
  expect([await page.content(), ...bodies].filter((text) => text.includes(canary))).toEqual([]);
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
  await page.getByLabel('Filter by name').fill('api');
  await page.getByText('1 key found').waitFor();
  expect(await page.getByRole('row').count()).toBe(2);
  await page.getByLabel('Filter by name').fill('nothing');
  await page.getByText('No key has this name').waitFor();
});

test('a reveal is one audited request, and the value hides after 30 seconds', async () => {
  const { page } = await site.visitAs(acme.owner, path, { fromMs: Date.now() });
  const cell = row(page, 'API_KEY');
  const before = await reads();
  await cell.getByRole('button', { name: 'Reveal API_KEY' }).click();
  await cell.getByText(canary).waitFor();
  expect(await reads()).toBe(before + 1);
  // The clock goes on meanwhile, so the rest is for a slow machine.
  await page.clock.fastForward(15_000);
  expect(await cell.getByText(canary).count()).toBe(1);
  await page.clock.fastForward(15_000);
  await cell.getByRole('button', { name: 'Reveal API_KEY' }).waitFor();
  expect(await page.content()).not.toContain(canary);
});

test.each([
  [
    'the page is hidden',
    `Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`,
  ],
  ['the page is left', `window.dispatchEvent(new Event('pagehide'))`],
])('a revealed value hides as soon as %s', async (_, event) => {
  const { page } = await site.visitAs(acme.owner, path, { fromMs: Date.now() });
  const cell = row(page, 'API_KEY');
  await cell.getByRole('button', { name: 'Reveal API_KEY' }).click();
  await cell.getByText(canary).waitFor();
  // The clock stands, so that only the event can hide the value, and not the 30 seconds.
  await stopClock(page);
  expect(await cell.getByText(canary).count()).toBe(1);
  await page.evaluate(event);
  await cell.getByRole('button', { name: 'Reveal API_KEY' }).waitFor();
  expect(await page.content()).not.toContain(canary);
});

test('a second click on the eye before the value is there reads nothing', async () => {
  const { page } = await site.visitAs(acme.owner, path);
  const cell = row(page, 'API_KEY');
  const eye = cell.getByRole('button', { name: 'Reveal API_KEY' });
  const before = await reads();
  let sent = 0;
  const clicked = Promise.withResolvers<void>();
  await page.route(/\/API_KEY($|\?)/, async (route) => {
    sent += 1;
    await clicked.promise;
    await route.continue();
  });
  await eye.dblclick();
  await eye.click();
  clicked.resolve();
  await cell.getByText(canary).waitFor();
  expect([sent, (await reads()) - before]).toEqual([1, 1]);
});

test('a value is copied without being shown, by one audited request', async () => {
  const { page } = await site.visitAs(acme.owner, path);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const before = await reads();
  const copy = row(page, 'API_KEY').getByRole('button', { name: 'Copy the value of API_KEY' });
  expect(await copiedBy(page, copy)).toBe(canary);
  expect(await page.content()).not.toContain(canary);
  expect(await reads()).toBe(before + 1);
});

test('a value that is markup stays text, also in the drawer', async () => {
  const { page, complaints } = await site.visitAs(acme.owner, path);
  await row(page, 'MARKUP').getByRole('button', { name: 'Reveal MARKUP' }).click();
  await row(page, 'MARKUP').getByText('<img src=x onerror=').waitFor();
  await page.getByRole('link', { name: 'MARKUP' }).click();
  const drawer = page.getByRole('dialog', { name: 'MARKUP' });
  await drawer.getByRole('button', { name: 'Reveal for 30 seconds' }).click();
  await drawer.getByText('<script>').waitFor();
  expect(await page.locator('img, [onerror]').count()).toBe(0);
  expect(await page.title()).toBe('production · Keyframe');
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
});

test('no value is left in the address, the title, the history, the storage or the console', async () => {
  const { page, complaints, requests } = await site.visitAs(acme.owner, path);
  await page.getByRole('link', { name: 'API_KEY' }).click();
  const drawer = page.getByRole('dialog', { name: 'API_KEY' });
  await drawer.getByRole('button', { name: 'Reveal for 30 seconds' }).click();
  await drawer.getByText(canary).waitFor();
  const kept = await page.evaluate<string>(`(async () => JSON.stringify([
    location.href, document.title, history.state, { ...localStorage }, { ...sessionStorage }, document.cookie,
    await indexedDB.databases(), await caches.keys(), performance.getEntries().map(({ name }) => name),
  ]))()`);
  expect(kept).toContain('API_KEY');
  expect(kept).not.toContain(canary);
  expect([...complaints, ...requests.map((request) => request.url())].join('\n')).not.toContain(canary);
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  expect(await page.content()).not.toContain(canary);
});

test('a failing reveal says why in its place', async () => {
  const { page } = await site.visitAs(acme.owner, path);
  await page.route('**/production/API_KEY', (route) => route.abort());
  await row(page, 'API_KEY').getByRole('button', { name: 'Reveal API_KEY' }).click();
  await row(page, 'API_KEY').getByRole('alert').waitFor();
  expect(await row(page, 'API_KEY').getByRole('alert').innerText()).toContain('could not be reached');
});

test('an environment without keys says what to do, and one that does not exist that it does not', async () => {
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/environments/shop/empty');
  await page.getByText('This environment has no keys').waitFor();
  expect(await lookAt(page, 'environment-empty')).toEqual([]);
  await page.goto(`${site.origin}/orgs/acme/environments/shop/nowhere`);
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await page.getByRole('alert').innerText()).toContain('does not exist');
  expect(await lookAt(page, 'environment-failed')).toEqual([]);
});

test('a viewer reads and is offered no change', async () => {
  const viewer = await createVisitor(site.api, 'vic');
  await enrol(site.api.services, acme.owner, viewer, { organization: 'acme', role: 'viewer' });
  const { page } = await site.visitAs(viewer, path);
  await page.getByText('You may read this environment, not change it.').waitFor();
  expect(await page.getByRole('button', { name: 'New key' }).count()).toBe(0);
  await page.getByRole('link', { name: 'API_KEY' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Reveal for 30 seconds' }).waitFor();
  expect(await page.getByRole('dialog').getByRole('button', { name: 'Change the value' }).count()).toBe(0);
});
