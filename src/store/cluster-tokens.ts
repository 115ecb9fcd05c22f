import type { GrantPlace } from '../domain/grants.ts';
import type { ServiceTokenModel } from './generated/models.ts';
import { empty, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** A token of a cluster's ServiceToken that is not revoked. */
export interface ClusterToken
  extends GrantPlace, Readonly<Pick<ServiceTokenModel, 'id' | 'name' | 'permission' | 'organizationId'>> {
  /** Of the ServiceToken. */
  readonly uid: string;
  /** Whether its scope is a protected environment. */
  readonly isProtected: boolean;
}

export interface ClusterTokenPage {
  readonly cluster: string;
  /** Null for all organizations. */
  readonly organizationId: string | null;
  /** The uid that the page begins after; null begins with the first. */
  readonly after: string | null;
  readonly limit: number;
  /** Whether suspended tokens count. */
  readonly includesSuspended: boolean;
}

/** Tokens of a cluster, by the uid of their ServiceTokens. */
export async function listClusterTokens(
  tx: Transaction,
  { cluster, organizationId, after, limit, includesSuspended }: ClusterTokenPage,
): Promise<ClusterToken[]> {
  return tx.rows<ClusterToken>`
    SELECT r.uid, t.id, t.name, t.permission, t.organization_id AS "organizationId", o.slug AS organization,
      p.slug AS project, e.slug AS environment, coalesce(e.protected, false) AS "isProtected"
    FROM resource_claim r
    JOIN service_token t ON t.id = r.service_token_id AND t.revoked_at IS NULL
    JOIN organization o ON o.id = t.organization_id
    LEFT JOIN project p ON p.id = t.project_id
    LEFT JOIN environment e ON e.id = t.environment_id
    WHERE r.cluster = ${cluster} AND r.operation = 'token' AND r.serial = 1
      AND (${includesSuspended} OR t.suspended_at IS NULL)
      ${after === null ? empty : sql`AND r.uid > ${after}::uuid`}
      ${organizationId === null ? empty : sql`AND t.organization_id = ${organizationId}::uuid`}
    ORDER BY r.uid LIMIT ${limit}`;
}

/** Suspends tokens, and returns the ids of those that were neither suspended nor revoked before. */
export async function suspendTokens(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  // In the order of ids, as an undeletion locks several.
  await tx.run`SELECT FROM service_token WHERE id = ANY(${[...ids]}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
  const suspended = await tx.rows<Pick<ServiceTokenModel, 'id'>>`
    UPDATE service_token SET suspended_at = clock_timestamp()
    WHERE id = ANY(${[...ids]}::uuid[]) AND suspended_at IS NULL AND revoked_at IS NULL RETURNING id`;
  return new Set(suspended.map(({ id }) => id));
}

/** A token that no change for its cluster uses any more. */
export type EndedToken = Readonly<Pick<ServiceTokenModel, 'id' | 'name' | 'organizationId'>>;

/** The keyless tokens of a cluster that are not revoked, by id. */
export async function listClusterKeyless(tx: Transaction, cluster: string, limit: number): Promise<EndedToken[]> {
  return tx.rows<EndedToken>`
    SELECT id, name, organization_id AS "organizationId" FROM service_token
    WHERE cluster = ${cluster} AND revoked_at IS NULL ORDER BY id LIMIT ${limit}`;
}

/** Revokes tokens, and returns the ids of those that were not revoked before. */
export async function revokeTokens(tx: Transaction, ids: readonly string[]): Promise<ReadonlySet<string>> {
  await tx.run`SELECT FROM service_token WHERE id = ANY(${[...ids]}::uuid[]) ORDER BY id FOR NO KEY UPDATE`;
  const revoked = await tx.rows<Pick<ServiceTokenModel, 'id'>>`
    UPDATE service_token SET revoked_at = clock_timestamp()
    WHERE id = ANY(${[...ids]}::uuid[]) AND revoked_at IS NULL RETURNING id`;
  return new Set(revoked.map(({ id }) => id));
}
