import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { type TestUser, type World, createWorld } from '../support/api/services.ts';
import { createVisitor, dashboardSite } from '../support/browser/dashboard-site.ts';
import type { PageRecord } from '../support/browser/watched-page.ts';
import { prismaOf } from '../support/database/prisma.ts';

const rateLimits = { requests: 0, failedAuthentications: 4, trafficBytes: 0 };
const site = dashboardSite(() => ({ app: { rateLimits } }));
let ann: TestUser;
let world: World;

beforeAll(async () => {
  ann = await createVisitor(site.api, 'ann');
  world = await createWorld(site.api.services);
});

async function paste(page: Page, text: string): Promise<void> {
  await page.getByLabel('Personal token').fill(text);
  await page.keyboard.press('Enter');
}

const tokenRequests = ({ requests }: PageRecord): string[] =>
  requests
    .filter((request) => request.headers()['authorization'] !== undefined)
    .map((request) => `${request.method()} ${new URL(request.url()).pathname}`);

describe('a personal token', () => {
  test('signs in, is sent once, and is nowhere in the browser afterwards', async () => {
    const record = await site.visit('/sign-in');
    const { page, requests, complaints } = record;
    const secret = ann.token.reveal();
    await paste(page, secret);
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('This browser', { exact: true }).waitFor();

    expect(tokenRequests(record)).toEqual(['POST /api/v1/sessions']);
    const sent = requests.map((request) => `${request.url()} ${request.postData() ?? ''}`);
    const kept = await page.evaluate<Record<string, unknown>>(`({
      page: document.documentElement.outerHTML,
      fields: [...document.querySelectorAll('input')].map(({ value }) => value),
      storage: [{ ...localStorage }, { ...sessionStorage }, history.state],
      cookie: document.cookie,
      title: document.title,
      url: location.href,
    })`);
    expect(JSON.stringify([sent, kept, complaints])).not.toContain(secret.slice(0, 20));
    expect(kept).toMatchObject({ cookie: '', title: 'Sessions · Keyframe', url: `${site.origin}/sessions` });

    const [cookie, ...others] = await page.context().cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({ name: '__Host-keyframe', httpOnly: true, secure: true, sameSite: 'Strict' });
    // The first question is whether there is a session.
    expect(complaints).toEqual([expect.stringMatching(/^error: Failed to load resource.* 401 /)]);
    expect(requests.filter((request) => !request.url().startsWith(`${site.origin}/`))).toEqual([]);
  });

  test('leads to the page that the visitor wanted, and a signed-in user past the sign-in', async () => {
    const { page } = await site.visit('/sessions');
    await page.waitForURL('**/sign-in');
    await paste(page, `  ${ann.token.reveal()}\n`);
    await page.waitForURL('**/sessions');
    await page.goto(`${site.origin}/sign-in`);
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/');
  });

  test('is asked for with the keyboard alone: the field has the focus, and an error gets it back', async () => {
    const { page } = await site.visit('/sign-in');
    await page.locator('input:focus').waitFor();
    expect(await focused(page)).toBe('Personal token');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    expect(await focused(page)).toBe('Personal token');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Sign in');
    expect(await page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  });
});

describe('what does not sign in', () => {
  test.each([
    ['no token', () => '', 'Paste a personal token.'],
    ['a service token', async () => (await world.serviceToken()).token.reveal(), 'This is a service token'],
    ['another text', () => 'hunter2', 'This is not a personal token'],
  ])('%s is refused without being sent', async (_name, text, message) => {
    const record = await site.visit('/sign-in');
    await paste(record.page, await text());
    await record.page.getByRole('alert').getByText(message).waitFor();
    expect(tokenRequests(record)).toEqual([]);
    expect(await record.page.getByLabel('Personal token').inputValue()).toBe('');
  });

  test('a token that has expired', async () => {
    const eve = await createVisitor(site.api, 'eve');
    const prisma = prismaOf(site.api.services.database);
    await prisma.personalToken.updateMany({ where: { userId: eve.id }, data: { expiresAt: new Date(0) } });
    const { page } = await site.visit('/sign-in');
    await paste(page, eve.token.reveal());
    await page.getByRole('alert').getByText('expired').waitFor();
    expect(await page.getByLabel('Personal token').inputValue()).toBe('');
  });

  test('a server that cannot be reached', async () => {
    const { page } = await site.visit('/sign-in');
    await page.context().setOffline(true);
    await paste(page, ann.token.reveal());
    await page.getByRole('alert').getByText('could not be reached').waitFor();
    await page.context().setOffline(false);
    await paste(page, ann.token.reveal());
    await page.getByRole('heading', { name: 'Get started' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('a browser that does not keep the cookie', async () => {
    const { page } = await site.visit('/sign-in');
    await page.route('**/api/v1/sessions', (route) => route.fulfill({ status: 201, json: {} }));
    await paste(page, ann.token.reveal());
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').innerText()).toContain('did not keep the session');
  });

  // Last: this address is refused for a minute.
  test('a wrong token, and too many of them', async () => {
    const { page } = await site.visit('/sign-in');
    const wrong = ann.token.reveal().replace(/.{6}$/, 'AAAAAA');
    await paste(page, wrong);
    await page.getByRole('alert').getByText('Paste another one.').waitFor();
    expect(await page.locator('body').innerText()).not.toContain(wrong.slice(0, 20));
    const limited = page.getByRole('alert').getByText(/Too many attempts.*try again in \d+ seconds/);
    for (let attempt = 1; attempt < 30 && !(await limited.isVisible()); attempt += 1) {
      const answer = page.waitForResponse('**/api/v1/sessions');
      await paste(page, `kf_pat_${'A'.repeat(60 + attempt)}`);
      await (await answer).finished();
      await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    }
    await limited.waitFor();
  });
});

/** The name of what has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate<string>(
    '((element) => element.labels?.[0] ?? element)(document.activeElement).textContent.trim()',
  );
}
