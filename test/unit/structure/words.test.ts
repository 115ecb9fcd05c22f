import { expect, test } from '@jest/globals';
import { readText, rejectedWords, textFiles, wordFaults } from './words.ts';

/** What may have some of the words, by the beginning of the path. */
const exceptions: Readonly<Record<string, readonly string[]>> = {
  // The list itself.
  'test/unit/structure/words': Object.keys(rejectedWords),
  'CONTRIBUTING.md': Object.keys(rejectedWords),
  // Applied: they must never change.
  'prisma/migrations/20261122000000_destroyed_versions/': ['somebody', 'nobody'],
  'prisma/migrations/20261122000100_destroyed_versions_checked/': ['nobody'],
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
  const faults = files.flatMap((path) => wordFaults(path, readText(path) ?? '', allowedIn(path)));
  expect(faults).toEqual([]);
});

test('every exception is needed', () => {
  const unneeded = Object.entries(exceptions).filter(([beginning, words]) => {
    const texts = files.filter((path) => path.startsWith(beginning)).map((path) => readText(path) ?? '');
    const others = Object.keys(rejectedWords).filter((word) => !words.includes(word));
    return texts.every((text) => wordFaults(beginning, text, others).length === 0);
  });
  expect(unneeded).toEqual([]);
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
