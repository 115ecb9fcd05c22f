import type pg from 'pg';
import { limits } from '../domain/limits.ts';
import { sessionFault, sessionTables } from './credentials.ts';
import { queryRows } from './database.ts';
import type { SessionModel, UserModel } from './generated/models.ts';
import { raw, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** How the user of a session proved who they are. */
export type SignInMethod = 'personal_token' | 'oidc' | 'passkey' | 'link';

export interface SessionRecord extends Readonly<
  Pick<SessionModel, 'id' | 'createdAt' | 'verifiedAt' | 'lastUsedAt' | 'expiresAt' | 'sourceAddress' | 'userAgent'>
> {
  readonly signedInWith: SignInMethod;
  /** When it ends if it is not used again. */
  readonly idleExpiresAt: Date;
}

/** What a user signed in with. */
export type SignInProof =
  | { readonly personalTokenId: string }
  | { readonly passkeyId: string }
  | {
      readonly identityId: string;
      /** When the user last proved who they are, in seconds since the epoch by the issuer's clock; null if unknown. */
      readonly authTime: number | null;
    }
  | { readonly signInLinkId: string };

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly tokenHash: Uint8Array;
  readonly proof: SignInProof;
  readonly sourceAddress: string | null;
  readonly userAgent: string | null;
}

// The identity of a session may be unlinked since.
const columns = `c.id, CASE WHEN c.personal_token_id IS NOT NULL THEN 'personal_token'
      WHEN c.passkey_id IS NOT NULL THEN 'passkey'
      WHEN c.sign_in_link_id IS NOT NULL THEN 'link' ELSE 'oidc' END AS "signedInWith", c.created_at AS "createdAt", c.verified_at AS "verifiedAt",
    c.last_used_at AS "lastUsedAt", c.expires_at AS "expiresAt",
    LEAST(c.expires_at, c.last_used_at + interval '${limits.sessionIdleMinutes} minutes') AS "idleExpiresAt",
    c.source_address AS "sourceAddress", c.user_agent AS "userAgent"`;

/** The sessions of a user that have not ended, newest first. */
export async function listSessions(pool: pg.Pool, userId: string): Promise<SessionRecord[]> {
  return queryRows<SessionRecord>(
    pool,
    sql`
      SELECT ${raw(columns)} FROM ${raw(sessionTables)} WHERE c.user_id = ${userId} AND ${raw(sessionFault)} IS NULL
    ORDER BY c.created_at DESC, c.id DESC`,
  );
}

/**
 * Inserts a session and returns its record. It ends with its personal token or with that of its link, and after
 * `limits.sessionHours` at the latest. It has the delegators of what it began with. Lock the user before.
 */
export async function insertSession(tx: Transaction, session: NewSession): Promise<SessionRecord> {
  const { id, userId, tokenHash, proof, sourceAddress, userAgent } = session;
  const { signedInWith, personalTokenId, identityId, signInLinkId, passkeyId, authTime } = proven(proof);
  // A clock of the issuer that is ahead does not make a sign-in recent for longer.
  const row = await tx.row<Omit<SessionRecord, 'signedInWith' | 'idleExpiresAt'>>`
    INSERT INTO session
      (id, user_id, token_hash, personal_token_id, identity_id, sign_in_link_id, passkey_id, created_at, last_used_at,
        verified_at, expires_at, source_address, user_agent, delegators)
    SELECT ${id}::uuid, ${userId}::uuid, ${tokenHash}, ${personalTokenId}::uuid, ${identityId}::uuid,
      ${signInLinkId}::uuid, ${passkeyId}::uuid, clock_timestamp(), clock_timestamp(),
      CASE WHEN ${signedInWith !== 'oidc'}::boolean THEN clock_timestamp()
        WHEN ${authTime}::float8 IS NOT NULL THEN LEAST(to_timestamp(${authTime}::float8), clock_timestamp()) END,
      LEAST((SELECT expires_at FROM personal_token WHERE id = COALESCE(${personalTokenId}::uuid,
          (SELECT personal_token_id FROM sign_in_link WHERE id = ${signInLinkId}::uuid))),
        clock_timestamp() + make_interval(hours => ${limits.sessionHours}::int)),
      ${sourceAddress}, ${userAgent},
      COALESCE((SELECT delegators FROM personal_token WHERE id = ${personalTokenId}::uuid),
        (SELECT delegators FROM identity WHERE id = ${identityId}::uuid),
        (SELECT delegators FROM passkey WHERE id = ${passkeyId}::uuid),
        (SELECT delegators FROM sign_in_link WHERE id = ${signInLinkId}::uuid))
    RETURNING id, created_at AS "createdAt", verified_at AS "verifiedAt", last_used_at AS "lastUsedAt",
      expires_at AS "expiresAt", source_address AS "sourceAddress", user_agent AS "userAgent"`;
  if (row === undefined) throw new Error('an INSERT of one row returns it');
  const idle = row.lastUsedAt.getTime() + limits.sessionIdleMinutes * 60_000;
  const idleExpiresAt = new Date(Math.min(row.expiresAt.getTime(), idle));
  return { ...row, signedInWith, idleExpiresAt };
}

interface Proven {
  readonly signedInWith: SignInMethod;
  readonly personalTokenId: string | null;
  readonly identityId: string | null;
  readonly signInLinkId: string | null;
  readonly passkeyId: string | null;
  /** By the issuer's clock; null for any other proof, which is given now. */
  readonly authTime: number | null;
}

function proven(proof: SignInProof): Proven {
  const none = { personalTokenId: null, identityId: null, signInLinkId: null, passkeyId: null, authTime: null };
  if ('personalTokenId' in proof) return { ...none, ...proof, signedInWith: 'personal_token' };
  if ('signInLinkId' in proof) return { ...none, ...proof, signedInWith: 'link' };
  if ('passkeyId' in proof) return { ...none, ...proof, signedInWith: 'passkey' };
  return { ...none, ...proof, signedInWith: 'oidc' };
}

/**
 * Makes room for one more session of a user: ends those beyond `limits.sessionsPerUser`, the least recently used first, and
 * deletes those that ended more than 30 days ago. Lock the user before.
 */
export async function makeRoomForSession(tx: Transaction, userId: string): Promise<void> {
  await tx.run`
    DELETE FROM session WHERE user_id = ${userId}::uuid
      AND LEAST(ended_at, expires_at, last_used_at + make_interval(mins => ${limits.sessionIdleMinutes}::int))
        < clock_timestamp() - interval '30 days'`;
  await tx.run`
    UPDATE session SET ended_at = clock_timestamp() WHERE id IN (
      SELECT id FROM session WHERE user_id = ${userId}::uuid AND ended_at IS NULL AND expires_at > clock_timestamp()
      ORDER BY last_used_at DESC, id OFFSET ${limits.sessionsPerUser - 1}::int)`;
}

/** Ends one session of a user, and returns whether it worked until now; undefined if the user has no such session. */
export async function endSession(tx: Transaction, userId: string, id: string): Promise<boolean | undefined> {
  const row = await tx.row<{ wasLive: boolean }>`
    WITH ended AS (
      UPDATE session SET ended_at = clock_timestamp()
      WHERE id = ${id}::uuid AND user_id = ${userId}::uuid AND ended_at IS NULL RETURNING id
    )
    SELECT EXISTS (SELECT FROM ended) AS "wasLive" FROM session WHERE id = ${id}::uuid AND user_id = ${userId}::uuid`;
  return row?.wasLive;
}

/** Ends all sessions of a user, and returns how many had not been ended. Lock the user before. */
export async function endSessions(tx: Transaction, userId: string): Promise<number> {
  const row = await tx.row<{ ended: number }>`
    WITH ended AS (
      UPDATE session SET ended_at = clock_timestamp()
      WHERE user_id = ${userId}::uuid AND ended_at IS NULL AND expires_at > clock_timestamp() RETURNING id
    )
    SELECT count(*)::int AS ended FROM ended`;
  return row?.ended ?? 0;
}

/** A session of any user that was ended, with the address of the user. */
export type EndedSession = Readonly<Pick<SessionModel, 'id' | 'userId'> & Pick<UserModel, 'email'>>;

/**
 * Ends the sessions that began with links of a user, except one, and returns them. `since`: only those of links that were
 * created from then on; null for all. Lock the creator before.
 */
export async function endSessionsOfLinksBy(
  tx: Transaction,
  creatorId: string,
  { since, keptId }: { readonly since: Date | null; readonly keptId: string },
): Promise<EndedSession[]> {
  return tx.rows<EndedSession>`
    WITH open AS (
      SELECT s.id FROM session s JOIN sign_in_link l ON l.id = s.sign_in_link_id
      WHERE l.created_by = ${creatorId}::uuid AND s.id <> ${keptId}::uuid
        AND (${since}::timestamptz IS NULL OR l.created_at >= ${since}::timestamptz)
        AND s.ended_at IS NULL AND s.expires_at > clock_timestamp()
      ORDER BY s.id FOR UPDATE OF s
    )
    UPDATE session s SET ended_at = clock_timestamp() FROM open, app_user u
    WHERE s.id = open.id AND u.id = s.user_id
    RETURNING s.id, s.user_id AS "userId", u.email`;
}
