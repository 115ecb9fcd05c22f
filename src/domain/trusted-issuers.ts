/** Issuers whose JWTs prove service tokens (docs/federation.md). Pure checks of what instance admins set. */

/** Names of RFC 7518 and RFC 8037. */
export const issuerAlgorithms = ['RS256', 'ES256', 'EdDSA'] as const;
export type IssuerAlgorithm = (typeof issuerAlgorithms)[number];

/** Why keys were not fetched from their URL, with what an instance admin does about it (docs/federation.md). */
export const keyFetchFaults = {
  https: 'the URL is not one of https; give another one with `keyframe issuer set --jwks-url`',
  address:
    'the host has an address that is not public; set KEYFRAME_TRUSTED_ISSUER_PRIVATE_ADDRESSES, or give the keys with `keyframe issuer set --jwks`',
  unreachable:
    'the server cannot connect to the host, or does not trust its certificate; the log of the server has the code',
  timeout: 'the host did not answer within 5 seconds; let the server connect to it',
  response: 'the host answered with another status than 200; redirects are not followed',
  too_large: 'the response is larger than 256 KiB; the URL must return a JWK Set',
  no_key_set: 'the response is no JWK Set with 1 to 20 keys that can be used',
} as const;

export type KeyFetchFault = keyof typeof keyFetchFaults;

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
