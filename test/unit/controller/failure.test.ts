import { expect, test } from '@jest/globals';
import { failureClaim, nextAfter } from '../../../src/controller/frame/failure.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';

test('a resource that waits for a budget reports it and is retried when the budget has room', () => {
  const error = new DomainError('limit_exceeded', 'this environment has written 1 MiB', { retryAfterSeconds: 90 });
  expect(nextAfter(error)).toEqual({ kind: 'after', delayMs: 90_000 });
  expect(failureClaim(error)).toMatchObject({ progress: 'reconciling', reason: 'RateLimited' });
});

test('a failure without a time is retried at once or after a change', () => {
  expect(nextAfter(new DomainError('quota_exceeded', 'too many'))).toEqual({ kind: 'done' });
  expect(nextAfter(new DomainError('store_unavailable', 'away'))).toEqual({ kind: 'retry' });
});
