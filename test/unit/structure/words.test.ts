import { expect, test } from '@jest/globals';
import { readText, rejectedWords, textFiles, wordFaults } from './words.ts';

/** Folders and files that still have rejected words. Take a line out when it is clean; add none. */
const notYet: readonly string[] = [
  'docs/cli.md',
  'docs/openapi.json',
  'src/cli/',
  'src/controller/',
  'src/crypto/',
  'src/domain/',
  'src/lib/',
  'src/observability/',
  'src/wire/',
  'test/integration/cli/',
  'test/unit/controller/',
];

/** What may have some of the words, by the beginning of the path. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // The list itself.
  'test/unit/structure/words': Object.keys(rejectedWords),
  'CONTRIBUTING.md': Object.keys(rejectedWords),
  // Published: what a release has must never change (prisma/releases.json).
  'prisma/migrations/': Object.keys(rejectedWords),
  'test/released/': Object.keys(rejectedWords),
  // The name of a user.
  'tools/devcluster/postgres/home.ts': ['nobody'],
};

function allowedIn(path: string): readonly string[] {
  return Object.entries(exceptions).flatMap(([beginning, words]) => (path.startsWith(beginning) ? words : []));
}

const files = textFiles();

test('the files of all folders are read', () => {
  const folders = new Set(files.map((path) => path.split('/')[0]));
  const expected = ['README.md', 'charts', 'crds', 'docs', 'examples', 'prisma', 'src', 'test', 'tools'];
  expect([...folders]).toEqual(expect.arrayContaining(expected));
  expect(files.length).toBeGreaterThan(1000);
});

test('no file has a word that the style card rejects', () => {
  const isClean = (path: string): boolean => !notYet.some((beginning) => path.startsWith(beginning));
  const faults = files.filter(isClean).flatMap((path) => wordFaults(path, readText(path) ?? '', allowedIn(path)));
  expect(faults).toEqual([]);
});

test('no exception and no folder that is not clean yet names what does not exist', () => {
  const unknown = [...notYet, ...Object.keys(exceptions)].filter(
    (beginning) => !files.some((path) => path.startsWith(beginning)),
  );
  expect(unknown).toEqual([]);
});

test.each(Object.keys(rejectedWords))('"%s" would be found, at the beginning of a sentence too', (word) => {
  expect(wordFaults('a.md', `First.\n${word.charAt(0).toUpperCase()}${word.slice(1)} second.`)).toEqual([
    `a.md:2: "${word}"; write ${rejectedWords[word]}`,
  ]);
});

test.each([
  ['across the end of a line', 'it goes on as\never'],
  ['across the end of a line of a comment', ' * it goes on as\n * ever'],
  ['across the end of a line behind //', '// it goes on as\n// ever'],
])('a phrase would be found %s', (_case, text) => {
  expect(wordFaults('a.ts', text)).toHaveLength(1);
});

test('words that only contain one are left alone, and so are allowed ones', () => {
  expect(wordFaults('a.ts', 'retell(); shallow(); toldBy; teller; as everyone; canewas')).toEqual([]);
  expect(wordFaults('a.ts', 'whoever', ['whoever'])).toEqual([]);
  expect(wordFaults('a.ts', 'whoever', ['anew'])).toHaveLength(1);
});
