import { constants, createHmac, sign } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { JwtFault } from '../../../src/domain/jwt-faults.ts';
import { isJwt, judgeClaims, type JwtEnd, JwtError, readJwt, verifySignature } from '../../../src/identity/jwt.ts';
import { KeySet } from '../../../src/identity/key-set.ts';
import { readKeySet } from '../../../src/identity/public-keys.ts';
import { JwtSigner, timesFor } from '../../support/oidc/jwt-signer.ts';

const now = new Date('2026-12-03T12:00:00.000Z');
const seconds = now.getTime() / 1000;
const audience = 'keyframe/aaaaaaaaaaaaaaaaaaaaaaaaaa/service-tokens/0b5f6c0e-7a51-4f0f-9a0b-0d8f6a9d1c11';
const signer = new JwtSigner('ES256', 'key-1');
const rsa = new JwtSigner('RS256', 'key-2');
const edwards = new JwtSigner('EdDSA', 'key-3');
const stranger = new JwtSigner('ES256', 'key-1');
const { keys = [] } = readKeySet({ keys: [signer.jwk, rsa.jwk, edwards.jwk] }) ?? {};
const keySet = new KeySet(keys);
const expected = {
  iss: 'https://issuer.example',
  maxAgeSeconds: 3_600,
  claims: { repository_id: ['42', '43'], environment: ['production'] },
  now,
};
const claims = {
  iss: expected.iss,
  aud: audience,
  sub: 'repo:acme/shop',
  repository_id: '42',
  environment: 'production',
  iat: seconds - 10,
  nbf: seconds - 10,
  exp: seconds + 290,
};

/** Reads, verifies and judges a JWT, as an authentication does. */
function ended(text: string): JwtEnd {
  const jwt = readJwt(text, (one) => one.startsWith('keyframe/'));
  const key = keySet.keyFor(jwt);
  if (key === undefined) throw new JwtError('jwt_unknown_key');
  verifySignature(jwt, key);
  return judgeClaims(jwt, expected);
}

/** Why a JWT is refused; undefined for one that is not. */
function refusalOf(text: string): JwtError | undefined {
  try {
    ended(text);
    return undefined;
  } catch (error) {
    if (error instanceof JwtError) return error;
    throw error;
  }
}

function encoded(text: string | object | Uint8Array): string {
  if (text instanceof Uint8Array) return Buffer.from(text).toString('base64url');
  return Buffer.from(typeof text === 'string' ? text : JSON.stringify(text)).toString('base64url');
}

/** A JWT of any three parts, with the right signature. */
function signed(header: string, body: string): string {
  return `${header}.${body}.${signer.signatureOf(`${header}.${body}`).toString('base64url')}`;
}

function without(name: keyof typeof claims): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
}

const header = { alg: 'ES256', kid: 'key-1', typ: 'JWT' };
const good = signer.sign(claims);
const [goodHeader = '', goodBody = '', goodSignature = ''] = good.split('.');
const deep = `${'['.repeat(9)}${']'.repeat(9)}`;

describe('a JWT is accepted', () => {
  test.each([
    ['signed with ES256', good],
    ['signed with RS256', rsa.sign(claims)],
    ['signed with EdDSA', edwards.sign(claims)],
    ['without a type', signer.sign(claims, { typ: undefined })],
    ['of the type at+jwt', signer.sign(claims, { typ: 'at+JWT' })],
    ['with the fingerprint of a certificate', signer.sign(claims, { x5t: 'AAAA', x5c: ['AAAA'] })],
    ['without a key id, if one key has its algorithm', signer.sign(claims, { kid: undefined })],
    ['whose audience is a list of one', signer.sign({ ...claims, aud: [audience] })],
    ['with another one of the values of a claim', signer.sign({ ...claims, repository_id: '43' })],
    ['without nbf', signer.sign(without('nbf'))],
    ['with fractions of seconds', signer.sign({ ...claims, exp: seconds + 0.5, iat: seconds - 0.5 })],
    ['that expired less than a minute ago', signer.sign({ ...claims, exp: seconds - 59, iat: seconds - 100 })],
    ['that is valid in less than a minute', signer.sign({ ...claims, nbf: seconds + 60, iat: seconds + 60 })],
    ['that lives as long as its issuer allows', signer.sign({ ...claims, iat: seconds, exp: seconds + 3_600 })],
    [
      'with lists, objects and numbers in claims that nothing requires',
      signer.sign({ ...claims, a: [1], b: { c: 1 } }),
    ],
    ['with a claim named __proto__', signer.sign(JSON.stringify(claims).replace('{', '{"__proto__":{"x":1},'))],
  ])('%s', (_name, text) => expect(refusalOf(text)).toBeUndefined());

  test('until a minute after its expiry', () => {
    expect(ended(good)).toEqual({
      expiresAt: new Date(claims.exp * 1000),
      acceptedUntil: new Date((claims.exp + 60) * 1000),
    });
  });
});

const hostile: readonly (readonly [string, string, JwtFault])[] = [
  // Form
  ['is empty between dots', '..', 'jwt_malformed'],
  ['has two parts', `${goodHeader}.${goodBody}`, 'jwt_malformed'],
  ['has four parts', `${good}.${goodSignature}`, 'jwt_malformed'],
  ['is encrypted, with five parts', `${goodHeader}.a.b.c.d`, 'jwt_malformed'],
  ['has no signature', `${goodHeader}.${goodBody}.`, 'jwt_malformed'],
  ['has a space after it', `${good} `, 'jwt_malformed'],
  ['has a line feed inside', good.replace('.', '.\n'), 'jwt_malformed'],
  ['has padding', signed(`${goodHeader}=`, goodBody), 'jwt_malformed'],
  ['has the letters of base64', `${goodHeader}.${goodBody}.${'+/'.repeat(43)}`, 'jwt_malformed'],
  [
    'has bits that count for nothing',
    `${good.slice(0, -1)}${goodSignature.endsWith('A') ? 'B' : nextLetter(good)}`,
    'jwt_malformed',
  ],
  ['has a header that is no UTF-8', signed(encoded(Uint8Array.of(0x7b, 0xff, 0x7d)), goodBody), 'jwt_malformed'],
  ['has claims that are no UTF-8', signed(goodHeader, encoded(Uint8Array.of(0x22, 0xc3, 0x28, 0x22))), 'jwt_malformed'],
  ['has a byte order mark', signed(goodHeader, encoded(`\uFEFF${JSON.stringify(claims)}`)), 'jwt_malformed'],
  [
    'has claims in UTF-16',
    signed(goodHeader, encoded(Buffer.from(JSON.stringify(claims), 'utf16le'))),
    'jwt_malformed',
  ],
  ['has a header that is no JSON', signed(encoded('{alg:"ES256"}'), goodBody), 'jwt_malformed'],
  ['has a header that is a list', signed(encoded([header]), goodBody), 'jwt_malformed'],
  ['has a header that is null', signed(encoded('null'), goodBody), 'jwt_malformed'],
  ['has claims that are a text', signed(goodHeader, encoded('"claims"')), 'jwt_malformed'],
  ['has claims with a comment', signer.sign(`${JSON.stringify(claims)}/**/`), 'jwt_malformed'],
  ['has claims with text behind them', signer.sign(`${JSON.stringify(claims)}{}`), 'jwt_malformed'],
  ['has claims with a comma too many', signer.sign(JSON.stringify(claims).replace('}', ',}')), 'jwt_malformed'],
  ['has a null byte in its claims', signer.sign(`${JSON.stringify(claims)}\0`), 'jwt_malformed'],
  ['has two algorithms', signed(encoded('{"alg":"none","alg":"ES256"}'), goodBody), 'jwt_malformed'],
  [
    'has two claims of one name',
    signer.sign(JSON.stringify(claims).replace('{', '{"environment":"test",')),
    'jwt_malformed',
  ],
  [
    'has two claims of one name, one of them escaped',
    signer.sign(JSON.stringify(claims).replace('{', '{"\\u0061ud":"other",')),
    'jwt_malformed',
  ],
  [
    'has two claims of one name inside a claim',
    signer.sign(JSON.stringify(claims).replace('{', '{"a":[{"b":1,"b":2}],')),
    'jwt_malformed',
  ],
  [
    'has claims that are nested too deeply',
    signer.sign({ ...claims, a: JSON.parse(deep) as unknown }),
    'jwt_malformed',
  ],
  ['has a header that is nested too deeply', signer.sign(claims, { a: JSON.parse(deep) as unknown }), 'jwt_malformed'],
  ['opens thousands of lists', signed(goodHeader, encoded('['.repeat(6_000))).slice(0, 8_192), 'jwt_malformed'],
  ['is longer than 8 KiB', signer.sign({ ...claims, a: 'a'.repeat(8 * 1024) }), 'jwt_too_large'],
  ['is a text of a million dots', '.'.repeat(1_000_000), 'jwt_too_large'],
  // Header
  ['names no algorithm', signer.sign(claims, { alg: undefined }), 'jwt_algorithm'],
  ['is not signed', `${encoded({ alg: 'none' })}.${goodBody}.AAAA`, 'jwt_algorithm'],
  ['is not signed, in other letters', `${encoded({ alg: 'nOnE' })}.${goodBody}.AAAA`, 'jwt_algorithm'],
  ['is signed with the public key as a shared secret', withSharedSecret(), 'jwt_algorithm'],
  ['names RS384', signer.sign(claims, { alg: 'RS384' }), 'jwt_algorithm'],
  ['names PS256', signer.sign(claims, { alg: 'PS256' }), 'jwt_algorithm'],
  ['names ES512', signer.sign(claims, { alg: 'ES512' }), 'jwt_algorithm'],
  ['names several algorithms', signer.sign(claims, { alg: ['ES256'] }), 'jwt_algorithm'],
  ['names a property of objects as its algorithm', signer.sign(claims, { alg: 'constructor' }), 'jwt_algorithm'],
  ['has a URL of its keys', signer.sign(claims, { jku: 'https://attacker.example/keys' }), 'jwt_header'],
  ['has a URL of its certificate', signer.sign(claims, { x5u: 'https://attacker.example/cert' }), 'jwt_header'],
  ['carries its key', stranger.sign(claims, { jwk: stranger.jwk }), 'jwt_header'],
  ['carries no key under the name of one', signer.sign(claims, { jwk: null }), 'jwt_header'],
  ['has critical parameters', signer.sign(claims, { crit: ['exp'] }), 'jwt_header'],
  ['has an empty list of critical parameters', signer.sign(claims, { crit: [] }), 'jwt_header'],
  ['is not encoded, by a critical parameter', signer.sign(claims, { b64: false, crit: ['b64'] }), 'jwt_header'],
  ['is a logout token', signer.sign(claims, { typ: 'logout+jwt' }), 'jwt_header'],
  ['is a security event', signer.sign(claims, { typ: 'secevent+jwt' }), 'jwt_header'],
  ['has a type that is null', signer.sign(claims, { typ: null }), 'jwt_header'],
  ['has a type that is no text', signer.sign(claims, { typ: ['JWT'] }), 'jwt_header'],
  ['has a key id that is a number', signer.sign(claims, { kid: 1 }), 'jwt_header'],
  ['has a key id that is null', signer.sign(claims, { kid: null }), 'jwt_header'],
  ['has a key id of 257 characters', signer.sign(claims, { kid: 'k'.repeat(257) }), 'jwt_header'],
  // Audience
  ['has no audience', signer.sign(without('aud')), 'jwt_foreign_audience'],
  ['is for another program', signer.sign({ ...claims, aud: 'https://vault.example' }), 'jwt_foreign_audience'],
  ['has an empty list of audiences', signer.sign({ ...claims, aud: [] }), 'jwt_foreign_audience'],
  [
    'has an audience that is an object',
    signer.sign({ ...claims, aud: { [audience]: audience } }),
    'jwt_foreign_audience',
  ],
  ['has a nested list of audiences', signer.sign({ ...claims, aud: [[audience]] }), 'jwt_foreign_audience'],
  [
    'is for another program too',
    signer.sign({ ...claims, aud: [audience, 'https://vault.example'] }),
    'jwt_several_audiences',
  ],
  [
    'is for two service tokens',
    signer.sign({ ...claims, aud: [audience, audience.replace('11', '12')] }),
    'jwt_several_audiences',
  ],
  ['has its audience twice', signer.sign({ ...claims, aud: [audience, audience] }), 'jwt_several_audiences'],
  ['has null beside its audience', signer.sign({ ...claims, aud: [null, audience] }), 'jwt_several_audiences'],
  // Key and signature
  ['names an unknown key', signer.sign(claims, { kid: 'key-9' }), 'jwt_unknown_key'],
  ['names an empty key', signer.sign(claims, { kid: '' }), 'jwt_unknown_key'],
  ['names a key by a path', signer.sign(claims, { kid: '../../etc/passwd' }), 'jwt_unknown_key'],
  ['names the key of another algorithm', signer.sign(claims, { kid: 'key-2' }), 'jwt_unknown_key'],
  ['names RS256 for a key of ES256', signer.sign(claims, { alg: 'RS256' }), 'jwt_unknown_key'],
  ['is signed with another key of the same id', stranger.sign(claims), 'jwt_signature'],
  [
    'has the signature of other claims',
    `${goodHeader}.${encoded({ ...claims, repository_id: '43' })}.${goodSignature}`,
    'jwt_signature',
  ],
  [
    'has the signature of another header',
    `${encoded({ ...header, typ: undefined })}.${goodBody}.${goodSignature}`,
    'jwt_signature',
  ],
  ['has a signature of zeros', `${goodHeader}.${goodBody}.${Buffer.alloc(64).toString('base64url')}`, 'jwt_signature'],
  ['has a short signature', `${goodHeader}.${goodBody}.AAAA`, 'jwt_signature'],
  ['has a long signature', `${good}AAAA`, 'jwt_signature'],
  ['has a short signature of RS256', rsa.sign(claims).slice(0, -6), 'jwt_signature'],
  ['has a short signature of EdDSA', edwards.sign(claims).slice(0, -6), 'jwt_signature'],
  ['has its signature in DER', resigned(good, { key: signer.privateKey, dsaEncoding: 'der' }), 'jwt_signature'],
  [
    'has a signature of PS256 under the name of RS256',
    resigned(rsa.sign(claims), { key: rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING }),
    'jwt_signature',
  ],
  [
    'has a signature of RS512 under the name of RS256',
    resigned(rsa.sign(claims), rsa.privateKey, 'sha512'),
    'jwt_signature',
  ],
  // Issuer
  ['is of another issuer', signer.sign({ ...claims, iss: 'https://other.example' }), 'jwt_issuer'],
  ['has its issuer with a slash behind', signer.sign({ ...claims, iss: `${expected.iss}/` }), 'jwt_issuer'],
  ['has its issuer in capitals', signer.sign({ ...claims, iss: 'https://ISSUER.example' }), 'jwt_issuer'],
  ['has no issuer', signer.sign(without('iss')), 'jwt_issuer'],
  ['has a list of issuers', signer.sign({ ...claims, iss: [expected.iss] }), 'jwt_issuer'],
  // Times
  ['never expires', signer.sign(without('exp')), 'jwt_no_times'],
  ['has no time of issue', signer.sign(without('iat')), 'jwt_no_times'],
  ['has an expiry that is text', signer.sign({ ...claims, exp: String(claims.exp) }), 'jwt_no_times'],
  [
    'has an infinite expiry',
    signer.sign(JSON.stringify({ ...claims, exp: 0 }).replace('"exp":0', '"exp":1e999')),
    'jwt_no_times',
  ],
  ['has an expiry beyond all years', signer.sign({ ...claims, exp: 253_402_300_800 }), 'jwt_no_times'],
  ['has a negative time of issue', signer.sign({ ...claims, iat: -1 }), 'jwt_no_times'],
  ['has a start that is null', signer.sign({ ...claims, nbf: null }), 'jwt_no_times'],
  ['expires before it was issued', signer.sign({ ...claims, iat: seconds, exp: seconds - 1 }), 'jwt_no_times'],
  ['expired a minute ago', signer.sign({ ...claims, exp: seconds - 60, iat: seconds - 100 }), 'jwt_expired'],
  ['begins in more than a minute', signer.sign({ ...claims, nbf: seconds + 61 }), 'jwt_not_valid_yet'],
  ['was issued in the future', signer.sign({ ...claims, iat: seconds + 61 }), 'jwt_not_valid_yet'],
  ['has its times in milliseconds', signer.sign({ ...claims, ...timesInMilliseconds() }), 'jwt_no_times'],
  ['lives a second too long', signer.sign({ ...claims, iat: seconds, exp: seconds + 3_601 }), 'jwt_lifetime'],
  // Claims
  ['has another value of a claim', signer.sign({ ...claims, repository_id: '4' }), 'jwt_claims'],
  ['has a value in capitals', signer.sign({ ...claims, environment: 'Production' }), 'jwt_claims'],
  ['lacks a claim', signer.sign(without('environment')), 'jwt_claims'],
  ['has a claim as a number', signer.sign({ ...claims, repository_id: 42 }), 'jwt_claims'],
  ['has a claim as a list', signer.sign({ ...claims, repository_id: ['42'] }), 'jwt_claims'],
  ['has a claim as an object', signer.sign({ ...claims, repository_id: { 42: '42' } }), 'jwt_claims'],
  [
    'has a claim in another one',
    signer.sign({ ...without('repository_id'), a: { repository_id: '42' } }),
    'jwt_claims',
  ],
  [
    'has a claim by a name with dots',
    signer.sign({ ...without('repository_id'), 'a.repository_id': '42' }),
    'jwt_claims',
  ],
  ['has a claim with a space behind', signer.sign({ ...claims, environment: 'production ' }), 'jwt_claims'],
];

describe('a JWT is refused that', () => {
  test.each(hostile)('%s', (_name, text, fault) => expect(refusalOf(text)?.fault).toBe(fault));

  test('stands in a table of at least 60 with different names', () => {
    expect(new Set(hostile.map(([name]) => name)).size).toBe(hostile.length);
    expect(hostile.length).toBeGreaterThanOrEqual(60);
  });

  test('would need a claim that no JWT has its own', () => {
    const jwt = readJwt(good, () => true);
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(() => judgeClaims(jwt, { ...expected, claims: { [name]: ['x'] } })).toThrow('jwt_claims');
    }
  });

  test('comes to a service token that requires no claim', () => {
    expect(() =>
      judgeClaims(
        readJwt(good, () => true),
        { ...expected, claims: {} },
      ),
    ).toThrow('jwt_claims');
  });
});

test('an error has no part of the JWT', () => {
  const error = refusalOf(signer.sign({ ...claims, repository_id: 'canary-value' }));
  expect(error).toBeInstanceOf(JwtError);
  expect(JSON.stringify(Object.getOwnPropertyNames(error).map((name) => (error as never)[name]))).not.toContain(
    'canary',
  );
});

test('a token with a value is not taken for a JWT', () => {
  expect(isJwt('kf_svc_0123456789')).toBe(false);
  expect(isJwt(good)).toBe(true);
});

test('the times of a JWT are those of the database, not of this machine', () => {
  const jwt = readJwt(signer.sign({ ...claims, ...timesFor(60) }), () => true);
  expect(() => judgeClaims(jwt, { ...expected, now: new Date(Date.now() + 120_000) })).toThrow('jwt_expired');
  expect(() => judgeClaims(jwt, { ...expected, now: new Date(Date.now() - 120_000) })).toThrow('jwt_not_valid_yet');
});

/** With HMAC, a verifier that trusts the algorithm of the header takes the public key for the shared secret. */
function withSharedSecret(): string {
  const text = `${encoded({ alg: 'HS256', kid: 'key-2' })}.${goodBody}`;
  return `${text}.${createHmac('sha256', JSON.stringify(rsa.jwk)).update(text).digest('base64url')}`;
}

/** A JWT with another signature of the same key. */
function resigned(text: string, key: Parameters<typeof sign>[2], hash = 'sha256'): string {
  const content = text.slice(0, text.lastIndexOf('.'));
  return `${content}.${sign(hash, Buffer.from(content), key).toString('base64url')}`;
}

/** The letter after the last one: 64 bytes end with a letter of which four bits count for nothing. */
function nextLetter(text: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return letters.charAt(letters.indexOf(text.slice(-1)) + 1);
}

function timesInMilliseconds(): object {
  return { iat: now.getTime(), nbf: now.getTime(), exp: now.getTime() + 300_000 };
}
