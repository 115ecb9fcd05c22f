import { describe, expect, test } from '@jest/globals';
import { JwtFault, isJwtLike, readJwt, refusedJwt } from '../../../src/client/jwt.ts';
import { audienceFor, jwtText } from '../../support/ci/jwt-text.ts';

function faultOf(text: string): string {
  try {
    readJwt(text);
  } catch (error) {
    if (error instanceof JwtFault) return error.message;
    throw error;
  }
  return '';
}

const encoded = (text: string): string => Buffer.from(text).toString('base64url');
const header = encoded('{"alg":"ES256"}');
const payload = encoded('{"aud":"a"}');

describe('a JWT', () => {
  test('is read with its audiences and times', () => {
    expect(readJwt(jwtText({ aud: 'one', iat: 100, exp: 400.5 }))).toEqual({
      audiences: ['one'],
      issuedAt: 100_000,
      expiresAt: 400_500,
    });
    expect(readJwt(jwtText({ aud: ['one', 'two'], iat: undefined, exp: 'soon' }))).toEqual({
      audiences: ['one', 'two'],
      issuedAt: undefined,
      expiresAt: undefined,
    });
  });

  test.each([1e300, -1e300, Number.MAX_VALUE])('has no time if it says %d, which no date can be', (exp) => {
    expect(readJwt(jwtText({ exp })).expiresAt).toBeUndefined();
  });

  test.each([
    ['has 1 part of 3', header],
    ['has 2 parts of 3', `${header}.${payload}`],
    ['has 4 parts of 3', `${header}.${payload}.x.y`],
    ['has 5 parts of 3', `${header}.a.b.c.d`],
    ['has no signature in base64url', `${header}.${payload}.`],
    ['has no payload in base64url', `${header}..x`],
    ['has no payload in base64url', `${header}.${payload}=.x`],
    ['has no header in base64url', `"${header}.${payload}.x`],
    ['has a header that is not a JSON object', `${encoded('[]')}.${payload}.x`],
    ['has a header that is not a JSON object', `${header.slice(1)}.${payload}.x`],
    ['has a payload that is not a JSON object', `${header}.${payload.slice(0, -3)}.x`],
    ['has a payload that is not a JSON object', `${header}.${encoded('null')}.x`],
    ['names no audience (aud)', `${header}.${encoded('{}')}.x`],
    ['names no audience (aud)', `${header}.${encoded('{"aud":[1]}')}.x`],
    ['is longer than 8192 bytes', `${header}.${payload}.${'x'.repeat(8192)}`],
  ])('that %s is named so', (fault, text) => {
    expect(faultOf(text)).toBe(fault);
  });
});

test.each([
  ['a JWT', jwtText(), true],
  ['a JWT that was cut in its header', 'eyJhbGciOi', true],
  ['what was cut at its begin', 'x.y', true],
  ['a service token', 'kf_svc_0123456789', false],
  ['a word', 'swordfish', false],
])('%s', (_what, text, isOne) => {
  expect(isJwtLike(text)).toBe(isOne);
});

describe('what users may know of a refused JWT', () => {
  const id = '5c0f6a5e-6f0b-4a0e-9d0e-0b8f7a1c2d3e';

  test('is its service token and its end', () => {
    expect(refusedJwt(jwtText({ aud: audienceFor(id), exp: 1 }))).toEqual({ serviceTokenId: id, expiresAt: 1000 });
  });

  test('is its end alone, if a cluster has the token', () => {
    const aud = `keyframe/${'a'.repeat(26)}/clusters/fra-1/shop/ci`;
    expect(refusedJwt(jwtText({ aud, exp: 1 }))).toEqual({ serviceTokenId: undefined, expiresAt: 1000 });
  });

  test('is nothing for a token of another kind, and for what is no whole JWT', () => {
    expect(refusedJwt('kf_svc_x')).toBeUndefined();
    expect(refusedJwt('eyJhbGciOi')).toBeUndefined();
  });
});
