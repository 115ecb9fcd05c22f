import { describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { errorFields } from '../../../src/observability/logger.ts';

/** An error as pg throws it: its message and its detail both quote data. */
function databaseError(): Error {
  const error = new Error('invalid input syntax: "canary"');
  return Object.assign(error, { name: 'error', code: '23505', detail: 'Key (value)=(canary) already exists.' });
}

describe('the fields of an error', () => {
  test('of our own have its detail and its causes, and nothing of what a driver said', () => {
    const error = new DomainError('internal', 'the value of secret 7 does not open', { cause: databaseError() });
    const fields = errorFields(error);
    expect(fields).toMatchObject({
      error: 'DomainError',
      code: 'internal',
      detail: 'the value of secret 7 does not open',
      at: expect.anything(),
      cause: { error: 'error', code: '23505' },
    });
    expect(JSON.stringify(fields)).not.toContain('canary');
  });

  test('of another make have neither message nor detail, also as the cause of a cause', () => {
    const wrapped = new Error('canary', { cause: new TypeError('canary', { cause: databaseError() }) });
    for (const error of [databaseError(), wrapped, 'canary', { name: 'DomainError', code: 'x', detail: 'canary' }]) {
      expect(JSON.stringify(errorFields(error))).not.toContain('canary');
    }
    expect(errorFields(wrapped)).toMatchObject({ cause: { error: 'TypeError', cause: { code: '23505' } } });
  });

  test('end where errors cause each other', () => {
    const error = new Error('x');
    error.cause = error;
    expect(JSON.stringify(errorFields(error)).length).toBeLessThan(20_000);
  });
});
