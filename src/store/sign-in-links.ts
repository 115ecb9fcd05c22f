import type pg from 'pg';
import { limits } from '../domain/limits.ts';
import { personalTokenFault, personalTokenTables } from './credentials.ts';
import { queryRows } from './database.ts';
import type { SignInLinkModel, UserModel } from './generated/models.ts';
import { raw, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Links that begin one session: of a user, or of the user that is made of an invited address. */

/**
 * Why a link does not work; null if it does. `ended`: by a later link, or with its user or invitation. `token_ended`: the
 * personal token that it was created with works no more.
 */
export type SignInLinkFault = 'used' | 'ended' | 'expired' | 'token_ended' | null;

/** What a link is for. */
export type LinkSubject = { readonly userId: string } | { readonly invitationId: string };

export interface NewSignInLink {
  readonly id: string;
  readonly subject: LinkSubject;
  readonly tokenHash: Uint8Array;
  /** The id of the user who counts as its creator. */
  readonly createdBy: string;
  /** The id of the personal token or session that it is created with. */
  readonly credentialId: string;
  readonly delegators: readonly string[];
}

export interface FoundSignInLink extends Readonly<
  Pick<SignInLinkModel, 'id' | 'tokenHash' | 'userId' | 'invitationId' | 'expiresAt'>
> {
  /** The address of the user, or the invited one. */
  readonly email: string;
  readonly createdById: SignInLinkModel['createdBy'];
  readonly createdByEmail: UserModel['email'];
  /** By the database's clock. Whether its invitation waits is not part of it. */
  readonly fault: SignInLinkFault;
}

// That the creator is disabled is judged with the right to create the link, which says so.
const fault = `CASE WHEN l.used_at IS NOT NULL THEN 'used' WHEN l.ended_at IS NOT NULL THEN 'ended'
      WHEN l.expires_at <= clock_timestamp() THEN 'expired'
      WHEN EXISTS (
        SELECT FROM (SELECT c.user_id, ${personalTokenFault} AS fault
          FROM ${personalTokenTables} WHERE c.id = l.personal_token_id) f
        WHERE f.fault IS NOT NULL AND (f.fault <> 'disabled' OR f.user_id <> l.created_by))
      THEN 'token_ended' END`;

/** A link in any state; undefined for none. */
export async function findSignInLink(pool: pg.Pool, id: string): Promise<FoundSignInLink | undefined> {
  const [found] = await queryRows<FoundSignInLink>(
    pool,
    sql`
      SELECT l.id, l.token_hash AS "tokenHash", l.user_id AS "userId", l.invitation_id AS "invitationId",
      COALESCE(u.email, i.address, v.email) AS email, l.created_by AS "createdById", b.email AS "createdByEmail",
      l.expires_at AS "expiresAt", ${raw(fault)} AS fault
    FROM sign_in_link l JOIN app_user b ON b.id = l.created_by
    LEFT JOIN app_user u ON u.id = l.user_id
    LEFT JOIN invitation i ON i.id = l.invitation_id LEFT JOIN app_user v ON v.id = i.user_id
    WHERE l.id = ${id}`,
  );
  return found;
}

// So long, the audit can say why a link is refused.
const keptDays = 30;

/**
 * Inserts a link, and returns when it ends: with its invitation. It ends the one that its user had. Links that ended long ago are deleted: some
 * at each time, those of invitations with their invitation. Lock the user, or the place of the invitation, before.
 */
export async function insertSignInLink(tx: Transaction, link: NewSignInLink): Promise<Date> {
  const { id, subject, tokenHash, createdBy, credentialId, delegators } = link;
  const [userId, invitationId] = 'userId' in subject ? [subject.userId, null] : [null, subject.invitationId];
  if (userId !== null) await endSignInLink(tx, userId);
  await tx.run`
    DELETE FROM sign_in_link WHERE id IN (
      SELECT id FROM sign_in_link
      WHERE user_id IS NOT NULL AND expires_at < clock_timestamp() - make_interval(days => ${keptDays}::int)
      ORDER BY id LIMIT 100 FOR UPDATE SKIP LOCKED)`;
  const row = await tx.row<{ expiresAt: Date }>`
    INSERT INTO sign_in_link
      (id, token_hash, user_id, invitation_id, created_by, personal_token_id, created_at, expires_at, delegators)
    VALUES (${id}::uuid, ${tokenHash}, ${userId}::uuid, ${invitationId}::uuid, ${createdBy}::uuid,
      COALESCE((SELECT id FROM personal_token WHERE id = ${credentialId}::uuid),
        (SELECT COALESCE(s.personal_token_id, l.personal_token_id)
          FROM session s LEFT JOIN sign_in_link l ON l.id = s.sign_in_link_id WHERE s.id = ${credentialId}::uuid)),
      clock_timestamp(),
      COALESCE((SELECT expires_at FROM invitation WHERE id = ${invitationId}::uuid),
        clock_timestamp() + make_interval(hours => ${limits.signInLinkHours}::int)),
      ${[...delegators]}::uuid[])
    RETURNING expires_at AS "expiresAt"`;
  if (row === undefined) throw new Error('an INSERT of one row returns it');
  return row.expiresAt;
}

/** Spends a link, of several requests for one of them. Returns its fault; undefined if it was deleted. */
export async function useSignInLink(tx: Transaction, id: string): Promise<SignInLinkFault | undefined> {
  const row = await tx.row<{ fault: SignInLinkFault }>`
    SELECT ${raw(fault)} AS fault FROM sign_in_link l WHERE l.id = ${id}::uuid FOR UPDATE OF l`;
  if (row?.fault !== null) return row?.fault;
  await tx.run`UPDATE sign_in_link SET used_at = clock_timestamp() WHERE id = ${id}::uuid`;
  return null;
}

/**
 * How many users the links of an organization's invitations made in the last 24 hours. Lock a place of the organization
 * before.
 */
export async function countNewUsers(tx: Transaction, organizationId: string): Promise<number> {
  const row = await tx.row<{ count: number }>`
    SELECT count(*)::int AS count FROM sign_in_link l JOIN invitation i ON i.id = l.invitation_id
    WHERE i.organization_id = ${organizationId}::uuid AND l.used_at > clock_timestamp() - interval '1 day'`;
  return row?.count ?? 0;
}

/** Ends the link that a user has, and returns whether it would have worked. Lock the user before. */
export async function endSignInLink(tx: Transaction, userId: string): Promise<boolean> {
  const row = await tx.row<{ worked: boolean }>`
    UPDATE sign_in_link SET ended_at = clock_timestamp()
    WHERE user_id = ${userId}::uuid AND used_at IS NULL AND ended_at IS NULL
    RETURNING expires_at > clock_timestamp() AS worked`;
  return row?.worked === true;
}

/**
 * Ends the links that a user created, also those of the user's invitations that another user counts as the creator of.
 * Returns how many would have worked. Lock the user before, so that none of them is spent and none is created meanwhile.
 */
export async function endCreatedSignInLinks(tx: Transaction, userId: string): Promise<number> {
  const ended = await tx.rows<{ worked: boolean }>`
    WITH open AS (
      SELECT l.id FROM sign_in_link l LEFT JOIN invitation i ON i.id = l.invitation_id
      WHERE (l.created_by = ${userId}::uuid OR i.invited_by = ${userId}::uuid)
        AND l.used_at IS NULL AND l.ended_at IS NULL ORDER BY l.id FOR UPDATE OF l
    )
    UPDATE sign_in_link l SET ended_at = clock_timestamp() FROM open WHERE l.id = open.id
    RETURNING l.expires_at > clock_timestamp() AS worked`;
  return ended.filter(({ worked }) => worked).length;
}

/**
 * Lets a session go on, although this transaction has revoked the token of another user that its link was created with: the
 * link no longer depends on the token.
 */
export async function keepSessionOfLink(tx: Transaction, sessionId: string): Promise<void> {
  await tx.run`
    UPDATE sign_in_link l SET personal_token_id = NULL FROM session s, personal_token t
    WHERE s.id = ${sessionId}::uuid AND l.id = s.sign_in_link_id AND t.id = l.personal_token_id
      AND t.user_id <> s.user_id AND t.revoked_at IS NOT NULL`;
}
