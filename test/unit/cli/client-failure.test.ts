import { describe, expect, test } from '@jest/globals';
import type { CliError } from '../../../src/cli/core/cli-error.ts';
import { cliErrorOf } from '../../../src/cli/core/client-failure.ts';
import { type RefusedAnswer, answerError, networkError } from '../../../src/client/answer-error.ts';
import type { HttpErrorCode } from '../../../src/domain/errors/catalogue.ts';
import { httpErrors } from '../../../src/domain/errors/http-errors.ts';

const url = 'https://keyframe.example.com';
const instance = 'urn:uuid:5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';

/** What the command reports for an answer. */
function reported(answer: Omit<RefusedAnswer, 'url' | 'headers'> & Partial<RefusedAnswer>): CliError {
  return cliErrorOf(answerError({ url, headers: {}, ...answer }));
}

/** What the command reports if no answer came. */
function reportedFault(error: unknown, options?: { isWrite: boolean }): CliError {
  return cliErrorOf(networkError(url, error, options));
}

// Scripts depend on these: one line for each error that the server can return.
const exitCodes: Readonly<Record<HttpErrorCode, number>> = {
  malformed_request: 2,
  invalid_input: 2,
  unauthenticated: 3,
  issuer_changed: 3,
  forbidden: 4,
  recent_sign_in_required: 4,
  cluster_not_allowed: 4,
  cluster_disabled: 4,
  cluster_unknown: 3,
  protocol_unsupported: 1,
  not_found: 5,
  method_not_allowed: 2,
  conflict: 6,
  secret_deleted: 6,
  version_current: 6,
  value_in_other_versions: 6,
  revert_conflict: 6,
  version_destroyed: 5,
  quota_exceeded: 6,
  version_mismatch: 6,
  request_timeout: 1,
  payload_too_large: 2,
  unsupported_media_type: 2,
  idempotency_key_reused: 2,
  plan_outdated: 6,
  limit_exceeded: 1,
  key_unavailable: 1,
  issuer_unavailable: 1,
  store_unavailable: 1,
  overloaded: 1,
  internal: 1,
};

describe('the exit code for an error of the server', () => {
  test.each(Object.entries(exitCodes))('%s is %d', (code, exitCode) => {
    const status = httpErrors[code as HttpErrorCode].status;
    const body = { type: `urn:keyframe:error:${code}`, title: 'x', status, detail: 'what is wrong', instance, code };
    expect(reported({ status, body })).toMatchObject({ exitCode, message: 'what is wrong' });
  });

  test('is 1 for an answer that does not come from Keyframe', () => {
    const problem = { code: 'x', detail: 'x', status: 400 };
    const likeProblems = [
      { ...problem, code: 1 },
      { ...problem, errors: 'x' },
      { ...problem, instance: 5 },
    ];
    for (const body of [undefined, 'text', { error: 'x' }, null, ...likeProblems]) {
      expect(reported({ status: 404, body })).toMatchObject({ exitCode: 1 });
    }
  });
});

test('a server error names the request, and an overloaded server says when to retry', () => {
  const body = { type: '', title: '', status: 503, detail: 'busy', instance, code: 'overloaded' };
  expect(reported({ status: 503, headers: { 'retry-after': '7' }, body }).next).toEqual([
    'Try again in 7 seconds',
    expect.stringContaining(instance.slice('urn:uuid:'.length)),
  ]);
  const limited = { ...body, status: 429, code: 'limit_exceeded' };
  expect(reported({ status: 429, headers: { 'retry-after': '7' }, body: limited }).next).toEqual([
    'Wait 7 seconds and try again',
  ]);
});

test('all errors of fields are reported, the first one once', () => {
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
  const { message } = reported({ status: 422, body });
  expect(message).toBe('name: is required (and 1 more); scope: must be a string');
});

test('a network error is described in words, and an untrusted certificate says how to trust it', () => {
  const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
  expect(reportedFault(refused).message).toBe(`${url} cannot be reached: nothing listens there`);
  expect(reportedFault(new AggregateError([refused])).message).toContain('nothing listens there');
  const untrusted = Object.assign(new Error('x'), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' });
  expect(reportedFault(untrusted).next).toEqual([expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
});

test('a code that is the name of an inherited property has no next steps', () => {
  const body = { type: '', title: '', status: 403, detail: 'no', instance, code: 'constructor' };
  expect(reported({ status: 403, body }).next).toEqual([]);
});

test('if the answer to a write was lost, the error says that the change may have been made', () => {
  const dropped = Object.assign(new Error('x'), { code: 'ECONNRESET' });
  expect(reportedFault(dropped, { isWrite: true }).next.join()).toContain('may have been made');
  expect(reportedFault(dropped).next.join()).not.toContain('may have been made');
  const refused = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
  expect(reportedFault(refused, { isWrite: true }).next.join()).not.toContain('may have been made');
});

describe('an address with http', () => {
  const http = 'http://keyframe.example.com:8443';
  const hint = 'If the server uses https: --url https://keyframe.example.com:8443';

  test.each(['ECONNRESET', 'HPE_INVALID_CONSTANT'])('names https if the port breaks with %s', (code) => {
    const error = Object.assign(new Error('broken'), { code });
    expect(cliErrorOf(networkError(http, error)).next).toContain(hint);
    expect(cliErrorOf(networkError(url, error)).next).not.toContain(hint);
  });

  test('names https for a write that got no answer, and that it may have been made', () => {
    const error = Object.assign(new Error('broken'), { code: 'ECONNRESET' });
    const { next } = cliErrorOf(networkError(http, error, { isWrite: true }));
    expect(next).toEqual([expect.stringContaining('The change may have been made'), hint]);
  });

  test('names https if a proxy refuses plain text with 400', () => {
    const plain = { headers: {}, status: 400, body: undefined };
    expect(cliErrorOf(answerError({ url: http, ...plain })).next).toContain(hint);
    expect(cliErrorOf(answerError({ url: http, ...plain, status: 404 })).next).not.toContain(hint);
  });

  test('does not name https if nothing listens', () => {
    const error = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    expect(cliErrorOf(networkError(http, error)).next).not.toContain(hint);
  });
});
