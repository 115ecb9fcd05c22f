import { copyFileSync, mkdirSync } from 'node:fs';
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
/** Those of the screens that it describes without a picture. */
const further = [
  'environments',
  'invitations',
  'invitations-answered',
  'sign-in-methods',
  'sign-in-refused',
  'link-invitation',
  'link-dead',
  'login',
  'device',
];
const pictures = join(checkoutDirectory, 'docs', 'pictures');
/** The states of a screen besides the full one. */
const states = /-(?:empty|none|failed|well)$/;

/**
 * Takes a page's pictures, light and dark, wide and narrow, into `reports/screenshots/`. With UPDATE_PICTURES=1, those of
 * each screen, full, empty and failing, also go into `docs/pictures/looks/`, and those of docs/dashboard.md into
 * `docs/pictures/`. Returns what is wrong with any of them: what axe finds, and content that is wider than the page. Leaves
 * the page wide and light.
 */
export async function lookAt(page: Page, name: string): Promise<readonly string[]> {
  mkdirSync(screenshots, { recursive: true });
  const isKept =
    process.env['UPDATE_PICTURES'] === '1' &&
    (documented.includes(name) || further.includes(name) || states.test(name));
  if (isKept) mkdirSync(join(pictures, 'looks'), { recursive: true });
  const faults: string[] = [];
  for (const { scheme, width, height } of looks) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    const look = `${name}-${scheme}-${width}`;
    const picture = join(screenshots, `${look}.png`);
    await page.screenshot({ path: picture });
    if (isKept) copyFileSync(picture, join(pictures, 'looks', `${look}.png`));
    faults.push(...(await axeFaults(page)).map((fault) => `${look}: ${fault}`));
    const isTooWide = await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth');
    if (isTooWide) faults.push(`${look}: the page is wider than the window`);
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  await page.setViewportSize({ width: 1280, height: 800 });
  if (isKept && documented.includes(name)) {
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
  return faults;
}
