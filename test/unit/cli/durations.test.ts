import { describe, expect, test } from '@jest/globals';
import { durationMs } from '../../../src/cli/core/duration-option.ts';
import { pastTime } from '../../../src/cli/core/time-option.ts';

const hourMs = 3_600_000;

describe('a duration', () => {
  test.each([
    ['90s', 90_000],
    ['1h30m', 1.5 * hourMs],
    ['2d', 48 * hourMs],
    ['1d12h', 36 * hourMs],
    ['1w2d', 9 * 24 * hourMs],
    ['0s', 0],
  ])('%s', (text, ms) => {
    expect(durationMs(text)).toBe(ms);
  });

  test.each(['', '5', 'd', '1h1d', '1d1d', '1.5d', '-1d', '1y', '1d 2h'])('is not %j', (text) => {
    expect(durationMs(text)).toBeUndefined();
  });
});

describe('a past time', () => {
  test('is how long ago it was, or a date or time of ISO 8601', () => {
    const ago = Date.now() - Date.parse(pastTime('1d12h') ?? '');
    expect(Math.abs(ago - 36 * hourMs)).toBeLessThan(hourMs);
    expect(pastTime('2027-01-31')).toBe('2027-01-31T00:00:00Z');
    expect(pastTime('2027-01-31T12:00:00+02:00')).toBe('2027-01-31T12:00:00+02:00');
  });

  test.each(['', '41', 'yesterday', '2027-13-45', '2027-01-31T12:00:00', '999999999999999h'])('is not %j', (text) => {
    expect(pastTime(text)).toBeUndefined();
  });
});
