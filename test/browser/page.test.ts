import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { dashboardFolder } from '../../tools/build/dashboard.ts';
import { type TestApi, startTestApi } from '../support/api/http.ts';
import { startBrowser } from '../support/browser/browser.ts';
import { watchedPage } from '../support/browser/watched-page.ts';

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
  const response = await page.goto(origin);
  expect(response?.headers()['content-security-policy']).toContain("require-trusted-types-for 'script'");
  await page.getByText('Keyframe').waitFor();
  expect(requests.filter((request) => !request.url().startsWith(`${origin}/`)).map((request) => request.url())).toEqual(
    [],
  );
  expect(complaints).toEqual([]);
  await context.close();
});
