import { expect, test } from '@jest/globals';
import type { SyncStateReport } from '../../src/domain/fleet.ts';
import { enrol } from '../support/api/services.ts';
import { rolloutReport, stateReport } from '../support/api/state-reports.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { failUntilClick } from '../support/browser/fail-until-click.ts';
import { lookAt } from '../support/browser/looks.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';
import { withinPageTime } from '../support/browser/page-time.ts';

const site = dashboardSite();

/** Production of an organization with as many revisions as there are ids returned. */
async function scene(
  slug: string,
  revisions: number,
): Promise<{ shown: ShownOrganization; ids: string[]; path: string }> {
  const shown = await createOrganization(site.api, slug, ['shop/production']);
  const client = site.api.client(shown.owner.token);
  const ids: string[] = [];
  for (let index = 1; index <= revisions; index += 1) {
    const set = { A: `canary-${index}` };
    const path = `/secrets/${slug}/shop/production`;
    ids.push((await client.expectStatus<{ revisionId: string }>(200, 'PATCH', path, { set })).revisionId);
  }
  return { shown, ids, path: `/orgs/${slug}/environments/shop/production/consumers` };
}

async function report(
  { environments }: ShownOrganization,
  cluster: string,
  reports: readonly Partial<SyncStateReport>[],
): Promise<void> {
  const environmentId = environments.get('shop/production') ?? null;
  await site.api.services.syncStates.seen(cluster);
  await site.api.services.syncStates.report(
    cluster,
    reports.map((given) => stateReport({ environmentId, ...given })),
  );
}

async function age(cluster: string): Promise<void> {
  const text = `UPDATE cluster_state SET seen_at = clock_timestamp() - interval '1 hour' WHERE cluster = $1`;
  await site.api.services.database.pool.query(text, [cluster]);
}

const at = (revision: number, ids: readonly string[]) => ({ revision, revisionId: ids[revision - 1] ?? '' });

test('shows the way of the values by cluster, and for each that is not healthy why and which command says more', async () => {
  const { shown, ids, path } = await scene('way', 3);
  const [newest, former] = [at(3, ids), at(2, ids)];
  const workload = { kind: 'Deployment', name: 'web', revision: 3, replicas: 3, updatedReplicas: 3 };
  await report(shown, 'frankfurt-1', [
    {
      namespace: 'shop',
      name: 'web',
      secretName: 'web-env',
      synced: newest,
      syncedAt: new Date(),
      rollout: rolloutReport({ converged: newest, workloads: [workload] }),
    },
    { namespace: 'shop', name: 'old', synced: former, state: 'stalled', reason: 'AccessDenied' },
    { namespace: 'shop', name: 'fixed', synced: former, isPinned: true },
  ]);
  await report(shown, 'oregon-2', [
    {
      namespace: 'shop',
      name: 'web',
      synced: newest,
      rollout: rolloutReport({
        state: 'stalled',
        reason: 'RolloutStuck',
        converged: former,
        workloads: [{ ...workload, updatedReplicas: 1 }],
      }),
    },
  ]);
  await age('oregon-2');
  const { page, complaints } = await site.visitAs(shown.owner, path, Date.now());
  await page.getByText('1 of 4 Secrets does not hold revision 3.').waitFor();
  expect(await page.locator('.verdict').innerText()).toMatch(
    /^2 of 4 SecretSyncs need a person\.\s+1 of 4 Secrets .*\s+1 cluster stopped reporting\..*\s+1 SecretSync is pinned\.$/,
  );
  expect(await layoutShift(page)).toBeLessThan(0.02);
  const frankfurt = page.getByRole('region', { name: 'frankfurt-1' });
  const items = frankfurt.locator('.consumer');
  expect(await items.evaluateAll((all) => all.map((item) => item.getAttribute('aria-label')))).toEqual([
    'shop/old',
    'shop/fixed',
    'shop/web',
  ]);
  expect(await items.nth(0).innerText()).toMatch(
    /revision 2, 1 behind.*Stalled\s+Behind.*AccessDenied\s+No AccessGrant/s,
  );
  expect(await items.nth(0).innerText()).toContain('kubectl describe secretsyncs.keyframe.dev old -n shop');
  expect(await items.nth(1).innerText()).toMatch(
    /shop\/fixed\s+Pinned.*revision 2\s.*Not followed: no spec.rollout\s+Healthy/s,
  );
  expect(await items.nth(2).innerText()).toMatch(
    /web-env\s+revision 3 since just now\s+Workloads\s+Deployment\/web\s+revision 3, 3 of 3 pods\s+Converged\s+Healthy/,
  );
  const oregon = page.getByRole('region', { name: 'oregon-2' });
  expect(await oregon.innerText()).toMatch(
    /Stale\s+seen 1 hour ago.*may be old.*1 of 3 pods\s+Converged with 2\s+Stalled\s+Stale/s,
  );
  expect(await oregon.innerText()).toContain('RolloutStuck');
  expect(await lookAt(page, 'consumers')).toEqual([]);
  const kept = await page.evaluate<string>(
    'JSON.stringify([localStorage, sessionStorage, history.state, location.href])',
  );
  expect((await page.content()) + kept + complaints.join('\n')).not.toContain('canary');
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
  // A revision leads to what it holds.
  await items.nth(0).getByRole('link', { name: 'revision 2, 1 behind' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog', { name: 'Revision 2' }).waitFor();
});

test('a new revision shows at once who does not have it yet, and then that all have it', async () => {
  const { shown, ids, path } = await scene('follow', 1);
  const consumer = { uid: '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e', namespace: 'shop', name: 'web' };
  await report(shown, 'x', [{ ...consumer, synced: at(1, ids) }]);
  // Behind the clock of the server: what has just happened there is not past for the page.
  const { page, requests } = await site.visitAs(shown.owner, path, { fromMs: Date.now() - 60_000 });
  await page.getByText('All is well: every Secret holds revision 1.').waitFor();
  const client = site.api.client(shown.owner.token);
  const change = { set: { A: 'later' } };
  const { revisionId } = await client.expectStatus<{ revisionId: string }>(
    200,
    'PATCH',
    '/secrets/follow/shop/production',
    change,
  );
  await page.getByText('1 of 1 Secret does not hold revision 2.').waitFor();
  // While it is under way, the page looks more often than every ten seconds.
  const looks = (): number => requests.filter((request) => request.url().endsWith('/consumers')).length;
  const before = looks();
  await withinPageTime(page, 6_000, () => looks() >= before + 2);
  await report(shown, 'x', [{ ...consumer, synced: { revision: 2, revisionId } }]);
  await page.getByText('All is well: every Secret holds revision 2.').waitFor();
  // What an old report says is no news.
  await age('x');
  await page.reload();
  await page.getByText('1 cluster stopped reporting. What is below may be old.').waitFor();
  expect(await page.getByText('All is well').count()).toBe(0);
  await report(shown, 'x', [
    { ...consumer, synced: { revision: 2, revisionId }, state: 'stalled', reason: 'TooLarge' },
  ]);
  await page.clock.fastForward(10_000);
  await page.getByText('1 of 1 SecretSync needs a person.').waitFor();
  // An entry that is shown already is not in the future after its next change.
  await report(shown, 'x', [
    { ...consumer, synced: { revision: 2, revisionId }, state: 'stalled', reason: 'TypeUnmet' },
  ]);
  await page.clock.fastForward(10_000);
  await page.getByText('TypeUnmet').waitFor();
  expect(await page.getByText(/Last change/).innerText()).toContain('Last change just now.');
});

test('a viewer sees no namespace', async () => {
  const { shown, ids, path } = await scene('viewed', 1);
  await report(shown, 'x', [
    { namespace: 'hidden-ns', name: 'web', synced: at(1, ids), state: 'stalled', reason: 'New' },
  ]);
  const viewer = await createVisitor(site.api, 'vic');
  await enrol(site.api.services, shown.owner, viewer, { organization: 'viewed', role: 'viewer' });
  const { page } = await site.visitAs(viewer, path);
  await page.getByText('kubectl get secretsyncs.keyframe.dev -A --field-selector metadata.name=web').waitFor();
  expect(await page.content()).not.toContain('hidden-ns');
});

test('an environment without consumers says how to get one; what fails to load says so', async () => {
  const { shown, path } = await scene('none', 1);
  const { page } = await site.visitAs(shown.owner, path);
  await page.getByText('No SecretSync reads this environment').waitFor();
  await page.getByText('environmentRef: { organization: none, project: shop, name: production }').waitFor();
  expect(await lookAt(page, 'consumers-none')).toEqual([]);
  const tryAgain = await failUntilClick(page, '**/consumers');
  await page.reload();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'consumers-failed')).toEqual([]);
  await tryAgain();
  await page.getByText('No SecretSync reads this environment').waitFor();
});

test('of many consumers in a cluster the first ones are shown', async () => {
  const { shown, ids, path } = await scene('crowd', 1);
  const many = Array.from({ length: 120 }, (_, index) => ({ name: `app-${index}`, synced: at(1, ids) }));
  await report(shown, 'x', many);
  const { page } = await site.visitAs(shown.owner, path);
  await page.getByText('All is well: every Secret holds revision 1.').waitFor();
  expect(await page.locator('.consumer').count()).toBe(50);
  await page.getByRole('button', { name: 'Show all 120' }).click();
  expect(await page.locator('.consumer').count()).toBe(120);
});
