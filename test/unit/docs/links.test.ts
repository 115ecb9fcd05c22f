import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from '@jest/globals';
import { headingAnchors } from '../../../tools/build/heading-anchors.ts';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { pages, proseOf, readPage } from '../../support/fixtures/documentation.ts';

/** Every link between our pages leads to a file, and where it names a heading, to that heading. */

const anchors = new Map<string, ReadonlySet<string>>();

/** What may stand behind the `#` of a link to a page, as GitHub makes it of headings. */
function anchorsOf(page: string): ReadonlySet<string> {
  const known = anchors.get(page);
  if (known !== undefined) return known;
  const anchorOf = headingAnchors();
  const text = readPage(page).replaceAll(/^```\w*\n.*?^```$/gms, '');
  const headings = Array.from(text.matchAll(/^#{1,6} +(.+?) *$/gm), ([, heading = '']) => heading);
  const all = new Set(headings.map((heading) => anchorOf(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'))));
  anchors.set(page, all);
  return all;
}

function linksOf(page: string): string[] {
  const prose = proseOf(readPage(page));
  const targets = Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = '']) => target);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

function faultOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : normalize(join(dirname(page), path));
  if (target.startsWith('..')) return `${page}: ${link} leads out of the checkout`;
  if (!existsSync(join(checkoutDirectory, target))) return `${page}: there is no ${target}`;
  if (anchor === undefined || !target.endsWith('.md')) return undefined;
  return anchorsOf(target).has(anchor) ? undefined : `${page}: ${target} has no heading #${anchor}`;
}

test('every link between our pages leads somewhere', () => {
  expect(pages).toEqual(
    expect.arrayContaining(['README.md', 'SECURITY.md', 'docs/install.md', 'docs/resources/secret-sync.md']),
  );
  const links = pages.flatMap((page) => linksOf(page).map((link) => ({ page, link })));
  expect(links.length).toBeGreaterThan(120);
  expect(links.filter(({ link }) => link.includes('#')).length).toBeGreaterThan(30);
  const faults = links.flatMap(({ page, link }) => faultOf(page, link) ?? []);
  expect(faults).toEqual([]);
});

test('a link to a file or a heading that is not there would be found', () => {
  expect(faultOf('docs/install.md', 'nowhere.md')).toBe('docs/install.md: there is no docs/nowhere.md');
  expect(faultOf('docs/install.md', '#quick')).toBeUndefined();
  expect(faultOf('docs/install.md', 'sizing.md#nothing')).toBe(
    'docs/install.md: docs/sizing.md has no heading #nothing',
  );
  expect(faultOf('README.md', '../x')).toBe('README.md: ../x leads out of the checkout');
});

test('README.md leads to docs/README.md, and that to every other page of docs/ and docs/resources/', () => {
  expect(linksOf('README.md')).toContain('docs/README.md');
  const linked = new Set(linksOf('docs/README.md').map((link) => join('docs', link.split('#')[0] ?? '')));
  const others = pages.filter((page) => /^docs\/(?:resources\/)?[^/]+$/.test(page) && page !== 'docs/README.md');
  expect(others.length).toBeGreaterThan(20);
  expect(others.filter((page) => !linked.has(page))).toEqual([]);
});
