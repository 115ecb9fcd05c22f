import { beforeAll, expect, test } from '@jest/globals';
import { type World, createWorld } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { lookAt } from '../support/browser/looks.ts';

const site = dashboardSite();
let world: World;

beforeAll(async () => {
  world = await createWorld(site.api.services);
});

test('a user accepts one invitation and declines another one, and has only the role that they accepted', async () => {
  const ann = await createVisitor(site.api, 'ann');
  const owner = site.api.client(world.owner.token);
  const { organization, project, environment } = world.slugs;
  await owner.expectStatus(202, 'PUT', `/members/${organization}/${ann.email}`, { role: 'viewer' });
  const place = `${organization}/${project}/${environment}`;
  await owner.expectStatus(202, 'PUT', `/environments/${place}/roles/${ann.email}`, { role: 'admin' });

  const { page } = await site.visitAs(ann, '/');
  await page.getByRole('navigation').getByRole('link', { name: 'Invitations' }).click();
  const rows = page.getByRole('list', { name: 'Invitations' }).getByRole('listitem');
  await rows.nth(1).waitFor();
  expect(await rows.filter({ hasText: `From ${world.owner.email}` }).count()).toBe(2);
  expect(await lookAt(page, 'invitations')).toEqual([]);
  await page.getByRole('button', { name: `Decline the invitation to ${place}` }).click();
  await page.getByText(`You declined the invitation to ${place}.`).waitFor();
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.getByText(`You have the role viewer on ${organization}.`).waitFor();
  await page.getByText('No invitation waits for you.').waitFor();
  expect(await lookAt(page, 'invitations-answered')).toEqual([]);
  await page.getByRole('navigation').getByRole('link', { name: 'Invitations' }).waitFor({ state: 'detached' });
  expect(await site.api.client(ann.token).expectStatus(200, 'GET', '/me')).toMatchObject({
    organizations: [{ slug: organization, role: 'viewer' }],
    rolesByPlace: [],
  });
});

test('an invitation that was withdrawn meanwhile is refused with the reason', async () => {
  const bo = await createVisitor(site.api, 'bo');
  const owner = site.api.client(world.owner.token);
  const path = `/members/${world.slugs.organization}/${bo.email}`;
  await owner.expectStatus(202, 'PUT', path, { role: 'viewer' });
  const { page } = await site.visitAs(bo, '/invitations');
  await page.getByRole('button', { name: 'Accept the invitation' }).waitFor();
  await owner.expectStatus(204, 'DELETE', path);
  await page.getByRole('button', { name: 'Accept the invitation' }).click();
  await page.getByRole('alert').getByText('was withdrawn').waitFor();
  await page.getByText('No invitation waits for you.').waitFor();
});
