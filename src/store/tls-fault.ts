/**
 * Why a connection to PostgreSQL was refused by this side: nothing but a change of the configuration or of a
 * certificate helps.
 */
export type TlsFault = 'untrusted' | 'other_host' | 'expired' | 'not_offered';

const faults: readonly (readonly [TlsFault, RegExp])[] = [
  ['other_host', /^(?:ERR_TLS_CERT_ALTNAME_INVALID|HOSTNAME_MISMATCH)$/],
  ['expired', /^(?:CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/],
  [
    'untrusted',
    /^(?:UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|CERT_)/,
  ],
  // pg gives this one no code.
  ['not_offered', /^The server does not support SSL connections$/],
];

/** What TLS found wrong, by an error or one of its causes, and the code of it; undefined for another error. */
export function tlsFault(error: unknown): { readonly fault: TlsFault; readonly code: string } | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1) {
    const { code = at.message } = at as Error & { readonly code?: unknown };
    const found = faults.find(([, pattern]) => typeof code === 'string' && pattern.test(code));
    if (found !== undefined) return { fault: found[0], code: String(code) };
  }
  return undefined;
}
