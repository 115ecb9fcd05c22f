import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { globTest } from '../../../src/domain/key-globs.ts';
import { type KeyRules, chooseKeys, decodedBase64 } from '../../../src/controller/kinds/secret-sync/data/keys.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

function chosen(rules: KeyRules | undefined, ...keys: string[]): string[] {
  return chooseKeys(rules, keys).map(({ key, name, isEncoded, isHidden }) =>
    [key === name ? key : `${key}→${name}`, ...(isEncoded ? ['decoded'] : []), ...(isHidden ? ['hidden'] : [])].join(
      ' ',
    ),
  );
}

const choices: readonly [sentence: string, rules: KeyRules | undefined, chosen: string[]][] = [
  ['no rules choose all', undefined, ['A', 'B_1', 'B_2']],
  ['empty rules choose all', {}, ['A', 'B_1', 'B_2']],
  ['an empty list of inclusions chooses nothing', { include: [] }, []],
  ['inclusions choose theirs alone', { include: ['B_*'] }, ['B_1', 'B_2']],
  ['exclusions choose the others', { exclude: ['B_*'] }, ['A']],
  ['an exclusion wins over an inclusion', { include: ['B_*'], exclude: ['B_2'] }, ['B_1']],
  ['a key gets its other name', { rename: [{ from: 'A', to: 'a' }] }, ['A→a', 'B_1', 'B_2']],
  ['a key that is not there gets none', { rename: [{ from: 'Z', to: 'A' }] }, ['A', 'B_1', 'B_2']],
  ['an excluded key takes no name', { exclude: ['B_1'], rename: [{ from: 'B_1', to: 'A' }] }, ['A', 'B_2']],
  [
    'two keys can exchange their names',
    {
      include: ['B_*'],
      rename: [
        { from: 'B_1', to: 'B_2' },
        { from: 'B_2', to: 'B_1' },
      ],
    },
    ['B_1→B_2', 'B_2→B_1'],
  ],
  [
    'decoding goes by the key of the environment',
    { include: ['A', 'B_1'], rename: [{ from: 'A', to: 'B_2' }], decodeBase64: ['A', 'B_2'] },
    ['A→B_2 decoded', 'B_1'],
  ],
  [
    'hiding goes by the key of the environment',
    { exclude: ['B_1'], rename: [{ from: 'A', to: 'B_1' }], hidden: ['A', 'B_1'] },
    ['A→B_1 hidden', 'B_2'],
  ],
  ['a beginning is stripped where it is', { rewrite: { stripPrefix: 'B_' } }, ['A', 'B_1→1', 'B_2→2']],
  ['a beginning is added to all', { rewrite: { addPrefix: 'x-' } }, ['A→x-A', 'B_1→x-B_1', 'B_2→x-B_2']],
  ['one is replaced by another', { rewrite: { stripPrefix: 'B', addPrefix: 'A' } }, ['A→AA', 'B_1→A_1', 'B_2→A_2']],
  [
    'a key with a name of its own is not rewritten, even to the name that it has',
    {
      rename: [
        { from: 'A', to: 'B_1' },
        { from: 'B_2', to: 'B_2' },
      ],
      rewrite: { stripPrefix: 'B_' },
    },
    ['A→B_1', 'B_1→1', 'B_2'],
  ],
];

describe('the choice of keys', () => {
  test.each(choices)('%s', (_, rules, expected) => expect(chosen(rules, 'A', 'B_1', 'B_2')).toEqual(expected));

  test.each<[string, KeyRules]>([
    ['of a renamed key and one that has the name already', { rename: [{ from: 'A', to: 'B_1' }] }],
    [
      'of two renamed keys',
      {
        rename: [
          { from: 'B_1', to: 'x' },
          { from: 'A', to: 'x' },
        ],
      },
    ],
  ])('is refused where one name is that %s', (_, rules) => {
    const choose = (): unknown => chooseKeys(rules, ['B_1', 'A']);
    expect(choose).toThrow(DomainError);
    expect(choose).toThrow('The keys A and B_1 would both become');
  });

  test('is refused where one name is that of a hidden key and another one', () => {
    const rules = { rewrite: { stripPrefix: 'B_' }, rename: [{ from: 'A', to: '1' }], hidden: ['A'] };
    expect(() => chooseKeys(rules, ['B_1', 'A'])).toThrow('The keys A and B_1 would both become 1');
  });

  test.each([
    ['nothing', 'APP_', { stripPrefix: 'APP_' }],
    ['a point', 'APP_.', { stripPrefix: 'APP_' }],
    ['a way upwards', 'APP_..x', { stripPrefix: 'APP_' }],
    ['a way upwards, put together', '.x', { addPrefix: '.' }],
    ['a name that JavaScript loses', 'proto__', { addPrefix: '__' }],
    ['more than 253 characters', 'A'.repeat(250), { addPrefix: 'APP_' }],
  ])('is refused where a rewrite leaves %s', (_, key, rewrite) => {
    const choose = (rules: KeyRules): unknown => outcome(rules, ['OK', key]);
    expect(choose({ rewrite })).toBe('key_invalid');
    expect(() => chooseKeys({ rewrite }, [key], 'spec.sources[own].keys')).toThrow(
      `With spec.sources[own].keys.rewrite, the key ${key} gets a name that no Secret can have: it must`,
    );
    // Not where the key is left out, or has a name of its own.
    expect(choose({ rewrite, exclude: [key] })).toHaveLength(1);
    expect(choose({ rewrite, rename: [{ from: key, to: 'x' }] })).toHaveLength(2);
  });

  test('gives each included key that is not excluded its one name, or is refused', () => {
    const key = fc.string({ unit: fc.constantFrom('A', 'B', '_'), minLength: 1, maxLength: 3 });
    const list = fc.array(fc.string({ unit: fc.constantFrom('A', 'B', '*', '?'), minLength: 1, maxLength: 3 }), {
      maxLength: 3,
    });
    const rename = fc.uniqueArray(fc.record({ from: key, to: key }), { selector: ({ from }) => from, maxLength: 4 });
    const rewrite = fc.record({ stripPrefix: key, addPrefix: key }, { requiredKeys: [] });
    fc.assert(
      fc.property(
        fc.record({ include: list, exclude: list, rename, rewrite, hidden: list, decodeBase64: list }),
        fc.uniqueArray(key),
        (rules, keys) => {
          const kept = keys.filter((one) => globTest(rules.include)(one) && !globTest(rules.exclude)(one));
          const { stripPrefix = '', addPrefix = '' } = rules.rewrite;
          const rewritten = (one: string): string =>
            addPrefix + (one.startsWith(stripPrefix) ? one.slice(stripPrefix.length) : one);
          const names = kept.map((one) => rules.rename.find(({ from }) => from === one)?.to ?? rewritten(one));
          const isConflict = new Set(names.filter((name) => name !== '')).size < names.length;
          const refusals = ['key_conflict', 'key_invalid'].filter(
            (code) => code !== 'key_invalid' || names.includes(''),
          );
          const expected = kept.map((one, at) => [one, names[at]]);
          expect(isConflict ? refusals : [expected]).toContainEqual(outcome(rules, keys));
        },
      ),
    );
  });
});

/** What a choice comes to: pairs of key and name, or the code of the error. */
function outcome(rules: KeyRules, keys: readonly string[]): unknown {
  try {
    return chooseKeys(rules, keys).map(({ key, name }) => [key, name]);
  } catch (error) {
    return (error as DomainError).code;
  }
}

describe('base64', () => {
  test.each([
    ['', ''],
    ['YQ==', 'a'],
    ['YWI=', 'ab'],
    ['YWJj', 'abc'],
    ['YW\nJj\r\n', 'abc'],
    [' YWJj\t', 'abc'],
  ])('%j is decoded', (text, expected) => expect(decodedBase64(text)?.toString()).toBe(expected));

  test.each(['YQ', 'YQ=', 'Y===', 'YW-_', 'no base64', 'YQ==YQ==', 'ä===', '='])('%j is none', (text) =>
    expect(decodedBase64(text)).toBeUndefined(),
  );

  test('of any bytes gives those bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => {
        const buffer = Buffer.from(bytes);
        expect(decodedBase64(buffer.toString('base64'))?.equals(buffer)).toBe(true);
      }),
    );
  });
});
