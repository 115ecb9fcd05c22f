import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { planSecretData } from '../../../src/controller/kinds/secret-sync/data/secret-data.ts';
import { comparisonsOf, neededKeys, type OfferedKeys } from '../../../src/domain/chosen-keys.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

const noTemplates: ReadonlySet<string> = new Set();

describe('the keys whose values a Secret needs', () => {
  test.each<[string, readonly OfferedKeys[], readonly string[][]]>([
    ['all keys without rules', [{ rules: {}, keys: ['A', 'B'] }], [['A', 'B']]],
    ['only the selected ones', [{ rules: { include: ['A*'], exclude: ['AB'] }, keys: ['A', 'AB', 'B'] }], [['A']]],
    [
      'each from the last source that has its name',
      [
        { rules: {}, keys: ['A', 'B'] },
        { rules: { rename: [{ from: 'X', to: 'B' }] }, keys: ['X', 'Y'] },
      ],
      [['A'], ['X', 'Y']],
    ],
    ['no hidden one', [{ rules: { hidden: ['B'] }, keys: ['A', 'B'] }], [['A']]],
  ])('are %s', (_, sources, needed) => {
    expect(neededKeys(sources, noTemplates)).toEqual(needed);
  });

  test('are hidden ones too if a template uses their names in the Secret', () => {
    const rules = { hidden: ['DB_*'], rewrite: { stripPrefix: 'DB_' } };
    expect(neededKeys([{ rules, keys: ['DB_USER', 'DB_PASSWORD'] }], new Set(['PASSWORD', 'DB_USER']))).toEqual([
      ['DB_PASSWORD'],
    ]);
  });

  test('are those that the controller reads, for each selection that it accepts', () => {
    const glob = fc.constantFrom('*', 'A*', '*B', 'A', 'B', 'AB', '?');
    const rules = fc.record(
      {
        include: fc.array(glob, { maxLength: 2 }),
        exclude: fc.array(glob, { maxLength: 2 }),
        hidden: fc.array(glob, { maxLength: 2 }),
        rename: fc.array(fc.record({ from: fc.constantFrom('A', 'B'), to: fc.constantFrom('B', 'C') }), {
          maxLength: 1,
        }),
        rewrite: fc.record({ stripPrefix: fc.constantFrom('A', ''), addPrefix: fc.constantFrom('P_', '') }),
      },
      { requiredKeys: [] },
    );
    const source = fc.record({ rules, keys: fc.uniqueArray(fc.constantFrom('A', 'B', 'AB', 'BA')) });
    fc.assert(
      fc.property(fc.array(source, { minLength: 1, maxLength: 3 }), fc.constantFrom('A', 'P_B'), (sources, used) => {
        const parts = sources.map(({ rules: keys, keys: names }, index) => ({
          source: { name: `s${index}`, keys },
          secrets: names.map((key) => ({ key, bytes: 1 })),
        }));
        const template = { data: { COMPOSED: `$(${used} | default "")` } };
        const plan = planOf(() => planSecretData(parts, { template, type: 'Opaque' }));
        fc.pre(plan !== undefined);
        const read = sources.map((_, index) =>
          plan?.needed.filter((placed) => placed.source === `s${index}`).map(({ key }) => key),
        );
        expect(neededKeys(sources, new Set([used])).map((keys) => keys.toSorted())).toEqual(
          read.map((keys) => keys?.toSorted()),
        );
      }),
    );
  });
});

function planOf(make: () => ReturnType<typeof planSecretData>): ReturnType<typeof planSecretData> | undefined {
  try {
    return make();
  } catch (error) {
    if (error instanceof DomainError) return undefined;
    throw error;
  }
}

test('comparisons are counted for each key, and once more for each glob with a wildcard', () => {
  const rules = { include: ['A', 'B*'], exclude: ['*C'], hidden: ['D?'] };
  expect(comparisonsOf([{ rules, keys: ['A', 'B'] }])).toBe(8);
  expect(comparisonsOf([{ rules: {}, keys: ['A', 'B', 'C'] }])).toBe(3);
});
