import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { RateCounter } from '../../../src/http/admission/rate-counter.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('counts each key for itself, and above the limit too', async () => {
  const counter = new RateCounter({ limit: 2 });
  const used = [];
  for (const key of ['a', 'a', 'b', 'a']) used.push((await counter.count(key)).used);
  expect(used).toEqual([1, 2, 1, 3]);
  expect(await counter.peek('a')).toEqual({ limit: 2, used: 3, resetSeconds: 60 });
  expect(await counter.peek('c')).toBeUndefined();
});

test('a window lasts a minute from its first count, however often it is counted', async () => {
  const counter = new RateCounter({ limit: 2 });
  await counter.count('a');
  jest.advanceTimersByTime(59_500);
  expect(await counter.count('a')).toEqual({ limit: 2, used: 2, resetSeconds: 1 });
  jest.advanceTimersByTime(500);
  expect(await counter.peek('a')).toBeUndefined();
  expect(await counter.count('a')).toEqual({ limit: 2, used: 1, resetSeconds: 60 });
});

test('looking does not count', async () => {
  const counter = new RateCounter({ limit: 2 });
  await counter.count('a');
  await counter.peek('a');
  expect((await counter.peek('a'))?.used).toBe(1);
});

test('remembers so many keys at most, and forgets those whose window is the oldest', async () => {
  const counter = new RateCounter({ limit: 2, maxKeys: 3 });
  await counter.count('a');
  await counter.count('b');
  jest.advanceTimersByTime(60_000);
  for (const key of ['a', 'c', 'd']) await counter.count(key);
  expect(counter.size).toBe(3);
  // b's window was over, a's has begun again.
  expect((await counter.peek('a'))?.used).toBe(1);
  for (let key = 0; key < 1000; key += 1) await counter.count(String(key));
  expect(counter.size).toBe(3);
  expect(await counter.peek('a')).toBeUndefined();
  expect(jest.getTimerCount()).toBe(3);
});
