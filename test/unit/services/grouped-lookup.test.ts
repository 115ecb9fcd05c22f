import { beforeEach, expect, test } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { GroupedLookup } from '../../../src/services/kernel/grouped-lookup.ts';
import { presentOwner, workFor } from '../../../src/store/pool-shares.ts';

interface Lookup extends PromiseWithResolvers<readonly (string | undefined)[]> {
  readonly asked: readonly string[];
  /** For whom the lookup works. */
  readonly owner: string | undefined;
}

let begun: Lookup[];
let lookup: GroupedLookup<string, string>;

beforeEach(() => {
  begun = [];
  lookup = new GroupedLookup({
    look: (asked) => {
      const begins = { asked, owner: presentOwner(), ...Promise.withResolvers<readonly (string | undefined)[]>() };
      begun.push(begins);
      return begins.promise;
    },
    keyOf: (asked) => asked,
    concurrency: 2,
    groupLimit: 3,
  });
});

const asked = (): (readonly string[])[] => begun.map((one) => one.asked);

async function find(...names: string[]): Promise<PromiseSettledResult<string | undefined>[]> {
  return Promise.allSettled(names.map((name) => lookup.find(name)));
}

/** Lets a lookup answer each name in capitals, but `none` with nothing. */
function answer(index: number): void {
  begun[index]?.resolve(begun[index].asked.map((name) => (name === 'none' ? undefined : name.toUpperCase())));
}

const valuesOf = (settled: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  settled.map((one) => (one.status === 'fulfilled' ? one.value : one.reason));

test('looks up together what comes at the same time, each name once, and gives each its result', async () => {
  const found = find('a', 'none', 'b', 'a');
  await turn();
  expect(asked()).toEqual([['a', 'none', 'b']]);
  answer(0);
  expect(valuesOf(await found)).toEqual(['A', undefined, 'B', 'A']);
});

test('never answers by a lookup that began before the question, even for the same name', async () => {
  const first = find('a');
  await turn();
  const second = find('a');
  await turn();
  expect(asked()).toEqual([['a'], ['a']]);
  begun[0]?.resolve(['old']);
  begun[1]?.resolve(['new']);
  expect(valuesOf(await first)).toEqual(['old']);
  expect(valuesOf(await second)).toEqual(['new']);
});

test('keeps what comes while the most are under way for the next, and takes no more than the limit', async () => {
  const found = [find('a')];
  await turn();
  found.push(find('b'));
  await turn();
  found.push(find('c', 'd'), find('e', 'f'));
  await turn();
  expect(asked()).toEqual([['a'], ['b']]);
  answer(1);
  await turn();
  await turn();
  expect(asked()).toEqual([['a'], ['b'], ['c', 'd', 'e']]);
  answer(2);
  await turn();
  await turn();
  answer(3);
  answer(0);
  expect((await Promise.all(found)).flatMap(valuesOf)).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
});

test('fails each call of a failed lookup with a separate error, and serves the next calls', async () => {
  const failed = find('a', 'b', 'a');
  await turn();
  const cause = new DomainError('store_unavailable', 'try again', { retryAfterSeconds: 5 });
  begun[0]?.reject(cause);
  const errors = valuesOf(await failed);
  expect(errors).toEqual(
    [1, 2, 3].map(() => expect.objectContaining({ code: 'store_unavailable', retryAfterSeconds: 5, cause })),
  );
  expect(new Set(errors).size).toBe(3);
  const next = find('a');
  await turn();
  answer(1);
  expect(valuesOf(await next)).toEqual(['A']);
});

test('shows no text of a failure that is not our own', async () => {
  const failed = find('a');
  await turn();
  const cause = new Error('quotes data');
  begun[0]?.reject(cause);
  const [error] = valuesOf(await failed);
  expect(error).toMatchObject({ message: 'a lookup failed', cause });
});

test('lets owners of work take turns', async () => {
  const first = find('a', 'b');
  await turn();
  const second = find('c');
  await turn();
  const busy = workFor('busy', () => find('d', 'e', 'f', 'g'));
  const other = workFor('other', () => find('h'));
  const user = find('i');
  answer(0);
  answer(1);
  for (let count = 0; count < 3; count += 1) await turn();
  expect(asked().slice(2)).toEqual([
    ['d', 'h', 'i'],
    ['e', 'f', 'g'],
  ]);
  answer(2);
  answer(3);
  await Promise.all([first, second, busy, other, user]);
});

test('looks up for no owner', async () => {
  const found = workFor('busy', () => find('a'));
  await turn();
  expect(begun).toMatchObject([{ owner: undefined }]);
  answer(0);
  await found;
});
