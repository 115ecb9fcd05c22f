import type pg from 'pg';
import type { TokenPermission } from '../domain/grants.ts';
import type { Actor, TokenScope } from '../domain/principal.ts';
import { serviceTokenFault, serviceTokenTables } from './credentials.ts';
import { queryRows, type Statement } from './database.ts';
import type { FederationRecord } from './token-federations.ts';
import type { ServiceTokenCredentialModel, ServiceTokenModel } from './generated/models.ts';
import { readModels, type RecordPage } from './models.ts';
import { empty, raw, sql } from './sql.ts';
import { isIn, type TokenHome } from './token-home.ts';
import type { Transaction } from './transaction.ts';

/** A namespace, which the controller of a cluster vouches for. */
export interface TokenHolder {
  readonly cluster: string;
  readonly namespace: string;
}

/** A service token without its secret strings. The creator's name is as of then. */
export interface ServiceTokenRecord extends Readonly<
  Pick<
    ServiceTokenModel,
    | 'id'
    | 'name'
    | 'scope'
    | 'projectId'
    | 'environmentId'
    | 'permission'
    | 'createdByType'
    | 'createdByName'
    | 'createdAt'
    | 'revokedAt'
  >
> {
  readonly createdBy: ServiceTokenModel['createdById'];
  /**
   * The cluster of the custom resource that it belongs to, as the controller named it then; null for any other token.
   */
  readonly cluster: ServiceTokenModel['cluster'];
  /** Whose SecretSyncs read with it, if it is a keyless token; null for a token that has a value. */
  readonly holder: TokenHolder | null;
  /** Of a keyless token: since when its cluster is disabled, which suspends it. */
  readonly suspendedAt: ServiceTokenModel['suspendedAt'];
  /** What proves it, if it is federated; null for a token that has a value, and for a keyless one. */
  readonly federation: FederationRecord | null;
  /** When the newest credential ends; null for never. */
  readonly expiresAt: ServiceTokenCredentialModel['expiresAt'] | null;
  /** When it was last used, to the minute; null for never. */
  readonly lastUsedAt: ServiceTokenModel['lastUsedAt'];
}

export interface NewServiceToken {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly scope: TokenScope;
  readonly projectId: string | null;
  readonly environmentId: string | null;
  readonly permission: TokenPermission;
  readonly creator: Actor;
  readonly credential: {
    readonly id: string;
    readonly tokenHash: Uint8Array;
    readonly expiresAt: Date | null;
    /** Default 1. */
    readonly serial?: number;
    /** Default `active`. */
    readonly state?: 'pending' | 'active';
  };
}

/** What exists of a scope that a token is asked for, and the database's time. */
export interface ScopeFacts {
  readonly now: Date;
  /** Whether the project exists in the organization. */
  readonly projectExists: boolean;
  /** The project of the environment, if that exists in the organization. */
  readonly projectOfEnvironment: string | null;
}

/** The names of what a service token is tied to. */
export interface ScopeNames {
  readonly organization: string;
  readonly project: string | null;
  readonly environment: string | null;
}

const tables = `service_token t
    LEFT JOIN LATERAL (
      SELECT (array_agg(expires_at ORDER BY serial DESC))[1] AS expires_at, max(last_used_at) AS last_used_at
      FROM service_token_credential WHERE service_token_id = t.id
    ) c ON true`;
// An older server may have given the token a credential with a value, which ended the one before.
const federation = `(
      SELECT json_build_object('issuer', f.issuer_name, 'audience', f.audience, 'claims', f.claims,
        'generation', f.generation, 'issuerGeneration', i.generation)
      FROM (SELECT id FROM service_token_credential WHERE service_token_id = t.id ORDER BY serial DESC LIMIT 1) newest
      JOIN service_token_federation f ON f.credential_id = newest.id
      LEFT JOIN trusted_issuer i ON i.id = f.issuer_id)`;
const columns = `t.id, t.name, t.scope, t.project_id AS "projectId", t.environment_id AS "environmentId", t.permission,
    t.created_by_id AS "createdBy", t.created_by_type AS "createdByType", t.created_by_name AS "createdByName",
    coalesce(t.cluster, (SELECT cluster FROM resource_claim WHERE service_token_id = t.id AND operation = 'token' LIMIT 1))
      AS cluster,
    CASE WHEN t.cluster IS NOT NULL THEN json_build_object('cluster', t.cluster, 'namespace', t.namespace) END AS holder,
    ${federation} AS federation, t.created_at AS "createdAt", c.expires_at AS "expiresAt", t.revoked_at AS "revokedAt",
    CASE WHEN t.cluster IS NULL THEN t.suspended_at
      ELSE (SELECT sc.disabled_at FROM served_cluster sc WHERE sc.name = t.cluster) END AS "suspendedAt",
    greatest(c.last_used_at, t.last_used_at) AS "lastUsedAt"`;

const tokensOfResources: Statement = {
  name: 'service-tokens-of-resources',
  text: `SELECT id FROM service_token WHERE id = ANY($1::uuid[]) AND created_by_type = 'resource'`,
};

/** Looks for a project and an environment, or either, among what the organization has and has not deleted. */
export async function findScopeFacts(
  tx: Transaction,
  organizationId: string,
  { projectId, environmentId }: { readonly projectId: string | null; readonly environmentId: string | null },
): Promise<ScopeFacts> {
  const facts = await tx.row<ScopeFacts>`
    SELECT clock_timestamp() AS now,
      EXISTS (SELECT FROM project WHERE id = ${projectId}::uuid AND organization_id = ${organizationId}::uuid
        AND deleted_at IS NULL) AS "projectExists",
      (SELECT e.project_id FROM environment e JOIN project p ON p.id = e.project_id
        WHERE e.id = ${environmentId}::uuid AND p.organization_id = ${organizationId}::uuid
        AND e.deleted_at IS NULL AND p.deleted_at IS NULL) AS "projectOfEnvironment"`;
  if (facts === undefined) throw new Error('a SELECT without FROM returned no row');
  return facts;
}

/** Inserts a service token with its first credential; returns the token's time of creation. */
export async function insertServiceToken(tx: Transaction, token: NewServiceToken): Promise<Date> {
  const { creator, credential } = token;
  const { serial = 1, state = 'active' } = credential;
  const created = await tx.row<{ createdAt: Date }>`
    WITH credential AS (
      INSERT INTO service_token_credential (id, service_token_id, serial, token_hash, expires_at, state)
      VALUES (${credential.id}::uuid, ${token.id}::uuid, ${serial}::int, ${credential.tokenHash},
        ${credential.expiresAt}::timestamptz, ${state}::credential_state)
    )
    INSERT INTO service_token (id, organization_id, name, scope, project_id, environment_id, permission, created_by_id,
      created_by_type, created_by_name)
    VALUES (${token.id}::uuid, ${token.organizationId}::uuid, ${token.name}, ${token.scope}::token_scope,
      ${token.projectId}::uuid, ${token.environmentId}::uuid, ${token.permission}::token_permission,
      ${creator.id}::uuid, ${creator.type}::actor_type, ${creator.name})
    RETURNING created_at AS "createdAt"`;
  if (created === undefined) throw new Error('an INSERT of one row returned no row');
  return created.createdAt;
}

/**
 * Revokes a service token and so all its credentials. Returns whether it was live before; undefined if the
 * organization has no such token. It writes the token's row alone: a change under way share-locks credential and token
 * (store/credentials.ts), so writing both here could deadlock with it.
 */
export async function revokeServiceToken(
  tx: Transaction,
  home: TokenHome,
  id: string,
): Promise<{ readonly wasLive: boolean } | undefined> {
  const revoked = await tx.run`
    UPDATE service_token t SET revoked_at = clock_timestamp()
    WHERE id = ${id}::uuid AND ${isIn(home)} AND revoked_at IS NULL`;
  if (revoked > 0) return { wasLive: true };
  const known = await tx.rows<object>`SELECT FROM service_token t WHERE id = ${id}::uuid AND ${isIn(home)}`;
  return known.length === 0 ? undefined : { wasLive: false };
}

export interface NewCredential {
  readonly id: string;
  readonly tokenHash: Uint8Array;
  /** How long the credentials before it stay good beside it. */
  readonly overlapSeconds: number;
}

/** What became of a rotation. */
export type Rotated =
  | { readonly outcome: 'rotated'; readonly record: ServiceTokenRecord; readonly serial: number }
  /** `keyless`: it has no credential that could get a successor. `federated`: its credential has no value. */
  | { readonly outcome: 'revoked' | 'expired' | 'keyless' | 'federated' };

interface NewestCredential extends Readonly<Pick<ServiceTokenCredentialModel, 'serial' | 'expiresAt'>> {
  /** Of the token. */
  readonly revokedAt: ServiceTokenModel['revokedAt'];
  readonly isExpired: boolean;
  readonly isFederated: boolean;
}

/**
 * Gives a service token a new credential, which ends when the newest one would have, and ends those before it after the
 * overlap at the latest; undefined if the organization has no such token. One rotation waits for the other, so that
 * each has a separate serial. Locks are taken in the order of a change under way (store/credentials.ts), credentials
 * before the token: those that it may hold are all there already.
 */
export async function rotateServiceToken(
  tx: Transaction,
  home: TokenHome,
  id: string,
  credential: NewCredential,
): Promise<Rotated | undefined> {
  await tx.run`
    SELECT FROM service_token_credential c JOIN service_token t ON t.id = c.service_token_id
    WHERE t.id = ${id}::uuid AND ${isIn(home)}
    ORDER BY c.serial FOR NO KEY UPDATE OF c`;
  await tx.run`SELECT FROM service_token t WHERE id = ${id}::uuid AND ${isIn(home)} FOR NO KEY UPDATE`;
  // Under the locks, by a separate statement: what a rotation before this one has committed is seen now.
  const newest = await tx.row<NewestCredential>`
    SELECT t.revoked_at AS "revokedAt", coalesce(c.expires_at <= clock_timestamp(), false) AS "isExpired", c.serial,
      c.expires_at AS "expiresAt",
      EXISTS (SELECT FROM service_token_federation f WHERE f.credential_id = c.id) AS "isFederated"
    FROM service_token t JOIN service_token_credential c ON c.service_token_id = t.id
    WHERE t.id = ${id}::uuid AND ${isIn(home)}
    ORDER BY c.serial DESC LIMIT 1`;
  if (newest === undefined) return (await isKeyless(tx, home, id)) ? { outcome: 'keyless' } : undefined;
  if (newest.revokedAt !== null) return { outcome: 'revoked' };
  if (newest.isFederated) return { outcome: 'federated' };
  if (newest.isExpired) return { outcome: 'expired' };
  const serial = newest.serial + 1;
  // Rounded down: rounded up, an old credential without overlap would be good for another moment.
  await tx.run`
    UPDATE service_token_credential
    SET expires_at = least(expires_at,
      date_trunc('milliseconds', clock_timestamp()) + make_interval(secs => ${credential.overlapSeconds}::int))
    WHERE service_token_id = ${id}::uuid`;
  await tx.run`
    INSERT INTO service_token_credential (id, service_token_id, serial, token_hash, expires_at)
    VALUES (${credential.id}::uuid, ${id}::uuid, ${serial}::int, ${credential.tokenHash},
      ${newest.expiresAt}::timestamptz)`;
  const record = await tx.row<ServiceTokenRecord>`
    SELECT ${raw(columns)} FROM ${raw(tables)} WHERE t.id = ${id}::uuid`;
  if (record === undefined) throw new Error('the token that was locked is there');
  return { outcome: 'rotated', record, serial };
}

async function isKeyless(tx: Transaction, home: TokenHome, id: string): Promise<boolean> {
  const found = await tx.rows<object>`
    SELECT FROM service_token t WHERE id = ${id}::uuid AND ${isIn(home)} AND cluster IS NOT NULL`;
  return found.length > 0;
}

/** The service tokens of a home, revoked ones too, newest first. */
export async function listServiceTokens(
  pool: pg.Pool,
  home: TokenHome,
  { after, limit }: RecordPage,
): Promise<ServiceTokenRecord[]> {
  const isBeyond = after === null ? empty : sql`AND (t.created_at, t.id) < (${after.createdAt}, ${after.id}::uuid)`;
  return queryRows<ServiceTokenRecord>(
    pool,
    sql`
      SELECT ${raw(columns)} FROM ${raw(tables)}
    WHERE ${isIn(home)} ${isBeyond}
    ORDER BY t.created_at DESC, t.id DESC LIMIT ${limit}`,
  );
}

export async function findServiceToken(
  pool: pg.Pool,
  home: TokenHome,
  id: string,
): Promise<ServiceTokenRecord | undefined> {
  const [token] = await queryRows<ServiceTokenRecord>(
    pool,
    sql`SELECT ${raw(columns)} FROM ${raw(tables)} WHERE t.id = ${id} AND ${isIn(home)}`,
  );
  return token;
}

/** The slugs of the organization, project and environment that a service token is tied to. */
export async function findScopeNames(pool: pg.Pool, serviceTokenId: string): Promise<ScopeNames | undefined> {
  // From above: a purge at this moment leaves out what it removed.
  const where = { serviceTokens: { some: { id: serviceTokenId } } };
  const environments = { where, select: { slug: true } } as const;
  const projects = { where, select: { slug: true, environments } } as const;
  const found = await readModels(pool, ({ organization }) =>
    organization.findFirst({ where, select: { slug: true, projects } }),
  );
  if (found === null) return undefined;
  const [project] = found.projects;
  return {
    organization: found.slug,
    project: project?.slug ?? null,
    environment: project?.environments[0]?.slug ?? null,
  };
}

/** A live token that can write all environments of its scope. */
export interface WritingToken extends Readonly<Pick<ServiceTokenModel, 'id' | 'name'>> {
  readonly scope: Exclude<ServiceTokenModel['scope'], 'environment'>;
}

/** The live tokens that write an environment because they write everything above it, by name. */
export async function listWideWriters(
  tx: Transaction,
  { organizationId, projectId }: { readonly organizationId: string; readonly projectId: string },
): Promise<WritingToken[]> {
  return tx.rowsUnprepared<WritingToken>(
    `SELECT DISTINCT t.id, t.name, t.scope, t.name COLLATE "C" AS sorted FROM ${serviceTokenTables}
     WHERE t.organization_id = $1::uuid AND t.permission = 'read_write'
       AND (t.scope = 'organization' OR (t.scope = 'project' AND t.project_id = $2::uuid)) AND ${serviceTokenFault} IS NULL
     ORDER BY sorted, t.id`,
    organizationId,
    projectId,
  );
}

/** The ids of those tokens that custom resources created. */
export async function listTokensOfResources(pool: pg.Pool, ids: readonly string[]): Promise<string[]> {
  const rows = await queryRows<{ id: string }>(pool, tokensOfResources, [[...ids]]);
  return rows.map(({ id }) => id);
}
