import { expect, test } from '@jest/globals';
import { NamespaceKeys } from '../../../src/controller/frame/namespace-keys.ts';

/** Keys by their namespace. */

test('keys are found by their namespace, each once, until they are deleted', () => {
  const keys = new NamespaceKeys();
  for (const key of ['a/one', 'b/one', 'a/two', 'a/one', '/cluster']) keys.add(key);
  expect([...keys.in('a')]).toEqual(['a/one', 'a/two']);
  expect([...keys.in('')]).toEqual(['/cluster']);
  keys.delete('a/one');
  keys.delete('c/one');
  expect([[...keys.in('a')], [...keys.in('b')], [...keys.in('c')]]).toEqual([['a/two'], ['b/one'], []]);
  keys.delete('a/two');
  expect([...keys.in('a')]).toEqual([]);
  keys.add('a/one');
  expect([...keys.in('a')]).toEqual(['a/one']);
});
