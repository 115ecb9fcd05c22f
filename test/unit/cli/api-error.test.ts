import { describe, expect, test } from '@jest/globals';
import { answerError, networkError } from '../../../src/cli/api-error.ts';
import type { HttpErrorCode } from '../../../src/domain/errors/catalogue.ts';
import { httpErrors } from '../../../src/domain/errors/http-errors.ts';

const url = 'https://keyframe.example.com';
const instance = 'urn:uuid:5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';

// What scripts build on: one line for each error that the server can answer.
const exitCodes: Readonly<Record<HttpErrorCode, number>> = {
  malformed_request: 2,
  invalid_input: 2,
  unauthenticated: 3,
  forbidden: 4,
  not_found: 5,
  method_not_allowed: 2,
  conflict: 6,
  secret_deleted: 6,
  version_current: 6,
  value_in_other_versions: 6,
  version_destroyed: 5,
  quota_exceeded: 6,
  version_mismatch: 6,
  payload_too_large: 2,
  unsupported_media_type: 2,
  idempotency_key_reused: 2,
  plan_outdated: 6,
  limit_exceeded: 1,
  key_unavailable: 1,
  store_unavailable: 1,
  overloaded: 1,
  internal: 1,
};

describe('the exit code for an error of the server', () => {
  test.each(Object.entries(exitCodes))('%s is %d', (code, exitCode) => {
    const status = httpErrors[code as HttpErrorCode].status;
    const body = { type: `urn:keyframe:error:${code}`, title: 'x', status, detail: 'what is wrong', instance, code };
    const told = answerError({ url, status, headers: {}, body });
    expect(told).toMatchObject({ exitCode, message: 'what is wrong' });
  });

  test('is 1 for what is not an answer of Keyframe', () => {
    const problem = { code: 'x', detail: 'x', status: 400 };
    const likeProblems = [
      { ...problem, code: 1 },
      { ...problem, errors: 'x' },
      { ...problem, instance: 5 },
    ];
    for (const body of [undefined, 'text', { error: 'x' }, null, ...likeProblems]) {
      expect(answerError({ url, status: 404, headers: {}, body })).toMatchObject({ exitCode: 1 });
    }
  });
});

test('a fault of the server names the request, and a full one says when to come again', () => {
  const body = { type: '', title: '', status: 503, detail: 'busy', instance, code: 'overloaded' };
  expect(answerError({ url, status: 503, headers: { 'retry-after': '7' }, body }).next).toEqual([
    'Try again in 7 seconds',
    expect.stringContaining(instance.slice('urn:uuid:'.length)),
  ]);
  const limited = { ...body, status: 429, code: 'limit_exceeded' };
  expect(answerError({ url, status: 429, headers: { 'retry-after': '7' }, body: limited }).next).toEqual([
    'Wait 7 seconds and try again',
  ]);
});

test('all faults of the fields are told, the first one once', () => {
  const errors = [
    { field: 'name', message: 'is required' },
    { field: 'scope', message: 'must be a string' },
  ];
  const body = {
    type: '',
    title: '',
    status: 422,
    detail: 'name: is required (and 1 more)',
    instance,
    code: 'invalid_input',
    errors,
  };
  const { message } = answerError({ url, status: 422, headers: {}, body });
  expect(message).toBe('name: is required (and 1 more); scope: must be a string');
});

test('a fault of the network says in words what it is, and a foreign certificate how to trust it', () => {
  const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
  expect(networkError(url, refused).message).toBe(`${url} cannot be reached: nothing listens there`);
  expect(networkError(url, new AggregateError([refused])).message).toContain('nothing listens there');
  const untrusted = Object.assign(new Error('x'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  expect(networkError(url, untrusted).next).toEqual([expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
});

test('a code that is the name of something else of an object leads to no steps', () => {
  const body = { type: '', title: '', status: 403, detail: 'no', instance, code: 'constructor' };
  expect(answerError({ url, status: 403, headers: {}, body }).next).toEqual([]);
});

test('where the answer to a write was lost it says that it may be done', () => {
  const dropped = Object.assign(new Error('x'), { code: 'ECONNRESET' });
  expect(networkError(url, dropped, { isWrite: true }).next.join()).toContain('may have been done');
  expect(networkError(url, dropped).next.join()).not.toContain('may have been done');
  const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
  expect(networkError(url, refused, { isWrite: true }).next.join()).not.toContain('may have been done');
});
