import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';
import type { PrismaTransaction, Transaction } from './transaction.ts';

export interface PersonalTokenRecord {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  /** Null for never. */
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute; null for never. */
  readonly lastUsedAt: Date | null;
}

export interface NewPersonalToken {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly tokenHash: Uint8Array;
  readonly expiresAt: Date | null;
}

export interface PersonalTokenPage {
  /** The token that the page begins after; null begins at the newest. */
  readonly after: { readonly createdAt: Date; readonly id: string } | null;
  /** Null for all. */
  readonly limit: number | null;
}

const listStatement: Statement = {
  name: 'personal-tokens-list',
  text: `SELECT id, name, created_at AS "createdAt", expires_at AS "expiresAt", revoked_at AS "revokedAt",
      last_used_at AS "lastUsedAt"
    FROM personal_token
    WHERE user_id = $1 AND ($2::timestamptz IS NULL OR (created_at, id) < ($2, $3::uuid))
    ORDER BY created_at DESC, id DESC LIMIT $4`,
};

/** A user's tokens, revoked and expired ones too, newest first. */
export async function listPersonalTokens(
  pool: pg.Pool,
  userId: string,
  { after, limit }: PersonalTokenPage,
): Promise<PersonalTokenRecord[]> {
  const values = [userId, after?.createdAt ?? null, after?.id ?? null, limit];
  return queryRows<PersonalTokenRecord>(pool, listStatement, values);
}

/** How many of a user's tokens are neither revoked nor expired, and the database's time. Lock the user before. */
export async function countLivePersonalTokens(
  tx: Transaction,
  userId: string,
): Promise<{ readonly live: number; readonly now: Date }> {
  const [counted] = await tx.$queryRaw<{ live: number; now: Date }[]>`
    SELECT count(*)::int AS live, clock_timestamp() AS now FROM personal_token
    WHERE user_id = ${userId}::uuid AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock_timestamp())`;
  if (counted === undefined) throw new Error('a SELECT of a count answers one row');
  return counted;
}

/** Inserts a token and answers when it was made. */
export async function insertPersonalToken(tx: Transaction, token: NewPersonalToken): Promise<Date> {
  const { id, userId, name, tokenHash, expiresAt } = token;
  const [created] = await tx.$queryRaw<{ createdAt: Date }[]>`
    INSERT INTO personal_token (id, user_id, name, token_hash, expires_at)
    VALUES (${id}::uuid, ${userId}::uuid, ${name}, ${tokenHash}, ${expiresAt}::timestamptz)
    RETURNING created_at AS "createdAt"`;
  if (created === undefined) throw new Error('an INSERT of one row answers one row');
  return created.createdAt;
}

/**
 * Revokes one token of a user. Answers whether it was not revoked before; undefined where the user has no such token.
 * Lock the user before: who makes a token locks them before looking at the one it is made with.
 */
export async function revokePersonalToken(
  tx: PrismaTransaction,
  userId: string,
  id: string,
): Promise<{ readonly wasLive: boolean } | undefined> {
  const revoked = await tx.$executeRaw`
    UPDATE personal_token SET revoked_at = clock_timestamp()
    WHERE id = ${id}::uuid AND user_id = ${userId}::uuid AND revoked_at IS NULL`;
  if (revoked > 0) return { wasLive: true };
  const known = await tx.personalToken.findFirst({ where: { id, userId }, select: { id: true } });
  return known === null ? undefined : { wasLive: false };
}

/** Revokes all of a user's tokens and answers how many were not revoked before. Lock the user before. */
export async function revokePersonalTokens(tx: Transaction, userId: string): Promise<number> {
  return tx.$executeRaw`
    UPDATE personal_token SET revoked_at = clock_timestamp()
    WHERE user_id = ${userId}::uuid AND revoked_at IS NULL`;
}
