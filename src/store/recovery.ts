import type {
  InstanceModel,
  PersonalTokenModel,
  ServedClusterModel,
  ServiceTokenModel,
  UserModel,
} from './generated/models.ts';
import type { Transaction } from './transaction.ts';

/** What makes every credential of a restored database worthless (services/recover.ts). */

/** A service token, some credentials of which were revoked. */
export interface RevokedServiceToken extends Readonly<Pick<ServiceTokenModel, 'id' | 'organizationId' | 'name'>> {
  readonly credentials: number;
}

/** A user, some personal tokens of whom were revoked. */
export interface RevokedUser extends Readonly<Pick<UserModel, 'id' | 'email'>> {
  readonly tokens: number;
}

export type RecoveringAdmin = Readonly<Pick<UserModel, 'id' | 'email'>>;

/** A personal token that works, of an instance admin. */
export interface AdminToken extends RecoveringAdmin {
  readonly tokenId: PersonalTokenModel['id'];
  readonly tokenName: PersonalTokenModel['name'];
  readonly createdAt: PersonalTokenModel['createdAt'];
}

// Requests under way have this long; others wait behind this one meanwhile.
const lockWaitSeconds = 25;

/**
 * Lets no change make, alter or rely on a credential until the end of the transaction, and returns its time.
 * Changes under way are waited for: so none of theirs is overlooked, and none that is let in by a revoked one is done
 * after it. Credentials before tokens, and people last, as such a change takes them.
 */
export async function lockAllCredentials(tx: Transaction): Promise<Date> {
  await tx.run`SELECT set_config('lock_timeout', ${`${lockWaitSeconds}s`}, true)`;
  // Instance and issuers first: a change of an issuer locks both, and one that creates a federated token its issuer.
  await tx.run`
    LOCK TABLE instance, trusted_issuer, service_token_credential, service_token, personal_token, session, passkey
    IN EXCLUSIVE MODE`;
  const row = await tx.row<{ now: Date }>`SELECT now() AS now`;
  if (row === undefined) throw new Error('a SELECT without FROM returned no row');
  return row.now;
}

/**
 * Revokes the credentials of service tokens that were made before a moment, or all with null, pending ones too, and those
 * that JWTs for another id of the instance prove. A token that a person made, and that has none left, is over itself. That
 * of a custom resource is not: its resource makes the next serial, while a token that a user revoked has no next one. Lock
 * all credentials before.
 */
export async function revokeServiceTokenCredentials(
  tx: Transaction,
  before: Date | null,
): Promise<RevokedServiceToken[]> {
  const revoked = await tx.rows<RevokedServiceToken>`
    WITH revoked AS (
      UPDATE service_token_credential c SET revoked_at = clock_timestamp()
      FROM service_token t
      WHERE t.id = c.service_token_id AND t.revoked_at IS NULL AND c.revoked_at IS NULL
        AND (${before}::timestamptz IS NULL OR c.created_at < ${before}::timestamptz OR EXISTS (
          SELECT FROM service_token_federation f, instance i
          WHERE f.credential_id = c.id AND f.ended_at IS NULL AND split_part(f.audience, '/', 2) <> i.id))
      RETURNING c.service_token_id
    )
    SELECT t.id, t.organization_id AS "organizationId", t.name, count(*)::int AS credentials
    FROM revoked r JOIN service_token t ON t.id = r.service_token_id
    GROUP BY t.id ORDER BY t.created_at, t.id`;
  await tx.run`
    UPDATE service_token t SET revoked_at = clock_timestamp()
    WHERE t.revoked_at IS NULL AND t.created_by_type <> 'resource' AND t.cluster IS NULL
      AND NOT EXISTS (
        SELECT FROM service_token_credential c WHERE c.service_token_id = t.id AND c.revoked_at IS NULL)`;
  return revoked;
}

/**
 * Lets the trusted issuers that were changed before a moment, or all with null, prove nothing until an instance admin
 * enables them, and returns how many: it is not known which of their keys were withdrawn since the backup. Those of remote
 * clusters are enabled with their cluster, and are not counted. The issuer of a home cluster stays, because its controller
 * reports it. Lock all credentials before.
 */
export async function disableTrustedIssuers(tx: Transaction, before: Date | null): Promise<number> {
  const disabled = await tx.rows<{ isNamed: boolean }>`
    UPDATE trusted_issuer i SET disabled_at = clock_timestamp(), version = version + 1
    WHERE (name IS NOT NULL OR EXISTS (SELECT FROM cluster_registration r WHERE r.issuer_id = i.id))
      AND disabled_at IS NULL AND (${before}::timestamptz IS NULL OR changed_at < ${before}::timestamptz)
    RETURNING name IS NOT NULL AS "isNamed"`;
  return disabled.filter(({ isNamed }) => isNamed).length;
}

/**
 * Lets nothing be done for the remote clusters that were registered before a moment, or for all with null, until an instance
 * admin enables them, and returns their names. Lock all credentials before.
 */
export async function disableRemoteClusters(tx: Transaction, before: Date | null): Promise<string[]> {
  const rows = await tx.rows<Pick<ServedClusterModel, 'name'>>`
    UPDATE served_cluster sc SET disabled_at = clock_timestamp() FROM cluster_registration r
    WHERE r.cluster = sc.name AND sc.disabled_at IS NULL
      AND (${before}::timestamptz IS NULL OR r.changed_at < ${before}::timestamptz)
    RETURNING sc.name`;
  return rows.map(({ name }) => name);
}

/**
 * Gives the instance another id, unless it got its id at or after a moment. Then JWTs for the database that this one is a
 * copy of prove nothing here. Returns the id that the instance has.
 */
export async function renewInstance(
  tx: Transaction,
  { id, before }: Pick<InstanceModel, 'id'> & { readonly before: Date | null },
): Promise<InstanceModel['id']> {
  await tx.run`
    UPDATE instance SET id = ${id}, created_at = clock_timestamp()
    WHERE ${before}::timestamptz IS NULL OR created_at < ${before}::timestamptz`;
  const row = await tx.row<Pick<InstanceModel, 'id'>>`SELECT id FROM instance`;
  if (row === undefined) throw new Error('a migration made the instance');
  return row.id;
}

/**
 * How many keyless tokens open something: their authority is the grants of their cluster, which no backup takes back.
 */
export async function countKeylessTokens(tx: Transaction): Promise<number> {
  const row = await tx.row<{ count: number }>`
    SELECT count(*)::int AS count FROM service_token WHERE cluster IS NOT NULL AND revoked_at IS NULL`;
  if (row === undefined) throw new Error('an aggregate without GROUP BY returns one row');
  return row.count;
}

/**
 * Revokes the personal tokens that were made before a moment, or all with null, but for one. Lock all credentials
 * before.
 */
export async function revokeAllPersonalTokens(
  tx: Transaction,
  { before, exceptId }: { readonly before: Date | null; readonly exceptId: string | null },
): Promise<RevokedUser[]> {
  return tx.rows<RevokedUser>`
    WITH revoked AS (
      UPDATE personal_token SET revoked_at = clock_timestamp()
      WHERE revoked_at IS NULL AND id IS DISTINCT FROM ${exceptId}::uuid
        AND (${before}::timestamptz IS NULL OR created_at < ${before}::timestamptz)
      RETURNING user_id
    )
    SELECT u.id, u.email, count(*)::int AS tokens
    FROM revoked r JOIN app_user u ON u.id = r.user_id
    GROUP BY u.id ORDER BY u.created_at, u.id`;
}

/**
 * Ends the sessions that began before a moment, or all with null, and returns the id of the user of each. Lock all
 * credentials before.
 */
export async function endAllSessions(tx: Transaction, before: Date | null): Promise<string[]> {
  const rows = await tx.rows<{ userId: string }>`
    UPDATE session SET ended_at = clock_timestamp()
    WHERE ended_at IS NULL AND expires_at > clock_timestamp()
      AND (${before}::timestamptz IS NULL OR created_at < ${before}::timestamptz)
    RETURNING user_id AS "userId"`;
  return rows.map(({ userId }) => userId);
}

/**
 * Makes the passkeys that were registered before a moment, or all with null, unusable until they are confirmed, and returns
 * how many: it is not known which were removed since the backup. Lock all credentials before.
 */
export async function makePasskeysUnusable(tx: Transaction, before: Date | null): Promise<number> {
  return tx.run`
    UPDATE passkey SET unusable_since = clock_timestamp()
    WHERE unusable_since IS NULL AND (${before}::timestamptz IS NULL OR created_at < ${before}::timestamptz)`;
}

/**
 * Withdraws the invitations that were sent before a moment, or all with null, and returns how many waited: it is not
 * known which were withdrawn or declined since the backup. Lock all credentials before.
 */
export async function withdrawAllInvitations(tx: Transaction, before: Date | null): Promise<number> {
  const rows = await tx.rows<{ isWaiting: boolean }>`
    UPDATE invitation SET ended_at = clock_timestamp(), outcome = 'withdrawn'
    WHERE ended_at IS NULL AND (${before}::timestamptz IS NULL OR created_at < ${before}::timestamptz)
    RETURNING expires_at > clock_timestamp() AS "isWaiting"`;
  return rows.filter(({ isWaiting }) => isWaiting).length;
}

/**
 * Ends the sign-in links that were created before a moment, or all with null, and returns how many worked. Lock all
 * credentials before.
 */
export async function endAllSignInLinks(tx: Transaction, before: Date | null): Promise<number> {
  const rows = await tx.rows<{ worked: boolean }>`
    UPDATE sign_in_link SET ended_at = clock_timestamp()
    WHERE used_at IS NULL AND ended_at IS NULL
      AND (${before}::timestamptz IS NULL OR created_at < ${before}::timestamptz)
    RETURNING expires_at > clock_timestamp() AS worked`;
  return rows.filter(({ worked }) => worked).length;
}

/**
 * Removes sign-ins under way, of browsers and of commands, and the groups of earlier sign-ins: users may have been removed
 * from them since the backup.
 */
export async function forgetSignIns(tx: Transaction): Promise<void> {
  await tx.run`DELETE FROM sign_in_flow`;
  // One that a server holds waits for a table that this transaction has locked. Its session has ended.
  await tx.run`
    DELETE FROM login_request WHERE id IN (SELECT id FROM login_request ORDER BY id FOR UPDATE SKIP LOCKED)`;
  await tx.run`DELETE FROM group_member`;
}

/**
 * The instance admin with an e-mail address, or with null the one who has been there longest; undefined for none that
 * is not disabled.
 */
export async function findInstanceAdmin(tx: Transaction, email: string | null): Promise<RecoveringAdmin | undefined> {
  const admin = await tx.row<RecoveringAdmin>`
    SELECT id, email FROM app_user
    WHERE instance_admin AND disabled_at IS NULL AND (${email}::text IS NULL OR email = ${email})
    ORDER BY created_at, id LIMIT 1`;
  return admin;
}

/** The personal token with an id and a hash, if it works and is an instance admin's. */
export async function findAdminToken(
  tx: Transaction,
  { credentialId, hash }: { readonly credentialId: string; readonly hash: Uint8Array },
): Promise<AdminToken | undefined> {
  const token = await tx.row<AdminToken>`
    SELECT u.id, u.email, c.id AS "tokenId", c.name AS "tokenName", c.created_at AS "createdAt"
    FROM personal_token c JOIN app_user u ON u.id = c.user_id
    WHERE c.id = ${credentialId}::uuid AND c.token_hash = ${hash} AND c.revoked_at IS NULL
      AND (c.expires_at IS NULL OR c.expires_at > now()) AND u.instance_admin AND u.disabled_at IS NULL`;
  return token;
}

/** Every organization that has not been purged: each has a separate audit. */
export async function allOrganizationIds(tx: Transaction): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>`SELECT id FROM organization ORDER BY created_at, id`;
  return rows.map(({ id }) => id);
}
