import { expect, test } from '@jest/globals';
import { pipeline } from '../../../src/store/transaction.ts';

test('returns the results in order, whichever comes earlier', async () => {
  const first = Promise.withResolvers<string>();
  const both = pipeline([first.promise, Promise.resolve(2)]);
  first.resolve('one');
  expect(await both).toEqual(['one', 2]);
});

test('throws the first failure of two, though the second comes earlier', async () => {
  const [first, second] = [Promise.withResolvers<string>(), Promise.withResolvers<number>()];
  const both = Promise.allSettled([pipeline([first.promise, second.promise])]);
  second.reject(new Error('second'));
  await new Promise((resolve) => setImmediate(resolve));
  first.reject(new Error('first'));
  expect(await both).toMatchObject([{ reason: { message: 'first' } }]);
});

test('throws the second failure if the first succeeds', async () => {
  await expect(pipeline([Promise.resolve(1), Promise.reject(new Error('second'))])).rejects.toThrow('second');
});
