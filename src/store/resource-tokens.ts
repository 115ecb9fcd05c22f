import type pg from 'pg';
import type { TokenPermission } from '../domain/grants.ts';
import { queryRows } from './database.ts';
import type {
  ServiceTokenCredentialModel,
  ServiceTokenFederationModel,
  ServiceTokenModel,
} from './generated/models.ts';
import { raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Whom a claim belongs to. */
export interface TokenOwner {
  readonly cluster: string;
  readonly uid: string;
}

/** What the token of a custom resource is presented with: a secret string, or JWTs. */
export interface ResourceCredentialRecord extends Readonly<
  Pick<
    ServiceTokenCredentialModel,
    'serial' | 'state' | 'createdAt' | 'expiresAt' | 'revokedAt' | 'firstUsedAt' | 'lastUsedAt'
  >
> {
  /** Of the JWTs that prove it; null for a secret string, and for what no JWT proves any more. */
  readonly audience: ServiceTokenFederationModel['audience'] | null;
}

/** The token of a custom resource, as it is in the database. `revokedAt`: set once it has ended for good, by any cause. */
export interface ResourceTokenRecord extends Readonly<
  Pick<
    ServiceTokenModel,
    'name' | 'organizationId' | 'scope' | 'projectId' | 'environmentId' | 'permission' | 'suspendedAt' | 'revokedAt'
  >
> {
  readonly tokenId: ServiceTokenModel['id'];
  /** By serial, oldest first. */
  readonly credentials: readonly ResourceCredentialRecord[];
}

type CredentialColumns = { readonly [K in keyof ResourceCredentialRecord]: ResourceCredentialRecord[K] | null };
type Row = Omit<ResourceTokenRecord, 'tokenId' | 'credentials' | 'revokedAt'> & {
  /** Null if the token that was claimed is gone; so are all its other columns then. */
  readonly tokenId: ServiceTokenModel['id'] | null;
  readonly tokenRevokedAt: ServiceTokenModel['revokedAt'];
} & CredentialColumns;

const columns = `t.id AS "tokenId", t.name, t.organization_id AS "organizationId", t.scope, t.project_id AS "projectId",
    t.environment_id AS "environmentId", t.permission, t.suspended_at AS "suspendedAt",
    t.revoked_at AS "tokenRevokedAt", c.serial, c.state, c.created_at AS "createdAt", c.expires_at AS "expiresAt",
    c.revoked_at AS "revokedAt", c.first_used_at AS "firstUsedAt", c.last_used_at AS "lastUsedAt",
    CASE WHEN f.ended_at IS NULL AND f.generation = i.generation THEN f.audience END AS audience`;

function rowsOf({ cluster, uid }: TokenOwner): Sql {
  return sql`
    SELECT ${raw(columns)} FROM resource_claim r
    LEFT JOIN service_token t ON t.id = r.service_token_id
    LEFT JOIN service_token_credential c ON c.service_token_id = t.id
    LEFT JOIN service_token_federation f ON f.credential_id = c.id
    LEFT JOIN trusted_issuer i ON i.id = f.issuer_id
    WHERE r.cluster = ${cluster} AND r.uid = ${uid}::uuid AND r.operation = 'token' AND r.serial = 1`;
}

/**
 * The token that a custom resource claimed; undefined if it never had one. `gone`: what it was for was purged, and the
 * token with it.
 */
export async function findResourceToken(
  pool: pg.Pool,
  owner: TokenOwner,
): Promise<ResourceTokenRecord | 'gone' | undefined> {
  // A resource that ended without ever having a token has claimed one all the same, so that none is made for it.
  const found = await queryRows<Row>(
    pool,
    sql`${rowsOf(owner)} AND (t.id IS NOT NULL OR NOT EXISTS (SELECT FROM resource_claim ended
        WHERE ended.cluster = r.cluster AND ended.uid = r.uid AND ended.operation = 'token_end'))
      ORDER BY c.serial`,
  );
  return found.length === 0 ? undefined : (tokenOf(found) ?? 'gone');
}

/** Which serial of a resource's token has a hash; undefined for none. */
export async function findSerial(
  pool: pg.Pool,
  { cluster, uid }: TokenOwner,
  tokenHash: Uint8Array,
): Promise<number | undefined> {
  const [found] = await queryRows<{ readonly serial: number }>(
    pool,
    sql`
      SELECT c.serial FROM resource_claim r
    JOIN service_token_credential c ON c.service_token_id = r.service_token_id
    WHERE r.cluster = ${cluster} AND r.uid = ${uid}::uuid AND r.operation = 'token' AND r.serial = 1 AND c.token_hash = ${tokenHash}`,
  );
  return found?.serial;
}

/**
 * Locks a resource's token with its credentials, in the order of a change under way (store/credentials.ts), and reads
 * it under the locks; undefined if there is none, or no longer. The claim is locked first, so that a call that makes
 * the next serial waits for the one before.
 */
export async function holdResourceToken(
  tx: Transaction,
  { cluster, uid }: TokenOwner,
): Promise<ResourceTokenRecord | undefined> {
  await tx.run`
    SELECT FROM resource_claim WHERE cluster = ${cluster} AND uid = ${uid}::uuid AND operation = 'token' AND serial = 1
    FOR NO KEY UPDATE`;
  await tx.run`
    SELECT FROM resource_claim r JOIN service_token_credential c ON c.service_token_id = r.service_token_id
    WHERE r.cluster = ${cluster} AND r.uid = ${uid}::uuid AND r.operation = 'token' AND r.serial = 1
    ORDER BY c.serial FOR NO KEY UPDATE OF c`;
  await tx.run`
    SELECT FROM resource_claim r JOIN service_token t ON t.id = r.service_token_id
    WHERE r.cluster = ${cluster} AND r.uid = ${uid}::uuid AND r.operation = 'token' AND r.serial = 1
    FOR NO KEY UPDATE OF t`;
  // By a separate statement: what was committed while the locks were waited for is seen now.
  return tokenOf(await tx.rows<Row>`${rowsOf({ cluster, uid })} ORDER BY c.serial`);
}

/** A credential that opens nothing before it is activated. */
export interface PendingCredential {
  readonly id: string;
  readonly serial: number;
  readonly tokenHash: Uint8Array;
  readonly expiresAt: Date | null;
}

/** Adds a credential, or puts a new secret in place of that of a pending one with the same serial. */
export async function putPendingCredential(
  tx: Transaction,
  tokenId: string,
  credential: PendingCredential,
): Promise<void> {
  const { id, serial, tokenHash, expiresAt } = credential;
  await tx.run`
    INSERT INTO service_token_credential (id, service_token_id, serial, token_hash, state, expires_at)
    VALUES (${id}::uuid, ${tokenId}::uuid, ${serial}::int, ${tokenHash}, 'pending', ${expiresAt}::timestamptz)
    ON CONFLICT (service_token_id, serial) DO UPDATE
    SET id = excluded.id, token_hash = excluded.token_hash, expires_at = excluded.expires_at,
      created_at = excluded.created_at
    WHERE service_token_credential.state = 'pending' AND service_token_credential.revoked_at IS NULL`;
}

type CredentialHash = Readonly<Pick<ServiceTokenCredentialModel, 'id' | 'tokenHash'>>;

/** The hash that is stored of a serial. */
export async function credentialHash(
  tx: Transaction,
  tokenId: string,
  serial: number,
): Promise<CredentialHash | undefined> {
  return tx.row<CredentialHash>`
    SELECT id, token_hash AS "tokenHash" FROM service_token_credential
    WHERE service_token_id = ${tokenId}::uuid AND serial = ${serial}::int`;
}

export async function activateCredential(tx: Transaction, tokenId: string, serial: number): Promise<void> {
  await tx.run`
    UPDATE service_token_credential SET state = 'active'
    WHERE service_token_id = ${tokenId}::uuid AND serial = ${serial}::int`;
}

/** Ends one serial; returns whether it was live before. */
export async function revokeCredential(tx: Transaction, tokenId: string, serial: number): Promise<boolean> {
  const revoked = await tx.run`
    UPDATE service_token_credential SET revoked_at = clock_timestamp()
    WHERE service_token_id = ${tokenId}::uuid AND serial = ${serial}::int AND revoked_at IS NULL`;
  return revoked > 0;
}

/** Null never ends. */
export async function setCredentialExpiry(
  tx: Transaction,
  tokenId: string,
  { serial, expiresAt }: { readonly serial: number; readonly expiresAt: Date | null },
): Promise<void> {
  await tx.run`
    UPDATE service_token_credential SET expires_at = ${expiresAt}::timestamptz
    WHERE service_token_id = ${tokenId}::uuid AND serial = ${serial}::int`;
}

/** Suspends a token, or lets it go on; returns whether that changed anything. */
export async function setSuspended(tx: Transaction, tokenId: string, suspended: boolean): Promise<boolean> {
  const changed = suspended
    ? await tx.run`
        UPDATE service_token SET suspended_at = clock_timestamp()
        WHERE id = ${tokenId}::uuid AND suspended_at IS NULL AND revoked_at IS NULL`
    : await tx.run`
        UPDATE service_token SET suspended_at = NULL WHERE id = ${tokenId}::uuid AND suspended_at IS NOT NULL`;
  return changed > 0;
}

export async function setPermission(tx: Transaction, tokenId: string, permission: TokenPermission): Promise<void> {
  await tx.run`
    UPDATE service_token SET permission = ${permission}::token_permission
    WHERE id = ${tokenId}::uuid AND permission <> ${permission}::token_permission`;
}

function tokenOf(found: readonly Row[]): ResourceTokenRecord | undefined {
  const [first] = found;
  if (first === undefined || first.tokenId === null) return undefined;
  const { tokenId, name, organizationId, scope, projectId, environmentId, permission, suspendedAt } = first;
  return {
    tokenId,
    name,
    organizationId,
    scope,
    projectId,
    environmentId,
    permission,
    suspendedAt,
    revokedAt: first.tokenRevokedAt,
    credentials: found.flatMap(credentialOf),
  };
}

function credentialOf({
  serial,
  state,
  createdAt,
  expiresAt,
  revokedAt,
  firstUsedAt,
  lastUsedAt,
  audience,
}: Row): ResourceCredentialRecord[] {
  if (serial === null || state === null || createdAt === null) return [];
  return [{ serial, state, createdAt, expiresAt, revokedAt, firstUsedAt, lastUsedAt, audience }];
}
