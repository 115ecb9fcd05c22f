/** Issuers whose JWTs prove service tokens (docs/federation.md). Pure checks of what instance admins set. */

/** Names of RFC 7518 and RFC 8037. */
export const issuerAlgorithms = ['RS256', 'ES256', 'EdDSA'] as const;
export type IssuerAlgorithm = (typeof issuerAlgorithms)[number];
