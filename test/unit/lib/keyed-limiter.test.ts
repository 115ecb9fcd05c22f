import { beforeEach, expect, test } from '@jest/globals';
import { KeyedLimiter } from '../../../src/lib/keyed-limiter.ts';

const refused = new Error('refused');
let limiter: KeyedLimiter;
let started: string[];

beforeEach(() => {
  limiter = new KeyedLimiter({ concurrency: 2, maxWaiting: 3, waitMs: 50, makeError: () => refused });
  started = [];
});

/** A work that notes its name and ends when the test ends it. */
function start(key: string, name: string): { readonly end: () => void; readonly outcome: Promise<unknown> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const outcome = limiter
    .run(key, async () => {
      started.push(name);
      await promise;
      return name;
    })
    .catch((error: unknown) => error);
  return { end: resolve, outcome };
}

test('runs a few works of a key at once, and the rest in their order as places become free', async () => {
  const works = ['a', 'b', 'c', 'd'].map((name) => start('key', name));
  expect(started).toEqual(['a', 'b']);
  works[1]?.end();
  expect(await works[1]?.outcome).toBe('b');
  expect(started).toEqual(['a', 'b', 'c']);
  for (const work of works) work.end();
  expect(await Promise.all(works.map(({ outcome }) => outcome))).toEqual(['a', 'b', 'c', 'd']);
  expect(started).toEqual(['a', 'b', 'c', 'd']);
});

test('lets no key wait for another, and forgets a key whose works are done', async () => {
  const works = ['a', 'b', 'c'].map((name) => start('busy', name));
  const other = start('quiet', 'other');
  expect(started).toContain('other');
  expect(limiter.keys).toBe(2);
  for (const { end, outcome } of [other, ...works]) {
    end();
    await outcome;
  }
  expect(limiter.keys).toBe(0);
});

test('refuses at once what comes when enough wait', async () => {
  const works = ['a', 'b', 'c', 'd', 'e'].map((name) => start('key', name));
  expect(await start('key', 'f').outcome).toBe(refused);
  for (const { end } of works) end();
  expect(await works[4]?.outcome).toBe('e');
});

test('refuses what waited too long, runs it never, and goes on', async () => {
  const [a, b] = [start('key', 'a'), start('key', 'b')];
  expect(await start('key', 'late').outcome).toBe(refused);
  const next = start('key', 'next');
  a.end();
  b.end();
  next.end();
  expect(await next.outcome).toBe('next');
  expect(started).toEqual(['a', 'b', 'next']);
  expect(limiter.keys).toBe(0);
});

test('gives a place back when a work throws', async () => {
  const failure = new Error('own');
  for (let count = 0; count < 3; count += 1) {
    await expect(limiter.run('key', () => Promise.reject(failure))).rejects.toBe(failure);
  }
  expect(limiter.keys).toBe(0);
});

test('lets owners take turns, and refuses only the owner of whom enough wait', async () => {
  const begun: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const run = async (owner: string): Promise<unknown> =>
    await limiter
      .run(
        'key',
        async () => {
          begun.push(owner);
          await promise;
        },
        owner,
      )
      .catch((error: unknown) => error);
  const works = ['a', 'a', 'a', 'a', 'a', 'a', 'b'].map(run);
  resolve();
  expect(await Promise.all(works)).toEqual([undefined, undefined, undefined, undefined, undefined, refused, undefined]);
  expect(begun).toEqual(['a', 'a', 'a', 'b', 'a', 'a']);
});
