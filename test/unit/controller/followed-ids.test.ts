import { expect, test } from '@jest/globals';
import { FollowedIds } from '../../../src/controller/frame/followed-ids.ts';

test('a key is found by what it follows, until it follows something else', () => {
  const followed = new FollowedIds();
  followed.set('a', 'one');
  followed.set('b', 'one');
  expect([...followed.keysOf('one')]).toEqual(['a', 'b']);
  followed.set('a', 'two');
  followed.set('b', undefined);
  expect([...followed.keysOf('one')]).toEqual([]);
  expect([...followed.keysOf('two')]).toEqual(['a']);
});

test('while a key looks for its first thing, everything concerns it', async () => {
  const followed = new FollowedIds();
  await followed.look('a', () => {
    expect([...followed.keysOf('anything')]).toEqual(['a']);
    followed.set('a', 'one');
    return Promise.resolve();
  });
  expect([...followed.keysOf('anything')]).toEqual([]);
  await followed.look('a', () => {
    expect([...followed.keysOf('anything')]).toEqual([]);
    return Promise.resolve();
  });
});

test('a look that fails is over', async () => {
  const followed = new FollowedIds();
  await expect(followed.look('a', () => Promise.reject(new Error('away')))).rejects.toThrow('away');
  expect([...followed.keysOf('anything')]).toEqual([]);
});
