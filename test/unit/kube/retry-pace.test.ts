import { beforeEach, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { RetryPace } from '../../../src/kube/informer/retry-pace.ts';
import { SilenceError, WatchEndedError, WatchFormatError } from '../../../src/kube/informer/watch-failure.ts';

let pace: RetryPace;
const answer = (status: number, retryAfterMs?: number): ApiError => new ApiError('GET', status, 'R', { retryAfterMs });

beforeEach(() => {
  const limits = { backoffInitialMs: 100, backoffMaxMs: 1000, missingRetryMaxMs: 300 };
  pace = new RetryPace({ limits, random: () => 0 });
});

test.each([
  ['an expired version', answer(410), 'expired', true],
  ['an expired version in an event', new WatchEndedError(410), 'expired', true],
  ['throttling', answer(429), 'throttled', false],
  ['throttling in an event', new WatchEndedError(429), 'throttled', false],
  ['another fault in an event', new WatchEndedError(500), 'broken', true],
  ['a line that is no event', new WatchFormatError('x'), 'broken', true],
  ['silence', new SilenceError('x'), 'silent', false],
  ['no answer', answer(0), 'unreachable', false],
  ['a fault of the server', answer(503), 'unreachable', false],
  ['a reset', new TypeError('terminated'), 'unreachable', false],
  ['a refusal', answer(403), 'refused', true],
  ['a resource that does not exist', answer(404), 'missing', true],
])('%s is known, and it is known whether a list has to follow', (_, error, kind, list) => {
  expect(pace.failed(error)).toMatchObject({ kind, list, inARow: 1 });
});

test('pauses double up to their limit, and progress ends the row', () => {
  const pauses = Array.from({ length: 6 }, () => pace.failed(answer(503)).delayMs);
  expect(pauses).toEqual([50, 100, 200, 400, 500, 500]);
  pace.progressed();
  expect(pace.failed(answer(503))).toMatchObject({ delayMs: 50, inARow: 1 });
});

test('a resource that does not exist is asked for more often, for someone is about to make it', () => {
  expect(Array.from({ length: 4 }, () => pace.failed(answer(404)).delayMs)).toEqual([50, 100, 150, 150]);
});

test('an expired version is listed at once, but not when it expires again and again', () => {
  expect([pace.failed(answer(410)).delayMs, pace.failed(answer(410)).delayMs]).toEqual([0, 100]);
});

test('silence is no reason to wait longer', () => {
  expect(Array.from({ length: 3 }, () => pace.failed(new SilenceError('x')).delayMs)).toEqual([0, 0, 0]);
});

test('the server may ask for a longer pause, not for a shorter one', () => {
  expect(pace.failed(answer(429, 5000)).delayMs).toBe(5000);
  expect(pace.failed(answer(429, 1)).delayMs).toBe(100);
});

test('each fourth failure in a row begins with a list, whatever its kind', () => {
  const begins = Array.from({ length: 8 }, (_, index) => (pace.failed(answer(503)).list ? index + 1 : 0));
  expect(begins.filter((failure) => failure > 0)).toEqual([4, 8]);
});
