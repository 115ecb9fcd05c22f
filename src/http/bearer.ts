import { AuthenticationRefusal } from '../services/authentication.ts';

/**
 * The token of an Authorization header (RFC 6750 section 2.1); undefined where there is no header.
 *
 * @throws AuthenticationRefusal for another scheme or a header without a token.
 */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const [, token] = /^bearer +([^ ]+) *$/i.exec(header) ?? [];
  if (token !== undefined) return token;
  throw new AuthenticationRefusal('malformed', 'the Authorization header must be: Bearer, a space, and a token');
}
