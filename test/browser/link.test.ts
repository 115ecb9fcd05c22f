import { beforeAll, expect, test } from '@jest/globals';
import type { CreatedInvitationView, CreatedLinkView } from '../../src/wire/sign-in-links.ts';
import { secretOf } from '../support/api/link-browser.ts';
import { createWorld, type TestUser, type World } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import { lookAt } from '../support/browser/looks.ts';
import type { PageRecord } from '../support/browser/watched-page.ts';

const site = dashboardSite();
let world: World;
let admin: TestUser;

beforeAll(async () => {
  world = await createWorld(site.api.services);
  admin = await createVisitor(site.api, 'root', { instanceAdmin: true });
});

async function invite(email: string, place: object = {}): Promise<CreatedInvitationView> {
  const path = `/organizations/${world.slugs.organization}/invitations`;
  return site.api.client(world.admin.token).expectStatus(201, 'POST', path, { email, role: 'developer', ...place });
}

async function linkOf({ id }: TestUser): Promise<string> {
  const path = `/users/${id}/sign-in-links`;
  return (await site.api.client(admin.token).expectStatus<CreatedLinkView>(201, 'POST', path)).link;
}

/** The link as the browser of the site opens it: it keeps cookies on localhost. */
function pathOf(link: string): string {
  const { pathname, hash } = new URL(link);
  return pathname + hash;
}

/** Where the secret of a link could have stayed. */
async function kept({ page, complaints, requests }: PageRecord): Promise<string> {
  const inPage = await page.evaluate<unknown>(`({
    page: document.documentElement.outerHTML,
    storage: [{ ...localStorage }, { ...sessionStorage }, history.state],
    cookie: document.cookie,
    title: document.title,
    url: location.href,
    navigations: performance.getEntriesByType('navigation').map(({ name }) => name.split('#')[0]),
  })`);
  const addresses = requests.map((request) => [request.url(), request.headers()['referer']]);
  return JSON.stringify([inPage, complaints, addresses]);
}

test('an invited person sees who invites to what, accepts, and is a member who is signed in', async () => {
  const email = 'ann@example.com';
  const { link } = await invite(email);
  const record = await site.visit(pathOf(link));
  const { page, requests } = record;
  await page.getByRole('heading', { name: 'You are invited' }).waitFor();
  expect(page.url()).toBe(`${site.origin}/link`);
  expect(await page.title()).toBe('Sign-in link · Keyframe');
  const text = await page.getByRole('main').innerText();
  for (const part of [world.admin.email, 'developer', world.slugs.organization, email]) expect(text).toContain(part);
  expect(await kept(record)).not.toContain(secretOf(link).slice(7));
  expect(await lookAt(page, 'link-invitation')).toEqual([]);

  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('heading', { name: 'Sign-in methods' }).waitFor();
  expect(page.url()).toBe(`${site.origin}/sign-in-methods`);
  expect(await kept(record)).not.toContain(secretOf(link).slice(7));
  const withSecret = requests.filter((request) => (request.postData() ?? '').includes(secretOf(link)));
  expect(withSecret.map((request) => new URL(request.url()).pathname)).toEqual([
    '/api/v1/sign-in-links/lookup',
    '/api/v1/sign-in-links/redeem',
  ]);
  const debug = await page.context().newCDPSession(page);
  const { entries } = await debug.send('Page.getNavigationHistory');
  expect(entries.map(({ url }) => url)).toEqual(['about:blank', `${site.origin}/sign-in-methods`]);
  await page.goto(`${site.origin}/sessions`);
  await page.getByText('a sign-in link').waitFor();
  const members = await site.api
    .client(world.admin.token)
    .expectStatus(200, 'GET', `/members/${world.slugs.organization}`);
  expect(members).toMatchObject({ members: expect.arrayContaining([expect.objectContaining({ email })]) });
});

test('a link that was used is refused, and says what to do', async () => {
  const user = await createVisitor(site.api, 'bo');
  const link = await linkOf(user);
  const { page } = await site.visit(pathOf(link));
  await page.getByRole('heading', { name: 'Sign in to Keyframe' }).waitFor();
  expect(await page.getByRole('main').innerText()).toContain(`You sign in as ${user.email}`);
  expect(await lookAt(page, 'link-user')).toEqual([]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Sign-in methods' }).waitFor();

  const { page: second } = await site.visit(pathOf(link));
  await second.getByRole('alert').getByText('ask the person who sent it for another one').waitFor();
  expect(await second.getByRole('button').count()).toBe(0);
  expect(await lookAt(second, 'link-dead')).toEqual([]);
});

test('a user who is signed in as another one is asked first', async () => {
  const cy = await createVisitor(site.api, 'cy');
  const { link } = await invite('dee@example.com', { project: world.slugs.project });
  const { page } = await site.visitAs(cy, pathOf(link));
  await page.getByText(`This browser is signed in as ${cy.email}.`).waitFor();
  expect(await page.getByRole('main').innerText()).toContain(`${world.slugs.organization}/${world.slugs.project}`);
  expect(await lookAt(page, 'link-other-user')).toEqual([]);
  await page.getByRole('button', { name: 'Accept' }).click();
  await page.getByRole('button', { name: 'Account: dee@example.com' }).waitFor();
});

test('a link that ends while its page is open is refused with the reason', async () => {
  const eve = await createVisitor(site.api, 'eve');
  const link = await linkOf(eve);
  const { page } = await site.visit(pathOf(link));
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  const later = await linkOf(eve);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('alert').getByText('was replaced by a later one').waitFor();
  expect(await page.getByRole('button').count()).toBe(0);
  // The later one, in the same tab.
  await page.evaluate(`location.hash = ${JSON.stringify(secretOf(later))}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Sign-in methods' }).waitFor();
});

test('an address without its secret asks for the whole link', async () => {
  const { page } = await site.visit('/link');
  await page.getByRole('alert').getByText('Open the whole link').waitFor();
  expect(await lookAt(page, 'link-incomplete')).toEqual([]);
});
