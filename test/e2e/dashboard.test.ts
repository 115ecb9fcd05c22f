import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { AccessGrant } from '../../src/controller/generated/access-grant.ts';
import type { SnapshotRestore } from '../../src/controller/generated/snapshot-restore.ts';
import { startBrowser } from '../support/browser/browser.ts';
import { type PageRecord, watchedPage } from '../support/browser/watched-page.ts';
import { sharedCluster } from '../support/cluster/cluster.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { ResourceSite } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';

/**
 * What people do in the dashboard, with the processes of production: API, controller, cluster and browser. Each task begins at
 * the overview, as for a user who has just signed in.
 */
const resources = new AsyncDisposableStack();
let stack: Stack;
let site: SyncSite;
let visitor: PageRecord;
let page: Page;
let origin: string;

/** A page shows what a controller does once that is done. */
const controllerMs = 90_000;

const values = { DATABASE_URL: 'postgres://old', LOG_LEVEL: 'info' };

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  await stack.startController();
  site = await stack.makeSite({ values });
  await site.waitForValues(values);
  const browser = await startBrowser(resources);
  visitor = await watchedPage(await browser.newContext(), controllerMs);
  ({ page } = visitor);
  // Browsers keep the cookie of a session there without TLS.
  origin = stack.api.url.replace('127.0.0.1', 'localhost');
  await page.goto(origin);
  await page.getByLabel('Personal token').fill(stack.adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account:' }).waitFor();
});

afterAll(() => resources.disposeAsync());

async function openOverview(): Promise<void> {
  await page.goto(`${origin}/orgs/${site.environment.ref.organization}`);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
}

async function openEnvironment(tab: string): Promise<void> {
  await openOverview();
  const { project, name } = site.environment.ref;
  await page
    .getByRole('row', { name: `${project} / ${name}` })
    .getByRole('link')
    .first()
    .click();
  await page.getByRole('link', { name: tab, exact: true }).click();
}

/** Waits until the page says that the Secret holds a revision. */
async function expectSecretAt(revision: number): Promise<void> {
  await page.getByRole('link', { name: 'Consumers', exact: true }).click();
  await page.getByText(`revision ${revision}`, { exact: true }).waitFor();
}

describe('a user of the dashboard', () => {
  test('finds who changed a value, reverts it, and sees that the Secret has it', async () => {
    await site.environment.change({ DATABASE_URL: 'postgres://wrong' });
    await site.waitForValues({ ...values, DATABASE_URL: 'postgres://wrong' });
    await openEnvironment('History');
    await page.getByLabel('Filter by key, person or comment').fill('DATABASE_URL');
    await page.getByRole('main').getByText('admin@example.com').first().waitFor();
    await page.getByRole('link', { name: 'Revision 2' }).click();
    await page.getByRole('button', { name: 'Revert this change' }).click();
    await page.getByRole('button', { name: 'Revert revision 2' }).click();
    await page.getByText('Reverted revision 2, as revision 3.').waitFor();
    await expectSecretAt(3);
    await site.waitForValues(values);
  });

  test('promotes two keys, which reach the Secret', async () => {
    const { organization, project, name } = site.environment.ref;
    await stack.admin.call('POST', `/environments/${organization}/${project}`, { slug: 'staging' });
    const set = { LOG_LEVEL: 'debug', FEATURE: 'on', OTHER: 'x' };
    await stack.admin.call('PATCH', `/secrets/${organization}/${project}/staging`, { set });
    await openEnvironment('Compare');
    await page.getByLabel('Compare with').selectOption(`${project} / staging`);
    await page.getByLabel('Choose FEATURE').check();
    await page.getByLabel('Choose LOG_LEVEL').check();
    await page.getByRole('button', { name: `Promote to ${name}` }).click();
    await page.getByRole('button', { name: 'Promote', exact: true }).click();
    await page.getByText(`Promoted from ${project}/staging, as revision 4.`).waitFor();
    await expectSecretAt(4);
    await site.waitForValues({ ...values, LOG_LEVEL: 'debug', FEATURE: 'on' });
  });

  test('approves a restore with the command of the page, and sees it done', async () => {
    const { organization, project, name } = site.environment.ref;
    const { kube, namespace } = site;
    const { id: snapshotId } = await stack.admin.call<{ id: string }>(
      'POST',
      `/snapshots/${organization}/${project}/${name}`,
      { name: 'good' },
    );
    await site.environment.change({ FEATURE: 'broken' });
    const rule = { organization, project, environments: [name], permission: 'ReadWrite', kinds: ['SnapshotRestore'] };
    const grants = new ResourceSite<AccessGrant>({ kube, kind: 'AccessGrant', plural: 'accessgrants' });
    await grants.create({ namespaces: [namespace], rules: [rule] }, `for-${namespace}`);
    const restores = new ResourceSite<SnapshotRestore>({
      kube,
      kind: 'SnapshotRestore',
      plural: 'snapshotrestores',
      namespace,
    });
    await restores.create({ snapshotId }, 'back-to-good');
    await openOverview();
    await page.getByRole('link', { name: 'Restores' }).click();
    const waiting = page.getByRole('article', { name: `${namespace}/back-to-good` });
    await waiting.getByText('It changes 1 key.').waitFor();
    const command = await waiting.locator('code', { hasText: 'kubectl' }).innerText();
    const [, words = '', patch = ''] = /^kubectl (.*) '(.*)'$/s.exec(command) ?? [];
    await runKubectl(sharedCluster(), [...words.split(' '), patch]);
    await page.getByText('No restore waits for an approval').waitFor();
    await site.waitForValues({ ...values, LOG_LEVEL: 'debug', FEATURE: 'on' });
    await openEnvironment('History');
    await page.getByText('Restore', { exact: true }).first().waitFor();
  });

  test('revokes a leaked token, and finds out why a Secret is no longer renewed', async () => {
    const { name } = site.environment.ref;
    await openOverview();
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('row', { name: 'of a test' }).getByRole('link').click();
    await page.getByRole('button', { name: 'Revoke the token of a test' }).click();
    await page.getByRole('dialog', { name: 'Revoke of a test?' }).getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('it is refused from now on').waitFor();
    const { status } = await stack.admin.as(site.token.token).send('GET', site.environment.path);
    expect(status).toBe(401);
    await site.environment.change({ LOG_LEVEL: 'warn' });
    await openOverview();
    const why = page.getByRole('article', { name: 'AuthenticationFailed' });
    await why.getByText('Its token was refused').waitFor();
    await why.getByText(`${site.namespace}/${site.name}`, { exact: true }).waitFor();
    const described = await why.locator('code', { hasText: 'kubectl' }).innerText();
    expect(await runKubectl(sharedCluster(), described.split(' ').slice(1))).toContain('revoked');
    await openEnvironment('Consumers');
    await page.getByText('1 of 1 Secret does not hold revision 7.').waitFor();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe(name);
    expect(visitor.complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
  });
});
