import type pg from 'pg';
import type { ReportedRevision, RolloutReport, SyncStateReport } from '../domain/fleet.ts';
import { letsSecretSyncsRead } from './cluster-ceilings.ts';
import { type Database, queryRows, type Statement } from './database.ts';
import type { SyncStateModel } from './generated/models.ts';
import { countedParts, type ExceedingReport, type ReportLimits } from './report-limits.ts';
import { raw, type Sql, sql } from './sql.ts';
import { inTransaction, type Transaction } from './transaction.ts';

/** What controllers report of their SecretSyncs; `store/consumers.ts` reads it. */

// Every column but the key and changed_at.
const columns = [
  'namespace',
  'name',
  'environment_id',
  'is_pinned',
  'state',
  'reason',
  'wanted_revision',
  'wanted_revision_id',
  'synced_revision',
  'synced_revision_id',
  'synced_at',
  'secret_name',
  'rollout_state',
  'rollout_reason',
  'converged_revision',
  'converged_revision_id',
  'workloads',
] as const;

const list = (prefix = ''): Sql => raw(columns.map((column) => `${prefix}${column}`).join(', '));
const updates = raw(columns.map((column) => `${column} = excluded.${column}`).join(', '));

// What the present row has, unless it is of another environment.
const kept = (column: string): Sql =>
  raw(`CASE WHEN n.environment_id IS NULL OR n.environment_id = p.environment_id THEN p.${column} END`);

const reportLock = 72_707_375;

/**
 * Writes reports of a cluster, all sources of each SecretSync together: what differs is changed, and sources that a
 * SecretSync no longer has are dropped. If nothing differs, nothing is written. A report of an environment that was purged
 * has no effect. Returns those that were not stored, because the cluster would have more than its limits; what is stored
 * of them stays.
 */
export async function reportSyncStates(
  database: Pick<Database, 'transactionPool'>,
  cluster: string,
  { reports, limits }: { readonly reports: readonly SyncStateReport[]; readonly limits: ReportLimits },
): Promise<ExceedingReport[]> {
  const rows = JSON.stringify(reports.map(rowOf));
  return inTransaction(database, async (tx) => {
    // Two processes may report for one cluster. Each must count what the other stored, so the lock comes in an earlier
    // statement: a statement does not see what is committed while it waits.
    const [, exceeding] = await tx.pipeline([
      tx.run`SELECT pg_advisory_xact_lock(${reportLock}::int, hashtext(${cluster}))`,
      storeReports(tx, cluster, { rows, limits }),
    ]);
    return exceeding;
  });
}

// Rows that do not differ are neither written nor locked: ON CONFLICT alone would lock each of them, which is a write. The
// order of the locks is that of the key. `p` is the present row; if it is of the same environment, its revisions stay valid.
// OFFSET 0 has each row found by its key, however many rows the cluster has. A row takes a new place only where the rules of
// the organization let SecretSyncs of the cluster read now; one that has its place still says that it is refused.
async function storeReports(
  tx: Transaction,
  cluster: string,
  { rows, limits }: { readonly rows: string; readonly limits: ReportLimits },
): Promise<ExceedingReport[]> {
  return tx.rows<ExceedingReport>`
    WITH n AS (
      SELECT * FROM json_to_recordset(${rows}::json) AS n (uid uuid, source text, namespace text, name text,
        environment_id uuid, is_pinned boolean, state text, reason text, wanted_revision int, wanted_revision_id uuid,
        synced_revision int, synced_revision_id uuid, synced_at timestamptz, secret_name text, rollout_state text,
        rollout_reason text, converged_revision int, converged_revision_id uuid, workloads jsonb)
    ), dropped AS (
      DELETE FROM sync_state s WHERE s.cluster = ${cluster} AND (s.uid, s.source) IN (
        SELECT u.uid, p.source FROM (SELECT DISTINCT uid FROM n) u
        CROSS JOIN LATERAL (SELECT source FROM sync_state WHERE cluster = ${cluster} AND uid = u.uid OFFSET 0) p
        WHERE NOT EXISTS (SELECT FROM n WHERE n.uid = u.uid AND n.source = p.source))
      RETURNING s.uid, s.source
    ), asked AS MATERIALIZED (
      SELECT n.uid, n.source, n.namespace, n.name, coalesce(n.environment_id, p.environment_id) AS environment_id,
        n.is_pinned, n.state, n.reason, n.wanted_revision, n.wanted_revision_id,
        coalesce(n.synced_revision, ${kept('synced_revision')}) AS synced_revision,
        coalesce(n.synced_revision_id, ${kept('synced_revision_id')}) AS synced_revision_id,
        coalesce(n.synced_at, ${kept('synced_at')}) AS synced_at, n.secret_name, n.rollout_state, n.rollout_reason,
        CASE WHEN n.rollout_state IS NOT NULL THEN coalesce(n.converged_revision, ${kept('converged_revision')}) END
          AS converged_revision,
        CASE WHEN n.rollout_state IS NOT NULL THEN coalesce(n.converged_revision_id, ${kept('converged_revision_id')}) END
          AS converged_revision_id, n.workloads, p AS present
      FROM n
      LEFT JOIN LATERAL (
        SELECT * FROM sync_state WHERE cluster = ${cluster} AND uid = n.uid AND source = n.source OFFSET 0
      ) p ON true
    ), places AS MATERIALIZED (
      SELECT a.environment_id, p.organization_id, ${raw(letsSecretSyncsRead)} AS is_allowed
      FROM (SELECT environment_id FROM asked UNION SELECT (present).environment_id FROM asked) a
      CROSS JOIN LATERAL (SELECT slug, project_id FROM environment WHERE id = a.environment_id OFFSET 0) e
      CROSS JOIN LATERAL (SELECT slug, organization_id FROM project WHERE id = e.project_id OFFSET 0) p
      LEFT JOIN served_cluster sc ON sc.name = ${cluster}
      LEFT JOIN cluster_rules cr ON cr.cluster = ${cluster} AND cr.organization_id = p.organization_id
    ), ${countedParts(cluster, limits)}, stored AS (
      INSERT INTO sync_state (cluster, uid, source, ${list()}, changed_at)
      SELECT ${cluster}::text, uid, source, ${list()}, clock_timestamp()
      FROM asked JOIN places USING (environment_id)
      WHERE ((present).uid IS NULL OR (${list('(present).')}) IS DISTINCT FROM (${list()}))
        AND (is_allowed OR ((present).environment_id, (present).namespace) = (environment_id, namespace))
        AND (uid, source) NOT IN (SELECT uid, source FROM exceeding)
      ORDER BY uid, source
      ON CONFLICT (cluster, uid, source) DO UPDATE SET ${updates}, changed_at = excluded.changed_at
    )
    SELECT DISTINCT uid, "limit" FROM exceeding`;
}

const forgetStatement: Statement = {
  name: 'sync-states-forget',
  text: 'DELETE FROM sync_state WHERE cluster = $1 AND uid = ANY($2::uuid[])',
};

function rowOf({
  environmentId,
  isPinned,
  wanted,
  synced,
  syncedAt,
  secretName,
  rollout,
  ...report
}: SyncStateReport): object {
  return {
    ...report,
    environment_id: environmentId,
    is_pinned: isPinned,
    ...revisionColumns('wanted', wanted),
    ...revisionColumns('synced', synced),
    synced_at: syncedAt,
    secret_name: secretName,
    ...(rollout === null ? {} : rolloutColumns(rollout)),
  };
}

function rolloutColumns({ state, reason, converged, workloads }: RolloutReport): object {
  return { rollout_state: state, rollout_reason: reason, ...revisionColumns('converged', converged), workloads };
}

/** Absent columns are null. */
function revisionColumns(name: string, ids: ReportedRevision | null): object {
  return ids === null ? {} : { [`${name}_revision`]: ids.revision, [`${name}_revision_id`]: ids.revisionId };
}

/** Drops the rows of SecretSyncs. */
export async function forgetSyncStates(pool: pg.Pool, cluster: string, uids: readonly string[]): Promise<void> {
  await queryRows(pool, forgetStatement, [cluster, uids]);
}

/** A SecretSync that has rows. */
type ReportedSync = Readonly<Pick<SyncStateModel, 'uid' | 'namespace'>>;

/** The SecretSyncs of a cluster that have rows, by uid: those after one, or the first ones with null. */
export async function listReportedSyncs(
  pool: pg.Pool,
  cluster: string,
  { after, limit }: ReportedRange,
): Promise<ReportedSync[]> {
  return queryRows<ReportedSync>(
    pool,
    sql`
      SELECT DISTINCT uid, namespace FROM sync_state
    WHERE cluster = ${cluster} AND (${after}::uuid IS NULL OR uid > ${after}::uuid)
    ORDER BY uid LIMIT ${limit}`,
  );
}

/** Part of a list by uid. */
export interface ReportedRange {
  readonly after: string | null;
  readonly limit: number;
}

/** Records that all states of a cluster are reported up to now. */
export async function recordClusterSeen(pool: pg.Pool, cluster: string): Promise<void> {
  await queryRows(
    pool,
    sql`
      INSERT INTO cluster_state (cluster, seen_at) VALUES (${cluster}, clock_timestamp())
    ON CONFLICT (cluster) DO UPDATE SET seen_at = excluded.seen_at`,
  );
}

/** Drops clusters that were not seen for so many days, with their rows. */
export async function dropEndedClusters(pool: pg.Pool, days: number): Promise<void> {
  await queryRows(
    pool,
    sql`
      WITH ended AS (
      DELETE FROM cluster_state WHERE seen_at < clock_timestamp() - make_interval(days => ${days}::int) RETURNING cluster
    ), restores AS (
      DELETE FROM waiting_restore WHERE cluster IN (SELECT cluster FROM ended)
    )
    DELETE FROM sync_state WHERE cluster IN (SELECT cluster FROM ended)`,
  );
}
