export interface TokenLife {
  readonly expiresAt: string | null;
  readonly revokedAt?: string | null;
}

/** Whether a token is still good, by this machine's clock: for people to read, the server decides by its own. */
export function tokenState({ expiresAt, revokedAt }: TokenLife, now: Date): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== null && revokedAt !== undefined) return 'revoked';
  return expiresAt !== null && new Date(expiresAt) <= now ? 'expired' : 'active';
}
