import { globSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { pages, readPage } from '../../support/fixtures/documentation.ts';

/** Every file and folder of the sources that a page for developers names exists. A page may leave out the folders in front. */

const developerPages = pages.filter((page) =>
  /^(?:CONTRIBUTING\.md$|docs\/(?:ARCHITECTURE\.md|adr\/|development\/|internals\/)|tools\/|test\/)/.test(page),
);

// The name of a file that the page has its reader make.
const examples: ReadonlySet<string> = new Set(['test/unit/controller/sync-labels.test.ts']);

const roots = ['src', 'test', 'tools', 'prisma', 'crds', 'charts', 'docs'];
const sources = globSync(`{${roots.join()}}/**`, { cwd: checkoutDirectory }).map((path) => path.replaceAll('\\', '/'));
const folders = new Set([...roots, ...sources.flatMap((path) => path.split('/').slice(0, -1))]);
/** Every path, and every end of one. */
const known = new Set(
  sources.flatMap((path) => {
    const names = path.split('/');
    return names.map((_, index) => names.slice(index).join('/'));
  }),
);

/** Names of files, and what stands as code and begins with the name of a folder. */
function pathsOf(markdown: string): ReadonlySet<string> {
  const text = markdown.replaceAll(/^```ts\n.*?^```$/gms, '');
  const files = Array.from(text.matchAll(/(?<![\w./-])[a-z][\w./-]*\.(?:ts|mjs)\b/g), ([path]) => path);
  const codes = Array.from(text.matchAll(/`([a-z][\w-]*\/[\w./-]*)/g), ([, path = '']) => path);
  return new Set([...files, ...codes.filter((path) => folders.has(path.split('/')[0] ?? ''))]);
}

function unknownPaths(markdown: string): string[] {
  return [...pathsOf(markdown)].filter((path) => !known.has(path.replace(/\/$/, '')) && !examples.has(path));
}

test('every file and folder that a page for developers names exists', () => {
  expect(developerPages).toEqual(expect.arrayContaining(['docs/ARCHITECTURE.md', 'docs/development/README.md']));
  expect(developerPages.flatMap((page) => [...pathsOf(readPage(page))]).length).toBeGreaterThan(30);
  const faults = developerPages.flatMap((page) => unknownPaths(readPage(page)).map((path) => `${page}: ${path}`));
  expect(faults).toEqual([]);
});

test.each([
  ['a file', 'see `src/controller/nowhere.ts`', ['src/controller/nowhere.ts']],
  [
    'a file without the folders in front',
    'in `secret-sync/pin.ts` (`secret-sync/spec/pin.ts`)',
    ['secret-sync/pin.ts'],
  ],
  ['a name alone', 'first `judge.ts`, then `nowhere.ts`', ['nowhere.ts']],
  ['a folder', '`src/nowhere/` and `controller/kinds/rollout/`, `test/e2e/`', ['src/nowhere/']],
  ['a file in a command', '```sh\nnode tools/nowhere.mjs\n```', ['tools/nowhere.mjs']],
])('%s that is not there would be found', (_name, markdown, paths) => {
  expect(unknownPaths(markdown)).toEqual(paths);
});
