import type pg from 'pg';
import type { ClusterRule } from '../domain/cluster-ceiling.ts';
import { makeCluster } from './cluster-ceilings.ts';
import { queryRows } from './database.ts';
import type { ClusterRulesModel, ServedClusterModel } from './generated/models.ts';
import { empty, raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** A cluster as an organization sees it: with the rules of that organization, and of no other. */
export interface ClusterRulesRecord
  extends Readonly<Pick<ServedClusterModel, 'name' | 'isHome'>>, Readonly<Pick<ClusterRulesModel, 'version'>> {
  /** Null if the organization set none. */
  readonly rules: readonly ClusterRule[] | null;
}

/** SELECT of the names of all clusters: of those that changed something, and of those whose controllers lead. */
export const everyCluster = `SELECT name FROM served_cluster UNION SELECT name FROM cluster
      UNION SELECT cluster FROM cluster_state`;

function recordsOf(organizationId: string, cluster: string | null): Sql {
  return sql`
    SELECT known.name, coalesce(s.is_home, true) AS "isHome", r.rules, coalesce(r.version, 0) AS version
    FROM (${raw(everyCluster)}) known
    LEFT JOIN served_cluster s ON s.name = known.name
    LEFT JOIN cluster_rules r ON r.cluster = known.name AND r.organization_id = ${organizationId}::uuid
    WHERE s.forgotten_at IS NULL ${cluster === null ? empty : sql`AND known.name = ${cluster}`}
    ORDER BY known.name COLLATE "C"`;
}

/** All known clusters by name, with the rules of an organization. */
export async function listClusterRules(pool: pg.Pool, organizationId: string): Promise<ClusterRulesRecord[]> {
  return queryRows<ClusterRulesRecord>(pool, recordsOf(organizationId, null));
}

/** One of them; undefined for a cluster that is not known. */
export async function findClusterRules(
  pool: pg.Pool,
  organizationId: string,
  cluster: string,
): Promise<ClusterRulesRecord | undefined> {
  const [found] = await queryRows<ClusterRulesRecord>(pool, recordsOf(organizationId, cluster));
  return found;
}

/**
 * Locks a cluster, so that no change for it ends before the transaction, and reads the rules of an organization under the
 * lock; undefined for a cluster that is not known.
 */
export async function lockClusterRules(
  tx: Transaction,
  organizationId: string,
  cluster: string,
): Promise<ClusterRulesRecord | undefined> {
  const known = await tx.row<ClusterRulesRecord>`${recordsOf(organizationId, cluster)}`;
  if (known === undefined) return undefined;
  await lockCluster(tx, cluster);
  // By a separate statement: what was committed while the lock was waited for is seen now.
  return tx.row<ClusterRulesRecord>`${recordsOf(organizationId, cluster)}`;
}

/** Locks the row of a cluster, which it makes if there is none yet. */
export async function lockCluster(tx: Transaction, cluster: string): Promise<void> {
  await makeCluster(tx, cluster);
  await tx.run`SELECT FROM served_cluster WHERE name = ${cluster} FOR NO KEY UPDATE`;
}

/** Sets the rules of an organization for a cluster, null for none, and returns their version. Lock the cluster before. */
export async function putClusterRules(
  tx: Transaction,
  { organizationId, cluster }: { readonly organizationId: string; readonly cluster: string },
  rules: readonly ClusterRule[] | null,
): Promise<number> {
  const put = await tx.row<Pick<ClusterRulesModel, 'version'>>`
    INSERT INTO cluster_rules (cluster, organization_id, rules, version)
    VALUES (${cluster}, ${organizationId}::uuid, ${rules === null ? null : JSON.stringify(rules)}::jsonb, 1)
    ON CONFLICT (cluster, organization_id) DO UPDATE
    SET rules = excluded.rules, version = cluster_rules.version + 1, changed_at = excluded.changed_at
    RETURNING version`;
  if (put === undefined) throw new Error('an INSERT of one row returned no row');
  return put.version;
}
