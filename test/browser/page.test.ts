import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { dashboardFolder } from '../../tools/build/dashboard.ts';
import { type TestApi, startTestApi } from '../support/api/http.ts';
import { startBrowser } from '../support/browser/browser.ts';
import { stepMs, watchedPage } from '../support/browser/watched-page.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let api: TestApi;
let browser: Browser;

beforeAll(async () => {
  api = await startTestApi({ dashboardFolder });
  resources.defer(() => api.close());
  browser = await startBrowser(resources);
});
afterAll(() => resources.disposeAsync());

test('the page runs under its policy, and requests nothing of another host', async () => {
  const origin = `http://localhost:${api.port}`;
  const context = await browser.newContext();
  const { page, requests, complaints } = await watchedPage(context);
  await page.goto(origin);
  await page.getByRole('heading', { name: 'Sign in to Keyframe' }).waitFor();
  const foreign = requests.map((request) => request.url()).filter((url) => !url.startsWith(`${origin}/`));
  expect(foreign).toEqual([]);
  // The question whether there is a session.
  expect(complaints).toEqual([expect.stringMatching(/^error: Failed to load resource.* 401 /)]);
  await context.close();
});

test.each([
  ['without its scripts', /\.js$/],
  ['without any of its files', /\/assets\//],
])('a page %s, as in the middle of an upgrade, says so and offers to reload', async (_, missing) => {
  const context = await browser.newContext();
  const { page } = await watchedPage(context);
  // The server has no file of this name, as a replica of another release has none.
  await page.route(missing, (route) =>
    route.continue({
      url: route
        .request()
        .url()
        .replace(/[^/]*$/, 'other-12345678.js'),
    }),
  );
  await page.goto(`http://localhost:${api.port}`);
  await page.getByRole('heading', { name: 'The dashboard has not started' }).waitFor();
  await page.unroute(missing);
  await page.getByRole('link', { name: 'Reload the page' }).click();
  await page.getByRole('heading', { name: 'Sign in to Keyframe' }).waitFor();
  expect(await page.locator('.not-started').count()).toBe(0);
  await context.close();
});

test('a page that starts late shows nothing else before', async () => {
  const context = await browser.newContext();
  const { page } = await watchedPage(context);
  const arrived = Promise.withResolvers<void>();
  await page.route(/\.js$/, async (route) => {
    await arrived.promise;
    await route.continue();
  });
  await page.goto(`http://localhost:${api.port}`, { waitUntil: 'commit' });
  await page.locator('.not-started').waitFor({ state: 'attached' });
  // Once its styles apply.
  await page.locator('.not-started').waitFor({ state: 'hidden' });
  arrived.resolve();
  await page.getByRole('heading', { name: 'Sign in to Keyframe' }).waitFor();
  expect(await page.locator('.not-started').count()).toBe(0);
  await context.close();
});

test('the browser refuses what the policy refuses: text as HTML, inline scripts and styles, another host', async () => {
  const context = await browser.newContext();
  const { page, complaints } = await watchedPage(context);
  await page.goto(`http://localhost:${api.port}`);
  await page.getByRole('heading', { name: 'Sign in to Keyframe' }).waitFor();
  complaints.length = 0;
  const refused = await page.evaluate<readonly string[]>(`(async () => {
    const attempt = async (name, act) => { try { await act(); return []; } catch { return [name]; } };
    const style = document.createElement('style');
    style.textContent = 'h1 { display: none }';
    document.head.append(style);
    return [
      ...(await attempt('html', () => { document.body.innerHTML = '<b></b>'; })),
      ...(await attempt('script', () => { document.createElement('script').text = '1'; })),
      ...(await attempt('host', () => fetch('http://127.0.0.1:${api.port}/healthz'))),
      ...(getComputedStyle(document.querySelector('h1')).display === 'none' ? [] : ['style']),
    ];
  })()`);
  expect(refused).toEqual(['html', 'script', 'host', 'style']);
  await waitFor('the complaints', () => complaints.length > 2, { timeoutMs: stepMs });
  await context.close();
});

// The limits that docs/security-model.md names. If a browser gets a directive for them, this fails or the policy can have it.
test.each([
  ['a new window', (url: string) => `void window.open('${url}')`],
  ['a navigation', (url: string) => `location.href = '${url}'`],
])('the policy does not stop a script in the page from leaving by %s', async (_, script) => {
  const context = await browser.newContext();
  const { page } = await watchedPage(context);
  await page.goto(`http://localhost:${api.port}`);
  await page.getByRole('heading', { name: 'Sign in to Keyframe' }).waitFor();
  const left = context.waitForEvent('request', (request) => request.url().includes('canary'));
  await page.evaluate(script(`http://127.0.0.1:${api.port}/healthz?canary`));
  expect((await left).isNavigationRequest()).toBe(true);
  await context.close();
});
