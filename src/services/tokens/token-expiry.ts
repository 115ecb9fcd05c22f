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

/** What bounds the end of a new token. */
export interface ExpiryBounds {
  /** By the database's clock, which judges its uses too. */
  readonly now: Date;
  /** When the token that it is created with ends; null for no bound. */
  readonly notAfter: Date | null;
}

/**
 * When the token ends: as the input says, by default with the bound; null for never. Throws DomainError invalid_input
 * for a time that is past, too far ahead, or after the bound.
 */
export function expiryOf(input: ExpiryInput, { now, notAfter }: ExpiryBounds): Date | null {
  const wanted = wantedExpiry(input, now);
  if (notAfter === null || wanted === null) return wanted ?? notAfter;
  if (wanted > notAfter) {
    const field = input.expiresAt === undefined ? 'expiresInDays' : 'expiresAt';
    throw invalidField(field, `must not outlive the token it is made with, which ends at ${notAfter.toISOString()}`);
  }
  return wanted;
}

function wantedExpiry({ expiresInDays, expiresAt }: ExpiryInput, now: Date): Date | null {
  if (expiresInDays !== undefined) return new Date(now.getTime() + expiresInDays * dayMs);
  if (expiresAt === undefined) return null;
  const lifetimeMs = expiresAt.getTime() - now.getTime();
  if (!(lifetimeMs > 0)) throw invalidField('expiresAt', 'must be a time that is still to come');
  if (lifetimeMs > limits.tokenLifetimeDays * dayMs) {
    throw invalidField('expiresAt', `must be at most ${limits.tokenLifetimeDays} days ahead`);
  }
  return expiresAt;
}
