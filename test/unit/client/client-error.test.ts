import { expect, test } from '@jest/globals';
import { answerError, foreignAnswer, networkError } from '../../../src/client/answer-error.ts';
import type { ClientError } from '../../../src/client/client-error.ts';

const url = 'https://keyframe.example.com';

function refused(status: number): ClientError {
  const body = { code: 'x', detail: 'x', status, instance: 'urn:uuid:x' };
  return answerError({ url, status, headers: {}, body });
}

test('an outage is what may pass: no answer, a foreign one, a busy server and its own failure', () => {
  const unreachable = networkError(url, Object.assign(new Error('x'), { code: 'ECONNREFUSED' }));
  const redirected = answerError({ url, status: 302, headers: {}, body: undefined });
  for (const error of [unreachable, redirected, foreignAnswer(url, 404), refused(429), refused(500), refused(503)]) {
    expect(error.isOutage).toBe(true);
    expect([error.isNotFound, error.isUnauthenticated]).toEqual([false, false]);
  }
  for (const status of [400, 401, 403, 404, 409, 410, 422]) expect(refused(status).isOutage).toBe(false);
});

test('only Keyframe itself can say that a resource does not exist, or that it does not accept the token', () => {
  expect([401, 403, 404, 410].map((status) => refused(status).isNotFound)).toEqual([false, false, true, true]);
  expect([401, 403, 404].map((status) => refused(status).isUnauthenticated)).toEqual([true, false, false]);
  expect(foreignAnswer(url, 401).isUnauthenticated).toBe(false);
});
