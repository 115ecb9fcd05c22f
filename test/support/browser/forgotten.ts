import { expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { waitFor } from '../fixtures/wait-for.ts';
import { stepMs } from './watched-page.ts';

/** Everything of a page that outlasts what it shows. */
const keptByPage = `JSON.stringify([
  document.documentElement.outerHTML,
  [...document.querySelectorAll('input, textarea, select')].map((field) => field.value),
  { ...localStorage },
  { ...sessionStorage },
  history.state,
  location.href,
  document.title,
  document.cookie,
])`;

/**
 * Expects that a page keeps a value nowhere: not in the document, its fields, storage, history or address. It may take a
 * moment: the browser hides a drawer before the page removes it.
 */
export async function expectForgotten(page: Page, value: string): Promise<void> {
  expect(value.length).toBeGreaterThan(8);
  const isForgotten = async (): Promise<boolean> => !(await page.evaluate<string>(keptByPage)).includes(value);
  await waitFor('the page to keep nothing of the value', isForgotten, { timeoutMs: stepMs });
  const databases = await page.evaluate<number>('indexedDB.databases().then((all) => all.length)');
  expect(databases).toBe(0);
  expect(JSON.stringify(await page.context().storageState()).includes(value)).toBe(false);
}
