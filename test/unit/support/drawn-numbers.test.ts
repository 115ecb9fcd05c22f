import { expect, test } from '@jest/globals';
import { drawNumbers } from '../../support/fixtures/test-size.ts';

test.each([
  [0, 3],
  [1, 1],
  [5, 1],
  [7, 3],
  [100, 9],
  [3, 3],
  [2, 5],
])('of %i numbers, %i are drawn without repetition and in range, for each seed', (total, count) => {
  for (let seed = 20_260_101; seed < 20_260_132; seed += 1) {
    const drawn = drawNumbers(total, count, seed);
    expect(drawn).toHaveLength(Math.min(total, count));
    expect(new Set(drawn).size).toBe(drawn.length);
    expect(drawn.filter((number) => number < 0 || number >= total || !Number.isInteger(number))).toEqual([]);
  }
});

test('the days of a month draw every one of ten numbers', () => {
  const days = Array.from({ length: 30 }, (_, day) => 20_260_101 + day);
  expect(new Set(days.flatMap((day) => drawNumbers(10, 1, day))).size).toBe(10);
});

test('the same seed draws the same numbers', () => {
  expect(drawNumbers(100, 3, 20_260_101)).toEqual(drawNumbers(100, 3, 20_260_101));
});
