import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { globTest, selectionTest, validateGlobCount, validateKeyGlob } from '../../../src/domain/key-globs.ts';
import { costRatio } from '../../support/fixtures/cost-ratio.ts';

const globs: readonly [glob: string, key: string, fits: boolean][] = [
  ['KEY', 'KEY', true],
  ['KEY', 'key', false],
  ['KEY', 'KEYS', false],
  ['*', 'ANY.thing-1_', true],
  ['?', 'A', true],
  ['?', 'AB', false],
  ['DB_*', 'DB_HOST', true],
  ['DB_*', 'DB_', true],
  ['DB_*', 'DB', false],
  ['DB_*', 'MY_DB_HOST', false],
  ['*_URL', 'API_URL', true],
  ['*_URL', '_URL', true],
  ['*_URL', 'API_URLS', false],
  ['*DB*', 'MY_DB_HOST', true],
  ['*DB*', 'DB', true],
  ['A*B*C', 'AxBxC', true],
  ['A*B*C', 'ABC', true],
  ['A*B*C', 'ACB', false],
  ['A*A', 'A', false],
  ['A*A', 'AA', true],
  ['A*AB*B', 'AAB', false],
  ['A**B', 'AB', true],
  ['**', 'A', true],
  ['A?C', 'ABC', true],
  ['A?C', 'AC', false],
  ['*?', 'A', true],
  ['*?*?*', 'A', false],
  ['*B?D*', 'ABxABCDE', true],
  ['tls.*', 'tls.crt', true],
  ['tls.*', 'tlsXcrt', false],
];

/** Looks at each character of a key once for each character that a glob can have. */
function passOver(key: string): boolean {
  let others = 0;
  for (let pass = 0; pass < 253; pass += 1) {
    for (let at = 0; at < key.length; at += 1) if (key.charCodeAt(at) === pass) others += 1;
  }
  return others > 253 * key.length;
}

describe('a glob', () => {
  test.each(globs)('%s and the key %s: %s', (glob, key, fits) => expect(globTest([glob])(key)).toBe(fits));

  test('of a list is enough, and an empty list means nothing', () => {
    expect(globTest(['X', 'A*'])('AB')).toBe(true);
    expect(globTest([])('AB')).toBe(false);
  });

  test('means what the regular expression of it means', () => {
    const letters = fc.string({ unit: fc.constantFrom('A', 'B', '.'), maxLength: 8 });
    const glob = fc.string({ unit: fc.constantFrom('A', 'B', '.', '*', '?'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(glob, letters, (pattern, key) => {
        const source = pattern.replaceAll('.', '[.]').replaceAll('?', '.').replaceAll('*', '.*');
        expect(globTest([pattern])(key)).toBe(new RegExp(`^${source}$`).test(key));
      }),
    );
  });

  test('made to be slow is not: as bad as the definition allows, it costs no more than a pass over each key for each character of a glob', async () => {
    const hostile = [`${'*A'.repeat(126)}B`, `*${'A'.repeat(27)}?AB*`, `${'*?A'.repeat(10)}B`];
    const matches = globTest(hostile);
    const keys = Array.from({ length: 300 }, (_, key) => 'A'.repeat(250) + String(key));
    expect(keys.some(matches)).toBe(false);
    const ratio = await costRatio({ subject: () => keys.some(matches), floor: () => keys.some(passOver) });
    expect(ratio).toBeLessThan(1);
  });
});

describe('a long piece of a glob', () => {
  test('fits as the expression that it stands for', () => {
    const text = (unit: readonly string[], maxLength: number) =>
      fc.string({ unit: fc.constantFrom(...unit), maxLength, size: 'max' });
    const piece = text(['A', 'B', '?'], 40).filter((each) => each !== '');
    fc.assert(
      fc.property(piece, text(['A', 'B'], 60), text(['A', 'B'], 60), fc.nat(119), (wanted, before, after, at) => {
        const glob = `*${wanted}*`;
        const found = before + wanted.replaceAll('?', 'A') + after;
        expect(globTest([glob])(found)).toBe(true);
        const changed = `${found.slice(0, at)}C${found.slice(at + 1)}`;
        const expression = new RegExp(`^.*${wanted.replaceAll('?', '.')}.*$`);
        expect(globTest([glob])(changed)).toBe(expression.test(changed));
      }),
    );
  });

  test('with many "?" costs little, although it fits nearly everywhere', async () => {
    const keys = Array.from({ length: 5_000 }, (_, index) => `${'A'.repeat(249)}${String(index).padStart(4, '0')}`);
    const isChosen = globTest(Array.from({ length: 16 }, (_, index) => `*${'A?'.repeat(13)}B${index}*`));
    expect(keys.filter(isChosen)).toEqual([]);
    const ratio = await costRatio({ subject: () => keys.some(isChosen), floor: () => keys.some(passOver) });
    // A comparison at each place of each key takes fifteen times as long.
    expect(ratio).toBeLessThan(0.8);
  });
});

describe('a glob of a request', () => {
  test.each(['A', '*', 'DB_*', 'a-b.c_9?', 'A'.repeat(253), `?${'A'.repeat(31)}`])('may be %s', (glob) => {
    expect(validateKeyGlob(glob)).toBeUndefined();
  });

  test.each([
    ['', 'must be a glob of keys'],
    ['A B', 'must be a glob of keys'],
    ['[A]', 'must be a glob of keys'],
    ['A'.repeat(254), 'must be a glob of keys: 1 to 253'],
    [`?${'A'.repeat(32)}`, 'at most 32 characters'],
  ])('must not be %j', (glob, message) => expect(validateKeyGlob(glob)).toContain(message));
});

test('a list has at most 256 globs, and 16 with a wildcard', () => {
  const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `KEY_${index}`);
  const stars = names(16).map((name) => `${name}*`);
  expect(validateGlobCount([...names(240), ...stars])).toBeUndefined();
  expect(validateGlobCount(names(257))).toContain('at most 256');
  expect(validateGlobCount([...stars, '?'])).toContain('at most 16');
});

test('a selection has the included keys without the excluded ones, and all by default', () => {
  const keys = ['A', 'B_1', 'B_2'];
  expect(keys.filter(selectionTest())).toEqual(keys);
  expect(keys.filter(selectionTest({}))).toEqual(keys);
  expect(keys.filter(selectionTest({ include: ['B_*'], exclude: ['B_2'] }))).toEqual(['B_1']);
  expect(keys.filter(selectionTest({ include: [] }))).toEqual([]);
});
