import type { ClusterCeiling } from '../domain/cluster-ceiling.ts';
import { queryRows } from './database.ts';
import type { OrganizationModel, ServedClusterModel } from './generated/models.ts';
import { raw, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';
import type pg from 'pg';

/** The ceiling of a cluster in an organization, as parts of the statements that find the targets of its requests. */

/** SQL: the state of the cluster sc. */
export const clusterState = `CASE WHEN sc.forgotten_at IS NOT NULL THEN 'forgotten' WHEN sc.disabled_at IS NOT NULL THEN 'disabled'
        ELSE 'enabled' END`;

/**
 * SQL: whether the rules cr of a remote cluster sc do not count: the organization forbids impersonation, and has not
 * accepted the cluster since a person changed its issuer or keys.
 */
export const isOutdated = `(cr.rules IS NOT NULL AND NOT coalesce(sc.is_home, true) AND EXISTS (
          SELECT FROM organization ao JOIN trusted_issuer ci ON ci.cluster = cr.cluster
          WHERE ao.id = cr.organization_id AND ao.impersonation_forbidden
            AND ci.generation IS DISTINCT FROM cr.generation))`;

// Rules that do not count allow nothing.
const rules = `CASE WHEN ${isOutdated} THEN '[]'::jsonb ELSE cr.rules END`;

// A cluster without a row is a home cluster that has changed nothing yet.
const ceiling = `json_build_object('state', ${clusterState}, 'isHome', coalesce(sc.is_home, true), 'rules', ${rules},
        'version', coalesce(cr.version, 0), 'isOutdated', ${isOutdated})`;

/**
 * The column `ceiling`, for statements with `ceilingJoins`. `cluster` is SQL for the name of the cluster; without one the
 * ceiling is null.
 */
export function ceilingColumn(cluster: string): string {
  return `CASE WHEN ${cluster} IS NOT NULL THEN ${ceiling} END AS ceiling`;
}

/** Joins the state of a cluster as sc and its rules in the organization o as cr. */
export function ceilingJoins(cluster: string): string {
  return `LEFT JOIN served_cluster sc ON sc.name = ${cluster}
    LEFT JOIN cluster_rules cr ON cr.cluster = ${cluster} AND cr.organization_id = o.id`;
}

/** SQL: whether the rules cr allow the cluster sc something. */
export const allowsSomething = `${rules} <> '[]'::jsonb`;

/**
 * SQL: whether a cluster may know of an organization at all: it is enabled, and the organization allows it something. `sc`
 * is the cluster, and `cr` its rules in the organization, if any.
 */
export const letsKnow = `sc.disabled_at IS NULL AND sc.forgotten_at IS NULL
        AND CASE WHEN cr.rules IS NULL THEN coalesce(sc.is_home, true) ELSE ${allowsSomething} END`;

/**
 * SQL: whether SecretSyncs of a cluster may read the environment e of the project p, as `leavesRoom` decides. `sc` is the cluster, and
 * `cr` its rules in the organization, if any.
 */
export const letsSecretSyncsRead = `sc.disabled_at IS NULL AND sc.forgotten_at IS NULL
        AND CASE WHEN cr.rules IS NULL THEN coalesce(sc.is_home, true) ELSE EXISTS (
          SELECT FROM jsonb_array_elements(${rules}) r
          WHERE r->>'project' IN ('*', p.slug) AND r->'environments' ?| ARRAY['*', e.slug]
            AND r->'kinds' ?| ARRAY['SecretSync', 'ServiceToken']
        ) END`;

/** The ceiling of a cluster in an organization by its slug, for a place in it that was not found. */
export async function findCeiling(pool: pg.Pool, cluster: string, organization: string): Promise<ClusterCeiling> {
  const [found] = await queryRows<{ readonly ceiling: ClusterCeiling }>(
    pool,
    sql`
      SELECT ${raw(ceilingColumn('asked.cluster'))}
      FROM (SELECT ${cluster}::text AS cluster) asked
      LEFT JOIN organization o ON o.slug = ${organization} AND o.deleted_at IS NULL
      ${raw(ceilingJoins('asked.cluster'))}`,
  );
  if (found === undefined) throw new Error('a SELECT from one row returned no row');
  return found.ceiling;
}

/**
 * The ceiling inside a transaction, as committed now. From here to the commit neither state nor rules of the cluster
 * change. `organizationId` is null for what belongs to none.
 */
export async function holdCeiling(
  tx: Transaction,
  cluster: string,
  organizationId: string | null,
): Promise<ClusterCeiling> {
  // Two statements: the second sees what was committed while the first one waited.
  const held = await tx.pipeline([holdCluster(tx, cluster), readCeiling(tx, cluster, organizationId)]);
  if (held[0]) return held[1];
  await makeCluster(tx, cluster);
  await holdCluster(tx, cluster);
  return readCeiling(tx, cluster, organizationId);
}

async function holdCluster(tx: Transaction, cluster: string): Promise<boolean> {
  return (await tx.run`SELECT FROM served_cluster WHERE name = ${cluster} FOR SHARE`) > 0;
}

/** Makes the row of a home cluster, unless there is one. One that is being made at this moment is waited for. */
export async function makeCluster(tx: Transaction, cluster: ServedClusterModel['name']): Promise<void> {
  await tx.run`INSERT INTO served_cluster (name) VALUES (${cluster}) ON CONFLICT DO NOTHING`;
}

async function readCeiling(
  tx: Transaction,
  cluster: string,
  organizationId: OrganizationModel['id'] | null,
): Promise<ClusterCeiling> {
  const found = await tx.row<{ readonly ceiling: ClusterCeiling }>`
    SELECT ${raw(ceilingColumn('asked.cluster'))}
    FROM (SELECT ${cluster}::text AS cluster) asked
    LEFT JOIN (SELECT ${organizationId}::uuid AS id) o ON true
    ${raw(ceilingJoins('asked.cluster'))}`;
  if (found === undefined) throw new Error('a SELECT from one row returned no row');
  return found.ceiling;
}
