import { AuthenticationRefusal } from '../../services/access/authentication.ts';

/**
 * Returns the token of an Authorization header (RFC 6750 section 2.1), or undefined if there is no header.
 *
 * @throws AuthenticationRefusal for another scheme or a header without a token.
 */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined;
  const token = tokenOf(header);
  if (token !== undefined) return token;
  throw new AuthenticationRefusal('malformed', 'the header Authorization must be: Bearer, a space, and a token');
}

/** Returns the token of an Authorization header, or undefined if the header has none. The scheme is case-insensitive. */
export function tokenOf(header: string): string | undefined {
  return /^bearer (\S+)$/i.exec(header)?.[1];
}
