import { describe, expect, test } from '@jest/globals';
import { type ComparedKey, compareKeys, selectionOf } from '../../../src/dashboard/text/comparison.ts';
import { copyKeys } from '../../../src/dashboard/text/planned-keys.ts';

const id = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';
const at = (key: string, version: number) => ({
  key,
  version,
  updatedAt: '',
  updatedBy: id,
  updatedByType: 'user' as const,
  updatedByName: 'Ann',
});
const row = (key: string, state: ComparedKey['state']): ComparedKey => ({ key, state, here: 1, there: 1 });
const many = (prefix: string, count: number, state: ComparedKey['state']) =>
  Array.from({ length: count }, (_, index) => row(`${prefix}${index}`, state));

test('keys compare by name, and by what the server says of their values', () => {
  const here = [at('A', 1), at('B', 2), at('C', 3), at('N', 1)];
  const there = [at('B', 5), at('C', 3), at('D', 1), at('N', 1)];
  expect(compareKeys(here, there, { updated: ['B'], unchanged: ['C'] })).toEqual([
    { key: 'A', here: 1, there: undefined, state: 'here' },
    { key: 'B', here: 2, there: 5, state: 'differs' },
    { key: 'C', here: 3, there: 3, state: 'same' },
    { key: 'D', here: undefined, there: 1, state: 'there' },
    { key: 'N', here: 1, there: 1, state: 'both' },
  ]);
  // Equal versions do not mean equal values.
  expect(compareKeys(here, there, undefined).map(({ state }) => state)).toEqual([
    'here',
    'both',
    'both',
    'there',
    'both',
  ]);
});

describe('the request for the chosen keys', () => {
  const rows = [row('A', 'here'), row('B', 'differs'), row('C', 'same'), row('D', 'there')];
  test('names them, and deletes only if one of them is to be deleted', () => {
    expect(selectionOf(rows, new Set(['D', 'B']))).toEqual({ mode: 'changed', keys: { include: ['B', 'D'] } });
    expect(selectionOf(rows, new Set(['D']))).toEqual({ mode: 'changed', keys: { include: ['D'] } });
    expect(selectionOf(rows, new Set(['A', 'D']))).toEqual({ mode: 'mirror', keys: { include: ['A', 'D'] } });
    expect(selectionOf(rows, new Set(['A', 'B', 'D']))).toEqual({ mode: 'mirror', keys: { include: ['A', 'B', 'D'] } });
  });

  test('names the others if there are too many', () => {
    const all = [...many('A', 300, 'differs'), ...many('B', 2, 'there')];
    const chosen = new Set(all.slice(0, 300).map(({ key }) => key));
    expect(selectionOf(all, chosen)).toEqual({ mode: 'changed', keys: { exclude: ['B0', 'B1'] } });
    expect(selectionOf(all, new Set(all.map(({ key }) => key)))).toEqual({ mode: 'changed' });
    const both = [...all, ...many('C', 257, 'differs')];
    expect(selectionOf(both, chosen)).toBeUndefined();
  });
});

test('the keys of a copy', () => {
  const lists = { created: ['C'], updated: ['A'], deleted: ['B'], destroyed: ['X'], kept: [], unchanged: [] };
  const revision = { revision: 1, revisionId: id };
  const { changes, left } = copyKeys({ ...lists, ...revision, from: revision });
  expect(changes.map(({ key, change }) => `${change} ${key}`)).toEqual(['set A', 'delete B', 'add C']);
  expect(left.map(({ key }) => key)).toEqual(['X']);
});
