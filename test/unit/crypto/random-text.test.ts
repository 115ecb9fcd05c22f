import { describe, expect, test } from '@jest/globals';
import { randomText } from '../../../src/crypto/random-text.ts';
import { charsetNames, charsets } from '../../../src/domain/generated-values.ts';

/** How often each character of an alphabet is in a text. */
function counted(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return counts;
}

/** Pearson's chi-squared of the counts against all characters being as likely. */
function chiSquared(counts: ReadonlyMap<string, number>, alphabet: string, total: number): number {
  const expected = total / alphabet.length;
  return Array.from(alphabet).reduce((sum, character) => {
    return sum + ((counts.get(character) ?? 0) - expected) ** 2 / expected;
  }, 0);
}

describe('a random text', () => {
  test.each(charsetNames)('of %s has just the length and the characters asked for', (name) => {
    const alphabet: string = charsets[name];
    expect(new Set(alphabet).size).toBe(alphabet.length);
    expect(alphabet).toMatch(/^[!-~]+$/);
    for (const length of [0, 1, 4, 31, 32, 4096]) {
      const text = randomText(alphabet, length).reveal();
      expect(text).toHaveLength(length);
      expect(Array.from(text).filter((character) => !alphabet.includes(character))).toEqual([]);
    }
  });

  test.each([...charsetNames.map((name): [string, string] => [name, charsets[name]]), ['three', 'abc']])(
    'of %s favours no character',
    (_name, alphabet) => {
      const total = 200_000;
      const counts = counted(randomText(alphabet, total).reveal());
      const freedom = alphabet.length - 1;
      // Six standard deviations above its mean: once in many million runs by chance. A plain remainder of a byte by 62
      // has the first eight characters a quarter more often, far beyond.
      expect(chiSquared(counts, alphabet, total)).toBeLessThan(freedom + 6 * Math.sqrt(2 * freedom) + 20);
    },
  );

  test('is another one each time, and not shown unasked', () => {
    const texts = Array.from({ length: 1000 }, () => randomText(charsets.hex, 32));
    expect(new Set(texts.map((text) => text.reveal())).size).toBe(1000);
    expect(String(texts[0])).toBe('[redacted]');
  });

  test.each([
    ['a single character', 'a', 4],
    ['more characters than a byte can distinguish', 'x'.repeat(257), 4],
    ['a length that is none', 'ab', 1.5],
    ['less than nothing', 'ab', -1],
  ])('of %s is refused', (_case, alphabet, length) => {
    expect(() => randomText(alphabet, length)).toThrow(RangeError);
  });
});
