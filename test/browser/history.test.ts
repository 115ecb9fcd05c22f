import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { HttpClient } from '../support/api/http.ts';
import { type TestUser, enrol } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { lookAt } from '../support/browser/looks.ts';
import { createOrganization, valuesAt } from '../support/browser/organization.ts';
import { planLooks } from '../support/browser/plan-looks.ts';

const site = dashboardSite();

interface Scene {
  readonly owner: TestUser;
  readonly client: HttpClient;
  readonly path: string;
  readonly secrets: string;
  /** All values. */
  readonly values: () => Promise<Record<string, string>>;
}

/** An environment of an organization for this test. */
async function scene(slug: string): Promise<Scene> {
  const { owner } = await createOrganization(site.api, slug, ['shop/production']);
  const client = site.api.client(owner.token);
  const secrets = `/secrets/${slug}/shop/production`;
  const values: Scene['values'] = () => valuesAt(client, secrets);
  return { owner, client, path: `/orgs/${slug}/environments/shop/production/history`, secrets, values };
}

const drawer = (page: Page) => page.getByRole('dialog');
const planned = (page: Page) =>
  drawer(page).getByRole('list', { name: 'Planned changes' }).getByRole('listitem').allInnerTexts();
const entries = (page: Page) => page.getByRole('main').locator('.event').allInnerTexts();

test('who changed a value yesterday is found by its key, and that change alone is reverted', async () => {
  const { owner, client, path, secrets, values } = await scene('yesterday');
  const bo = await createVisitor(site.api, 'bo');
  await enrol(site.api.services, owner, bo, { organization: 'yesterday', role: 'developer' });
  await client.expectStatus(200, 'PATCH', secrets, {
    set: { DATABASE_URL: 'canary-db-1', API_KEY: 'canary-api-1', OLD: 'canary-old' },
    comment: 'first deploy',
  });
  await client.expectStatus(201, 'POST', '/snapshots/yesterday/shop/production', { name: 'before the release' });
  await site.api.client(bo.token).expectStatus(200, 'PATCH', secrets, {
    set: { DATABASE_URL: 'canary-db-2', NEW: 'canary-new' },
    delete: ['OLD'],
    comment: 'move to the new cluster',
  });
  await client.expectStatus(200, 'PUT', `${secrets}/API_KEY`, { value: 'canary-api-2' });
  const { changes } = await client.expectStatus<{ changes: { createdAt: string }[] }>(
    200,
    'GET',
    '/changes/yesterday/shop/production',
  );
  const { page, complaints } = await site.visitAs(owner, '/');
  // By the newest change, also if midnight has passed since.
  await page.clock.setFixedTime(Date.parse(changes[0]?.createdAt ?? '') + 24 * 3_600_000);
  await page.goto(site.origin + path);
  await page.getByRole('region', { name: 'Yesterday' }).waitFor();
  expect(await layoutShift(page)).toBeLessThan(0.02);
  expect(await entries(page)).toEqual([
    expect.stringMatching(/Revision 3\s+ann@yesterday\.example\s+\d\d:\d\d\s+~\s+set\s+API_KEY$/),
    expect.stringMatching(
      /Revision 2\s+bo@example\.com.*move to the new cluster.*\+\s+created\s+NEW\s+−\s+deleted\s+OLD$/s,
    ),
    expect.stringMatching(/before the release\s+Snapshot\s+3 keys at revision 1\s+ann/),
    expect.stringMatching(/Revision 1\s+ann.*first deploy/s),
  ]);
  expect(await lookAt(page, 'history')).toEqual([]);
  await page.getByLabel('Filter by key, person or comment').fill('database_url');
  await page.getByRole('link', { name: 'Revision 3' }).waitFor({ state: 'detached' });
  expect(await page.getByRole('main').locator('.event').count()).toBe(2);
  await page.getByRole('link', { name: 'Revision 2' }).focus();
  await page.keyboard.press('Enter');
  const then = drawer(page);
  await then.getByText('3 keys then').waitFor();
  expect(await then.getByRole('region', { name: 'Change', exact: true }).innerText()).toMatch(
    /by bo@example\.com\s+move to the new cluster\s+It changed 3 keys/,
  );
  expect(await then.getByRole('region', { name: 'Changed since' }).innerText()).toMatch(/API_KEY\s+v1 then, v2 now/);
  expect(await then.getByRole('link', { name: 'Versions of DATABASE_URL' }).getAttribute('href')).toBe(
    '/orgs/yesterday/environments/shop/production?key=DATABASE_URL',
  );
  expect(await lookAt(page, 'revision')).toEqual([]);

  await then.getByRole('button', { name: 'Revert this change' }).click();
  await drawer(page).getByRole('list', { name: 'Planned changes' }).waitFor();
  expect(await planned(page)).toEqual([
    expect.stringMatching(/Changed:\s+DATABASE_URL/),
    expect.stringMatching(/Deleted:\s+NEW/),
    expect.stringMatching(/New:\s+OLD/),
  ]);
  expect(await planLooks(drawer(page))).toEqual([
    'plan-row plan-set ~ Changed: DATABASE_URL',
    'plan-row plan-delete − Deleted: NEW',
    'plan-row plan-add + New: OLD',
  ]);
  await drawer(page).getByLabel('Comment').fill('the new cluster is not ready');
  expect(await lookAt(page, 'revert')).toEqual([]);
  expect(await values()).toMatchObject({ DATABASE_URL: 'canary-db-2' });
  await drawer(page).getByRole('button', { name: 'Revert revision 2' }).click();
  await page.getByText('Reverted revision 2, as revision 4.').waitFor();
  expect(await values()).toEqual({ DATABASE_URL: 'canary-db-1', API_KEY: 'canary-api-2', OLD: 'canary-old' });
  await page.getByLabel('Filter by key, person or comment').fill('');
  await page.getByRole('link', { name: 'Revision 4' }).waitFor();
  expect((await entries(page))[0]).toMatch(/Revision 4\s+Revert\s+of revision 2.*the new cluster is not ready/s);
  // Not a single value came to the page: neither to be shown nor to be compared.
  const kept = await page.evaluate<string>(
    'JSON.stringify([localStorage, sessionStorage, history.state, location.href])',
  );
  expect((await page.content()) + kept + complaints.join('\n')).not.toContain('canary');
  await page.getByRole('link', { name: 'See which consumers have it' }).click();
  await page.getByText('No SecretSync reads this environment').waitFor();
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
});

test('a snapshot is taken, and restored as planned with what the user chooses', async () => {
  const { owner, client, path, secrets, values } = await scene('snap');
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a1', B: 'b1', C: 'c1' } });
  const { page } = await site.visitAs(owner, path);
  await page.getByRole('button', { name: 'Take a snapshot' }).click();
  await page.getByLabel('Name').fill('before release 2');
  expect(await lookAt(page, 'new-snapshot')).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByText('The snapshot holds 3 keys at revision 1.').waitFor();
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a2', D: 'd1' }, delete: ['B'] });
  await page.getByRole('link', { name: 'Revision 2' }).waitFor();
  await page.getByRole('link', { name: 'before release 2' }).click();
  const since = drawer(page).getByRole('region', { name: 'Changed since' });
  await since.getByText('B', { exact: true }).waitFor();
  expect(await since.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/A\s+v1 then, v2 now/),
    expect.stringMatching(/B\s+v1 then, deleted since/),
    expect.stringMatching(/D\s+created since, now v1/),
  ]);
  expect(await lookAt(page, 'snapshot')).toEqual([]);
  await drawer(page).getByRole('button', { name: 'Restore this state' }).click();
  await drawer(page).getByText('was deleted since').waitFor();
  expect(await planned(page)).toHaveLength(2);
  await drawer(page).getByLabel('Delete keys that were created since').check();
  await drawer(page).getByText('was created since').waitFor();
  expect(await lookAt(page, 'restore')).toEqual([]);
  await drawer(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByText('Restored, as revision 3.').waitFor();
  expect(await values()).toEqual({ A: 'a1', B: 'b1', C: 'c1' });
  await page.getByRole('link', { name: 'before restore of before release 2' }).waitFor();
  await page.getByRole('link', { name: 'Revision 3' }).waitFor();
  expect((await entries(page)).join('\n')).toMatch(/Revision 3\s+Restore\s+of a snapshot/);
});

test('the state of a revision is restored as planned, without a snapshot', async () => {
  const { owner, client, path, secrets, values } = await scene('state');
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a1', B: 'b1', C: 'c1' } });
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a2', D: 'd1' }, delete: ['B'] });
  await client.expectStatus(200, 'PUT', `${secrets}/A`, { value: 'a3' });
  const { page } = await site.visitAs(owner, path);
  const restore = drawer(page).getByRole('button', { name: 'Restore this state' });
  await page.getByRole('link', { name: 'Revision 3' }).click();
  await drawer(page).getByRole('button', { name: 'Revert this change' }).waitFor();
  expect(await restore.count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: 'Revision 1' }).click();
  await restore.click();
  await drawer(page).getByText('was deleted since').waitFor();
  expect(await planned(page)).toHaveLength(2);
  await drawer(page).getByLabel('Delete keys that were created since').check();
  await drawer(page).getByText('was created since').waitFor();
  expect(await lookAt(page, 'restore-revision')).toEqual([]);
  await drawer(page).getByLabel('Comment').fill('bad release');
  await drawer(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByText('Restored the state of revision 1, as revision 4.').waitFor();
  expect(await values()).toEqual({ A: 'a1', B: 'b1', C: 'c1' });
  await page.getByRole('link', { name: 'Revision 4' }).waitFor();
  expect((await entries(page)).join('\n')).toMatch(/Revision 4\s+Restore\s+of revision 1[\s\S]*bad release/);
});

test('the state of a revision is restored also if its entry is not loaded yet', async () => {
  const { owner, client, path, secrets, values } = await scene('unloaded');
  for (let round = 1; round <= 52; round++)
    await client.expectStatus(200, 'PATCH', secrets, { set: { A: `a${round}` } });
  const { page } = await site.visitAs(owner, `${path}?revision=1`);
  await drawer(page).getByRole('button', { name: 'Restore this state' }).click();
  await drawer(page).getByText('gets its earlier value').waitFor();
  await drawer(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByText('Restored the state of revision 1, as revision 53.').waitFor();
  expect(await values()).toEqual({ A: 'a1' });
});

test('if another user was faster, nothing is restored, and the new plan is shown', async () => {
  const { owner, client, path, secrets, values } = await scene('race');
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a1', B: 'b1' } });
  await client.expectStatus(201, 'POST', '/snapshots/race/shop/production', { name: 'start' });
  await client.expectStatus(200, 'PUT', `${secrets}/A`, { value: 'a2' });
  const { page } = await site.visitAs(owner, path);
  await page.getByRole('link', { name: 'start' }).click();
  await drawer(page).getByRole('button', { name: 'Restore this state' }).click();
  await drawer(page).getByText('gets its earlier value').waitFor();
  await client.expectStatus(200, 'PUT', `${secrets}/B`, { value: 'b2' });
  await drawer(page).getByText('Another user changed the environment since this plan.').waitFor();
  await drawer(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await drawer(page).getByText('so nothing was done').waitFor();
  expect(await values()).toEqual({ A: 'a2', B: 'b2' });
  await drawer(page).getByText('gets its earlier value').nth(1).waitFor();
  expect(await lookAt(page, 'restore-outdated')).toEqual([]);
  await drawer(page).getByRole('button', { name: 'Restore', exact: true }).click();
  await page.getByText('Restored, as revision 4.').waitFor();
  expect(await values()).toEqual({ A: 'a1', B: 'b1' });
});

test('a key that changed again later is reverted only if the user decides so', async () => {
  const { owner, client, path, secrets, values } = await scene('later');
  for (const value of ['one', 'two', 'three']) await client.expectStatus(200, 'PATCH', secrets, { set: { A: value } });
  const { page } = await site.visitAs(owner, `${path}?revision=2`);
  await drawer(page).getByRole('button', { name: 'Revert this change' }).click();
  await drawer(page).getByText('1 key changed again after this revision: A.').waitFor();
  const button = drawer(page).getByRole('button', { name: 'Revert revision 2' });
  expect(await button.getAttribute('aria-disabled')).toBe('true');
  expect(await lookAt(page, 'revert-conflict')).toEqual([]);
  await drawer(page).getByLabel('Overwrite keys that changed again later').check();
  await drawer(page).getByText('it was changed again later').waitFor();
  await button.click();
  await page.getByText('Reverted revision 2, as revision 4.').waitFor();
  expect(await values()).toEqual({ A: 'one' });
});

test('a viewer sees the history and changes nothing; a developer does not write a protected environment', async () => {
  const { owner, client, path, secrets } = await scene('roles');
  await client.expectStatus(200, 'PATCH', secrets, { set: { A: 'a1' } });
  const [viewer, developer] = [await createVisitor(site.api, 'vic'), await createVisitor(site.api, 'dev')];
  await enrol(site.api.services, owner, viewer, { organization: 'roles', role: 'viewer' });
  await enrol(site.api.services, owner, developer, { organization: 'roles', role: 'developer' });
  const read = (await site.visitAs(viewer, `${path}?revision=1`)).page;
  await drawer(read).getByText('1 key then').waitFor();
  expect(await read.getByRole('button', { name: 'Revert' }).count()).toBe(0);
  await read.keyboard.press('Escape');
  await read.getByText('You may read this environment, not change it.').waitFor();
  expect(await read.getByRole('button', { name: 'Take a snapshot' }).count()).toBe(0);
  // The role was taken away, or the environment was protected, after the page had loaded: the server decides.
  const { page } = await site.visitAs(developer, `${path}?revision=1`);
  await drawer(page).getByRole('button', { name: 'Revert this change' }).waitFor();
  await client.expectStatus(200, 'PATCH', '/environments/roles/shop/production', { protected: true });
  await drawer(page).getByRole('button', { name: 'Revert this change' }).click();
  await drawer(page).getByRole('region', { name: 'Plan' }).getByRole('alert').waitFor();
  expect(await drawer(page).getByRole('alert').innerText()).toContain('protected');
  expect(await lookAt(page, 'revert-refused')).toEqual([]);
  await page.reload();
  await drawer(page).getByText('1 key then').waitFor();
  expect(await page.getByRole('button', { name: 'Revert this change' }).count()).toBe(0);
  await page.keyboard.press('Escape');
  await page.getByText('Protected', { exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Take a snapshot' }).count()).toBe(1);
});

test('an environment without a history says so; what fails to load says so, and a second try loads it', async () => {
  const { owner, path } = await scene('empty');
  const { page } = await site.visitAs(owner, path);
  await page.getByText('Nothing has happened here yet').waitFor();
  expect(await lookAt(page, 'history-empty')).toEqual([]);
  await page.route('**/api/v1/snapshots/**', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.reload();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'history-failed')).toEqual([]);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Nothing has happened here yet').waitFor();
  await page.goto(`${site.origin + path}?snapshot=5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e`);
  await drawer(page).getByRole('alert').waitFor();
});

test('earlier entries follow page by page, revisions and snapshots in order', async () => {
  const { owner, client, path, secrets } = await scene('many');
  for (let index = 1; index <= 60; index += 1) {
    const set = { [index === 1 ? 'FIRST' : 'LOOP']: `v${index}` };
    await client.expectStatus(200, 'PATCH', secrets, { set });
    if (index % 20 === 0)
      await client.expectStatus(201, 'POST', '/snapshots/many/shop/production', { name: `s${index}` });
  }
  const { page } = await site.visitAs(owner, path);
  await page.getByRole('link', { name: 'Revision 60' }).waitFor();
  // The snapshots after revision 10 are loaded, and none from before it.
  expect(await page.getByRole('main').locator('.event').count()).toBe(53);
  await page.getByLabel('Filter by key, person or comment').fill('first');
  await page.getByText('None of the newest entries matches').waitFor();
  expect(await lookAt(page, 'history-filtered')).toEqual([]);
  await page.getByRole('button', { name: 'Search earlier entries' }).click();
  await page.getByRole('link', { name: 'Revision 1', exact: true }).waitFor();
  expect(await page.getByRole('button', { name: 'Search earlier entries' }).count()).toBe(0);
});
