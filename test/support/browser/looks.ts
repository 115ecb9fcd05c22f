import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { axeFaults } from './axe.ts';

/** Each page is looked at in these four ways. */
const looks = (['light', 'dark'] as const).flatMap((scheme) =>
  ([1280, 390] as const).map((width) => ({ scheme, width, height: width === 390 ? 844 : 800 })),
);

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
 * Takes a page's pictures, light and dark, wide and narrow, into `reports/screenshots/`. With UPDATE_PICTURES=1, those
 * of docs/dashboard.md also go into `docs/pictures/`. Returns what is wrong with any of them: what axe finds, and content that is wider than
 * the page. Leaves the page wide and light.
 */
export async function lookAt(page: Page, name: string): Promise<readonly string[]> {
  mkdirSync(screenshots, { recursive: true });
  const faults: string[] = [];
  for (const { scheme, width, height } of looks) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    const look = `${name}-${scheme}-${width}`;
    await page.screenshot({ path: join(screenshots, `${look}.png`) });
    faults.push(...(await axeFaults(page)).map((fault) => `${look}: ${fault}`));
    const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth');
    if (isTooWide) faults.push(`${look}: the page is wider than the window`);
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 800 });
  if (process.env['UPDATE_PICTURES'] === '1' && documented.includes(name)) {
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
  return faults;
}
