import { expect, test } from '@jest/globals';
import { parseDurationMs } from '../../../src/lib/duration.ts';

test.each([
  ['0s', 0],
  ['90s', 90_000],
  ['10m', 600_000],
  ['1h30m5s', 5_405_000],
  ['1s1s', 2000],
])('%s is %d ms', (text, durationMs) => {
  expect(parseDurationMs(text)).toBe(durationMs);
});

test.each([
  '',
  '10',
  '10s ',
  ' 10s',
  '10s5',
  '1.5h',
  '-1s',
  '1d',
  '1H',
  '5ms',
  's',
  '10s,5m',
  `${'9'.repeat(31)}h`,
  `${'0'.repeat(32)}s`,
])('%j is none', (text) => {
  expect(parseDurationMs(text)).toBeUndefined();
});
