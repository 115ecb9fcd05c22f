import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { HttpClient } from '../support/api/http.ts';
import { type TestUser, enrol } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { lookAt } from '../support/browser/looks.ts';
import { createOrganization, valuesAt } from '../support/browser/organization.ts';

const site = dashboardSite();

interface Scene {
  readonly owner: TestUser;
  readonly client: HttpClient;
  /** Of production, compared with staging. */
  readonly path: string;
  readonly write: (environment: string, change: object) => Promise<unknown>;
  readonly values: (environment: string) => Promise<Record<string, string>>;
}

/** Production and staging of an organization for this test: a key for each way to differ. */
async function scene(slug: string): Promise<Scene> {
  const { owner } = await createOrganization(site.api, slug, ['shop/production', 'shop/staging']);
  const client = site.api.client(owner.token);
  const write: Scene['write'] = (environment, change) =>
    client.expectStatus(200, 'PATCH', `/secrets/${slug}/shop/${environment}`, change);
  const values: Scene['values'] = (environment) => valuesAt(client, `/secrets/${slug}/shop/${environment}`);
  await write('production', { set: { API_KEY: 'canary-p', REGION: 'canary-same', LEGACY: 'canary-old' } });
  await write('staging', { set: { API_KEY: 'canary-s', REGION: 'canary-same', FEATURE: 'canary-new' } });
  return {
    owner,
    client,
    path: `/orgs/${slug}/environments/shop/production/compare?with=shop%2Fstaging`,
    write,
    values,
  };
}

const rows = async (page: Page) =>
  (await page.getByRole('table', { name: 'Compared keys' }).getByRole('row').allInnerTexts()).slice(1);
const planned = (page: Page) =>
  page.getByRole('dialog').getByRole('list', { name: 'Planned changes' }).getByRole('listitem').allInnerTexts();

test('shows how each key differs, and promotes the chosen ones as planned', async () => {
  const { owner, client, path, values } = await scene('promote');
  const { page, complaints } = await site.visitAs(owner, path);
  await page.getByRole('row', { name: /FEATURE/ }).waitFor();
  expect(await layoutShift(page)).toBeLessThan(0.02);
  expect(await rows(page)).toEqual([
    expect.stringMatching(/API_KEY\s+v1\s+v1\s+Differs/),
    expect.stringMatching(/FEATURE\s+v1\s+–\s+Only in staging/),
    expect.stringMatching(/LEGACY\s+–\s+v1\s+Only in production/),
  ]);
  await page.getByRole('button', { name: 'Same 1' }).click();
  await page.getByRole('row', { name: /REGION/ }).waitFor();
  expect(await rows(page)).toHaveLength(4);
  await page.getByLabel('Choose FEATURE').press('Space');
  await page.getByLabel('Choose API_KEY').check();
  await page.getByText('2 keys chosen').waitFor();
  expect(await lookAt(page, 'compare')).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  const [box, name] = [page.getByLabel('Choose FEATURE'), page.getByRole('link', { name: 'FEATURE' })];
  expect((await box.boundingBox())?.x).toBeLessThan(60);
  expect((await name.boundingBox())?.x).toBeLessThan(100);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('button', { name: 'Promote to production' }).click();
  await page.getByRole('dialog').getByText('gets the other value').waitFor();
  expect(await planned(page)).toEqual([
    expect.stringMatching(/Changed:\s+API_KEY/),
    expect.stringMatching(/New:\s+FEATURE/),
  ]);
  await page.getByLabel('Comment').fill('release 7');
  expect(await lookAt(page, 'promote')).toEqual([]);
  expect(await values('production')).toMatchObject({ API_KEY: 'canary-p' });
  await page.getByRole('button', { name: 'Promote', exact: true }).click();
  await page.getByText('Promoted from shop/staging, as revision 2.').waitFor();
  await page.getByRole('link', { name: 'See which consumers have it' }).waitFor();
  // What was not chosen stays.
  expect(await values('production')).toEqual({
    API_KEY: 'canary-s',
    FEATURE: 'canary-new',
    LEGACY: 'canary-old',
    REGION: 'canary-same',
  });
  await page
    .getByRole('row', { name: /API_KEY/ })
    .getByText('Same')
    .waitFor();
  const { changes } = await client.expectStatus<{ changes: { comment: string }[] }>(
    200,
    'GET',
    '/changes/promote/shop/production',
  );
  expect(changes[0]?.comment).toBe('copied from shop/staging at revision 1: release 7');
  const kept = await page.evaluate<string>(
    'JSON.stringify([localStorage, sessionStorage, history.state, location.href])',
  );
  expect((await page.content()) + kept + complaints.join('\n')).not.toContain('canary');
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
});

test('a key that the other environment does not have is deleted only if it is chosen', async () => {
  const { owner, path, values } = await scene('mirror');
  const { page } = await site.visitAs(owner, path);
  await page.getByText('Keys that you choose go from staging to production.').waitFor();
  await page.getByLabel('Choose LEGACY').check();
  await page.getByText('1 is not in staging and will be deleted').waitFor();
  await page.getByRole('button', { name: 'Promote to production' }).click();
  await page.getByRole('dialog').getByText('is deleted, because it is not there; its history stays').waitFor();
  expect(await planned(page)).toEqual([expect.stringMatching(/Deleted:\s+LEGACY/)]);
  await page.getByRole('button', { name: 'Promote', exact: true }).click();
  await page.getByText('as revision 2.').waitFor();
  expect(await values('production')).toEqual({ API_KEY: 'canary-p', REGION: 'canary-same' });
  await page.getByRole('button', { name: 'Choose all 2' }).click();
  await page.getByRole('button', { name: 'Promote to production' }).click();
  await page.getByRole('dialog').getByText('gets the other value').waitFor();
  await page.getByRole('button', { name: 'Promote', exact: true }).click();
  await page.getByText('There is no difference').waitFor();
  expect(await values('production')).toEqual(await values('staging'));
  expect(await lookAt(page, 'compare-same')).toEqual([]);
  await page.getByRole('link', { name: 'To staging instead' }).click();
  await page.getByRole('heading', { name: 'staging' }).waitFor();
  expect(await page.getByLabel('Compare with').inputValue()).toBe('shop/production');
});

test('if another user was faster, nothing is promoted, and the new plan is shown', async () => {
  const { owner, path, write, values } = await scene('fast');
  const { page } = await site.visitAs(owner, path);
  await page.getByLabel('Choose API_KEY').check();
  await page.getByRole('button', { name: 'Promote to production' }).click();
  await page.getByRole('dialog').getByText('gets the other value').waitFor();
  await write('production', { set: { API_KEY: 'canary-s', LATER: 'x' } });
  await page.getByText('Another user changed the environment since this plan.').waitFor();
  await page.getByRole('button', { name: 'Promote', exact: true }).click();
  await page.getByText('so nothing was done').waitFor();
  await page.getByText('Nothing is to be changed.').waitFor();
  expect(await lookAt(page, 'promote-outdated')).toEqual([]);
  expect(await values('production')).toMatchObject({ API_KEY: 'canary-s', LATER: 'x', LEGACY: 'canary-old' });
});

test('a viewer compares names alone; a developer compares with a protected environment, and is refused to write it', async () => {
  const { owner, client, path } = await scene('who');
  const [viewer, developer] = [await createVisitor(site.api, 'vic'), await createVisitor(site.api, 'dev')];
  await enrol(site.api.services, owner, viewer, { organization: 'who', role: 'viewer' });
  await enrol(site.api.services, owner, developer, { organization: 'who', role: 'developer' });
  const read = await site.visitAs(viewer, path);
  await read.page.getByText('Only the names of keys are compared').waitFor();
  expect(await rows(read.page)).toEqual([
    expect.stringMatching(/API_KEY\s+v1\s+v1\s+In both/),
    expect.stringMatching(/FEATURE\s+v1\s+–\s+Only in staging/),
    expect.stringMatching(/LEGACY\s+–\s+v1\s+Only in production/),
    expect.stringMatching(/REGION\s+v1\s+v1\s+In both/),
  ]);
  expect(await read.page.getByRole('checkbox').count()).toBe(0);
  expect(read.requests.some((request) => request.url().endsWith('/copy'))).toBe(false);
  expect(await lookAt(read.page, 'compare-viewer')).toEqual([]);
  const { page } = await site.visitAs(developer, path);
  await page.getByLabel('Choose API_KEY').check();
  await client.expectStatus(200, 'PATCH', '/environments/who/shop/production', { protected: true });
  await page.getByRole('button', { name: 'Promote to production' }).click();
  await page.getByRole('dialog').getByRole('alert').waitFor();
  expect(await page.getByRole('alert').innerText()).toContain('protected');
  await page.reload();
  // The server compares in the direction that is allowed.
  await page.getByRole('row', { name: /API_KEY.*Differs/ }).waitFor();
  expect(await page.getByRole('checkbox').count()).toBe(0);
});

test('what is missing or fails says so', async () => {
  const { owner } = await createOrganization(site.api, 'alone', ['shop/production']);
  const alone = (await site.visitAs(owner, '/orgs/alone/environments/shop/production/compare')).page;
  await alone.getByText('The organization has no other environment to compare with').waitFor();
  const { owner: other, path } = await scene('broken');
  const { page } = await site.visitAs(other, path.split('?')[0] ?? '');
  await page.getByText('Choose the environment to compare with').waitFor();
  expect(await lookAt(page, 'compare-choose')).toEqual([]);
  await page.route('**/copy', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.getByLabel('Compare with').selectOption('shop/staging');
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'compare-failed')).toEqual([]);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByRole('row', { name: /FEATURE/ }).waitFor();
  await page.goto(`${site.origin}/orgs/broken/environments/shop/production/compare?with=shop%2Fgone`);
  await page.getByText('There is no such environment').waitFor();
});
