import { beforeAll, expect, test } from '@jest/globals';
import { createWorld, enrol, type World } from '../support/api/services.ts';
import { waitingPlan } from '../support/api/waiting-plans.ts';
import { copiedBy } from '../support/browser/copied.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { failUntilClick } from '../support/browser/fail-until-click.ts';
import { lookAt } from '../support/browser/looks.ts';
import { createOrganization } from '../support/browser/organization.ts';
import { withinPageTime } from '../support/browser/page-time.ts';

const site = dashboardSite();
let world: World;
let path: string;
let plannedAtMs: number;

const planHash = 'Zk3vJmZ0c1XcE5k8nVtG2wAq7kz9eB0v8fT2yLhWnJ3';
const keysOf = (...keys: string[]): { count: number; keys: string[] } => ({ count: keys.length, keys });

beforeAll(async () => {
  world = await createWorld(site.api.services);
  path = `/orgs/${world.slugs.organization}/restores`;
  const { waitingRestores, syncStates } = site.api.services;
  const { id: environmentId } = world.environment;
  await syncStates.seen('frankfurt-1');
  await waitingRestores.report(
    'frankfurt-1',
    waitingPlan({
      environmentId,
      namespace: 'shop',
      name: 'back-to-41',
      planHash,
      keys: {
        restored: keysOf('DATABASE_URL', 'PAYMENT_KEY'),
        recreated: keysOf('MAIL_FROM'),
        pruned: keysOf('NEW_CHECKOUT'),
        unchanged: keysOf('LOG_LEVEL'),
        skipped: keysOf('OLD_KEY'),
        destroyed: { count: 0, keys: [] },
      },
    }),
  );
  plannedAtMs = Date.now();
  const many = Array.from({ length: 100 }, (_, index) => `KEY_${String(index).padStart(3, '0')}`);
  await waitingRestores.report(
    'oregon-2',
    waitingPlan({
      environmentId,
      namespace: 'shop',
      name: 'many',
      keys: { ...waitingPlan({ environmentId }).keys, restored: { count: 250, keys: many }, pruned: keysOf() },
    }),
  );
});

test('shows each plan, and the command that approves exactly it', async () => {
  const { page, complaints } = await site.visitAs(world.developer, '/', plannedAtMs);
  await page.getByText('2 restores wait for an approval.').waitFor();
  expect(await layoutShift(page)).toBeLessThan(0.02);
  await page.getByRole('link', { name: 'See what would change' }).click();
  const waiting = page.getByRole('article', { name: 'shop/back-to-41' });
  await waiting.waitFor();
  expect(new URL(page.url()).pathname).toBe(path);
  expect(await waiting.getByText(/^Restores/).innerText()).toMatch(
    /which is at revision 3, in frankfurt-1\. Planned just now\. It changes 2 keys, brings 1 deleted key back and deletes 1 key\.$/,
  );
  expect(await waiting.getByRole('list', { name: 'Plan of shop/back-to-41' }).innerText()).toMatch(
    /Changed:\s+DATABASE_URL.*New:\s+MAIL_FROM.*Deleted:\s+NEW_CHECKOUT.*Changed:\s+PAYMENT_KEY/s,
  );
  expect(await waiting.getByRole('list', { name: 'Left as they are' }).innerText()).toBe('OLD_KEY stays deleted');
  const stale = page.getByRole('article', { name: 'shop/many' });
  expect(await stale.innerText()).toMatch(/Not up to date.*last reported nothing.*and 150 more keys/s);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  expect(await copiedBy(page, page.getByRole('button', { name: 'Copy: approve shop/back-to-41' }))).toBe(
    `kubectl patch snapshotrestores.keyframe.dev back-to-41 -n shop --type merge -p '{"spec":{"mode":"Apply","planHash":"${planHash}"}}'`,
  );
  expect(await layoutShift(page)).toBeLessThan(0.02);
  expect(await lookAt(page, 'restores')).toEqual([]);
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
  await waiting.getByRole('link', { name: /prod/ }).click();
  await page.waitForURL('**/history');
});

test('a viewer sees the plan without its namespace, and no command', async () => {
  const viewer = await createVisitor(site.api, 'vic');
  await enrol(site.api.services, world.owner, viewer, { organization: world.slugs.organization, role: 'viewer' });
  const { page } = await site.visitAs(viewer, path);
  const waiting = page.getByRole('article', { name: 'back-to-41' });
  await waiting.getByText('Users with the role developer see its namespace').waitFor();
  expect(await page.content()).not.toMatch(/kubectl|shop\//);
});

test('notices by itself when nothing waits any more, and says so', async () => {
  const empty = await createOrganization(site.api, 'calm', ['shop/production']);
  const environmentId = empty.environments.get('shop/production') ?? '';
  const plan = waitingPlan({ environmentId, namespace: 'shop', name: 'back' });
  await site.api.services.waitingRestores.report('frankfurt-1', plan);
  const { page } = await site.visitAs(empty.owner, '/orgs/calm/restores', { fromMs: Date.now() });
  await page.getByRole('article', { name: 'shop/back' }).waitFor();
  await site.api.services.waitingRestores.forget('frankfurt-1', [plan.uid]);
  await withinPageTime(page, 6_000, () => page.getByText('No restore waits for an approval').isVisible());
  await page.getByText('shop/back no longer waits.').waitFor();
  const history = page.getByRole('link', { name: 'See in the history whether it was restored' });
  expect(await history.getAttribute('href')).toBe('/orgs/calm/environments/shop/production/history');
  expect(await lookAt(page, 'restores-empty')).toEqual([]);
});

test('what fails to load says so, and a second try loads it', async () => {
  const { page } = await site.visitAs(world.owner, '/sign-in-methods');
  const tryAgain = await failUntilClick(page, '**/api/v1/fleet/*/restores');
  await page.getByRole('link', { name: 'Restores' }).click();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'restores-failed')).toEqual([]);
  await tryAgain();
  await page.getByRole('article', { name: 'shop/back-to-41' }).waitFor();
});
