import type pg from 'pg';
import type { ReportedRevision, RolloutReport, SyncStateReport } from '../domain/fleet.ts';
import { queryRows, type Statement } from './database.ts';
import type { SyncStateModel } from './generated/models.ts';
import { sql } from './sql.ts';

/** What controllers report of their SecretSyncs; `store/consumers.ts` reads it. */

const reported = `jsonb_to_recordset($2::jsonb) AS n (uid uuid, source text, namespace text, name text, environment_id uuid,
        is_pinned boolean, state text, reason text, wanted_revision int, wanted_revision_id uuid, synced_revision int,
        synced_revision_id uuid, synced_at timestamptz, secret_name text, rollout_state text, rollout_reason text,
        converged_revision int, converged_revision_id uuid, workloads jsonb)`;

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

const list = (prefix = ''): string => columns.map((column) => `${prefix}${column}`).join(', ');

// What the present row has, unless it is of another environment.
const kept = (column: string): string =>
  `CASE WHEN n.environment_id IS NULL OR n.environment_id = p.environment_id THEN p.${column} END`;

// Rows that do not differ are neither written nor locked: ON CONFLICT alone would lock each of them, which is a write. The
// order of the locks is that of the key, so that the reports of two leaders do not deadlock. `p` is the present row; if it is of
// the same environment, its revisions stay valid. OFFSET 0 has each row found by its key, however many rows the cluster has.
const reportStatement: Statement = {
  name: 'sync-states-report',
  text: `WITH n AS (
      SELECT * FROM ${reported}
    ), dropped AS (
      DELETE FROM sync_state s WHERE s.cluster = $1 AND (s.uid, s.source) IN (
        SELECT u.uid, p.source FROM (SELECT DISTINCT uid FROM n) u
        CROSS JOIN LATERAL (SELECT source FROM sync_state WHERE cluster = $1 AND uid = u.uid OFFSET 0) p
        WHERE NOT EXISTS (SELECT FROM n WHERE n.uid = u.uid AND n.source = p.source))
    ), next AS (
      SELECT n.uid, n.source, n.namespace, n.name, e.id AS environment_id, n.is_pinned, n.state, n.reason,
        n.wanted_revision, n.wanted_revision_id, coalesce(n.synced_revision, ${kept('synced_revision')}) AS synced_revision,
        coalesce(n.synced_revision_id, ${kept('synced_revision_id')}) AS synced_revision_id,
        coalesce(n.synced_at, ${kept('synced_at')}) AS synced_at, n.secret_name, n.rollout_state, n.rollout_reason,
        CASE WHEN n.rollout_state IS NOT NULL THEN coalesce(n.converged_revision, ${kept('converged_revision')}) END
          AS converged_revision,
        CASE WHEN n.rollout_state IS NOT NULL THEN coalesce(n.converged_revision_id, ${kept('converged_revision_id')}) END
          AS converged_revision_id, n.workloads, p AS present
      FROM n
      LEFT JOIN LATERAL (
        SELECT * FROM sync_state WHERE cluster = $1 AND uid = n.uid AND source = n.source OFFSET 0
      ) p ON true
      CROSS JOIN LATERAL (
        SELECT id FROM environment WHERE id = coalesce(n.environment_id, p.environment_id) OFFSET 0
      ) e
    )
    INSERT INTO sync_state (cluster, uid, source, ${list()}, changed_at)
    SELECT $1, uid, source, ${list()}, clock_timestamp() FROM next
    WHERE (present).uid IS NULL OR (${list('(present).')}) IS DISTINCT FROM (${list()})
    ORDER BY uid, source
    ON CONFLICT (cluster, uid, source) DO UPDATE
      SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}, changed_at = excluded.changed_at`,
};

const forgetStatement: Statement = {
  name: 'sync-states-forget',
  text: 'DELETE FROM sync_state WHERE cluster = $1 AND uid = ANY($2::uuid[])',
};

/**
 * Writes reports of a cluster, all sources of each SecretSync together: what differs is changed, and sources that a
 * SecretSync no longer has are dropped. If nothing differs, nothing is written. A report of an environment that was purged
 * has no effect.
 */
export async function reportSyncStates(
  pool: pg.Pool,
  cluster: string,
  reports: readonly SyncStateReport[],
): Promise<void> {
  await queryRows(pool, reportStatement, [cluster, JSON.stringify(reports.map(rowOf))]);
}

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

/** The SecretSyncs of a cluster that have rows. */
export async function listReportedSyncs(pool: pg.Pool, cluster: string): Promise<ReportedSync[]> {
  return queryRows<ReportedSync>(pool, sql`SELECT DISTINCT uid, namespace FROM sync_state WHERE cluster = ${cluster}`);
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
