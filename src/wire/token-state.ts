/** The times of a token that decide its state. */
export interface TokenLife {
  readonly expiresAt: string | null;
  readonly revokedAt?: string | null;
  readonly suspendedAt?: string | null;
}

export type TokenState = 'active' | 'suspended' | 'expired' | 'revoked';

/** The state of a token by the clock of this machine. It is for display; the server decides by its own clock. */
export function tokenState({ expiresAt, revokedAt, suspendedAt }: TokenLife, now: Date): TokenState {
  if (revokedAt !== null && revokedAt !== undefined) return 'revoked';
  if (expiresAt !== null && new Date(expiresAt) <= now) return 'expired';
  return suspendedAt !== null && suspendedAt !== undefined ? 'suspended' : 'active';
}
