import { randomUUID } from 'node:crypto';
import { generateToken } from '../../crypto/token.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { limits } from '../../domain/limits.ts';
import { creatorOfNewToken } from '../../domain/impersonation.ts';
import type { Plaintext } from '../../domain/plaintext.ts';
import type { UserPrincipal } from '../../domain/principal.ts';
import { appendAudits } from '../../store/audit.ts';
import { listOrganizationIdsOfUser } from '../../store/organizations.ts';
import { countLivePersonalTokens, insertPersonalToken, type PersonalTokenRecord } from '../../store/personal-tokens.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditRecord, AuditTarget } from '../audit/audit-log.ts';
import { checkName } from '../kernel/checks.ts';
import { delegatorsOfNew } from '../kernel/delegators.ts';
import { checkExpiry, type ExpiryInput, expiryOf } from './token-expiry.ts';

export interface PersonalTokenInput extends ExpiryInput {
  /** What it is for. */
  readonly name: string;
}

export interface CreatedPersonalToken {
  readonly record: PersonalTokenRecord;
  /** Shown this once: only its hash is kept. */
  readonly token: Plaintext;
}

interface Issue {
  readonly userId: string;
  /** Who creates it. */
  readonly by: UserPrincipal;
  readonly input: PersonalTokenInput;
  /** When the token that it is made with ends; null for no bound. */
  readonly notAfter: Date | null;
}

/** Throws DomainError invalid_input for an invalid name or expiry. */
export function checkPersonalTokenInput(input: PersonalTokenInput): void {
  checkName('name', input.name);
  checkExpiry(input);
}

/**
 * Makes a personal token for a user who is locked. It ends when the input says, else with the bound. Throws DomainError
 * quota_exceeded if the user has as many as docs/interface.md section 8 allows, invalid_input for a time that is
 * past, too far ahead, or after the bound, and what `delegatorsOfNew` throws.
 */
export async function issuePersonalToken(
  tx: Transaction,
  { userId, by, input, notAfter }: Issue,
): Promise<CreatedPersonalToken> {
  const { live, now } = await countLivePersonalTokens(tx, userId);
  if (live >= limits.personalTokensPerUser) {
    throw new DomainError(
      'quota_exceeded',
      `a user has at most ${limits.personalTokensPerUser} personal tokens that are live; revoke one that is not needed`,
    );
  }
  const id = randomUUID();
  const { token, hash } = generateToken('personal_token', id);
  const expiresAt = expiryOf(input, { now, notAfter });
  const creator = creatorOfNewToken(by, userId);
  const delegators = await delegatorsOfNew(tx, by, userId);
  const issued = { id, userId, name: input.name, tokenHash: hash, expiresAt, creator, delegators };
  const record = await insertPersonalToken(tx, issued);
  return { record, token };
}

/**
 * Adds an entry about a user's token to the audit of each organization of the user: their owners must see that another
 * person can act as their member. Lock the user before, so that no membership begins meanwhile.
 */
export async function auditInOrganizations(tx: Transaction, record: AuditRecord, userId: string): Promise<void> {
  const organizationIds = await listOrganizationIdsOfUser(tx, userId);
  await appendAudits(
    tx,
    organizationIds.map((organizationId) => ({ ...record, organizationId })),
  );
}

/** What the audit records of a token: never the token. */
export function auditedToken({ id, name, expiresAt }: PersonalTokenRecord): AuditTarget {
  return { personalTokenId: id, name, expiresAt: expiresAt?.toISOString() ?? null };
}
