export interface TokenLife {
  readonly expiresAt: string | null;
  readonly revokedAt?: string | null;
  readonly suspendedAt?: string | null;
}

/** Whether a token is still good, by this machine's clock: for people to read, the server decides by its own. */
export function tokenState(
  { expiresAt, revokedAt, suspendedAt }: TokenLife,
  now: Date,
): 'active' | 'suspended' | 'expired' | 'revoked' {
  if (revokedAt !== null && revokedAt !== undefined) return 'revoked';
  if (expiresAt !== null && new Date(expiresAt) <= now) return 'expired';
  return suspendedAt !== null && suspendedAt !== undefined ? 'suspended' : 'active';
}
