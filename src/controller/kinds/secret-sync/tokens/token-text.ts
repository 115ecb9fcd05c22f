import type { Plaintext } from '../../../../domain/plaintext.ts';
import * as messages from '../token-messages.ts';

const tokenStart = /kf_(?:svc|pat|ses|lnk|cls)_/;

/** Why a text that contains a token is none; undefined if it contains none. Nothing of the text is returned. */
export function malformationOf(token: Plaintext): string | undefined {
  const text = token.reveal();
  if (/^kf_(?:ses|lnk|cls)_/.test(text)) return messages.sessionInstead;
  if (/^kf_(?:svc|pat)_[0-9A-Za-z]*$/.test(text)) return messages.tokenCut;
  if (tokenStart.test(text)) return messages.tokenSurrounded;
  if (tokenStart.test(text.replaceAll('\0', ''))) return messages.tokenInUtf16;
  return tokenStart.test(Buffer.from(text, 'base64').toString('latin1')) ? messages.tokenEncodedTwice : undefined;
}
