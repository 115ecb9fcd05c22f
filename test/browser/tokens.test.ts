import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Plaintext } from '../../src/domain/plaintext.ts';
import type { HttpClient } from '../support/api/http.ts';
import { createWorld, enrol } from '../support/api/services.ts';
import { TestSyncReader } from '../support/api/sync-reader.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { expectForgotten } from '../support/browser/forgotten.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { lookAt } from '../support/browser/looks.ts';
import { loseCreation } from '../support/browser/lose-creation.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';
import { reloadAsks } from '../support/browser/reload-asks.ts';
import { prismaOf } from '../support/database/prisma.ts';

const site = dashboardSite();
let acme: ShownOrganization;
let owner: HttpClient;

beforeAll(async () => {
  acme = await createOrganization(site.api, 'acme', ['shop/production', 'shop/staging', 'ledger/production']);
  owner = site.api.client(acme.owner.token);
  await owner.expectStatus(201, 'PUT', '/secrets/acme/shop/production/DATABASE_URL', { value: 'postgres://shop' });
});

interface Created {
  readonly id: string;
  readonly token: string;
}

/** Creates a token of the production of the shop. */
function createToken(name: string, further: object = {}): Promise<Created> {
  return owner.expectStatus<Created>(201, 'POST', '/service-tokens/acme', {
    name,
    scope: 'environment',
    environmentId: acme.environments.get('shop/production'),
    permission: 'read',
    ...further,
  });
}

/** The status of a read with a token. */
async function readWith(token: string): Promise<number> {
  const { status } = await site.api.client(new Plaintext(token)).send('GET', '/secrets/acme/shop/production');
  return status;
}

const row = (page: Page, name: string) => page.getByRole('row', { name });

test('a leaked token is found by its name, and reads nothing after it is revoked', async () => {
  const leaked = await createToken('leaked-ci');
  await createToken('deploy', { permission: 'read_write', scope: 'organization', environmentId: undefined });
  await createToken('short', { expiresAt: new Date(Date.now() + 86_400_000).toISOString() });
  const ended = await createToken('old-ci');
  await owner.expectStatus(204, 'DELETE', `/service-tokens/acme/${ended.id}`);
  expect(await readWith(leaked.token)).toBe(200);

  // A clock that is a minute slow puts nothing that has happened into the future.
  const { page, complaints } = await site.visitAs(acme.owner, '/orgs/acme', Date.now() - 60_000);
  await page.getByRole('link', { name: 'Tokens' }).click();
  await row(page, 'leaked-ci').getByText('shop / production').waitFor();
  expect(await row(page, 'leaked-ci').innerText()).toMatch(
    /shop \/ production\s+Reads\s+just now\s+Active\s+No expiry/,
  );
  expect(await row(page, 'deploy').innerText()).toMatch(/Whole organization\s+Reads and writes\s+Never/);
  expect(await row(page, 'short').innerText()).toMatch(/Expires soon\s+in 1 day/);
  expect(await row(page, 'old-ci').count()).toBe(0);
  expect(await lookAt(page, 'tokens')).toEqual([]);
  expect(await layoutShift(page)).toBeLessThan(0.02);
  const choices = await page.getByRole('group', { name: 'State' }).getByRole('button').all();
  const tops = await Promise.all(choices.map(async (choice) => (await choice.boundingBox())?.y));
  // One line.
  expect(new Set(tops).size).toBe(1);

  await page.getByLabel('Filter, or paste a leaked token').fill('LEAKED');
  await page.getByRole('button', { name: 'In use 1', exact: true }).waitFor();
  await row(page, 'leaked-ci').getByRole('link').focus();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('dialog', { name: 'leaked-ci' });
  await drawer.getByText(`keyframe audit -o acme --actor ${leaked.id}`).waitFor();
  expect(await lookAt(page, 'token')).toEqual([]);
  await drawer.getByRole('button', { name: 'Revoke the token leaked-ci' }).click();
  const question = page.getByRole('dialog', { name: 'Revoke leaked-ci?' });
  await question.getByText('is refused from the next request on').waitFor();
  expect(await lookAt(page, 'token-revoke')).toEqual([]);
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(await readWith(leaked.token)).toBe(200);
  await drawer.getByRole('button', { name: 'Revoke the token leaked-ci' }).click();
  await question.getByRole('button', { name: 'Revoke' }).click();
  await drawer.getByText('it is refused from now on').waitFor();
  expect(await readWith(leaked.token)).toBe(401);
  await page.keyboard.press('Escape');
  await page.getByText('No token matches').waitFor();
  await page.getByRole('button', { name: 'Revoked' }).click();
  await row(page, 'leaked-ci').waitFor();
  expect(new URL(page.url()).search).toBe('?q=LEAKED&state=revoked');
  await page.reload();
  await row(page, 'leaked-ci').waitFor();
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
});

test('a pasted token opens the token that it is, and is in no address', async () => {
  const leaked = await createToken('in-a-log');
  const { page, requests } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  const field = page.getByLabel('Filter, or paste a leaked token');
  await field.fill(` ${leaked.token}`);
  const drawer = page.getByRole('dialog', { name: 'in-a-log' });
  await drawer.waitFor();
  expect(await field.inputValue()).toBe('');
  await drawer.getByRole('button', { name: 'Revoke the token in-a-log' }).click();
  await page.getByRole('dialog', { name: 'Revoke in-a-log?' }).getByRole('button', { name: 'Revoke' }).click();
  await drawer.getByText('it is refused from now on').waitFor();
  await page.keyboard.press('Escape');
  // Closing it changes the address, which the field follows.
  await drawer.waitFor({ state: 'detached' });
  await field.fill(leaked.token);
  await page.getByRole('alert').getByText('The server accepts no token with this value.').waitFor();
  expect(await lookAt(page, 'tokens-pasted')).toEqual([]);
  await field.fill(acme.owner.token.reveal());
  await page.getByRole('alert').getByText('This is not a service token.').waitFor();
  for (const { token } of [leaked, { token: acme.owner.token.reveal() }]) {
    await expectForgotten(page, token);
    expect(requests.filter((request) => request.url().includes(token))).toEqual([]);
  }
});

test('a pasted token leads no user back who has left the page', async () => {
  const leaked = await createToken('left-behind');
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  const [asked, answered] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
  await page.route('**/api/v1/me', async (route) => {
    if (route.request().headers()['authorization'] === undefined) return route.continue();
    asked.resolve(undefined);
    await answered.promise;
    return route.continue();
  });
  await page.getByLabel('Filter, or paste a leaked token').fill(leaked.token);
  await asked.promise;
  await page.getByRole('link', { name: 'Audit' }).first().click();
  await page.getByRole('heading', { name: 'Audit' }).waitFor();
  const response = page.waitForResponse('**/api/v1/me');
  answered.resolve(undefined);
  await (await response).finished();
  await page.waitForTimeout(200);
  expect(new URL(page.url()).pathname).toBe('/orgs/acme/audit');
});

test('if the response to a creation is lost, the second click creates no other token', async () => {
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  await page.getByRole('button', { name: 'New token' }).click();
  const drawer = page.getByRole('dialog', { name: 'New service token' });
  await drawer.getByLabel('Name', { exact: true }).fill('lost');
  await drawer.getByLabel('Place').selectOption('shop / production');
  await loseCreation(page, '**/api/v1/service-tokens/acme');
  await drawer.getByRole('button', { name: 'Create token' }).click();
  await drawer.getByText('The server could not be reached.').waitFor();
  await drawer.getByRole('button', { name: 'Create token' }).click();
  await drawer.getByText('Its value cannot be shown again.').waitFor();
  expect(await lookAt(page, 'token-lost')).toEqual([]);
  await drawer.getByRole('link', { name: 'Open the token' }).click();
  await page.getByRole('dialog', { name: 'lost' }).getByRole('button', { name: 'Rotate the token lost' }).waitFor();
  const { serviceTokens } = await owner.expectStatus<{ serviceTokens: { name: string }[] }>(
    200,
    'GET',
    '/service-tokens/acme',
  );
  expect(serviceTokens.filter(({ name }) => name === 'lost')).toHaveLength(1);
});

test('a new token is shown once, reads, and leaves nothing in the browser', async () => {
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'New token' }).click();
  const drawer = page.getByRole('dialog', { name: 'New service token' });
  // The drawer puts the focus there.
  await drawer.locator('input:focus').waitFor();
  await page.keyboard.type('checkout');
  await page.keyboard.press('Enter');
  await drawer.getByText('Choose where it may act.').waitFor();
  expect(await lookAt(page, 'token-new')).toEqual([]);
  await drawer.getByLabel('Place').selectOption('shop / production');
  await drawer.getByLabel('Expires').selectOption('In 30 days');
  await drawer.getByRole('button', { name: 'Create token' }).click();
  await drawer.getByText('It is shown only this once').waitFor();
  const value = await drawer.getByText(/^kf_svc_/).innerText();
  expect(await readWith(value)).toBe(200);
  await page.keyboard.press('Escape');
  await drawer.getByText('The token was not copied').waitFor();
  expect(await drawer.getByText(value).count()).toBe(1);
  expect(await reloadAsks(page)).toBe('beforeunload');
  expect(await drawer.getByText(value).count()).toBe(1);
  await drawer.getByRole('button', { name: 'Copy: the token' }).click();
  await drawer.getByText('The token was not copied').waitFor({ state: 'detached' });
  expect(await page.evaluate<string>('navigator.clipboard.readText()')).toBe(value);
  await drawer.getByRole('button', { name: 'Done' }).click();
  await row(page, 'checkout').waitFor();
  expect(await row(page, 'checkout').innerText()).toContain('in 30 days');
  await expectForgotten(page, value);
  await page.goBack();
  await page.goForward();
  await expectForgotten(page, value);
});

test('a rotated token has a new value, and the former one ends', async () => {
  const { token: former } = await createToken('rotated');
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  await row(page, 'rotated').getByRole('link').click();
  const drawer = page.getByRole('dialog', { name: 'rotated' });
  await drawer.getByLabel('The former value ends').selectOption('At once');
  await drawer.getByRole('button', { name: 'Rotate the token rotated' }).click();
  await page.getByRole('dialog', { name: 'Give rotated a new value?' }).getByRole('button', { name: 'Rotate' }).click();
  await drawer.getByText('The former one ends at once.').waitFor();
  const value = await drawer.getByText(/^kf_svc_/).innerText();
  expect(await lookAt(page, 'token-rotated')).toEqual([]);
  expect([await readWith(former), await readWith(value)]).toEqual([401, 200]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expectForgotten(page, value);
});

test('a session whose sign-in is too long ago revokes, and creates nothing', async () => {
  const { id, token } = await createToken('stale');
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/tokens');
  await row(page, 'stale').waitFor();
  const sessions = { where: { userId: acme.owner.id }, data: { verifiedAt: new Date(0) } };
  await prismaOf(site.api.services.database).session.updateMany(sessions);
  await page.goto(`${site.origin}/orgs/acme/tokens?token=${id}`);
  const drawer = page.getByRole('dialog', { name: 'stale' });
  await drawer.getByText('To rotate it, you need a sign-in within the last 5 minutes.').waitFor();
  await drawer.getByRole('button', { name: 'Rotate the token stale' }).click();
  await page.getByRole('dialog', { name: 'Give stale a new value?' }).getByRole('button', { name: 'Rotate' }).click();
  await drawer.getByRole('alert').getByRole('link', { name: 'Sign in again' }).waitFor();
  expect(await lookAt(page, 'token-sign-in-again')).toEqual([]);
  expect(await readWith(token)).toBe(200);
  await drawer.getByRole('button', { name: 'Revoke the token stale' }).click();
  await page.getByRole('dialog', { name: 'Revoke stale?' }).getByRole('button', { name: 'Revoke' }).click();
  await drawer.getByText('it is refused from now on').waitFor();
  expect(await readWith(token)).toBe(401);
});

test('the token of a namespace, which has no value, is revoked and reinstated', async () => {
  const world = await createWorld(site.api.services);
  const sync = new TestSyncReader(site.api.services, world, { cluster: 'frankfurt-1', namespace: 'shop' });
  expect(await sync.outcome()).toEqual({});
  const { page } = await site.visitAs(world.owner, `/orgs/${world.slugs.organization}/tokens`);
  await row(page, 'Keyless, for shop in frankfurt-1').getByRole('link').click();
  const drawer = page.getByRole('dialog');
  expect(await drawer.getByRole('heading', { name: 'Rotate' }).count()).toBe(0);
  await drawer.getByRole('button', { name: 'Revoke the token' }).click();
  const question = page.getByRole('dialog', { name: /^Revoke .*\?$/ });
  await question.getByText('Their Secrets keep the values that they have.').waitFor();
  await question.getByRole('button', { name: 'Revoke' }).click();
  await drawer.getByText('it is refused from now on').waitFor();
  expect(await sync.outcome()).toBe('token_revoked');
  await drawer.getByRole('button', { name: 'Reinstate' }).click();
  await drawer.getByText('The token works again.').waitFor();
  expect(await sync.outcome()).toEqual({});
});

test('a viewer has no link and sees no token; an admin of a project sees and creates those of the project', async () => {
  await createToken('of-production');
  await createToken('of-everything', { scope: 'organization', environmentId: undefined });
  const viewer = await createVisitor(site.api, 'vic');
  await enrol(site.api.services, acme.owner, viewer, { organization: 'acme', role: 'viewer' });
  const { page } = await site.visitAs(viewer, '/orgs/acme/tokens');
  await page.getByText('Only admins see service tokens').waitFor();
  expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0);
  expect(await page.getByRole('button', { name: 'New token' }).count()).toBe(0);
  expect(await lookAt(page, 'tokens-refused')).toEqual([]);
  await site.api.client(viewer.token).expectStatus(403, 'GET', '/service-tokens/acme');

  await owner.expectStatus(201, 'PUT', `/projects/acme/shop/roles/${viewer.email}`, { role: 'admin' });
  await page.reload();
  await row(page, 'of-production').waitFor();
  expect(await row(page, 'of-everything').count()).toBe(0);
  await page.getByRole('button', { name: 'New token' }).click();
  const places = page.getByLabel('Place', { exact: true }).locator('option');
  await places.filter({ hasText: 'shop / staging' }).waitFor({ state: 'attached' });
  const options = await places.allInnerTexts();
  expect(options).toEqual(['Choose a place', 'shop, with all its environments', 'shop / production', 'shop / staging']);
  await page.getByLabel('Name', { exact: true }).fill('of-vic');
  await page.getByLabel('Place', { exact: true }).selectOption('shop, with all its environments');
  await page.getByRole('button', { name: 'Create token' }).click();
  expect(await readWith(await page.getByText(/^kf_svc_/).innerText())).toBe(200);
});

test('no tokens, and a list that fails and then loads', async () => {
  const empty = await createOrganization(site.api, 'empty', []);
  const { page } = await site.visitAs(empty.owner, '/orgs/empty/tokens');
  await page.getByText('There is no service token yet').waitFor();
  expect(await lookAt(page, 'tokens-empty')).toEqual([]);
  await page.route('**/api/v1/service-tokens/**', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.reload();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'tokens-failed')).toEqual([]);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('There is no service token yet').waitFor();
});
