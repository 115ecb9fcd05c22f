import { generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { issuerChange, issuerContent, type TrustedIssuerInput } from '../../../src/services/kernel/issuer-content.ts';
import { makeAuthority } from '../../support/fixtures/certificate.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const rsaKey = rsa.publicKey.export({ format: 'jwk' });
const ecKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' });
const edKey = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const base = { preset: 'none', iss: 'https://a.example', algorithms: ['RS256', 'ES256', 'EdDSA'] } as const;
const withUrl: TrustedIssuerInput = { ...base, jwksUrl: 'https://a.example/keys' };
const withKeys = (...keys: readonly unknown[]): TrustedIssuerInput => ({ ...base, keys });

/** The fields of a refusal; none if the input is taken. */
function faultsOf(input: TrustedIssuerInput): readonly string[] {
  try {
    issuerContent(input);
  } catch (error) {
    if (error instanceof DomainError) return error.fields.map(({ field, message }) => `${field}: ${message}`);
    throw error;
  }
  return [];
}

describe('the keys of an issuer', () => {
  test('are kept with the members of their public part, in one order', () => {
    const keys = [
      { ...rsaKey, kid: 'b', use: 'sig', x5c: ['MII'], key_ops: ['verify'] },
      { ...edKey, alg: 'Ed25519' },
      { ...ecKey, kid: 'a', alg: 'ES256' },
    ];
    const kept = [
      { ...ecKey, kid: 'a', alg: 'ES256' },
      { ...edKey, alg: 'EdDSA' },
      { ...rsaKey, kid: 'b', alg: 'RS256' },
    ];
    expect(issuerContent(withKeys(...keys)).keys).toEqual({ keys: kept });
    expect(issuerContent(withKeys(...keys.toReversed())).keys).toEqual({ keys: kept });
  });

  const secret =
    'must not be a private or symmetric key: replace it at the issuer, because it was sent here, and give public keys';
  const material = 'must be a JSON Web Key (RFC 7517) with all members of its type';
  const privateKey = rsa.privateKey.export({ format: 'jwk' });
  const modulus = (bits: number): JsonWebKey => ({
    ...rsaKey,
    n: Buffer.from(`c1${'00'.repeat(bits / 8 - 2)}01`, 'hex').toString('base64url'),
  });

  test.each<[string, readonly unknown[], string]>([
    ['a private key', [rsaKey, privateKey], `keys.1: ${secret}`],
    ['one prime of a private key', [{ ...rsaKey, p: privateKey.p }], `keys.0: ${secret}`],
    ['a symmetric key', [{ kty: 'oct', k: 'c2VjcmV0' }], `keys.0: ${secret}`],
    ['a symmetric key that says it is RSA', [{ ...rsaKey, k: 'c2VjcmV0' }], `keys.0: ${secret}`],
    ['no key', [], 'keys: must be 1 to 20 keys'],
    [
      '21 keys',
      Array.from({ length: 21 }, (_, index) => ({ ...rsaKey, kid: String(index) })),
      'keys: must be 1 to 20 keys',
    ],
    ['a key for encryption', [{ ...rsaKey, use: 'enc' }], 'keys.0: must be a key for signatures (use = sig)'],
    [
      'a key of another curve',
      [{ ...ecKey, crv: 'P-384' }],
      'keys.0: must be an RSA, EC P-256 or Ed25519 key, for RS256, ES256 or EdDSA',
    ],
    [
      'a key of another algorithm',
      [{ ...rsaKey, alg: 'PS256' }],
      'keys.0: must be an RSA, EC P-256 or Ed25519 key, for RS256, ES256 or EdDSA',
    ],
    ['a short modulus', [modulus(2040)], 'keys.0: must have 2,048 to 8,192 bits and a public exponent from 65,537'],
    ['a long modulus', [modulus(8200)], 'keys.0: must have 2,048 to 8,192 bits and a public exponent from 65,537'],
    [
      'the exponent 1',
      [{ ...rsaKey, e: 'AQ' }],
      'keys.0: must have 2,048 to 8,192 bits and a public exponent from 65,537',
    ],
    ['a point beside its curve', [{ ...ecKey, x: ecKey.y, y: ecKey.x }], `keys.0: ${material}`],
    ['a key without its modulus', [{ kty: 'RSA', e: 'AQAB' }], `keys.0: ${material}`],
    ['a text', ['key'], `keys.0: ${material}`],
    [
      'two keys of one kid',
      [
        { ...rsaKey, kid: 'a' },
        { ...rsaKey, kid: 'a' },
      ],
      'keys.1: must have another kid than the keys before it',
    ],
    [
      'two keys of one algorithm without a kid',
      [edKey, edKey],
      'keys.1: must have another kid than the keys before it',
    ],
  ])('cannot be %s', (_, keys, message) => expect(faultsOf(withKeys(...keys))).toEqual([message]));

  test('may have one kid for keys of two algorithms', () => {
    expect(faultsOf(withKeys({ ...rsaKey, kid: 'a' }, { ...ecKey, kid: 'a' }))).toEqual([]);
  });

  test('have one of the algorithms', () => {
    expect(faultsOf({ ...withKeys(rsaKey, ecKey), algorithms: ['ES256'] })).toEqual([
      'keys.0: must be a key for one of the algorithms',
    ]);
  });

  test('never appear in a refusal', () => {
    const refused = JSON.stringify([faultsOf(withKeys(privateKey)), faultsOf(withKeys({ ...ecKey, x: ecKey.y }))]);
    const members = [...Object.values(privateKey), ecKey.y].filter((member) => String(member).length > 8);
    expect(members.filter((member) => refused.includes(String(member)))).toEqual([]);
    expect(members.length).toBeGreaterThan(6);
  });
});

describe('an issuer', () => {
  const source = 'jwksUrl: give either jwksUrl or keys: the issuer publishes its keys, or they never change';
  test.each<[string, TrustedIssuerInput, string]>([
    ['without keys and URL', base, source],
    ['with keys and URL', { ...withUrl, keys: [rsaKey] }, source],
    [
      'with authorities and keys',
      { ...withKeys(rsaKey), ca: 'x' },
      'ca: has no effect without jwksUrl: nothing is fetched',
    ],
    ['with a text for its authorities', { ...withUrl, ca: 'x' }, 'ca: must be certificates in PEM'],
    [
      'with a broken certificate',
      { ...withUrl, ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
      'ca: must be certificates in PEM',
    ],
    ['with large authorities', { ...withUrl, ca: 'x'.repeat(16_385) }, 'ca: must be at most 16384 bytes'],
    [
      'with a private key among its authorities',
      { ...withUrl, ca: rsa.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string },
      'ca: must not have a private key: give certificates only',
    ],
    [
      'of a lifetime of no second',
      { ...withUrl, maxAgeSeconds: 0 },
      'maxAgeSeconds: must be a whole number from 1 to 86400',
    ],
    [
      'of a lifetime of over a day',
      { ...withUrl, maxAgeSeconds: 86_401 },
      'maxAgeSeconds: must be a whole number from 1 to 86400',
    ],
    ['with no algorithm', { ...withUrl, algorithms: [] }, 'algorithms: must be one or more of RS256, ES256, EdDSA'],
    [
      'of another algorithm',
      { ...withUrl, algorithms: ['HS256' as 'RS256'] },
      'algorithms: must be one or more of RS256, ES256, EdDSA',
    ],
    [
      'of another preset',
      { ...withUrl, preset: 'any' as 'none' },
      'preset: must be one of github, gitlab, kubernetes, none',
    ],
  ])('is refused %s', (_, input, message) => expect(faultsOf(input)).toEqual([message]));

  test.each<[string, TrustedIssuerInput, readonly string[]]>([
    ['its keys', withKeys(ecKey, rsaKey, { ...ecKey, kid: 'b' }), ['RS256', 'ES256']],
    ['a URL with the preset github', { ...withUrl, preset: 'github' }, ['RS256']],
    ['a URL with the preset gitlab', { ...withUrl, preset: 'gitlab' }, ['RS256']],
    ['a URL with the preset kubernetes', { ...withUrl, preset: 'kubernetes' }, ['RS256', 'ES256', 'EdDSA']],
    ['a URL without a preset', withUrl, ['RS256', 'ES256', 'EdDSA']],
  ])('without algorithms has those of %s', (_, input, expected) => {
    const { algorithms: _given, ...rest } = input;
    expect(issuerContent(rest).algorithms).toEqual(expected);
  });

  test('keeps its certificates without the text between them', () => {
    const { certificate: cert } = makeAuthority();
    expect(issuerContent({ ...withUrl, ca: `my authority\n${cert}\nthe same\n${cert}` }).ca).toBe(`${cert}${cert}`);
  });
});

describe('a change of an issuer', () => {
  const before = issuerContent({ ...withUrl, algorithms: ['RS256'] });
  const after = (more: Partial<TrustedIssuerInput>) =>
    issuerChange(before, issuerContent({ ...withUrl, algorithms: ['RS256'], ...more }));
  const { certificate: cert } = makeAuthority();

  test.each<[string, Partial<TrustedIssuerInput>, object]>([
    ['nothing', {}, { changed: [], isNewGeneration: false, replacesKeys: false }],
    [
      'its preset and lifetime',
      { preset: 'github', maxAgeSeconds: 60 },
      { changed: ['preset', 'maxAgeSeconds'], isNewGeneration: false, replacesKeys: false },
    ],
    ['its iss', { iss: 'b' }, { changed: ['iss'], isNewGeneration: true, replacesKeys: false }],
    [
      'its algorithms',
      { algorithms: ['ES256', 'RS256'] },
      { changed: ['algorithms'], isNewGeneration: true, replacesKeys: false },
    ],
    [
      'its URL',
      { jwksUrl: 'https://b.example/keys' },
      { changed: ['jwksUrl'], isNewGeneration: true, replacesKeys: true },
    ],
    ['its authorities', { ca: cert }, { changed: ['ca'], isNewGeneration: true, replacesKeys: true }],
    [
      'its URL to keys',
      { jwksUrl: undefined, keys: [rsaKey] },
      { changed: ['jwksUrl', 'keys'], isNewGeneration: true, replacesKeys: true },
    ],
  ])('of %s', (_, more, expected) => expect(after(more)).toEqual(expected));

  test('is none if keys were fetched from its URL', () => {
    const fetched = { ...before, keys: { keys: [{ kty: 'RSA' }] } };
    expect(issuerChange(fetched, before)).toMatchObject({ changed: [] });
  });

  test('is none if keys or algorithms have another order', () => {
    const first = issuerContent(withKeys(rsaKey, ecKey));
    const second = issuerContent({ ...withKeys(ecKey, rsaKey), algorithms: ['EdDSA', 'ES256', 'RS256'] });
    expect(issuerChange(first, second)).toMatchObject({ changed: [] });
    expect(issuerChange(first, issuerContent(withKeys(ecKey)))).toMatchObject({
      changed: ['keys'],
      replacesKeys: true,
    });
  });
});
