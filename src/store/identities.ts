import type pg from 'pg';
import type { NewTokenCreator } from '../domain/impersonation.ts';
import type { TokenCreator } from '../domain/principal.ts';
import { creatorFields, tokenCreatorOf } from './credentials.ts';
import type { IdentityModel } from './generated/models.ts';
import { newest, readModels } from './models.ts';
import type { Transaction } from './transaction.ts';

const fields = {
  id: true,
  issuer: true,
  /** The user's id at the issuer. */
  subject: true,
  createdAt: true,
  /** Null if the user has linked it and not signed in with it. */
  lastSignInAt: true,
} as const;

export interface IdentityRecord extends Readonly<Pick<IdentityModel, keyof typeof fields>> {
  /** With whose token or link the user linked it, if that was another person's; null if the user did. */
  readonly creator: TokenCreator | null;
}

/** Who a user is at an issuer. */
export type IssuerSubject = Pick<IdentityRecord, 'issuer' | 'subject'>;

/** The identities of a user, newest first. */
export async function listIdentities(pool: pg.Pool, userId: string): Promise<IdentityRecord[]> {
  const select = { ...fields, ...creatorFields };
  const rows = await readModels(pool, ({ identity }) => identity.findMany({ where: { userId }, select, ...newest() }));
  return rows.map((row) => {
    const { id, issuer, subject, createdAt, lastSignInAt } = row;
    return { id, issuer, subject, createdAt, lastSignInAt, creator: tokenCreatorOf(row, userId) };
  });
}

export type FoundIdentity = Readonly<Pick<IdentityModel, 'id' | 'userId'>>;

/** Lock its user before relying on it. */
export async function findIdentity(
  tx: Transaction,
  { issuer, subject }: IssuerSubject,
): Promise<FoundIdentity | undefined> {
  return tx.row<FoundIdentity>`
    SELECT id, user_id AS "userId" FROM identity WHERE issuer = ${issuer} AND subject = ${subject}`;
}

/** Whether a user has an identity of an issuer. Lock the user before. */
export async function hasIdentity(tx: Transaction, userId: string, issuer: string): Promise<boolean> {
  const found = await tx.run`SELECT FROM identity WHERE user_id = ${userId}::uuid AND issuer = ${issuer}`;
  return found > 0;
}

export interface NewIdentity extends FoundIdentity, IssuerSubject {
  /** With whose token the user links it. */
  readonly creator: NewTokenCreator;
  readonly delegators: readonly string[];
}

/** Links an identity to a user; false if another transaction has linked it meanwhile. Lock the user before. */
export async function insertIdentity(tx: Transaction, identity: NewIdentity): Promise<boolean> {
  const { id, userId, issuer, subject, creator, delegators } = identity;
  const { actor, derivedAt } = creator;
  const inserted = await tx.run`
    INSERT INTO identity (id, user_id, issuer, subject, created_by_type, created_by_id, created_by_name, derived_at, delegators)
    VALUES (${id}::uuid, ${userId}::uuid, ${issuer}, ${subject}, ${actor?.type ?? null}::actor_type,
      ${actor?.id ?? null}::uuid, ${actor?.name ?? null},
      CASE WHEN ${derivedAt === 'now'}::boolean THEN clock_timestamp()
        ELSE ${derivedAt === 'now' ? null : derivedAt}::timestamptz END, ${[...delegators]}::uuid[])
    ON CONFLICT DO NOTHING`;
  return inserted > 0;
}

/** Unlinks an identity of a user and returns it; undefined if the user has none with this id. Lock the user before. */
export async function deleteIdentity(
  tx: Transaction,
  userId: string,
  id: string,
): Promise<Pick<IdentityRecord, 'issuer' | 'lastSignInAt'> | undefined> {
  return tx.row<Pick<IdentityRecord, 'issuer' | 'lastSignInAt'>>`
    DELETE FROM identity WHERE id = ${id}::uuid AND user_id = ${userId}::uuid
    RETURNING issuer, last_sign_in_at AS "lastSignInAt"`;
}

/**
 * Unlinks the identities of a user that another user linked, removes the groups that came with a sign-in with one, and
 * returns how many it unlinked. Lock the user and end the sessions before.
 */
export async function deleteForeignIdentities(tx: Transaction, userId: string): Promise<number> {
  const unlinked = await tx.rows<Pick<IdentityRecord, 'lastSignInAt'>>`
    DELETE FROM identity WHERE user_id = ${userId}::uuid AND created_by_type = 'user' AND created_by_id <> user_id
    RETURNING last_sign_in_at AS "lastSignInAt"`;
  if (unlinked.some(({ lastSignInAt }) => lastSignInAt !== null)) await deleteGroups(tx, userId);
  return unlinked.length;
}

/** Ends the sessions that began with an identity, and returns how many. Lock the user before. */
export async function endSessionsOfIdentity(tx: Transaction, userId: string, identityId: string): Promise<number> {
  return tx.run`
    UPDATE session SET ended_at = clock_timestamp()
    WHERE user_id = ${userId}::uuid AND identity_id = ${identityId}::uuid AND ended_at IS NULL AND expires_at > clock_timestamp()`;
}

/**
 * Notes a sign-in, and replaces the groups of the user: their roles count for `groupsMaxAgeMs` from now on, by the clock of
 * the database. Lock the user before.
 */
export async function noteSignIn(
  tx: Transaction,
  { id, userId }: FoundIdentity,
  { groups, groupsMaxAgeMs }: { readonly groups: readonly string[]; readonly groupsMaxAgeMs: number },
): Promise<void> {
  await tx.run`UPDATE identity SET last_sign_in_at = clock_timestamp() WHERE id = ${id}::uuid`;
  await tx.run`DELETE FROM group_member WHERE user_id = ${userId}::uuid`;
  await tx.run`
    INSERT INTO group_member (user_id, group_name, expires_at)
    SELECT i.user_id, name, i.last_sign_in_at + make_interval(secs => ${groupsMaxAgeMs / 1000}::float8)
    FROM identity i, unnest(${[...groups]}::text[]) AS name WHERE i.id = ${id}::uuid`;
}

/** Removes the groups of a user. Lock the user before. */
export async function deleteGroups(tx: Transaction, userId: string): Promise<void> {
  await tx.run`DELETE FROM group_member WHERE user_id = ${userId}::uuid`;
}

/** Shortens how long groups count after a sign-in, and returns the ids of the users concerned. */
export async function shortenGroups(tx: Transaction, groupsMaxAgeMs: number): Promise<string[]> {
  const rows = await tx.rows<{ userId: string }>`
    WITH latest AS (SELECT user_id, max(last_sign_in_at) AS signed_in_at FROM identity GROUP BY user_id),
    shortened AS (
      UPDATE group_member g
      SET expires_at = l.signed_in_at + make_interval(secs => ${groupsMaxAgeMs / 1000}::float8)
      FROM latest l
      WHERE l.user_id = g.user_id
        AND g.expires_at > l.signed_in_at + make_interval(secs => ${groupsMaxAgeMs / 1000}::float8)
      RETURNING g.user_id
    )
    SELECT DISTINCT user_id AS "userId" FROM shortened`;
  return rows.map(({ userId }) => userId);
}
