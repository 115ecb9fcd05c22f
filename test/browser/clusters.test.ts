import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { ownRelease } from '../../src/lib/release.ts';
import { enrol } from '../support/api/services.ts';
import { stateReport } from '../support/api/state-reports.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { failUntilClick } from '../support/browser/fail-until-click.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { lookAt } from '../support/browser/looks.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';

const site = dashboardSite();
const path = '/orgs/acme/clusters';
let acme: ShownOrganization;

beforeAll(async () => {
  acme = await createOrganization(site.api, 'acme', ['shop/production']);
});

const cardOf = (page: Page, cluster: string): Locator => page.getByRole('region', { name: cluster });

describe('without a cluster', () => {
  test('the page says when one appears', async () => {
    const { page } = await site.visitAs(acme.owner, path);
    await page.getByText('No cluster is connected yet').waitFor();
    expect(await lookAt(page, 'clusters-empty')).toEqual([]);
  });
});

describe('with clusters', () => {
  beforeAll(async () => {
    const { clusters, syncStates, database } = site.api.services;
    const environmentId = acme.environments.get('shop/production') ?? null;
    const program = { release: ownRelease(), protocol: { min: 1, max: 1 }, kinds: ['SecretSync'] };
    await clusters.hello('frankfurt-1', { uid: 'frankfurt', isLeading: true, ...program });
    await clusters.hello('oregon-2', { uid: 'oregon', isLeading: true, ...program, release: '0.9.7' });
    await syncStates.seen('frankfurt-1');
    await syncStates.report('frankfurt-1', [
      stateReport({ environmentId, name: 'web' }),
      stateReport({ environmentId, name: 'api' }),
      stateReport({ environmentId, name: 'old', state: 'stalled', reason: 'AccessDenied' }),
    ]);
    await database.pool.query(`INSERT INTO served_cluster (name, is_home) VALUES ('lisbon-3', false)`);
    await syncStates.seen('oregon-2');
    await syncStates.report('oregon-2', [stateReport({ environmentId, name: 'web' })]);
    const hour = `UPDATE cluster_state SET seen_at = clock_timestamp() - interval '1 hour' WHERE cluster = 'oregon-2'`;
    await database.pool.query(hour);
    const client = site.api.client(acme.owner.token);
    const rules = [
      { project: 'shop', environments: ['production', 'staging'], permission: 'read', kinds: ['SecretSync'] },
      { project: '*', environments: ['*'], permission: 'read_write', kinds: ['ServiceToken', 'SecretSnapshot'] },
    ];
    await client.expectStatus(200, 'PUT', '/organizations/acme/clusters/frankfurt-1', { rules });
    await client.expectStatus(200, 'POST', '/clusters/oregon-2/disable');
  });

  test('the page shows what each may do, whether it reports, and its SecretSyncs by reason', async () => {
    const { page, complaints } = await site.visitAs(acme.owner, '/');
    await page.getByRole('link', { name: 'Clusters' }).click();
    const frankfurt = cardOf(page, 'frankfurt-1');
    await frankfurt.getByText('AccessDenied 1').waitFor();
    const text = await frankfurt.innerText();
    expect(text).toMatch(/frankfurt-1\s+Home\s+Reporting\s+seen/);
    expect(text).toMatch(/State\s+Enabled/);
    expect(text.replaceAll(/\s+/g, ' ')).toContain(`Release ${ownRelease()} Rules`);
    expect(text).toContain('Read in shop / production, staging for SecretSync');
    expect(text).toContain('Read and write in all projects for ServiceToken, SecretSnapshot');
    expect(text).toMatch(/AccessDenied 1\s+Synced 2/);
    const lisbon = await cardOf(page, 'lisbon-3').innerText();
    expect(lisbon).toMatch(/lisbon-3\s+never seen/);
    expect(lisbon).toMatch(/Release\s+Unknown/);
    expect(lisbon).toMatch(/Rules\s+None: it may do nothing in this organization/);
    expect(lisbon).toMatch(/SecretSyncs\s+None reads this organization/);
    const oregon = await cardOf(page, 'oregon-2').innerText();
    expect(oregon).toMatch(/oregon-2\s+Home\s+Stale\s+seen/);
    expect(oregon).toMatch(/State\s+Disabled Nothing is done for it/);
    expect(oregon).toContain(`0.9.7 The server has ${ownRelease()}.`);
    expect(oregon).toMatch(/Rules\s+None: it may do what the AccessGrants in it allow/);
    expect(await lookAt(page, 'clusters')).toEqual([]);
    expect(await layoutShift(page)).toBeLessThan(0.02);
    expect(complaints).toEqual([]);
  });

  test('an admin who is no instance admin sees no states', async () => {
    const admin = await createVisitor(site.api, 'adam');
    await enrol(site.api.services, acme.owner, admin, { organization: 'acme', role: 'admin' });
    const { page, requests } = await site.visitAs(admin, path);
    await cardOf(page, 'oregon-2').getByText('Synced 1').waitFor();
    expect(await page.getByText('Disabled').count()).toBe(0);
    expect(await page.getByText('Release').count()).toBe(0);
    expect(requests.some((request) => request.url().endsWith('/api/v1/clusters'))).toBe(false);
  });

  test('a developer is refused, and has no link to the page', async () => {
    const developer = await createVisitor(site.api, 'dora');
    await enrol(site.api.services, acme.owner, developer, { organization: 'acme', role: 'developer' });
    const { page, requests } = await site.visitAs(developer, path);
    await page.getByText('Only admins see the clusters').waitFor();
    expect(await page.getByRole('link', { name: 'Clusters' }).count()).toBe(0);
    expect(requests.some((request) => /\/api\/v1\/.*clusters/.test(request.url()))).toBe(false);
    expect(await lookAt(page, 'clusters-refused')).toEqual([]);
  });

  test.each(['/organizations/acme/clusters', '/clusters', '/fleet/acme*'])(
    'a failure of %s is shown until a second try',
    async (failing) => {
      const { page } = await site.visitAs(acme.owner, '/orgs/acme/members');
      await page.getByRole('link', { name: 'Clusters' }).waitFor();
      const tryAgain = await failUntilClick(page, `**/api/v1${failing}`);
      await page.getByRole('link', { name: 'Clusters' }).click();
      await page.getByRole('button', { name: 'Try again' }).waitFor();
      expect(await cardOf(page, 'oregon-2').count()).toBe(0);
      expect(await lookAt(page, 'clusters-failed')).toEqual([]);
      await tryAgain();
      await cardOf(page, 'oregon-2').getByText('Synced 1').waitFor();
    },
  );
});
