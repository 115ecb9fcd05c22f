import { expect, test } from '@jest/globals';
import { LruCache } from '../../../src/crypto/lru-cache.ts';

test('a full cache puts out what was not asked for the longest', () => {
  const cache = new LruCache<string, { n: number }>(2);
  cache.set('a', { n: 1 });
  cache.set('b', { n: 2 });
  expect(cache.get('a')).toEqual({ n: 1 });
  cache.set('c', { n: 3 });
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([{ n: 1 }, undefined, { n: 3 }]);
});

test('an entry set anew is a used one and takes no second place', () => {
  const cache = new LruCache<string, { n: number }>(2);
  cache.set('a', { n: 1 });
  cache.set('b', { n: 2 });
  cache.set('a', { n: 3 });
  cache.set('c', { n: 4 });
  expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([{ n: 3 }, undefined, { n: 4 }]);
});
