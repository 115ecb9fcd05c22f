import { createHash } from 'node:crypto';
import { DomainError, invalidField } from '../../domain/errors/domain-error.ts';

const planHashForm = /^[A-Za-z0-9_-]{43}$/;

/** SHA-256 in 43 characters of base64url over texts, each preceded by its length: no two lists have the same. */
export function digestOf(parts: readonly string[]): string {
  const encoded = parts.map((part) => `${Buffer.byteLength(part)}:${part}`).join('');
  return createHash('sha256').update(encoded).digest('base64url');
}

/** Throws DomainError invalid_input for what is given as a plan's hash and cannot be one. */
export function checkPlanHash(hash: string | undefined): void {
  if (hash === undefined || planHashForm.test(hash)) return;
  throw invalidField('planHash', 'must be the planHash of a dry run');
}

/** Throws DomainError plan_outdated if the hash of a plan is demanded and that of the present plan is another. */
export function checkPlanIsPresent(demanded: string | undefined, present: string): void {
  if (demanded === undefined || demanded === present) return;
  throw new DomainError(
    'plan_outdated',
    'the environment has changed since it was planned, or the options are others; plan again',
  );
}
