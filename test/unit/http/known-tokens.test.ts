import { expect, test } from '@jest/globals';
import { KnownTokens } from '../../../src/http/admission/known-tokens.ts';

const limits = { maxTokens: 4, maxTokensPerOwner: 2 };

test('the least recently used token is forgotten first', () => {
  const known = new KnownTokens(limits);
  for (const token of ['a', 'b', 'c', 'd', 'a', 'e']) known.add(token, `owner of ${token}`);
  expect(['a', 'b', 'c', 'd', 'e'].map((token) => known.has(token))).toEqual([true, false, true, true, true]);
  expect(known.size).toBe(4);
});

test('one token takes one place, however often it is used', () => {
  const known = new KnownTokens(limits);
  known.add('a', 'one');
  for (let count = 0; count < 100; count += 1) known.add('b', 'other');
  expect([known.size, known.has('a'), known.has('b')]).toEqual([2, true, true]);
});

test('an owner with too many tokens displaces their own alone', () => {
  const known = new KnownTokens(limits);
  known.add('a', 'one');
  for (let count = 0; count < 100; count += 1) known.add(String(count), 'other');
  expect([known.size, known.has('a'), known.has('97'), known.has('98'), known.has('99')]).toEqual([
    3,
    true,
    false,
    true,
    true,
  ]);
});

test('a deleted token leaves its place', () => {
  const known = new KnownTokens(limits);
  known.add('a', 'one');
  known.add('b', 'one');
  known.delete('a');
  known.delete('never there');
  known.add('c', 'one');
  expect(['a', 'b', 'c'].map((token) => known.has(token))).toEqual([false, true, true]);
});
