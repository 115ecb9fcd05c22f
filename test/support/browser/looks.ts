import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { Axe } from './axe.ts';

const isPictured = process.env['UPDATE_PICTURES'] === '1';
const isFull = process.env['KEYFRAME_TEST_SCALE'] === 'full' || isPictured;

const [wide, narrow] = [
  { width: 1280, height: 800 },
  { width: 390, height: 844 },
];
/** Each color scheme and each width once; all pairs of them in the full scale. */
const looks = [
  { scheme: 'light', size: wide },
  { scheme: 'dark', size: narrow },
  ...(isFull
    ? ([
        { scheme: 'light', size: narrow },
        { scheme: 'dark', size: wide },
      ] as const)
    : []),
] as const;

const screenshots = join(checkoutDirectory, 'reports', 'screenshots');
/** The pictures of docs/dashboard.md. */
const documented = [
  'sign-in',
  'first-steps',
  'sessions',
  'overview',
  'environment',
  'review',
  'key',
  'restores',
  'tokens',
  'audit',
  'grants',
  'history',
  'revision',
  'compare',
  'members',
  'consumers',
];
const pictures = join(checkoutDirectory, 'docs', 'pictures');

/**
 * Looks at a page, light and dark, wide and narrow. Returns what is wrong with it: what axe finds, and content that is wider
 * than the page. Leaves the page wide and light.
 *
 * UPDATE_PICTURES=1 takes the pictures of docs/dashboard.md into `docs/pictures/`, and a picture of each look into
 * `reports/screenshots/`, which is not in version control.
 */
export async function lookAt(page: Page, name: string): Promise<readonly string[]> {
  await using axe = await Axe.of(page);
  const faults: string[] = [];
  for (const { scheme, size } of looks) {
    await show(page, scheme, size);
    const look = `${name}-${scheme}-${size.width}`;
    if (isPictured) await page.screenshot({ path: join(screenshots, `${look}.png`) });
    faults.push(...(await axe.faults()).map((fault) => `${look}: ${fault}`));
    const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth');
    if (isTooWide) faults.push(`${look}: the page is wider than the window`);
  }
  await show(page, 'light', wide);
  if (isPictured && documented.includes(name)) await page.screenshot({ path: join(pictures, `${name}.png`) });
  return faults;
}

async function show(page: Page, colorScheme: 'light' | 'dark', size: typeof wide): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize(size);
}
