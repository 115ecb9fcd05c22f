import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { sentences } from '../../support/fixtures/interface-sentences.ts';

const folder = join(checkoutDirectory, 'test');
const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts') && !path.endsWith('interface-sentences.test.ts'))
  .map((path) => readFileSync(join(folder, path), 'utf8'));

/** The arguments of each call of `sentence` in the title of a test or of a group of tests. */
function quotedIn(text: string): string[] {
  const titles = text.matchAll(/^ *(?:test|describe)\(\s*`[^`]*\$\{sentence\(([^)]*)\)\}[^`]*`,/gm);
  return Array.from(titles, ([, numbers = '']) =>
    numbers.split(/,\s*/).map((number) => number.replaceAll("'", '')),
  ).flat();
}

describe('the sentences of the interface', () => {
  test('have a test each, which quotes them in its title', () => {
    const quoted = new Set(texts.flatMap(quotedIn));
    expect(Object.entries(sentences).filter(([number]) => !quoted.has(number))).toEqual([]);
  });

  test('are quoted in titles alone', () => {
    const calls = texts.flatMap((text) => Array.from(text.matchAll(/\$\{sentence\(/g)));
    const titles = texts.flatMap((text) =>
      Array.from(text.matchAll(/^ *(?:test|describe)\(\s*`[^`]*\$\{sentence\(/gm)),
    );
    expect(calls.length).toBe(titles.length);
  });

  test('are found in the title of a test, and nowhere else', () => {
    expect(quotedIn("  test(`a ${sentence('1.0', '2.3')}`, () => {});")).toEqual(['1.0', '2.3']);
    expect(quotedIn("  test.skip(`a ${sentence('1.0')}`, () => {});")).toEqual([]);
    expect(quotedIn("  // test(`a ${sentence('1.0')}`, () => {});")).toEqual([]);
    expect(quotedIn("  expect(`a ${sentence('1.0')}`, 1);")).toEqual([]);
  });

  test('stand in sections that docs/interface.md has', () => {
    const document = readFileSync(join(checkoutDirectory, 'docs', 'interface.md'), 'utf8');
    const headings = new Set(Array.from(document.matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm), ([, number]) => number));
    const sections = new Set(Object.keys(sentences).map(sectionOf));
    expect([...sections].filter((section) => section !== '0' && !headings.has(section))).toEqual([]);
    // The other way round: the sections that are readings of what the requirements leave open are these alone.
    const readings = ['2', '4.10', '4.11', '4.12', '4.13', '4.14', '4.15', '4.16', '4.17', '4.18', '4.19'];
    expect([...headings].filter((heading) => heading !== undefined && !sections.has(heading))).toEqual(readings);
  });
});

/** The numbers of `2.4.name` and of `4.3.1` lie in the sections 2.4 and 4.3, that of `3.4` in section 3. */
function sectionOf(number: string): string {
  const [chapter = '', section = ''] = number.split('.');
  const hasSections = chapter === '2' || (chapter === '4' && section !== '0');
  return hasSections ? `${chapter}.${section}` : chapter;
}
