import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readJwt } from '../../../src/identity/jwt.ts';
import { KeySet } from '../../../src/identity/key-set.ts';
import { type KeyFault, readKeySet } from '../../../src/identity/public-keys.ts';
import { JwtSigner } from '../../support/oidc/jwt-signer.ts';

const [rsa, curve, edwards] = [
  new JwtSigner('RS256', 'rsa'),
  new JwtSigner('ES256', 'curve'),
  new JwtSigner('EdDSA', 'edwards'),
];

function modulusOf(bits: number): string {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 2 ** (((bits - 1) % 8) + 1) - 1;
  return bytes.toString('base64url');
}

test('the public parts of keys are read', () => {
  const privateKey = { ...curve.privateKey.export({ format: 'jwk' }), kid: 'private', key_ops: ['sign', 'verify'] };
  const read = readKeySet({ keys: [rsa.jwk, curve.jwk, edwards.jwk, privateKey], other: 1 });
  expect(read?.unusable).toEqual([]);
  const { n, e } = rsa.jwk;
  expect(read?.keys).toEqual([
    { kty: 'RSA', alg: 'RS256', kid: 'rsa', n, e },
    { kty: 'EC', alg: 'ES256', kid: 'curve', crv: 'P-256', x: curve.jwk.x, y: curve.jwk.y },
    { kty: 'OKP', alg: 'EdDSA', kid: 'edwards', crv: 'Ed25519', x: edwards.jwk.x },
    { kty: 'EC', alg: 'ES256', kid: 'private', crv: 'P-256', x: curve.jwk.x, y: curve.jwk.y },
  ]);
});

describe('a key is usable', () => {
  test.each([
    ['without an algorithm', { ...rsa.jwk, alg: undefined }],
    ['of Ed25519 by its newer name', { ...edwards.jwk, alg: 'Ed25519' }],
    ['without a use', { ...curve.jwk, use: undefined }],
    ['without a key id', { ...curve.jwk, kid: undefined }],
    ['with 2,048 bits', { ...rsa.jwk, n: modulusOf(2048) }],
    ['with 8,192 bits', { ...rsa.jwk, n: modulusOf(8192) }],
  ])('%s', (_name, key) => expect(readKeySet({ keys: [key] })).toMatchObject({ keys: [{}], unusable: [] }));
});

describe('a key is not usable', () => {
  test.each<[string, unknown, KeyFault]>([
    ['for encryption', { ...rsa.jwk, use: 'enc' }, 'other_use'],
    ['that only signs', { ...rsa.jwk, key_ops: ['sign'] }, 'other_use'],
    ['of RS512', { ...rsa.jwk, alg: 'RS512' }, 'other_algorithm'],
    ['of PS256', { ...rsa.jwk, alg: 'PS256' }, 'other_algorithm'],
    ['that is a shared secret', { kty: 'oct', k: 'AAAA', alg: 'HS256' }, 'other_algorithm'],
    [
      'on P-384',
      generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey.export({ format: 'jwk' }),
      'other_algorithm',
    ],
    ['on Ed448', generateKeyPairSync('ed448').publicKey.export({ format: 'jwk' }), 'other_algorithm'],
    ['with 2,047 bits', { ...rsa.jwk, n: modulusOf(2047) }, 'weak'],
    ['with 2,048 bits of which the first are zero', { ...rsa.jwk, n: `AAAA${modulusOf(1024)}` }, 'weak'],
    ['with 8,193 bits', { ...rsa.jwk, n: modulusOf(8193) }, 'weak'],
    ['with exponent 1', { ...rsa.jwk, e: 'AQ' }, 'weak'],
    ['with exponent 3', { ...rsa.jwk, e: 'Aw' }, 'weak'],
    ['with an even exponent', { ...rsa.jwk, e: 'AQAC' }, 'weak'],
    ['with a huge exponent', { ...rsa.jwk, e: modulusOf(2048) }, 'weak'],
    ['without a modulus', { ...rsa.jwk, n: undefined }, 'malformed'],
    ['with a modulus that is a number', { ...rsa.jwk, n: 1 }, 'malformed'],
    ['with a modulus in base64', { ...rsa.jwk, n: '+/==' }, 'malformed'],
    ['with half a point', { ...curve.jwk, y: undefined }, 'malformed'],
    ['with a short point', { ...edwards.jwk, x: 'AAAA' }, 'malformed'],
    ['with a key id that is a number', { ...curve.jwk, kid: 1 }, 'malformed'],
    ['with an empty key id', { ...curve.jwk, kid: '' }, 'malformed'],
    ['with a key id of 257 characters', { ...curve.jwk, kid: 'k'.repeat(257) }, 'malformed'],
    ['that is null', null, 'malformed'],
    ['that is a list', [], 'malformed'],
  ])('%s', (_name, key, fault) => {
    expect(readKeySet({ keys: [curve.jwk, key] })).toMatchObject({
      keys: [{ kid: 'curve' }],
      unusable: [{ position: 1, fault }],
    });
  });
});

test.each([
  ['null', null],
  ['a list', [rsa.jwk]],
  ['an object without keys', {}],
  ['keys that are an object', { keys: { 0: rsa.jwk } }],
  ['21 keys', { keys: Array.from({ length: 21 }, () => rsa.jwk) }],
])('%s is no key set', (_name, value) => expect(readKeySet(value)).toBeUndefined());

describe('the key of a JWT', () => {
  const keySet = (...keys: readonly object[]): KeySet => new KeySet(readKeySet({ keys })?.keys ?? []);
  const jwtOf = (header: object) => readJwt(curve.sign({ aud: 'a' }, { ...header }), () => true);

  test('is found by its id', () => {
    const set = keySet(new JwtSigner('ES256', 'other').jwk, curve.jwk);
    expect(set.keyFor(jwtOf({}))?.equals(createPublicKey(curve.privateKey))).toBe(true);
  });

  test('without an id is not found among several of its algorithm', () => {
    const set = keySet(new JwtSigner('ES256', 'other').jwk, curve.jwk);
    expect(set.keyFor(jwtOf({ kid: undefined }))).toBeUndefined();
  });

  test('is not found if two have its id', () => {
    const set = keySet(new JwtSigner('ES256', 'curve').jwk, curve.jwk);
    expect(set.keyFor(jwtOf({}))).toBeUndefined();
  });

  test('is found beside a key of another algorithm with its id', () => {
    const set = keySet(new JwtSigner('RS256', 'curve').jwk, curve.jwk);
    expect(set.keyFor(jwtOf({}))?.asymmetricKeyType).toBe('ec');
  });

  test('is not one without an id, if the JWT has one', () => {
    const set = keySet({ ...curve.jwk, kid: undefined });
    expect(set.keyFor(jwtOf({}))).toBeUndefined();
  });

  test('is not found if its point is not on the curve', () => {
    const set = keySet({ ...curve.jwk, y: curve.jwk.x });
    expect(set.keyFor(jwtOf({}))).toBeUndefined();
  });
});
