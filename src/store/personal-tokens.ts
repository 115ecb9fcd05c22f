import type pg from 'pg';
import type { NewTokenCreator } from '../domain/impersonation.ts';
import type { TokenCreator } from '../domain/principal.ts';
import { creatorFields, tokenCreatorColumns, tokenCreatorOf, type TokenCreatorRow } from './credentials.ts';
import type { PersonalTokenModel } from './generated/models.ts';
import { isAfter, newest, readModels, type RecordPage } from './models.ts';
import { notifyUsers } from './notify.ts';
import { raw } from './sql.ts';
import type { Transaction } from './transaction.ts';

const fields = {
  id: true,
  name: true,
  createdAt: true,
  /** Null for never. */
  expiresAt: true,
  revokedAt: true,
  /** To the minute; null for never. */
  lastUsedAt: true,
} as const;

export interface PersonalTokenRecord extends Readonly<Pick<PersonalTokenModel, keyof typeof fields>> {
  /** Who else created it, or the token that it was created with; null if the user did. */
  readonly creator: TokenCreator | null;
}

export interface NewPersonalToken {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly tokenHash: Uint8Array;
  readonly expiresAt: Date | null;
  readonly creator: NewTokenCreator;
  readonly delegators: readonly string[];
}

/** A user's tokens, revoked and expired ones too, newest first. */
export async function listPersonalTokens(
  pool: pg.Pool,
  userId: string,
  { after, limit }: RecordPage,
): Promise<PersonalTokenRecord[]> {
  const rows = await readModels(pool, ({ personalToken }) =>
    personalToken.findMany({
      where: { userId, ...isAfter(after) },
      select: { ...fields, ...creatorFields },
      ...newest(limit),
    }),
  );
  return rows.map((row) => {
    const { id, name, createdAt, expiresAt, revokedAt, lastUsedAt } = row;
    return { id, name, createdAt, expiresAt, revokedAt, lastUsedAt, creator: tokenCreatorOf(row, userId) };
  });
}

/** How many of a user's tokens are neither revoked nor expired, and the database's time. Lock the user before. */
export async function countLivePersonalTokens(
  tx: Transaction,
  userId: string,
): Promise<{ readonly live: number; readonly now: Date }> {
  const counted = await tx.row<{ live: number; now: Date }>`
    SELECT count(*)::int AS live, clock_timestamp() AS now FROM personal_token
    WHERE user_id = ${userId}::uuid AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock_timestamp())`;
  if (counted === undefined) throw new Error('a SELECT of a count returned no row');
  return counted;
}

/** Inserts a token and returns its record. */
export async function insertPersonalToken(tx: Transaction, token: NewPersonalToken): Promise<PersonalTokenRecord> {
  const { id, userId, name, tokenHash, expiresAt, creator, delegators } = token;
  const { actor, derivedAt } = creator;
  const row = await tx.row<{ createdAt: Date } & TokenCreatorRow>`
    INSERT INTO personal_token
      (id, user_id, name, token_hash, expires_at, created_by_type, created_by_id, created_by_name, derived_at,
        delegators)
    VALUES (${id}::uuid, ${userId}::uuid, ${name}, ${tokenHash}, ${expiresAt}::timestamptz,
      ${actor?.type ?? null}::actor_type, ${actor?.id ?? null}::uuid, ${actor?.name ?? null},
      CASE WHEN ${derivedAt === 'now'}::boolean THEN clock_timestamp()
        ELSE ${derivedAt === 'now' ? null : derivedAt}::timestamptz END,
      ${[...delegators]}::uuid[])
    RETURNING created_at AS "createdAt", ${raw(tokenCreatorColumns('personal_token'))}`;
  if (row === undefined) throw new Error('an INSERT of one row returned no row');
  const times = { createdAt: row.createdAt, expiresAt, revokedAt: null, lastUsedAt: null };
  return { id, name, ...times, creator: tokenCreatorOf(row, userId) };
}

/** What a revocation did to one token of a user. */
export interface RevokedPersonalToken {
  /** Whether it was not revoked before. */
  readonly wasLive: boolean;
  readonly creator: TokenCreator | null;
}

/**
 * Revokes one token of a user; undefined if the user has no such token. Lock the user before: a token is created under
 * the same lock, before the one it is created with is judged.
 */
export async function revokePersonalToken(
  tx: Transaction,
  userId: string,
  id: string,
): Promise<RevokedPersonalToken | undefined> {
  const row = await tx.row<{ wasLive: boolean } & TokenCreatorRow>`
    WITH revoked AS (
      UPDATE personal_token SET revoked_at = clock_timestamp()
      WHERE id = ${id}::uuid AND user_id = ${userId}::uuid AND revoked_at IS NULL RETURNING id
    )
    SELECT EXISTS (SELECT FROM revoked) AS "wasLive", ${raw(tokenCreatorColumns('c'))}
    FROM personal_token c WHERE c.id = ${id}::uuid AND c.user_id = ${userId}::uuid`;
  if (row?.wasLive === true) await notifyLinkSessions(tx, userId);
  return row && { wasLive: row.wasLive, creator: tokenCreatorOf(row, userId) };
}

/** Notifies the users of sessions that began with links which were created with tokens of a user: these may have ended. */
async function notifyLinkSessions(tx: Transaction, userId: string): Promise<void> {
  const users = await tx.rows<{ id: string }>`
    SELECT DISTINCT s.user_id AS id FROM personal_token t
    JOIN sign_in_link l ON l.personal_token_id = t.id JOIN session s ON s.sign_in_link_id = l.id
    WHERE t.user_id = ${userId}::uuid AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()`;
  await notifyUsers(
    tx,
    users.map(({ id }) => id),
  );
}

/** How many of a user's tokens were not revoked before, and how many of these the user did not create. */
export interface RevokedPersonalTokens {
  readonly revoked: number;
  readonly createdByOthers: number;
}

/** Revokes all of a user's tokens. Lock the user before. */
export async function revokePersonalTokens(tx: Transaction, userId: string): Promise<RevokedPersonalTokens> {
  const counted = await tx.row<RevokedPersonalTokens>`
    WITH revoked AS (
      UPDATE personal_token SET revoked_at = clock_timestamp()
      WHERE user_id = ${userId}::uuid AND revoked_at IS NULL
      RETURNING created_by_id IS DISTINCT FROM user_id AS "isOther"
    )
    SELECT count(*)::int AS revoked, count(*) FILTER (WHERE "isOther")::int AS "createdByOthers" FROM revoked`;
  if (counted === undefined) throw new Error('a SELECT of a count returned no row');
  await notifyLinkSessions(tx, userId);
  return counted;
}

/** The creators of a user's tokens that are neither revoked nor expired. Lock the user before. */
export async function listLiveTokenCreators(tx: Transaction, userId: string): Promise<(TokenCreator | null)[]> {
  const rows = await tx.rows<TokenCreatorRow>`
    SELECT ${raw(tokenCreatorColumns('personal_token'))} FROM personal_token
    WHERE user_id = ${userId}::uuid AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > clock_timestamp())`;
  return rows.map((row) => tokenCreatorOf(row, userId));
}
