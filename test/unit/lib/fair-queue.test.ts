import { expect, test } from '@jest/globals';
import { FairQueue } from '../../../src/lib/fair-queue.ts';

const queueOf = (...owners: readonly string[]): FairQueue<string, string> => {
  const queue = new FairQueue<string, string>();
  for (const [index, owner] of owners.entries()) queue.add(owner, `${owner}${index}`);
  return queue;
};

test('takes one of each owner, and then the second of each', () => {
  expect(queueOf('a', 'a', 'a', 'b', 'c', 'b').take(10)).toEqual(['a0', 'b3', 'c4', 'a1', 'b5', 'a2']);
});

test('begins with the owner whose turn it is', () => {
  const queue = queueOf('a', 'a', 'a', 'b', 'b', 'c');
  expect(queue.take(2)).toEqual(['a0', 'b3']);
  expect(queue.take(2)).toEqual(['c5', 'a1']);
  expect(queue.take(2)).toEqual(['b4', 'a2']);
});

test('counts what waits', () => {
  const queue = queueOf('a', 'a', 'b');
  queue.take(2);
  expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b'), queue.sizeOf('c')]).toEqual([1, 1, 0, 0]);
  expect([queue.take(5), queue.take(5), queue.size]).toEqual([['a1'], [], 0]);
});

test('removes what no longer waits', () => {
  const queue = queueOf('a', 'a', 'b');
  queue.remove('a', 'a0');
  queue.remove('b', 'b2');
  queue.remove('c', 'c9');
  expect([queue.size, queue.sizeOf('b'), queue.take(5)]).toEqual([1, 0, ['a1']]);
});
