import type pg from 'pg';
import type { ClusterRule } from '../domain/cluster-ceiling.ts';
import { allowsSomething, isOutdated, makeCluster } from './cluster-ceilings.ts';
import { queryRows } from './database.ts';
import type { ClusterRulesModel, ServedClusterModel } from './generated/models.ts';
import { empty, raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** A cluster as an organization sees it: with the rules of that organization, and of no other. */
export interface ClusterRulesRecord
  extends Readonly<Pick<ServedClusterModel, 'name' | 'isHome'>>, Readonly<Pick<ClusterRulesModel, 'version'>> {
  /** Null if the organization set none. */
  readonly rules: readonly ClusterRule[] | null;
  /** Of the issuer of a remote cluster: counts its changes by people; null for a home cluster. */
  readonly generation: number | null;
  /** The generation that the organization accepted with its rules; null for none. */
  readonly acceptedGeneration: number | null;
  /** Whether the rules allow nothing until the organization accepts the present generation. */
  readonly isOutdated: boolean;
}

/** SELECT of the names of all clusters: of those that changed something, and of those whose controllers lead. */
export const everyCluster = `SELECT name FROM served_cluster UNION SELECT name FROM cluster
      UNION SELECT cluster FROM cluster_state`;

function recordsOf(organizationId: string, cluster: string | null): Sql {
  return sql`
    SELECT known.name, coalesce(sc.is_home, true) AS "isHome", cr.rules,
      coalesce(cr.version, 0) AS version, i.generation, cr.generation AS "acceptedGeneration",
      ${raw(isOutdated)} AS "isOutdated"
    FROM (${raw(everyCluster)}) known
    LEFT JOIN served_cluster sc ON sc.name = known.name
    LEFT JOIN cluster_rules cr ON cr.cluster = known.name AND cr.organization_id = ${organizationId}::uuid
    LEFT JOIN trusted_issuer i ON i.cluster = known.name AND NOT sc.is_home
    WHERE sc.forgotten_at IS NULL ${cluster === null ? empty : sql`AND known.name = ${cluster}`}
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

/**
 * Sets the rules of an organization for a cluster, null for none, accepts the present generation of its issuer, and returns
 * the version of the rules. Lock the cluster before.
 */
export async function putClusterRules(
  tx: Transaction,
  { organizationId, cluster }: { readonly organizationId: string; readonly cluster: string },
  rules: readonly ClusterRule[] | null,
): Promise<number> {
  const put = await tx.row<Pick<ClusterRulesModel, 'version'>>`
    INSERT INTO cluster_rules (cluster, organization_id, rules, version, generation)
    VALUES (${cluster}, ${organizationId}::uuid, ${rules === null ? null : JSON.stringify(rules)}::jsonb, 1,
      (SELECT i.generation FROM trusted_issuer i JOIN served_cluster sc ON sc.name = i.cluster AND NOT sc.is_home
       WHERE i.cluster = ${cluster}))
    ON CONFLICT (cluster, organization_id) DO UPDATE
    SET rules = excluded.rules, generation = excluded.generation, version = cluster_rules.version + 1, changed_at = excluded.changed_at
    RETURNING version`;
  if (put === undefined) throw new Error('an INSERT of one row returned no row');
  return put.version;
}

/** Rules that count, or count no longer, although they are the same. */
export interface RecountedRules extends Readonly<Pick<ClusterRulesModel, 'cluster' | 'organizationId' | 'version'>> {
  /** Whether they allow nothing now. */
  readonly isNothing: boolean;
}

/**
 * Gives another version to the rules for a cluster that do not count any more, because the cluster has another generation:
 * what rested on them is judged again. Lock the cluster before.
 */
export async function outdateRules(tx: Transaction, cluster: string): Promise<RecountedRules[]> {
  return recount(tx, sql`cr.cluster = ${cluster} AND ${raw(isOutdated)}`);
}

/** The same for the rules of an organization that forbade or allowed impersonation. */
export async function recountRules(tx: Transaction, organizationId: string): Promise<RecountedRules[]> {
  return recount(
    tx,
    sql`cr.organization_id = ${organizationId}::uuid AND cr.rules IS NOT NULL AND EXISTS (
      SELECT FROM trusted_issuer ti
      WHERE ti.cluster = cr.cluster AND ti.generation IS DISTINCT FROM cr.generation AND NOT sc.is_home)`,
  );
}

async function recount(tx: Transaction, condition: Sql): Promise<RecountedRules[]> {
  return tx.rows<RecountedRules>`
    UPDATE cluster_rules cr SET version = cr.version + 1 FROM served_cluster sc
    WHERE sc.name = cr.cluster AND ${condition}
    RETURNING cr.cluster, cr.organization_id AS "organizationId", cr.version,
      NOT (${raw(allowsSomething)}) AS "isNothing"`;
}

/** The organizations that allow a cluster something, by id. */
export async function listAllowingOrganizations(tx: Transaction, cluster: string): Promise<string[]> {
  const rows = await tx.rows<Pick<ClusterRulesModel, 'organizationId'>>`
    SELECT organization_id AS "organizationId" FROM cluster_rules
    WHERE cluster = ${cluster} AND rules <> '[]'::jsonb ORDER BY organization_id`;
  return rows.map(({ organizationId }) => organizationId);
}
