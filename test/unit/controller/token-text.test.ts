import { describe, expect, test } from '@jest/globals';
import { malformationOf } from '../../../src/controller/kinds/secret-sync/tokens/token-text.ts';
import * as messages from '../../../src/controller/kinds/secret-sync/token-messages.ts';
import { Plaintext } from '../../../src/domain/plaintext.ts';

const token = `kf_svc_${'a'.repeat(71)}`;

describe('a text that contains a token and is none', () => {
  test.each([
    ['cut', token.slice(0, 40), messages.tokenCut],
    ['in quotes', `"${token}"`, messages.tokenSurrounded],
    ['after a scheme', `Bearer ${token}`, messages.tokenSurrounded],
    ['with a second line', `${token}\nx`, messages.tokenSurrounded],
    ['in base64', Buffer.from(token).toString('base64'), messages.tokenEncodedTwice],
    ['in UTF-16', Buffer.from(token, 'utf16le').toString('utf8'), messages.tokenInUtf16],
    ['of a session', 'kf_ses_aaaa', messages.sessionInstead],
    ['of a cluster', 'kf_cls_aaaa', messages.sessionInstead],
  ])('is recognized %s', (_, text, expected) => {
    expect(malformationOf(new Plaintext(text))).toBe(expected);
  });
});

test.each(['hunter2', 'eyJhbGciOiJIUzI1NiJ9.e30.x', 'kf', 'a2Y='])('%j contains no token', (text) => {
  expect(malformationOf(new Plaintext(text))).toBeUndefined();
});
