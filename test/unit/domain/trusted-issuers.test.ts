import { describe, expect, test } from '@jest/globals';
import { validateIss, validateJwksUrl } from '../../../src/domain/trusted-issuers.ts';

describe('the iss of an issuer', () => {
  test.each([
    'https://token.actions.githubusercontent.com',
    'https://kubernetes.default.svc.cluster.local',
    'kubernetes/serviceaccount',
    'x'.repeat(255),
  ])('can be %s', (text) => expect(validateIss(text)).toBeUndefined());

  test.each([
    ['', 'must be 1 to 255 printable ASCII characters, without spaces and quotation marks'],
    ['x'.repeat(256), 'must be 1 to 255 printable ASCII characters, without spaces and quotation marks'],
    ['https://a.example\n', 'must be 1 to 255 printable ASCII characters, without spaces and quotation marks'],
    ['https://ä.example', 'must be 1 to 255 printable ASCII characters, without spaces and quotation marks'],
    ['a"b', 'must be 1 to 255 printable ASCII characters, without spaces and quotation marks'],
    ['a\\b', 'must be 1 to 255 printable ASCII characters, without spaces and quotation marks'],
    ['https://user:word@a.example', 'must not have a user name or a password'],
  ])('cannot be %j', (text, message) => expect(validateIss(text)).toBe(message));
});

describe('the URL of keys', () => {
  test.each(['https://a.example/keys', 'https://a.example:8443/keys?app=1', 'https://[::1]/keys'])(
    'can be %s',
    (text) => expect(validateJwksUrl(text)).toBeUndefined(),
  );

  const form = 'must be a URL that begins with https://, of at most 2000 printable ASCII characters';
  test.each([
    ['', form],
    ['http://a.example/keys', form],
    ['file:///etc/passwd', form],
    ['HTTPS://a.example/keys', form],
    ['https://', form],
    ['https://a b.example', form],
    [' https://a.example', form],
    ['https://a.example/\n', form],
    [`https://a.example/${'x'.repeat(2_000)}`, form],
    ['https://user:word@a.example/keys', 'must not have a user name or a password: keys are public'],
    ['https://user@a.example/keys', 'must not have a user name or a password: keys are public'],
    ['https://a.example/keys#one', 'must not have a fragment'],
    ['https://a.example/keys#', 'must not have a fragment'],
  ])('cannot be %j', (text, message) => expect(validateJwksUrl(text)).toBe(message));
});
