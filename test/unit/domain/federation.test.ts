import { describe, expect, test } from '@jest/globals';
import { validateClaims } from '../../../src/domain/federation.ts';
import type { RequiredClaims } from '../../../src/domain/issuer-presets.ts';

const claimsOf = (count: number): RequiredClaims =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`claim-${index}`, ['a']]));
const valuesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `${index}`);

describe('claims have a form that is stored', () => {
  test.each<[string, RequiredClaims]>([
    ['one claim', { sub: ['system:serviceaccount:shop:ci'] }],
    ['ten claims', claimsOf(10)],
    ['twenty values', { sub: valuesOf(20) }],
    ['the longest name and value', { ['n'.repeat(100)]: ['v'.repeat(200)] }],
    ['200 characters outside of the BMP', { sub: ['\u{1f511}'.repeat(200)] }],
    ['the name of a property that each object has', { constructor: ['a'] }],
    ['a URL as a name', { 'https://example.test/roles': ['deploy'] }],
  ])('with %s', (_name, claims) => expect(validateClaims(claims)).toBeUndefined());
});

describe('claims have another form', () => {
  const text = (max: number): string => `must be 1 to ${max} characters`;
  const other = 'must be another claim: the server checks this one itself, or it identifies one JWT';
  test.each<[string | null, string, RequiredClaims]>([
    [null, 'must have 1 to 10 claims', {}],
    [null, 'must have 1 to 10 claims', claimsOf(11)],
    ['sub', 'must have 1 to 20 values', { sub: [] }],
    ['sub', 'must have 1 to 20 values', { sub: valuesOf(21) }],
    ['sub', `has a value that ${text(200)}`, { sub: ['a', ''] }],
    ['sub', `has a value that ${text(200)}`, { sub: ['v'.repeat(201)] }],
    ['sub', `has a value that ${text(200)}`, { sub: ['\u{1f511}'.repeat(201)] }],
    ['sub', 'has a value that must not contain control characters', { sub: ['a\n'] }],
    ['sub', 'has a value that must be valid Unicode (it contains a lone surrogate)', { sub: ['\ud800'] }],
    ['', `has a name that ${text(100)}`, { '': ['a'] }],
    ['n'.repeat(101), `has a name that ${text(100)}`, { ['n'.repeat(101)]: ['a'] }],
    ['a\0', 'has a name that must not contain control characters', { 'a\0': ['a'] }],
    ['__proto__', 'must not be __proto__', JSON.parse('{"__proto__":["a"]}') as RequiredClaims],
    ...['iss', 'aud', 'exp', 'nbf', 'iat', 'jti'].map((name): [string, string, RequiredClaims] => [
      name,
      other,
      { sub: ['a'], [name]: ['a'] },
    ]),
  ])('at %j: %s', (claim, message, claims) => expect(validateClaims(claims)).toEqual({ claim, message }));
});
