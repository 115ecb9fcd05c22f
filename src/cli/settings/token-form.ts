import { JwtFault, isJwtLike, readJwt } from '../../client/jwt.ts';
import { isTokenAudience } from '../../wire/audiences.ts';
import { usageError } from '../core/cli-error.ts';
import { shownText } from '../../wire/shown-text.ts';

/**
 * A token is sent in a header: what a header cannot contain is refused, and never shown. So is a JWT that was cut, or that is
 * not for Keyframe. Whether it is still valid, only the server decides: the clock of this machine may be wrong.
 *
 * @param source what holds the text, as users write it
 */
export function tokenOf(text: string, source: string): string {
  const token = text.trim();
  if (text.includes('\0')) throw usageError(`${source} is in UTF-16, which PowerShell 5 writes`, 'Save it as UTF-8');
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw usageError(
      `${source} does not hold a token: it is ${token === '' ? 'empty' : 'not one word of letters and digits'}`,
    );
  }
  if (isJwtLike(token)) requireJwt(token, source);
  return token;
}

/** Throws CliError usage for what is no whole JWT for one service token. */
function requireJwt(token: string, source: string): void {
  try {
    const { audiences } = readJwt(token);
    const [audience = ''] = audiences;
    if (audiences.length === 1 && isTokenAudience(audience)) return;
    const named = audiences.length === 1 ? `the audience ${shownText(audience.slice(0, 200))}` : 'several audiences';
    throw usageError(`${source} holds a JWT for ${named}, and not for one service token of Keyframe`, audienceStep);
  } catch (error) {
    if (!(error instanceof JwtFault)) throw error;
    throw usageError(
      `${source} holds a JWT that ${error.message}`,
      'Copy the whole JWT: three parts with dots between',
    );
  }
}

export const audienceStep =
  'Request the JWT for the audience of the service token, keyframe/<instance>/service-tokens/<id>: keyframe token show-service';

/** A token that is stored for later commands. Throws CliError usage for a JWT too, which ends before they come. */
export function storableToken(text: string, source: string): string {
  const token = tokenOf(text, source);
  if (!isJwtLike(token)) return token;
  const message = `${source} holds a JWT, which ends soon and is not stored`;
  throw usageError(message, 'Set KEYFRAME_TOKEN to it, or KEYFRAME_TOKEN_FILE to a file with it (docs/ci.md)');
}
