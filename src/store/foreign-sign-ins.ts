import { sessionCreatorId, sessionTables } from './credentials.ts';
import type { UserModel } from './generated/models.ts';
import { raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** A way to sign in as a user that another user set up, and may have kept. */
export interface ForeignSignIn {
  readonly kind: 'session' | 'passkey' | 'identity' | 'personal_token';
  readonly id: string;
  /** Of a passkey or a token its name, of an identity its issuer; null for a session. */
  readonly name: string | null;
  /** When it was set up. Of a session that began with another way, when that one was. */
  readonly createdAt: Date;
  readonly createdById: UserModel['id'];
  /** The present address of that other user. */
  readonly createdByEmail: UserModel['email'];
}

/**
 * The ways to sign in as a user that work and go back to a user who is no active instance admin now: sessions, then passkeys,
 * identities and personal tokens. A session that is idle is one of them: a use that is noted late would revive it. Lock the
 * user before: each way is set up under that lock.
 */
export async function listForeignSignIns(tx: Transaction, userId: string): Promise<ForeignSignIn[]> {
  return list(tx, userId, sql`NOT (a.instance_admin AND a.disabled_at IS NULL)`);
}

/** Which ways to sign in of a user go back to one other user. */
export interface SignInsBy {
  readonly creatorId: string;
  /** Only those that were set up from then on; null for all. */
  readonly since: Date | null;
  /** The credential of the request. */
  readonly credentialId: string;
}

export interface SignInBy extends ForeignSignIn {
  /** Whether it is the credential of the request, or what that began with. */
  readonly isInUse: boolean;
}

/** Like `listForeignSignIns`, those that go back to one other user, whatever that user is. */
export async function listSignInsBy(
  tx: Transaction,
  userId: string,
  { creatorId, since, credentialId }: SignInsBy,
): Promise<SignInBy[]> {
  const found = await list(
    tx,
    userId,
    sql`a.id = ${creatorId}::uuid AND (${since}::timestamptz IS NULL OR f.created_at >= ${since}::timestamptz)`,
  );
  const inUse = await tx.rows<{ id: string | null }>`
    SELECT unnest(ARRAY[id, personal_token_id, passkey_id, identity_id]) AS id FROM session
    WHERE id = ${credentialId}::uuid`;
  const ids = new Set([credentialId, ...inUse.map(({ id }) => id)]);
  return found.map((way) => ({ ...way, isInUse: ids.has(way.id) }));
}

/** Those whose creator, another user as `a`, fulfils a condition on it and on the way as `f`. */
async function list(tx: Transaction, userId: string, condition: Sql): Promise<ForeignSignIn[]> {
  return tx.rows<ForeignSignIn>`
    SELECT f.kind, f.id, f.name, f.created_at AS "createdAt", a.id AS "createdById", a.email AS "createdByEmail"
    FROM (
      SELECT 'session' AS kind, 1 AS position, c.id, NULL AS name,
        COALESCE(t.created_at, i.created_at, k.created_at, c.created_at) AS created_at, ${raw(sessionCreatorId)} AS creator
      FROM ${raw(sessionTables)} WHERE c.user_id = ${userId}::uuid
        AND c.ended_at IS NULL AND t.revoked_at IS NULL AND lt.revoked_at IS NULL AND c.expires_at > clock_timestamp()
      UNION ALL
      SELECT 'passkey', 2, id, name, created_at, created_by_id FROM passkey WHERE user_id = ${userId}::uuid
      UNION ALL
      SELECT 'identity', 3, id, issuer, created_at, created_by_id FROM identity WHERE user_id = ${userId}::uuid
      UNION ALL
      SELECT 'personal_token', 4, id, name, created_at, created_by_id FROM personal_token
      WHERE user_id = ${userId}::uuid AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
    ) f JOIN app_user a ON a.id = f.creator AND a.id <> ${userId}::uuid AND ${condition}
    ORDER BY f.position, f.created_at, f.id`;
}
