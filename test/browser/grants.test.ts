import { beforeAll, expect, test } from '@jest/globals';
import { createWorld, enrol, type World } from '../support/api/services.ts';
import { stateReport } from '../support/api/state-reports.ts';
import { TestSyncReader } from '../support/api/sync-reader.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { failUntilClick } from '../support/browser/fail-until-click.ts';
import { lookAt } from '../support/browser/looks.ts';
import { createOrganization } from '../support/browser/organization.ts';

const site = dashboardSite();
let world: World;

beforeAll(async () => {
  world = await createWorld(site.api.services);
  const { syncStates } = site.api.services;
  const environmentId = world.environment.id;
  await syncStates.seen('frankfurt-1');
  await syncStates.report('frankfurt-1', [
    stateReport({ environmentId, namespace: 'shop', name: 'web' }),
    stateReport({ environmentId, namespace: 'ledger', name: 'api', state: 'stalled', reason: 'AccessDenied' }),
  ]);
  await new TestSyncReader(site.api.services, world, { cluster: 'frankfurt-1', namespace: 'shop' }).read();
});

const pathOf = (organization: string): string => `/orgs/${organization}/grants`;

test('shows which namespaces read which environments, with their tokens, and the grant that a refused one lacks', async () => {
  const { organization, project, environment } = world.slugs;
  const { page, complaints } = await site.visitAs(world.owner, '/');
  await page.getByRole('link', { name: 'Grants' }).click();
  await page.getByRole('row', { name: /shop/ }).getByText('Reads').waitFor();
  expect(await page.getByRole('row').allInnerTexts()).toEqual([
    expect.stringMatching(new RegExp(`Namespace\\s+${project} / ${environment}`)),
    expect.stringMatching(/ledger\s+frankfurt-1\s+Refused/),
    expect.stringMatching(/shop\s+frankfurt-1\s+Reads/),
  ]);
  expect(await lookAt(page, 'grants')).toEqual([]);
  expect(await layoutShift(page)).toBeLessThan(0.02);

  await page.getByRole('link', { name: /^Refused\s+for ledger in frankfurt-1, web \/ prod$/ }).click();
  const refused = page.getByRole('dialog', { name: 'ledger in frankfurt-1' });
  await refused.getByText('No AccessGrant allows it to read the environment').waitFor();
  expect(await refused.innerText()).toMatch(
    new RegExp(`namespaces: \\[ledger\\].*organization: ${organization}.*kinds: \\[SecretSync\\]`, 's'),
  );
  expect(await lookAt(page, 'grants-refused')).toEqual([]);
  await page.keyboard.press('Escape');
  const addresses: string[] = [];
  page.on('framenavigated', (frame) => void addresses.push(frame.url()));
  await page.getByLabel('Filter by namespace').fill('kf_svc_canary');
  await page.getByLabel('Filter by namespace').fill('SHOP');
  await page.getByRole('row', { name: /ledger/ }).waitFor({ state: 'detached' });
  await page.waitForURL(/q=SHOP/);
  // A token is in no address: browsers keep those.
  expect(addresses.join(' ')).toContain('q=SHOP');
  expect(addresses.join(' ')).not.toContain('canary');
  await page.getByRole('link', { name: /^Reads\s+for shop/ }).click();
  const reads = page.getByRole('dialog', { name: 'shop in frankfurt-1' });
  await reads.getByText('kubectl describe secretsyncs.keyframe.dev web -n shop').waitFor();
  // The token behind it is revoked there, and the cell says so.
  await reads.getByRole('definition').nth(1).getByRole('link').click();
  await page.getByRole('button', { name: 'Revoke the token' }).click();
  await page
    .getByRole('dialog', { name: /^Revoke .*\?$/ })
    .getByRole('button', { name: 'Revoke' })
    .click();
  await page.getByText('it is refused from now on').waitFor();
  await page.goto(site.origin + pathOf(organization));
  await page.getByRole('row', { name: /shop/ }).getByText('Revoked').waitFor();
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
});

test('a developer sees the namespaces and no tokens; a viewer is refused the namespaces', async () => {
  const { organization } = world.slugs;
  const developer = await site.visitAs(world.developer, pathOf(organization));
  await developer.page.getByRole('row', { name: /shop/ }).getByText('Reads').waitFor();
  await developer.page.getByText('Admins also see the tokens and their last use.').waitFor();
  expect(developer.requests.some((request) => request.url().includes('/service-tokens'))).toBe(false);
  const viewer = await createVisitor(site.api, 'vic');
  await enrol(site.api.services, world.owner, viewer, { organization, role: 'viewer' });
  const { page } = await site.visitAs(viewer, pathOf(organization));
  await page.getByText('You may not see namespaces').waitFor();
  expect(await page.content()).not.toContain('ledger');
  expect(await lookAt(page, 'grants-viewer')).toEqual([]);
});

test('no namespace, and a failure that a second try mends', async () => {
  const empty = await createOrganization(site.api, 'empty', ['shop/production']);
  const { page } = await site.visitAs(empty.owner, pathOf('empty'));
  await page.getByText('No namespace reads an environment yet').waitFor();
  expect(await lookAt(page, 'grants-empty')).toEqual([]);
  const tryAgain = await failUntilClick(page, '**/api/v1/fleet/**');
  await page.reload();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'grants-failed')).toEqual([]);
  await tryAgain();
  await page.getByText('No namespace reads an environment yet').waitFor();
  // Without the tokens it would not be known what was revoked.
  await page.route('**/api/v1/service-tokens/**', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.reload();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await page.getByText('No namespace reads an environment yet').count()).toBe(0);
});
