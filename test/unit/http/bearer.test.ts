import { describe, expect, test } from '@jest/globals';
import { bearerToken } from '../../../src/http/admission/bearer.ts';
import { AuthenticationRefusal } from '../../../src/services/access/authentication.ts';

const token = `kf_svc_${'0'.repeat(71)}`;

describe('the Authorization header', () => {
  test('holds a token after Bearer, in any case, and one space', () => {
    expect(bearerToken(undefined)).toBeUndefined();
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) expect(bearerToken(`${scheme} ${token}`)).toBe(token);
  });

  test.each([
    ['two spaces', `Bearer  ${token}`],
    ['a tab', `Bearer\t${token}`],
    ['no space', `Bearer${token}`],
    ['a space before', ` Bearer ${token}`],
    ['a space after', `Bearer ${token} `],
    ['a line break after', `Bearer ${token}\n`],
    ['two tokens', `Bearer ${token} ${token}`],
    ['no token', 'Bearer '],
    ['another scheme', `Basic ${token}`],
    ['nothing', ''],
  ])('is malformed with %s', (_case, header) => {
    expect(() => bearerToken(header)).toThrow(AuthenticationRefusal);
  });
});
