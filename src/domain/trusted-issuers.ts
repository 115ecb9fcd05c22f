/** Issuers whose JWTs prove service tokens (docs/federation.md). Pure checks of what instance admins set. */

/** Names of RFC 7518 and RFC 8037. */
export const issuerAlgorithms = ['RS256', 'ES256', 'EdDSA'] as const;
export type IssuerAlgorithm = (typeof issuerAlgorithms)[number];

/** Printable ASCII without quotation mark and backslash: one text has one form in JSON. */
export const issPattern = /^[!#-[\]-~]{1,255}$/;
export const jwksUrlPattern = /^https:\/\/[!-~]{1,1992}$/;

/** Checks the claim `iss` of an issuer, which JWTs must have to the byte. */
export function validateIss(text: string): string | undefined {
  if (!issPattern.test(text)) return 'must be 1 to 255 printable ASCII characters, without spaces and quotation marks';
  return hasCredentials(text) ? 'must not have a user name or a password' : undefined;
}

/** Checks the URL of a JWK Set. */
export function validateJwksUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (!jwksUrlPattern.test(text) || url === null) {
    return 'must be a URL that begins with https://, of at most 2000 printable ASCII characters';
  }
  if (hasCredentials(text)) return 'must not have a user name or a password: keys are public';
  return url.hash === '' && !text.endsWith('#') ? undefined : 'must not have a fragment';
}

function hasCredentials(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== '' || url.password !== '');
}
