import { isFull, seed } from '../../../support/fixtures/test-size.ts';

/**
 * The default size asks each line of the table as every caller, and of what follows from how routes are built some cells,
 * others on each day (test/unit/http/route-access.test.ts has the construction). The full size asks all.
 */

/** So many of them, and the next ones for the next place and on the next day; all in the full size. */
export function some<T>(all: readonly T[], count: number, place: number): readonly T[] {
  if (isFull || all.length <= count) return all;
  const first = ((seed + place) * count) % all.length;
  return [...all, ...all].slice(first, first + count);
}

/** One of each kind, and the next ones for the next place and on the next day; all in the full size. */
export function oneOfEach<T>(all: readonly T[], kindOf: (one: T) => unknown, place: number): readonly T[] {
  return [...Map.groupBy(all, kindOf).values()].flatMap((alike) => some(alike, 1, place));
}
