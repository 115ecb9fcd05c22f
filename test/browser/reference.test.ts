import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../support/browser/browser.ts';
import { Axe } from '../support/browser/axe.ts';
import { watchedPage } from '../support/browser/watched-page.ts';
import { type TestApi, startTestApi } from '../support/api/http.ts';
import { buildDocumentation, documentationFolder } from '../../tools/build/documentation.ts';

const resources = new AsyncDisposableStack();
let api: TestApi;
let browser: Browser;

/** The page runs 1.7 MB of scripts, and draws every operation. */
const referenceMs = 30_000;

beforeAll(async () => {
  await buildDocumentation();
  api = await startTestApi({ documentationFolder });
  resources.defer(() => api.close());
  browser = await startBrowser(resources);
});
afterAll(() => resources.disposeAsync());

test('the reference works in its sandbox, where no script reaches a cookie, the storage or the API', async () => {
  const context = await browser.newContext();
  const { page, complaints } = await watchedPage(context, referenceMs);
  await page.goto(`http://localhost:${api.port}/docs/api`);
  await page.getByRole('heading', { name: /^Keyframe/ }).waitFor();
  await page.getByText('Get the user or service token behind the presented token').click();
  await page.getByText('serverVersion').first().waitFor();
  // The browser says only that the sandbox has another process than the rest of the server.
  expect(complaints.filter((text) => !text.includes('Origin-Agent-Cluster'))).toEqual([]);
  expect(await page.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
  const attempts = await page.evaluate<readonly string[]>(`(async () => {
    const attempt = async (act) => { try { await act(); return 'done'; } catch (error) { return error.name; } };
    return [
      self.origin,
      await attempt(() => document.cookie),
      await attempt(() => localStorage.length),
      await attempt(() => fetch('/api/v1/me')),
    ];
  })()`);
  expect(attempts).toEqual(['null', 'SecurityError', 'SecurityError', 'TypeError']);
  await context.close();
});

test.each([
  ['/docs/alerts.md', { width: 1280, height: 800 }, 'light'],
  ['/docs/configuration.md', { width: 320, height: 640 }, 'dark'],
] as const)('%s is readable, and no wider than the window', async (path, viewport, colorScheme) => {
  const context = await browser.newContext({ viewport, colorScheme });
  const { page, complaints } = await watchedPage(context);
  await page.goto(`http://localhost:${api.port}${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  const axe = await Axe.of(page);
  expect(await axe.faults()).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
  expect(complaints).toEqual([]);
  await context.close();
});
