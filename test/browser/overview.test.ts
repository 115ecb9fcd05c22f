import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import type { SyncStateReport } from '../../src/domain/fleet.ts';
import { enrol } from '../support/api/services.ts';
import { rolloutReport, stateReport } from '../support/api/state-reports.ts';
import { copiedBy } from '../support/browser/copied.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { lookAt } from '../support/browser/looks.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';
import { stopClock, withinPageTime } from '../support/browser/page-time.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';

const site = dashboardSite();

const places = ['shop/development', 'shop/production', 'shop/staging', 'ledger/production'];

/** Reports of a controller about SecretSyncs that read a place of an organization: with its newest revision, unless another one is given. */
async function report(
  { slug, owner, environments }: ShownOrganization,
  cluster: string,
  reports: readonly (Partial<SyncStateReport> & { readonly place: string })[],
): Promise<void> {
  const { syncStates } = site.api.services;
  const client = site.api.client(owner.token);
  await syncStates.seen(cluster);
  await syncStates.report(
    cluster,
    await Promise.all(
      reports.map(async ({ place, ...given }) => {
        const synced = await client.expectStatus<Revision>(200, 'GET', `/environments/${slug}/${place}`);
        return stateReport({ environmentId: environments.get(place) ?? null, synced, ...given });
      }),
    ),
  );
}

interface Revision {
  readonly revision: number;
  readonly revisionId: string;
}

async function age(cluster: string): Promise<void> {
  const text = `UPDATE cluster_state SET seen_at = clock_timestamp() - interval '1 hour' WHERE cluster = $1`;
  await site.api.services.database.pool.query(text, [cluster]);
}

test('says what is not healthy, why, and which command shows the message', async () => {
  const acme = await createOrganization(site.api, 'acme', places);
  await report(acme, 'frankfurt-1', [
    { place: 'shop/production', namespace: 'shop', name: 'web', rollout: rolloutReport() },
    { place: 'shop/production', namespace: 'shop', name: 'worker', state: 'stalled', reason: 'AccessDenied' },
    { place: 'ledger/production', namespace: 'ledger', name: 'api', state: 'stalled', reason: 'AccessDenied' },
    {
      place: 'ledger/production',
      namespace: 'ledger',
      name: 'batch',
      rollout: rolloutReport({ state: 'stalled', reason: 'RolloutStuck' }),
    },
    { place: 'shop/staging', namespace: 'shop', name: 'preview', state: 'suspended', reason: 'Suspended' },
  ]);
  await report(acme, 'oregon-2', [{ place: 'shop/production', namespace: 'shop', name: 'web' }]);
  await age('oregon-2');
  const { page, complaints } = await site.visitAs(acme.owner, '/', Date.now());
  await page.getByText('3 of 6 SecretSyncs need a person.').waitFor();
  expect(await page.locator('.verdict').innerText()).toMatch(
    /need a person\.\s+1 cluster stopped reporting\. What is below may be old\.\s+1 SecretSync is suspended\.$/,
  );
  expect(new URL(page.url()).pathname).toBe('/orgs/acme');
  const denied = page.getByRole('article', { name: 'AccessDenied' });
  await denied.waitFor();
  expect(await denied.getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringMatching(/^ledger\/api\n.*frankfurt-1/s),
    expect.stringMatching(/^shop\/worker\n.*frankfurt-1/s),
  ]);
  const place = denied.getByRole('link', { name: 'ledger/production' });
  expect(await place.getAttribute('href')).toBe('/orgs/acme/environments/ledger/production');
  expect(await denied.innerText()).toContain('last change just now');
  expect(await denied.innerText()).toContain('No AccessGrant allows it to read the environment');
  expect(
    await page.getByRole('article').evaluateAll((all) => all.map((found) => found.getAttribute('aria-label'))),
  ).toEqual(['AccessDenied', 'RolloutStuck', 'Suspended']);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copy = page.getByRole('button', { name: 'Copy: show the message of shop/worker' });
  expect(await copiedBy(page, copy)).toBe('kubectl describe secretsyncs.keyframe.dev worker -n shop');
  expect(await page.getByRole('row', { name: /oregon-2/ }).innerText()).toMatch(/Stale\s+seen 1 hour ago\s+1/);
  expect(await page.getByRole('row', { name: /frankfurt-1/ }).innerText()).toMatch(/Reporting\s+seen just now\s+5/);
  expect(await page.getByRole('row', { name: /shop \/ production/ }).innerText()).toMatch(
    /1 stalled\s+1 stale\s+1 healthy/,
  );
  expect(await lookAt(page, 'overview')).toEqual([]);
  expect(await layoutShift(page)).toBeLessThan(0.02);
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
});

test('says that all is well, and notices by itself when it no longer is', async () => {
  const calm = await createOrganization(site.api, 'calm', ['shop/production']);
  await report(calm, 'frankfurt-1', [{ place: 'shop/production', namespace: 'shop', name: 'web' }]);
  const { page, requests } = await site.visitAs(calm.owner, '/', { fromMs: Date.now() });
  await page.getByText('All is well: every Secret holds the newest values.').waitFor();
  expect(await page.getByRole('article').count()).toBe(0);
  expect(await lookAt(page, 'overview-well')).toEqual([]);
  const before = requests.length;
  // A minute without input: the requests are the own ones of the page.
  await page.clock.fastForward(70_000);
  await report(calm, 'frankfurt-1', [
    { place: 'shop/production', namespace: 'shop', name: 'jobs', state: 'stalled', reason: 'TooLarge' },
  ]);
  await withinPageTime(page, 11_000, () => page.getByRole('article', { name: 'TooLarge' }).isVisible());
  const looks = requests.slice(before).filter((request) => request.url().endsWith('/fleet/calm'));
  expect(new Set(looks.map((request) => request.headers()['x-keyframe-background']))).toEqual(new Set(['1']));
});

test('no page calls a Secret well that does not hold the newest revision, whatever its controller says', async () => {
  const org = await createOrganization(site.api, 'behind', ['shop/production']);
  const client = site.api.client(org.owner.token);
  const revisions: Revision[] = [];
  for (let number = 1; number <= 5; number += 1) {
    const set = { A: `a${number}` };
    revisions.push(await client.expectStatus<Revision>(200, 'PATCH', '/secrets/behind/shop/production', { set }));
  }
  const consumer = { place: 'shop/production', namespace: 'shop', name: 'web', uid: randomUUID() };
  // A controller that has stopped: it has reported everything a moment ago.
  await report(org, 'frankfurt-1', [{ ...consumer, synced: revisions[3] ?? null }]);
  const { page } = await site.visitAs(org.owner, '/');
  await page.getByText('1 of 1 Secret does not hold the newest values.').waitFor();
  const row = page.getByRole('row', { name: /shop \/ production/ });
  expect(await row.innerText()).toMatch(/1 behind\s+5$/);
  expect(await page.getByText(/\d healthy|All is well/).count()).toBe(0);
  expect(await lookAt(page, 'overview-behind')).toEqual([]);
  await page.getByRole('link', { name: 'Environments' }).click();
  await row.getByText('1 behind').waitFor();
  expect(await row.innerText()).not.toContain('healthy');
  expect(await lookAt(page, 'environments-behind')).toEqual([]);
  await row.getByRole('link').click();
  await page.getByRole('link', { name: 'Consumers', exact: true }).click();
  await page.getByText('1 of 1 Secret does not hold revision 5.').waitFor();
  expect(await page.locator('.consumer').innerText()).toMatch(/revision 4, 1 behind.*Behind$/s);
  expect(await lookAt(page, 'consumers-behind')).toEqual([]);

  await age('frankfurt-1');
  await page.reload();
  await page.getByText('1 cluster stopped reporting. What is below may be old.').waitFor();
  expect(await page.locator('.verdict').innerText()).toContain('1 of 1 Secret does not hold revision 5.');
  await report(org, 'frankfurt-1', [{ ...consumer }]);
  await page.reload();
  await page.getByText('All is well: every Secret holds revision 5.').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('All is well: every Secret holds the newest values.').waitFor();
  await row.getByText('1 healthy').waitFor();
});

test('a cluster that does not report makes nothing well', async () => {
  const org = await createOrganization(site.api, 'stopped', ['shop/production']);
  await report(org, 'frankfurt-2', [{ place: 'shop/production', namespace: 'shop', name: 'web' }]);
  await age('frankfurt-2');
  const { page } = await site.visitAs(org.owner, '/');
  await page.getByText('1 cluster stopped reporting.').waitFor();
  const row = page.getByRole('row', { name: /shop \/ production/ });
  expect(await row.innerText()).toMatch(/1 stale\s/);
  expect(await page.getByText(/\d healthy|All is well/).count()).toBe(0);
});

test('does not say that all is well while the server does not answer at all', async () => {
  const hung = await createOrganization(site.api, 'hung', ['shop/production']);
  await report(hung, 'frankfurt-1', [{ place: 'shop/production', namespace: 'shop', name: 'web' }]);
  const { page } = await site.visitAs(hung.owner, '/orgs/hung', { fromMs: Date.now() });
  await page.getByText('All is well').waitFor();
  await page.route('**/api/v1/fleet/**', () => undefined);
  await page.clock.fastForward('01:30');
  await page.getByText('The server no longer says how it is.').waitFor();
  expect(await page.getByText('All is well').count()).toBe(0);
});

test('does not say that all is well once the server refuses', async () => {
  const silent = await createOrganization(site.api, 'silent', ['shop/production']);
  await report(silent, 'frankfurt-1', [{ place: 'shop/production', namespace: 'shop', name: 'web' }]);
  const { page } = await site.visitAs(silent.owner, '/orgs/silent', { fromMs: Date.now() });
  await page.getByText('All is well').waitFor();
  await page.route('**/api/v1/fleet/**', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.clock.fastForward('00:30');
  await page.getByText('What is below may be old.').waitFor();
  expect(await page.getByText('All is well').count()).toBe(0);
});

test.each(['fleet', 'projects'])('nothing moves on the page when its %s arrive last', async (late) => {
  const org = await createOrganization(site.api, `late-${late}`, ['shop/production']);
  await report(org, 'frankfurt-1', [
    { place: 'shop/production', namespace: 'shop', name: 'web', state: 'stalled', reason: 'TooLarge' },
  ]);
  const { page } = await site.visitAs(org.owner, '/sign-in-methods');
  const isHeld = Promise.withResolvers<undefined>();
  await page.route(`**/api/v1/${late}/**`, async (route) => {
    await isHeld.promise;
    await route.continue();
  });
  const early = page.waitForResponse(late === 'fleet' ? '**/api/v1/projects/**' : '**/api/v1/fleet/*');
  await page.goto(new URL(`/orgs/late-${late}`, page.url()).href);
  await page.getByLabel('Loading the overview').waitFor();
  await (await early).finished();
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  isHeld.resolve(undefined);
  await page.getByRole('article', { name: 'TooLarge' }).waitFor();
  await page.getByRole('row', { name: /shop \/ production/ }).waitFor();
  expect(await layoutShift(page)).toBeLessThan(0.02);
});

test('a user without the right to see namespaces gets a command without one', async () => {
  const quiet = await createOrganization(site.api, 'quiet', ['shop/production']);
  await report(quiet, 'x', [{ place: 'shop/production', name: 'web', state: 'stalled', reason: 'NewReason' }]);
  const viewer = await createVisitor(site.api, 'vic');
  await enrol(site.api.services, quiet.owner, viewer, { organization: 'quiet', role: 'viewer' });
  const { page } = await site.visitAs(viewer, '/');
  const group = page.getByRole('article', { name: 'NewReason' });
  await group.getByText('kubectl get secretsyncs.keyframe.dev -A --field-selector metadata.name=web').waitFor();
  expect(await group.innerText()).toContain('The message of the SecretSync says more.');
});

test('an organization without an environment shows the first steps, for itself', async () => {
  const empty = await createOrganization(site.api, 'empty', []);
  const { page } = await site.visitAs(empty.owner, '/');
  await page.getByRole('heading', { name: 'Get started' }).waitFor();
  await page.getByText('./keyframe project create web -o empty').waitFor();
  await page.getByRole('link', { name: 'Environments' }).click();
  await page.getByText('There is no environment yet').waitFor();
  expect(await lookAt(page, 'environments-empty')).toEqual([]);
});

test('the organization is chosen in the header, and stays chosen on pages without one', async () => {
  const first = await createOrganization(site.api, 'alpha', ['a/one']);
  const second = await createOrganization(site.api, 'beta', ['b/two']);
  await enrol(site.api.services, second.owner, first.owner, { organization: 'beta', role: 'viewer' });
  const { page } = await site.visitAs(first.owner, '/');
  await page.getByRole('row', { name: /a \/ one/ }).waitFor();
  await page.getByLabel('Organization').selectOption('beta');
  await page.getByRole('row', { name: /b \/ two/ }).waitFor();
  expect(new URL(page.url()).pathname).toBe('/orgs/beta');
  await page.getByRole('button', { name: 'Account:' }).click();
  await page.getByRole('link', { name: 'Sessions' }).click();
  await page.getByRole('heading', { name: 'Sessions' }).waitFor();
  expect(await page.getByLabel('Organization').inputValue()).toBe('beta');
  await page.getByRole('link', { name: 'Environments' }).click();
  await page.getByRole('row', { name: /b \/ two/ }).waitFor();
  expect(await lookAt(page, 'environments')).toEqual([]);
  await page.getByLabel('Filter by name').fill('TWO');
  expect(await page.getByRole('row').count()).toBe(2);
  await page.getByLabel('Filter by name').fill('three');
  await page.getByText('No environment has this name').waitFor();
});

test('what fails to load says so in its place, and a second try loads it', async () => {
  const flaky = await createOrganization(site.api, 'flaky', ['shop/production']);
  const { page } = await site.visitAs(flaky.owner, '/sessions', { fromMs: Date.now() });
  await page.route('**/api/v1/fleet/**', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.route('**/api/v1/projects/**', (route) => route.abort());
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('button', { name: 'Try again' }).nth(1).waitFor();
  expect(await lookAt(page, 'overview-failed')).toEqual([]);
  // The page requests some of it again by itself, every few seconds.
  await stopClock(page);
  await page.unrouteAll();
  const again = page.getByRole('button', { name: 'Try again' });
  for (let left = await again.count(); left > 0; left -= 1) await again.nth(left - 1).click();
  await withinPageTime(page, 2_000, async () => (await again.count()) === 0);
  expect(await page.getByRole('row', { name: /shop \/ production/ }).isVisible()).toBe(true);
  expect(await page.getByText('No SecretSync reads these environments yet.').isVisible()).toBe(true);
});
