import type pg from 'pg';
import type { Actor } from '../domain/principal.ts';
import { queryRows } from './database.ts';
import type { OrganizationModel, UserModel } from './generated/models.ts';
import { adoptInvitations } from './invitations.ts';
import { readModels } from './models.ts';
import { raw, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

export interface NewAdmin {
  readonly userId: string;
  readonly email: string;
  readonly credentialId: string;
  readonly tokenName: string;
  readonly tokenHash: Uint8Array;
  /** Who creates the token. */
  readonly creator: Actor;
}

const fields = {
  id: true,
  /** In lower case. */
  email: true,
  displayName: true,
  instanceAdmin: true,
  createdAt: true,
  /** Null for a user who is not disabled. */
  disabledAt: true,
} as const;

export type UserRecord = Readonly<Pick<UserModel, keyof typeof fields>>;

export type NewUser = Pick<UserRecord, 'id' | 'email' | 'displayName' | 'instanceAdmin'>;

/** What of a user changes; what is absent stays. */
export interface UserChanges {
  readonly displayName?: string | null;
  readonly instanceAdmin?: boolean;
  readonly disabled?: boolean;
  /** In lower case. */
  readonly email?: string;
}

// Any numbers that nothing else of this database locks.
const bootstrapLock = 72_707_370;
const userChangesLock = 72_707_371;
const addressLock = 72_707_374;

const columns = `id, email, display_name AS "displayName", instance_admin AS "instanceAdmin",
    created_at AS "createdAt", disabled_at AS "disabledAt"`;

/** Whether there is any user, disabled ones included. */
export async function hasUsers(tx: Transaction): Promise<boolean> {
  return (await tx.run`SELECT FROM app_user LIMIT 1`) > 0;
}

/** Lets one replica at a time make the first user: held to the end of the transaction. */
export async function lockBootstrap(tx: Transaction): Promise<void> {
  await tx.run`SELECT pg_advisory_xact_lock(${bootstrapLock}::bigint)`;
}

/** Inserts an instance admin with a personal token that never expires. */
export async function insertInstanceAdmin(tx: Transaction, admin: NewAdmin): Promise<void> {
  const { userId, email, credentialId, tokenName, tokenHash, creator } = admin;
  await tx.run`INSERT INTO app_user (id, email, instance_admin) VALUES (${userId}::uuid, ${email}, true)`;
  await tx.run`
    INSERT INTO personal_token (id, user_id, name, token_hash, created_by_type, created_by_id, created_by_name,
      delegators)
    VALUES (${credentialId}::uuid, ${userId}::uuid, ${tokenName}, ${tokenHash},
      ${creator.type}::actor_type, ${creator.id}::uuid, ${creator.name}, '{}')`;
}

/** Whether a personal token is stored under this id with this hash. */
export async function hasPersonalToken(tx: Transaction, credentialId: string, hash: Uint8Array): Promise<boolean> {
  return (await tx.run`SELECT FROM personal_token WHERE id = ${credentialId}::uuid AND token_hash = ${hash}`) > 0;
}

/** The users by e-mail address, from the one after `after` on; null stands for the first, and for no limit. */
export async function listUsers(pool: pg.Pool, after: string | null, limit: number | null): Promise<UserRecord[]> {
  return queryRows<UserRecord>(
    pool,
    sql`
      SELECT ${raw(columns)} FROM app_user WHERE ${after}::text IS NULL OR email COLLATE "C" > ${after}
    ORDER BY email COLLATE "C" LIMIT ${limit}`,
  );
}

export async function findUser(pool: pg.Pool, id: string): Promise<UserRecord | undefined> {
  return (await readModels(pool, ({ user }) => user.findUnique({ where: { id }, select: fields }))) ?? undefined;
}

/**
 * Lets one transaction at a time give an e-mail address to a user, or invite it: held to the end. Lock users before, and
 * places after.
 */
export async function lockAddress(tx: Transaction, email: string): Promise<void> {
  await tx.run`SELECT pg_advisory_xact_lock(${addressLock}::int, hashtext(${email}))`;
}

/** Whether a user has an e-mail address, be it a disabled one. Lock the address before. */
export async function hasAddress(tx: Transaction, email: string): Promise<boolean> {
  return (await tx.run`SELECT FROM app_user WHERE email = ${email}`) > 0;
}

/**
 * Inserts a user, for whom the invitations of the address wait from then on; undefined when the e-mail address is taken,
 * be it by a disabled one.
 */
export async function insertUser(
  tx: Transaction,
  { id, email, displayName, instanceAdmin }: NewUser,
): Promise<UserRecord | undefined> {
  await lockAddress(tx, email);
  const user = await tx.row<UserRecord>`
    INSERT INTO app_user (id, email, display_name, instance_admin)
    VALUES (${id}::uuid, ${email}, ${displayName}, ${instanceAdmin})
    ON CONFLICT (email) DO NOTHING
    RETURNING ${raw(columns)}`;
  if (user !== undefined) await adoptInvitations(tx, user);
  return user;
}

/**
 * Lets one instance admin at a time change users, so that none counts on another who is just going: held to the end.
 */
export async function lockUserChanges(tx: Transaction): Promise<void> {
  await tx.run`SELECT pg_advisory_xact_lock(${userChangesLock}::bigint)`;
}

/** Locks a user: their mutations under way are committed before, and others wait. Undefined for none. */
export async function lockUser(tx: Transaction, id: string): Promise<UserRecord | undefined> {
  const user = await tx.row<UserRecord>`
    SELECT ${raw(columns)} FROM app_user WHERE id = ${id}::uuid FOR NO KEY UPDATE`;
  return user;
}

/** Locks a user and all instance admins, disabled ones too, and returns the latter. Lock the changes of users before. */
export async function lockUserAndInstanceAdmins(tx: Transaction, id: string): Promise<UserRecord[]> {
  const users = await tx.rows<UserRecord>`
    SELECT ${raw(columns)} FROM app_user WHERE instance_admin OR id = ${id}::uuid ORDER BY id FOR NO KEY UPDATE`;
  return users.filter(({ instanceAdmin }) => instanceAdmin);
}

/** Changes a locked user and returns what they are now. */
export async function updateUser(tx: Transaction, id: string, changes: UserChanges): Promise<UserRecord> {
  const { displayName, instanceAdmin, disabled, email } = changes;
  // Who is disabled again stays disabled since then.
  const user = await tx.row<UserRecord>`
    UPDATE app_user SET email = coalesce(${email ?? null}, email),
      display_name = CASE WHEN ${displayName !== undefined}::boolean THEN ${displayName ?? null} ELSE display_name END,
      instance_admin = coalesce(${instanceAdmin ?? null}::boolean, instance_admin),
      disabled_at = CASE ${disabled ?? null}::boolean WHEN true THEN coalesce(disabled_at, clock_timestamp())
        WHEN false THEN NULL ELSE disabled_at END
    WHERE id = ${id}::uuid RETURNING ${raw(columns)}`;
  if (user === undefined) throw new Error('a locked user cannot vanish');
  return user;
}

/** Whether another user has an e-mail address. Lock the changes of users before. */
export async function isEmailTaken(tx: Transaction, email: string, exceptId: string): Promise<boolean> {
  const found = await tx.run`SELECT FROM app_user WHERE email = ${email} AND id <> ${exceptId}::uuid`;
  return found > 0;
}

/** Whether a user is an instance admin who is not disabled; from here to the commit a change of that waits. */
export async function holdActiveInstanceAdmin(tx: Transaction, id: string): Promise<boolean> {
  const found = await tx.run`
    SELECT FROM app_user WHERE id = ${id}::uuid AND instance_admin AND disabled_at IS NULL FOR SHARE`;
  return found > 0;
}

/** Whether a user is an instance admin who is not disabled. Without a lock: a change under way may end that. */
export async function isActiveInstanceAdmin(tx: Transaction, id: string): Promise<boolean> {
  return (await tx.run`SELECT FROM app_user WHERE id = ${id}::uuid AND instance_admin AND disabled_at IS NULL`) > 0;
}

/** Whether there is an instance admin beside this user who is not disabled. */
export async function hasOtherInstanceAdmin(tx: Transaction, id: string): Promise<boolean> {
  const row = await tx.row<{ found: boolean }>`
    SELECT EXISTS (
      SELECT FROM app_user WHERE instance_admin AND disabled_at IS NULL AND id <> ${id}::uuid
    ) AS found`;
  return row?.found === true;
}

/** Locks the organizations that a user owns, as a change of their members does. Lock the user before. */
export async function lockOwnedOrganizations(tx: Transaction, userId: string): Promise<void> {
  await tx.run`
    SELECT FROM organization o
    WHERE o.deleted_at IS NULL
      AND EXISTS (SELECT FROM membership WHERE organization_id = o.id AND user_id = ${userId}::uuid AND role = 'owner')
    ORDER BY o.id FOR NO KEY UPDATE OF o`;
}

export type OwnedOrganization = Readonly<Pick<OrganizationModel, 'id' | 'slug'>>;

/** The organizations that no other user who is not disabled owns, by slug; none of a user who is disabled. */
export async function organizationsOwnedAlone(
  tx: Transaction,
  { id, disabledAt }: Pick<UserRecord, 'id' | 'disabledAt'>,
): Promise<OwnedOrganization[]> {
  if (disabledAt !== null) return [];
  return tx.rows<OwnedOrganization>`
    SELECT o.id, o.slug FROM membership m JOIN organization o ON o.id = m.organization_id AND o.deleted_at IS NULL
    WHERE m.user_id = ${id}::uuid AND m.role = 'owner' AND NOT EXISTS (
      SELECT FROM membership other JOIN app_user u ON u.id = other.user_id AND u.disabled_at IS NULL
      WHERE other.organization_id = o.id AND other.role = 'owner' AND other.user_id <> m.user_id)
    ORDER BY o.slug COLLATE "C"`;
}
