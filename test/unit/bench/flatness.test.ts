import { expect, test } from '@jest/globals';
import { judgeFlatness, type Sample } from '../../bench/flatness.ts';

const allowance = { absolute: 4, share: 0.05 };

/** A sample each second for a minute. */
function minute(valueAt: (second: number) => number): Sample[] {
  return Array.from({ length: 61 }, (_, second) => ({ atMs: 1_000 * second, value: valueAt(second) }));
}

test('a figure that goes up and down around one value is flat', () => {
  const sawtooth = minute((second) => 100 + (second % 7) * 5);
  expect(judgeFlatness(sawtooth, allowance)).toEqual({ first: 115, last: 115, most: 124.75, isFlat: true });
});

test('a figure that goes down is flat', () => {
  expect(
    judgeFlatness(
      minute((second) => 100 - second),
      allowance,
    ).isFlat,
  ).toBe(true);
});

test('a steady growth beyond the allowance is not flat', () => {
  const growth = (perSecond: number): boolean =>
    judgeFlatness(
      minute((second) => 100 + second * perSecond),
      allowance,
    ).isFlat;
  // The medians of the thirds are 40 s apart; 100 may become 109 and a little more for what grew before.
  expect(growth(0.2)).toBe(true);
  expect(growth(0.25)).toBe(false);
});

test('a figure that is zero at first may grow by the absolute allowance', () => {
  expect(
    judgeFlatness(
      minute((second) => (second < 40 ? 0 : 4)),
      allowance,
    ).isFlat,
  ).toBe(true);
  expect(
    judgeFlatness(
      minute((second) => (second < 40 ? 0 : 5)),
      allowance,
    ).isFlat,
  ).toBe(false);
});

test('a moment of much does not count', () => {
  const peak = minute((second) => (second > 55 ? 10_000 : 100));
  expect(judgeFlatness(peak, allowance).isFlat).toBe(true);
});

test('with a lower quantile only the low values count', () => {
  const queue = { absolute: 10, share: 0, quantile: 0.25 };
  expect(
    judgeFlatness(
      minute((second) => (second > 45 ? 500 : 0)),
      queue,
    ).isFlat,
  ).toBe(true);
  expect(
    judgeFlatness(
      minute((second) => (second > 35 ? 500 : 0)),
      queue,
    ).isFlat,
  ).toBe(false);
});

test('too few samples are refused', () => {
  expect(() => judgeFlatness(minute(() => 1).slice(0, 4), allowance)).toThrow('needs 3 samples, not 2');
});
