import { expect, test } from '@jest/globals';
import {
  checkIdempotencyKey,
  idempotencyRequest,
  type IdempotentRequest,
} from '../../../src/http/request/idempotency.ts';

const request: IdempotentRequest = {
  method: 'POST',
  path: '/things/{org}',
  params: { org: 'acme' },
  body: { name: 'x', at: new Date(0), list: [1, 2], inner: { a: 1, b: 2 } },
};

function hashOf(changed: Partial<IdempotentRequest> = {}): string {
  return Buffer.from(idempotencyRequest('k', { ...request, ...changed }).requestHash).toString('hex');
}

test('the order of names does not distinguish requests', () => {
  const body = { inner: { b: 2, a: 1 }, list: [1, 2], at: new Date(0), name: 'x' };
  expect(hashOf({ body })).toBe(hashOf());
});

test('everything that is asked for distinguishes requests', () => {
  const body = { name: 'x', at: new Date(0), list: [1, 2], inner: { a: 1, b: 2 } };
  const others = [
    { method: 'PUT' },
    { path: '/things/{org}/x' },
    { params: { org: 'other' } },
    { body: { ...body, name: 'y' } },
    { body: { ...body, at: new Date(1) } },
    { body: { ...body, list: [2, 1] } },
    { body: { ...body, inner: { a: 1, b: null } } },
    { body: { ...body, more: '' } },
    { body: undefined },
  ];
  expect(new Set([hashOf(), ...others.map((changed) => hashOf(changed))]).size).toBe(others.length + 1);
});

test('a key is 1 to 255 visible ASCII characters', () => {
  for (const key of ['a', '"8e03978e-40d5"', '~'.repeat(255), '!']) {
    expect(() => checkIdempotencyKey(key)).not.toThrow();
  }
  for (const key of ['', 'a b', 'a\t', 'é', 'a'.repeat(256), 'a, b']) {
    expect(() => checkIdempotencyKey(key)).toThrow('Idempotency-Key must be 1 to 255 visible ASCII characters');
  }
});
