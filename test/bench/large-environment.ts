import type { Page } from 'playwright-core';
import { buildDashboard } from '../../tools/build/dashboard.ts';
import { startBrowser } from '../support/browser/browser.ts';
import { prepareChromium } from '../support/browser/chromium.ts';
import { type BenchApi, benchEnvironment, startBenchApi } from './bench-api.ts';
import { compare } from './rounds.ts';

const rounds = 9;
const small = 20;
const large = 10_000;
/** Milliseconds from which on Chromium reports a task as long. Shorter ones count as this. */
const longTaskMs = 50;

/** The page of an environment with 10,000 keys in a browser, beside the same page with as many keys as fit on the screen. */
export async function largeEnvironment(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  await Promise.all([buildDashboard(), prepareChromium()]);
  const api = await startBenchApi(resources);
  const page = await signedIn(api, resources);
  const [few, many] = [await pathOf(api, small), await pathOf(api, large)];
  console.log(`\nA page with ${large} keys (floor: ${small}; ${rounds} interleaved rounds in one browser)`);
  const common = { rounds, unit: 'ms' } as const;
  await compare({
    ...common,
    title: 'from the click to the first row',
    floor: () => firstRowMs(page, few),
    keyframe: () => firstRowMs(page, many),
    aim: 4,
  });
  const last = (count: number): string => `KEY_${String(count).padStart(5, '0')}`;
  await compare({
    ...common,
    title: 'longest task of a scroll to the end',
    floor: () => longestTaskMs(page, few, () => scrollTo(page, last(small))),
    keyframe: () => longestTaskMs(page, many, () => scrollTo(page, last(large))),
    aim: 4,
  });
  await compare({
    ...common,
    title: 'longest task of a filter',
    floor: () => longestTaskMs(page, few, () => filterBy(page, '00012')),
    keyframe: () => longestTaskMs(page, many, () => filterBy(page, '00012')),
    aim: 4,
  });
}

async function signedIn({ url, adminToken }: BenchApi, resources: AsyncDisposableStack): Promise<Page> {
  const browser = await startBrowser(resources);
  const context = await browser.newContext({ baseURL: url.replace('127.0.0.1', 'localhost') });
  const page = await context.newPage();
  await page.goto('/sign-in');
  await page.getByLabel('Personal token').fill(adminToken);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Account:' }).waitFor();
  return page;
}

/** The path of the page of a new environment with so many keys. */
async function pathOf({ admin }: BenchApi, keys: number): Promise<string> {
  const { organization, project, name } = (await benchEnvironment(admin, keys)).ref;
  return `/orgs/${organization}/environments/${project}/${name}`;
}

/** The page notes both times itself: searches from outside take long on a busy machine. */
async function firstRowMs(page: Page, path: string): Promise<number> {
  await page.goto(path.replace(/\/environments\/.*/, ''));
  const link = page.locator(`a[href="${path}"]`);
  await link.waitFor();
  await page.evaluate(`addEventListener('click', ({ timeStamp }) => {
    window.firstRow = new Promise((resolve) => {
      const observer = new MutationObserver(() => {
        if (document.querySelector('a[title="KEY_00001"]') === null) return;
        observer.disconnect();
        resolve(performance.now() - timeStamp);
      });
      observer.observe(document.body, { childList: true, subtree: true });
    });
  }, { capture: true, once: true })`);
  await link.click();
  return page.evaluate<number>('window.firstRow');
}

async function longestTaskMs(page: Page, path: string, act: () => Promise<void>): Promise<number> {
  await page.goto(path);
  await page.locator('a[title="KEY_00001"]').waitFor();
  await page.evaluate(`window.longest = ${longTaskMs};
    window.observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    });
    window.observer.observe({ type: 'longtask' })`);
  await act();
  return page.evaluate<number>(`new Promise((resolve) => setTimeout(() => {
    window.observer.disconnect();
    resolve(window.longest);
  }, 200))`);
}

async function scrollTo(page: Page, key: string): Promise<void> {
  await page.mouse.move(600, 500);
  for (let step = 0; step < 30; step += 1) await page.mouse.wheel(0, 1_500);
  await page.waitForTimeout(500);
  await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
  await page.locator(`a[title="${key}"]`).waitFor();
}

async function filterBy(page: Page, text: string): Promise<void> {
  await page.getByLabel('Filter by name').pressSequentially(text);
  await page.locator('a[title="KEY_00012"]').waitFor();
}
