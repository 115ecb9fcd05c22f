import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { startBrowser } from '../support/browser/browser.ts';
import { lookAt } from '../support/browser/looks.ts';
import { planLooks } from '../support/browser/plan-looks.ts';
import { watchedPage } from '../support/browser/watched-page.ts';

const followParent = pathToFileURL(join(checkoutDirectory, 'tools', 'follow-parent.mjs')).href;
const resources = new AsyncDisposableStack();
/** Vite bundles the packages when the page first requests them. */
const bundlingMs = 60_000;
let browser: Browser;
let url = '';

beforeAll(async () => {
  // As docs/dashboard.md has it.
  const vite = [join(checkoutDirectory, 'node_modules', 'vite', 'bin', 'vite.js'), 'src/dashboard'];
  const options = ['--host', '127.0.0.1', '--port', '0', '--clearScreen', 'false'];
  const child = spawn(process.execPath, ['--import', followParent, ...vite, ...options], {
    cwd: checkoutDirectory,
    env: { ...process.env, NODE_ENV: 'development', NO_COLOR: '1' },
    // The fourth closes with this process, however it ends.
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  resources.defer(async () => {
    const exit = once(child, 'exit');
    if (child.kill()) await exit;
  });
  if (child.stdout === null) throw new Error('Vite has no output to read');
  for await (const [chunk] of on(child.stdout, 'data', { close: ['close'] })) {
    url = /http:\/\/127\.0\.0\.1:\d+\//.exec(String(chunk))?.[0] ?? '';
    if (url !== '') break;
  }
  browser = await startBrowser(resources);
});
afterAll(() => resources.disposeAsync());

test('one page shows every part, and axe finds no fault in it', async () => {
  const { page, complaints } = await watchedPage(await browser.newContext(), bundlingMs);
  await page.goto(`${url}dev/`);
  await page.getByRole('heading', { name: 'Parts', exact: true }).waitFor();
  expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual([
    'Buttons',
    'States',
    'Messages',
    'Loading and empty',
    'Plan',
    'Timeline',
    'Drawer',
    'Table',
  ]);
  expect(await planLooks(page.getByRole('list', { name: 'Changes' }))).toEqual([
    'plan-row plan-add + New: NEW',
    'plan-row plan-set ~ Changed: CHANGED',
    'plan-row plan-delete − Deleted: DELETED',
  ]);
  // In this order, the colors of what is good, a warning and dangerous.
  const colors = await page.evaluate<[string[], string[]]>(`(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    const token = (name) => ((probe.style.color = 'var(--' + name + ')'), getComputedStyle(probe).color);
    const signs = [...document.querySelectorAll('.plan-sign')].map((sign) => getComputedStyle(sign).color);
    const tokens = ['good', 'warn', 'danger'].map(token);
    probe.remove();
    return [signs, tokens];
  })()`);
  expect(colors[0]).toEqual(colors[1]);
  expect(new Set(colors[0]).size).toBe(3);
  expect(await lookAt(page, 'parts')).toEqual([]);
  await page.getByRole('button', { name: 'Open' }).click();
  await page.getByRole('dialog', { name: 'Drawer' }).waitFor();
  expect(await lookAt(page, 'parts-drawer')).toEqual([]);
  expect(complaints.filter((complaint) => !/^(?:debug|info): /.test(complaint))).toEqual([]);
});
