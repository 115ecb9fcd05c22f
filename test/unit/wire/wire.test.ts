import { describe, expect, test } from '@jest/globals';
import type { z } from 'zod';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';
import { pageQuery } from '../../../src/wire/page.ts';
import { parseInput } from '../../../src/wire/parse-input.ts';
import { patchSecretsBody, putSecretBody } from '../../../src/wire/secrets.ts';
import { createServiceTokenBody } from '../../../src/wire/service-tokens.ts';
import { createTenantBody } from '../../../src/wire/tenancy.ts';
import { rollbackBody, versionParams } from '../../../src/wire/versions.ts';

const kib = 1024;

/** What a schema makes of JSON text, or the error that refuses it. */
function parse(schema: z.ZodType, json: string): unknown {
  try {
    return parseInput('body', schema, JSON.parse(json));
  } catch (error) {
    return error;
  }
}

/** The faulty fields of JSON text and what is said of each. */
function faults(schema: z.ZodType, json: string): [string, string][] {
  const error = parse(schema, json);
  if (!(error instanceof DomainError)) throw new Error('the input was accepted');
  expect(error.code).toBe('invalid_input');
  return error.fields.map(({ field, message }) => [field, message]);
}

describe('a PATCH of secrets', () => {
  test('becomes a Map of plaintexts that print as nothing', () => {
    const body = parseInput(
      'body',
      patchSecretsBody,
      JSON.parse('{"set":{"A":"canary","constructor":""},"delete":["B"]}'),
    );
    expect([...(body.set ?? [])].map(([key, value]) => [key, value.reveal()])).toEqual([
      ['A', 'canary'],
      ['constructor', ''],
    ]);
    expect(body.delete).toEqual(['B']);
    expect(JSON.stringify([...(body.set ?? [])])).not.toContain('canary');
  });

  test('refuses the key __proto__ by its name, also when it stands twice', () => {
    const [first, ...others] = faults(patchSecretsBody, '{"set":{"__proto__":"canary","A":"1","__proto__":"canary"}}');
    expect(first?.[0]).toBe('set.__proto__');
    expect(others).toEqual([]);
  });

  test('names each faulty entry by its path and repeats no value', () => {
    const json = `{"set":{"A":5,"B":"\\ud800","C":"${'x'.repeat(256 * kib + 1)}","D":null},"delete":["..canary"]}`;
    expect(faults(patchSecretsBody, json)).toEqual([
      ['set.A', 'must be a string'],
      ['set.B', expect.stringContaining('lone surrogate')],
      ['set.C', `must be at most ${256 * kib} bytes of UTF-8`],
      ['set.D', 'must be a string'],
      ['delete.0', expect.stringContaining('must not be')],
    ]);
  });

  test('names the place of a key that cannot be shown', () => {
    const [fault] = faults(patchSecretsBody, '{"set":{"A":"1","canary = value":"2"}}');
    expect(fault?.[0]).toBe('set.(unprintable name)');
    expect(fault?.[1]).toMatch(/^the key of entry 2 must be 1 to 253 letters/);
  });

  test('takes a value of exactly 256 KiB and a key of 253 characters', () => {
    const json = JSON.stringify({ set: { ['K'.repeat(253)]: 'é'.repeat(128 * kib) } });
    expect(parse(patchSecretsBody, json)).not.toBeInstanceOf(Error);
  });

  test.each([
    [
      'none of set, generate and delete',
      '{"comment":"x"}',
      ['body', 'must have set, generate or delete, or several of them'],
    ],
    [
      'a generate that is a list',
      '{"generate":[]}',
      ['generate', 'must be a JSON object of keys and what to generate for each'],
    ],
    ['a length that is too short', '{"generate":{"A":{"length":3}}}', ['generate.A.length', 'must be at least 4']],
    ['a length that is too long', '{"generate":{"A":{"length":4097}}}', ['generate.A.length', 'must be at most 4096']],
    ['a length in words', '{"generate":{"A":{"length":"32"}}}', ['generate.A.length', 'must be a number']],
    [
      'a charset that there is not',
      '{"generate":{"A":{"charset":"emoji"}}}',
      ['generate.A.charset', 'must be one of alphanumeric, digits, hex, base64url, ascii-printable'],
    ],
    [
      'an unknown field of a value to be made up',
      '{"generate":{"A":{"value":"canary"}}}',
      ['generate.A.value', 'is not a field of this request'],
    ],
    [
      'a value in place of what is to be made up',
      '{"generate":{"A":"canary"}}',
      ['generate.A', 'must be a JSON object'],
    ],
    ['a set that is an array', '{"set":["canary"]}', ['set', 'must be a JSON object of keys and values']],
    [
      'a number for the expected revision',
      '{"delete":["A"],"expectedRevision":4}',
      ['expectedRevision', 'must be a UUID'],
    ],
    ['text for a flag', '{"delete":["A"],"skipUnchanged":"yes"}', ['skipUnchanged', 'must be true or false']],
    ['an unknown field', '{"delete":["A"],"dryRun":true}', ['dryRun', 'is not a field of this request']],
    [
      '__proto__ as a field',
      '{"delete":["A"],"__proto__":{"set":{}}}',
      ['__proto__', 'is not a field of this request'],
    ],
    ['a body that is a list', '[]', ['body', 'must be a JSON object']],
    ['a body that is null', 'null', ['body', 'must be a JSON object']],
    [
      'a comment of two lines',
      '{"delete":["A"],"comment":"canary\\ntwo"}',
      ['comment', 'must not contain control characters'],
    ],
  ])('refuses %s', (_case, json, fault) => {
    expect(faults(patchSecretsBody, json)).toEqual([fault]);
  });

  test('reports at most 20 faults, and how many there are', () => {
    const set = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`K${index}`, index]));
    const error = parse(patchSecretsBody, JSON.stringify({ set })) as DomainError;
    expect(error.fields).toHaveLength(20);
    expect(error.detail).toBe('set.K0: must be a string (and 49 more, see errors)');
  });

  test('keeps no more of them however many there are', () => {
    const names = Array.from({ length: 100_000 }, (_, index) => [`K${index}`, 1] as const);
    const error = parse(putSecretBody, JSON.stringify({ ...Object.fromEntries(names), value: '' })) as DomainError;
    expect(error.fields).toHaveLength(20);
    expect(error.detail).toBe('K0: is not a field of this request (and 99999 more, see errors)');
    const both = parse(putSecretBody, JSON.stringify({ ...Object.fromEntries(names), value: 1 })) as DomainError;
    expect(both.fields).toHaveLength(20);
    expect(both.detail).toBe('value: must be a string (and 100000 more, see errors)');
    // More than there may be are not looked at one by one.
    const numbers = JSON.stringify({ delete: Array.from({ length: 10_001 }, () => 1) });
    expect(faults(patchSecretsBody, numbers)).toEqual([['delete', 'must hold at most 10000 entries']]);
  });

  test('is limited to 10,000 keys', () => {
    const keys = Array.from({ length: 10_001 }, (_, index) => `K${index}`);
    const set = Object.fromEntries(keys.map((key) => [key, '']));
    expect(faults(patchSecretsBody, JSON.stringify({ set }))).toEqual([['set', 'must hold at most 10000 entries']]);
    expect(faults(patchSecretsBody, JSON.stringify({ delete: keys }))).toEqual([
      ['delete', 'must hold at most 10000 entries'],
    ]);
  });
});

describe('other bodies', () => {
  test('a PUT of a secret keeps an empty value and expects version 0', () => {
    const body = parseInput('body', putSecretBody, { value: '', expectedVersion: 0 });
    expect(body.value).toBeInstanceOf(Plaintext);
    expect(body.value.reveal()).toBe('');
    expect(body.expectedVersion).toBe(0);
  });

  test('a service token has its ids in lower case and its expiry as a moment', () => {
    const input = {
      name: 'ci',
      scope: 'project',
      projectId: '0D9F1A30-0000-4000-8000-00000000000A',
      permission: 'read',
      expiresAt: '2027-01-01T00:00:00+01:00',
    };
    expect(parseInput('body', createServiceTokenBody, input)).toEqual({
      ...input,
      projectId: '0d9f1a30-0000-4000-8000-00000000000a',
      expiresAt: new Date('2026-12-31T23:00:00Z'),
    });
  });

  test.each<[string, z.ZodType, string, [string, string]]>([
    ['a PUT without a value', putSecretBody, '{}', ['value', 'is required']],
    ['a PUT of null', putSecretBody, '{"value":null}', ['value', 'must be a string']],
    [
      'a negative version',
      putSecretBody,
      '{"value":"","expectedVersion":-1}',
      ['expectedVersion', 'must be at least 0'],
    ],
    [
      'a huge version',
      putSecretBody,
      '{"value":"","expectedVersion":2147483648}',
      ['expectedVersion', 'must be at most 2147483647'],
    ],
    ['a fraction', rollbackBody, '{"targetVersion":1.5}', ['targetVersion', 'must be an integer']],
    ['a version as text', rollbackBody, '{"targetVersion":"1"}', ['targetVersion', 'must be a number']],
    ['a rollback without a target', rollbackBody, '{}', ['targetVersion', 'is required']],
    ['a rollback to 0', rollbackBody, '{"targetVersion":0}', ['targetVersion', 'must be at least 1']],
    [
      'a slug in capitals',
      createTenantBody,
      '{"slug":"Canary"}',
      ['slug', expect.stringContaining('must be 1 to 63') as unknown as string],
    ],
    ['a blank name', createTenantBody, '{"slug":"a","displayName":" "}', ['displayName', 'must not be empty']],
    ['no scope', createServiceTokenBody, '{"name":"x","permission":"read"}', ['scope', 'is required']],
    [
      'a scope',
      createServiceTokenBody,
      '{"name":"x","scope":"canary","permission":"read"}',
      ['scope', 'must be one of organization, project, environment'],
    ],
    [
      'a permission',
      createServiceTokenBody,
      '{"name":"x","scope":"organization","permission":"write"}',
      ['permission', 'must be one of read, read_write'],
    ],
    [
      'an id',
      createServiceTokenBody,
      '{"name":"x","scope":"project","permission":"read","projectId":"canary"}',
      ['projectId', 'must be a UUID'],
    ],
    [
      'a lifetime',
      createServiceTokenBody,
      '{"name":"x","scope":"organization","permission":"read","expiresInDays":3651}',
      ['expiresInDays', 'must be at most 3650'],
    ],
    [
      'a day without time',
      createServiceTokenBody,
      '{"name":"x","scope":"organization","permission":"read","expiresAt":"2027-01-31"}',
      ['expiresAt', expect.stringContaining('must be an ISO 8601 time') as unknown as string],
    ],
  ])('%s is refused', (_case, schema, json, fault) => {
    expect(faults(schema, json)).toEqual([fault]);
    expect((parse(schema, json) as DomainError).detail).not.toMatch(/canary/i);
  });
});

describe('paths and queries', () => {
  test('numbers are read from text', () => {
    expect(parseInput('query', pageQuery, { limit: '1000', cursor: 'x' })).toEqual({ limit: 1000, cursor: 'x' });
    expect(parseInput('path', versionParams, { key: 'A', version: '2147483647' })).toEqual({
      key: 'A',
      version: 2 ** 31 - 1,
    });
  });

  test.each(['0', '1001', '-1', '1.5', '1e3', ' 1', '', '0x10', '99999999999'])('the limit %j is refused', (limit) => {
    expect(faults(pageQuery, JSON.stringify({ limit }))).toEqual([['limit', 'must be an integer from 1 to 1000']]);
  });

  test('an unknown parameter is refused by its name', () => {
    expect(() => parseInput('query', pageQuery, { values: 'false' })).toThrow(
      'values: is not a query parameter of this request',
    );
  });
});

describe('what proves a federated service token', () => {
  const withClaims = (claims: string): string =>
    `{"name":"ci","scope":"organization","permission":"read","federation":{"issuer":"github"${claims}}}`;

  test('is an issuer with claims, each with its values', () => {
    const body = parse(createServiceTokenBody, withClaims(',"claims":{"constructor":["a"],"sub":["b","c"]}'));
    expect(body).toMatchObject({ federation: { issuer: 'github', claims: { constructor: ['a'], sub: ['b', 'c'] } } });
  });

  test.each([
    ['', 'federation.claims', 'is required'],
    [',"claims":null', 'federation.claims', 'must be a JSON object of claims and the values of each'],
    [',"claims":["canary"]', 'federation.claims', 'must be a JSON object of claims and the values of each'],
    [',"claims":{}', 'federation.claims', 'must have 1 to 10 claims'],
    [',"claims":{"sub":"canary"}', 'federation.claims.sub', 'must be an array of strings'],
    [',"claims":{"sub":["a",1]}', 'federation.claims.sub', 'must be an array of strings'],
    [',"claims":{"__proto__":["canary"]}', 'federation.claims.__proto__', 'must not be __proto__'],
    [',"claims":{"a canary":[]}', 'federation.claims.(unprintable name)', 'must have 1 to 20 values'],
  ])('is refused with %s at %s', (claims, field, message) => {
    expect(faults(createServiceTokenBody, withClaims(claims))).toEqual([[field, message]]);
  });
});
