import { invalidField } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import { checkWhole } from '../kernel/checks.ts';

/** When a token is to end: one of the two, or neither. */
export interface ExpiryInput {
  /** Whole days, 1 to `limits.tokenLifetimeDays`. */
  readonly expiresInDays?: number;
  readonly expiresAt?: Date;
}

const dayMs = 24 * 60 * 60 * 1000;

/** Throws DomainError invalid_input if both are given, or an invalid number of days. */
export function checkExpiry({ expiresInDays, expiresAt }: ExpiryInput): void {
  if (expiresInDays === undefined) return;
  if (expiresAt !== undefined) throw invalidField('expiresAt', 'must not stand beside expiresInDays; give one of them');
  checkWhole('expiresInDays', expiresInDays, { min: 1, max: limits.tokenLifetimeDays });
}

/**
 * When the token ends, null for never, judged by the database's clock, as its uses will be. Throws DomainError
 * invalid_input for a time that is past or too far ahead.
 */
export function expiryOf({ expiresInDays, expiresAt }: ExpiryInput, now: Date): Date | null {
  if (expiresInDays !== undefined) return new Date(now.getTime() + expiresInDays * dayMs);
  if (expiresAt === undefined) return null;
  const lifetimeMs = expiresAt.getTime() - now.getTime();
  if (!(lifetimeMs > 0)) throw invalidField('expiresAt', 'must be a time that is still to come');
  if (lifetimeMs > limits.tokenLifetimeDays * dayMs) {
    throw invalidField('expiresAt', `must be at most ${limits.tokenLifetimeDays} days ahead`);
  }
  return expiresAt;
}
