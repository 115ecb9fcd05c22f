import { expect, test } from '@jest/globals';
import { tooLarge } from '../../../src/cli/commands/secret/run-child/child-process.ts';

const kib = 1024;

test.each([
  ['each variable that is too large for itself', { BIG: 128 * kib, OTHER: 200 * kib, A: 1 }, ': OTHER, BIG'],
  ['the name as a part of the variable', { BIG: 128 * kib - 4, FITS: 128 * kib - 6 }, ': BIG'],
  [
    'the largest ones if only all together are',
    { A: 1, B: 90 * kib, C: 100 * kib, D: 80 * kib },
    'together for a program; the largest are C, B, D',
  ],
])('the message names %s', (_name, sizes, end) => {
  const variables = Object.fromEntries(Object.entries(sizes).map(([key, size]) => [key, 'x'.repeat(size)]));
  expect(tooLarge(variables).message.endsWith(end)).toBe(true);
});
