import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { HttpClient } from '../support/api/http.ts';
import { enrol } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { expectForgotten } from '../support/browser/forgotten.ts';
import { layoutShift } from '../support/browser/layout-shift.ts';
import { lookAt } from '../support/browser/looks.ts';
import { type ShownOrganization, createOrganization } from '../support/browser/organization.ts';
import { prismaOf } from '../support/database/prisma.ts';

const site = dashboardSite();
let acme: ShownOrganization;
let owner: HttpClient;
const path = '/orgs/acme/members';

beforeAll(async () => {
  acme = await createOrganization(site.api, 'acme', ['shop/production', 'shop/staging']);
  owner = site.api.client(acme.owner.token);
  await owner.expectStatus(201, 'PUT', '/organizations/acme/roles/group:platform', { role: 'viewer' });
});

const row = (page: Page, list: string, text: string) =>
  page.getByRole('list', { name: list }).getByRole('listitem').filter({ hasText: text });

async function newMember(name: string, role: 'admin' | 'developer' | 'viewer') {
  const user = await createVisitor(site.api, name);
  await enrol(site.api.services, acme.owner, user, { organization: 'acme', role });
  return user;
}

test('an owner changes the role of a member and removes another one, and both count at once', async () => {
  const bo = await newMember('bo', 'viewer');
  const cy = await newMember('cy', 'developer');
  await owner.expectStatus(201, 'PUT', `/projects/acme/shop/roles/${bo.email}`, { role: 'developer' });
  const { page, complaints } = await site.visitAs(acme.owner, '/');
  await page.getByRole('link', { name: 'Members' }).click();
  await row(page, 'Members', bo.email).getByText('developer in shop', { exact: true }).waitFor();
  await row(page, 'Roles by place', 'group platform').getByText('In the whole organization', { exact: true }).waitFor();
  expect(await lookAt(page, 'members')).toEqual([]);
  // The list has a row more than its placeholder, which counts if it comes half a second after the click.
  expect(await layoutShift(page)).toBeLessThan(0.04);

  await page.getByRole('button', { name: `Change the role of ${bo.email}`, exact: true }).click();
  const dialog = page.getByRole('dialog', { name: `Change the role of ${bo.email}` });
  await dialog.getByLabel('Role').selectOption('Admin: also manage roles, tokens and places');
  expect(await lookAt(page, 'members-change')).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`${bo.email} has the role admin now.`).waitFor();
  await row(page, 'Members', bo.email).getByText('admin', { exact: true }).waitFor();
  await site.api.client(bo.token).expectStatus(200, 'GET', '/audit/acme');

  await page.getByRole('button', { name: `Withdraw the role of ${bo.email} in shop` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
  await page.getByText(`${bo.email} no longer has the role developer in shop.`).waitFor();
  await page.getByRole('button', { name: `Remove ${cy.email}` }).click();
  const question = page.getByRole('dialog', { name: `Remove ${cy.email}?` });
  await question.getByText('This ends the membership').waitFor();
  await question.getByRole('button', { name: 'Remove' }).click();
  await page.getByText(`${cy.email} is no member any more.`).waitFor();
  await row(page, 'Members', cy.email).waitFor({ state: 'detached' });
  await site.api.client(cy.token).expectStatus(404, 'GET', '/secrets/acme/shop/production');
  expect(complaints.filter((complaint) => !complaint.includes(' 401 '))).toEqual([]);
});

test('a person who is no user gets a link, which is shown once; it ends when the invitation is withdrawn', async () => {
  const { page } = await site.visitAs(acme.owner, path);
  await page.getByRole('button', { name: 'Invite or give a role' }).click();
  const drawer = page.getByRole('dialog', { name: 'Invite or give a role' });
  // The drawer puts the focus there.
  await drawer.locator('input:focus').waitFor();
  await page.keyboard.type('new');
  await page.keyboard.press('Enter');
  await drawer.getByText('Enter an e-mail address.').waitFor();
  await drawer.getByLabel('E-mail address').fill('new@example.com');
  await drawer.getByLabel('Place').selectOption('shop / staging');
  await drawer.getByLabel('Role').selectOption('Developer: read and write');
  expect(await lookAt(page, 'members-give')).toEqual([]);
  await drawer.getByRole('button', { name: 'Give the role' }).click();
  await drawer.getByText('Send the link to new@example.com').waitFor();
  const link = await drawer.getByText(/#kf_lnk_/).innerText();
  expect(await lookAt(page, 'members-link')).toEqual([]);
  await page.keyboard.press('Escape');
  await drawer.getByText('The link was not copied').waitFor();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
  await row(page, 'Waiting invitations', 'new@example.com').getByText('In shop / staging', { exact: true }).waitFor();
  await expectForgotten(page, link.slice(link.indexOf('#') + 1));

  const found = { link };
  await site.api.client(undefined as never).expectStatus(200, 'POST', '/sign-in-links/lookup', found);
  await page.getByRole('button', { name: 'Withdraw the invitation of new@example.com' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
  await page.getByText('No invitation waits.').waitFor();
  await site.api.client(undefined as never).expectStatus(401, 'POST', '/sign-in-links/lookup', found);
});

test('a user is invited, and a group gets a role at once', async () => {
  const di = await createVisitor(site.api, 'di');
  const { page } = await site.visitAs(acme.owner, `${path}?invite=1`);
  const drawer = page.getByRole('dialog', { name: 'Invite or give a role' });
  await drawer.getByLabel('E-mail address').fill(di.email);
  await drawer.getByRole('button', { name: 'Give the role' }).click();
  await drawer.getByText(`${di.email} is invited, and has the role after accepting it.`).waitFor();
  await drawer.getByRole('button', { name: 'Done' }).click();
  await row(page, 'Waiting invitations', di.email).waitFor();
  await site.api.client(di.token).expectStatus(404, 'GET', '/secrets/acme/shop/production');

  await page.getByRole('button', { name: 'Invite or give a role' }).click();
  await drawer.getByLabel('For').selectOption('A group of the identity provider');
  await drawer.getByLabel('Group').fill('payments');
  await drawer.getByLabel('Place').selectOption('shop');
  await drawer.getByRole('button', { name: 'Give the role' }).click();
  await drawer.getByText('payments has the role.').waitFor();
  await drawer.getByRole('button', { name: 'Done' }).click();
  await row(page, 'Roles by place', 'group payments').getByText('In shop', { exact: true }).waitFor();
});

test('a session without a recent sign-in lowers a role, and leads to a sign-in to raise or give one', async () => {
  const ty = await newMember('ty', 'admin');
  const { page } = await site.visitAs(acme.owner, path);
  const sessions = { where: { userId: acme.owner.id }, data: { verifiedAt: new Date(0) } };
  await prismaOf(site.api.services.database).session.updateMany(sessions);
  await page.reload();
  const change = page.getByRole('button', { name: `Change the role of ${ty.email}`, exact: true });
  const dialog = page.getByRole('dialog', { name: `Change the role of ${ty.email}` });
  await change.click();
  await dialog.getByLabel('Role').selectOption('Viewer: read');
  expect(await dialog.getByText('you need a sign-in').count()).toBe(0);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText(`${ty.email} has the role viewer now.`).waitFor();

  await change.click();
  await dialog.getByLabel('Role').selectOption('Developer: read and write');
  await dialog.getByText('To give a higher role, you need a sign-in').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('alert').getByRole('link', { name: 'Sign in again' }).waitFor();

  await page.goto(`${site.origin}${path}?invite=1`);
  const drawer = page.getByRole('dialog', { name: 'Invite or give a role' });
  await drawer.getByText('To give a role, you need a sign-in').waitFor();
  await drawer.getByLabel('E-mail address').fill('late@example.com');
  await drawer.getByRole('button', { name: 'Give the role' }).click();
  await drawer.getByRole('alert').getByRole('link', { name: 'Sign in again' }).waitFor();
});

test('a viewer sees the members, changes nothing, and may leave; a user who left is refused', async () => {
  const ed = await newMember('ed', 'viewer');
  const { page, requests } = await site.visitAs(ed, path);
  await row(page, 'Members', ed.email).getByText('You').waitFor();
  expect(await page.getByRole('button', { name: /^(?:Change|Remove|Withdraw|Give)/ }).count()).toBe(0);
  expect(requests.some((request) => request.url().includes('/invitations'))).toBe(false);
  expect(await lookAt(page, 'members-viewer')).toEqual([]);
  await site.api.client(ed.token).expectStatus(403, 'PUT', `/members/acme/${ed.email}`, { role: 'admin' });
  await owner.expectStatus(201, 'PUT', `/projects/acme/shop/roles/${ed.email}`, { role: 'viewer' });
  await page.getByRole('button', { name: 'Leave the organization' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click();
  // Not of the organization any more, and nowhere within it.
  await page.getByText('You may not see the members').waitFor();
});

test('an admin of one project gives, changes and withdraws the roles there, and sees no others', async () => {
  const pam = await createVisitor(site.api, 'pam');
  await owner.expectStatus(202, 'PUT', `/projects/acme/shop/roles/${pam.email}`, { role: 'admin' });
  const client = site.api.client(pam.token);
  const { invitations } = await client.expectStatus<{ invitations: { id: string }[] }>(200, 'GET', '/invitations');
  await client.expectStatus(200, 'POST', `/invitations/${invitations[0]?.id ?? ''}/accept`);
  const sam = await newMember('sam', 'viewer');
  await client.expectStatus(201, 'PUT', `/environments/acme/shop/staging/roles/${sam.email}`, { role: 'developer' });

  const { page, requests, complaints } = await site.visitAs(pam, '/');
  await page.getByRole('link', { name: 'Members' }).click();
  const changed = row(page, 'Roles by place', sam.email);
  await changed.getByText('In shop / staging', { exact: true }).waitFor();
  await row(page, 'Roles by place', pam.email).getByText('In shop', { exact: true }).waitFor();
  expect(await page.getByText('group platform').count()).toBe(0);
  expect(await lookAt(page, 'members-project')).toEqual([]);
  await page.getByRole('button', { name: `Change the role of ${sam.email} in shop / staging` }).click();
  await page.getByRole('dialog').getByLabel('Role').selectOption('Viewer: read');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText(`${sam.email} has the role viewer in shop / staging now.`).waitFor();
  await page.getByRole('button', { name: `Withdraw the role of ${sam.email} in shop / staging` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
  await changed.waitFor({ state: 'detached' });

  await page.getByRole('button', { name: 'Invite or give a role' }).click();
  const drawer = page.getByRole('dialog', { name: 'Invite or give a role' });
  const places = drawer.getByLabel('Place', { exact: true }).locator('option');
  await places.first().waitFor({ state: 'attached' });
  expect(await places.allInnerTexts()).toEqual(['shop', 'shop / production', 'shop / staging']);
  await drawer.getByLabel('E-mail address').fill('unknown@example.com');
  await drawer.getByRole('button', { name: 'Give the role' }).click();
  await drawer.getByText('No user has this address. An admin of acme can invite it.').waitFor();
  await drawer.getByLabel('E-mail address').fill(sam.email);
  await drawer.getByLabel('Role').selectOption('Admin: also manage roles, tokens and places');
  await drawer.getByRole('button', { name: 'Give the role' }).click();
  await drawer.getByText(`${sam.email} has the role.`).waitFor();
  await drawer.getByRole('button', { name: 'Done' }).click();
  await row(page, 'Roles by place', sam.email).getByText('In shop', { exact: true }).waitFor();
  // Nothing was asked that is refused, but the role of the unknown address.
  const refused = await Promise.all(requests.map(async (request) => (await request.response())?.status()));
  expect(refused.filter((status) => status === 403)).toEqual([]);
  expect(complaints.filter((complaint) => !/ 40[14] /.test(complaint))).toEqual([]);
});

test('a failure is shown in its place, and an admin is refused what only owners do', async () => {
  const flo = await newMember('flo', 'admin');
  const { page } = await site.visitAs(flo, '/');
  await page.route('**/api/v1/members/**', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  expect(await lookAt(page, 'members-failed')).toEqual([]);
  await page.unrouteAll();
  await page.getByRole('button', { name: 'Try again' }).click();
  await row(page, 'Members', acme.owner.email).waitFor();
  expect(await row(page, 'Members', acme.owner.email).getByRole('button').count()).toBe(0);
  await page.getByRole('button', { name: `Change the role of ${flo.email}` }).click();
  const options = page.getByRole('dialog').getByLabel('Role').locator('option');
  await options.first().waitFor({ state: 'attached' });
  expect(await options.count()).toBe(3);
});

test('of many roles the first hundred are shown, and a filter finds the others', async () => {
  const large = await createOrganization(site.api, 'large', ['shop/production']);
  const client = site.api.client(large.owner.token);
  for (let count = 101; count <= 220; count += 1) {
    await client.expectStatus(201, 'PUT', `/organizations/large/roles/group:team-${count}`, { role: 'viewer' });
  }
  const { page } = await site.visitAs(large.owner, '/orgs/large/members');
  const rows = page.getByRole('list', { name: 'Roles by place' }).getByRole('listitem');
  await page.getByText('100 of 120 entries').waitFor();
  expect(await rows.count()).toBe(100);
  expect(await lookAt(page, 'members-many')).toEqual([]);
  const filter = page.getByRole('searchbox', { name: 'Filter by name' });
  await filter.fill('TEAM-22');
  await page.getByText('group team-220', { exact: true }).waitFor();
  await page.getByText('group team-101', { exact: true }).waitFor({ state: 'detached' });
  expect(await rows.count()).toBe(1);
  // The owner has another name.
  await page.getByText('No entry matches.').waitFor();
  await filter.fill('');
  await page.getByRole('button', { name: 'Show 20 more' }).click();
  await rows.nth(119).waitFor();
  expect(await page.getByRole('button', { name: /^Show / }).count()).toBe(0);
});

test('the form that gives roles waits for the places, and says why it cannot have them', async () => {
  const { page } = await site.visitAs(acme.owner, '/orgs/acme/members');
  await page.getByRole('list', { name: 'Members' }).waitFor();
  await page.route('**/api/v1/projects/acme?*', (route) => route.fulfill({ status: 500, body: 'broken' }));
  await page.getByRole('button', { name: 'Invite or give a role' }).click();
  const drawer = page.getByRole('dialog', { name: 'Invite or give a role' });
  await drawer.getByText('The server answered with status 500.').waitFor();
  await page.unrouteAll();
  await drawer.getByRole('button', { name: 'Try again' }).click();
  await drawer.getByLabel('E-mail address').waitFor();
  expect(await drawer.getByLabel('Place', { exact: true }).locator('option').count()).toBe(4);
});
