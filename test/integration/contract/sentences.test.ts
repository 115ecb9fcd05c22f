import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { type Sentence, sentences } from './sentences.ts';

const folder = join(checkoutDirectory, 'test', 'integration', 'contract');
const table: readonly [string, Sentence][] = Object.entries(sentences);

/** The `number door` of every test that the files of this folder declare, in order. */
function declared(): string[] {
  const files = readdirSync(folder).filter((name) => /^(?:http|command)-.*\.test\.ts$/.test(name));
  return files.flatMap((name) => {
    const found = readFileSync(join(folder, name), 'utf8').matchAll(/^ *test\(sentence\('([^']+)', '([^']+)'\), /gm);
    return Array.from(found, ([, number, door]) => {
      if (!name.startsWith(`${door}-`)) throw new Error(`${name} declares a test of the door ${door}`);
      return `${number} ${door}`;
    });
  });
}

describe('the contract of the interface', () => {
  test('has one test for each sentence and each of its doors, and no other', () => {
    const wanted = table.flatMap(([number, [, ...doors]]) => doors.map((door) => `${number} ${door}`));
    expect(declared().toSorted()).toEqual(wanted.toSorted());
  });

  test('stands in sections that docs/interface.md has', () => {
    const document = readFileSync(join(checkoutDirectory, 'docs', 'interface.md'), 'utf8');
    const headings = new Set(Array.from(document.matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm), ([, number]) => number));
    const sections = new Set(table.map(([number]) => sectionOf(number)));
    expect([...sections].filter((section) => section !== '0' && !headings.has(section))).toEqual([]);
    // The other way round: the sections that are readings of what the requirements leave open are these alone.
    const readings = ['2', '4.10', '4.11', '4.12', '4.13', '4.14', '4.15', '4.16', '4.17'];
    expect([...headings].filter((heading) => heading !== undefined && !sections.has(heading))).toEqual(readings);
  });
});

/** The numbers of `2.4.name` and of `4.3.1` lie in the sections 2.4 and 4.3, that of `3.4` in section 3. */
function sectionOf(number: string): string {
  const [chapter = '', section = ''] = number.split('.');
  const hasSections = chapter === '2' || (chapter === '4' && section !== '0');
  return hasSections ? `${chapter}.${section}` : chapter;
}
