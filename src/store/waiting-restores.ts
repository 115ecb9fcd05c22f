import type pg from 'pg';
import type { ReportedLists, ReportedPlan } from '../domain/fleet.ts';
import { clusterFacts, placeText, placeValues, type SeenPlace, type SeenCluster } from './consumers.ts';
import { queryRows, type Statement } from './database.ts';
import type { EnvironmentModel, ProjectModel, WaitingRestoreModel } from './generated/models.ts';
import { sql } from './sql.ts';
import type { ReportedRange } from './sync-states.ts';

/** The plans of SnapshotRestores that wait for an approval, as their controllers reported them. */

/** A plan that waits, with its place. */
export interface WaitingRestoreRecord
  extends
    SeenCluster,
    Readonly<
      Pick<
        WaitingRestoreModel,
        | 'uid'
        | 'namespace'
        | 'name'
        | 'environmentId'
        | 'snapshotId'
        | 'planHash'
        | 'revision'
        | 'revisionId'
        | 'changedAt'
      >
    > {
  readonly keys: ReportedLists;
  /** Slugs. */
  readonly project: ProjectModel['slug'];
  readonly environment: EnvironmentModel['slug'];
}

/** A SnapshotRestore that has a row. */
type ReportedRestore = Readonly<Pick<WaitingRestoreModel, 'uid' | 'namespace'>>;

/** Where a page begins: after this SnapshotRestore. */
export type RestorePosition = Pick<WaitingRestoreRecord, 'cluster' | 'name' | 'uid'>;

// A plan that does not differ is neither written nor locked. One of an environment that was purged has no effect.
const reportStatement: Statement = {
  name: 'waiting-restore-report',
  text: `INSERT INTO waiting_restore AS present
      (cluster, uid, namespace, name, environment_id, snapshot_id, plan_hash, revision, revision_id, keys, changed_at)
    SELECT $1, $2::uuid, $3, $4, e.id, $6::uuid, $7, $8::int, $9::uuid, $10::jsonb, clock_timestamp()
    FROM environment e WHERE e.id = $5::uuid
      AND NOT EXISTS (SELECT FROM waiting_restore w WHERE w.cluster = $1 AND w.uid = $2::uuid AND w.plan_hash = $7)
    ON CONFLICT (cluster, uid) DO UPDATE
      SET namespace = excluded.namespace, name = excluded.name, environment_id = excluded.environment_id,
        snapshot_id = excluded.snapshot_id, plan_hash = excluded.plan_hash, revision = excluded.revision,
        revision_id = excluded.revision_id, keys = excluded.keys, changed_at = excluded.changed_at`,
};

const forgetStatement: Statement = {
  name: 'waiting-restores-forget',
  text: 'DELETE FROM waiting_restore WHERE cluster = $1 AND uid = ANY($2::uuid[])',
};

const order = 's.cluster COLLATE "C", s.name COLLATE "C", s.uid';

// Without the namespace in the order, because cursors must not reveal it.
const listStatement: Statement = {
  name: 'waiting-restores-of-organization',
  text: `SELECT s.cluster, ${clusterFacts}, s.uid, s.namespace, s.name, s.environment_id AS "environmentId", p.slug AS project,
      e.slug AS environment, s.snapshot_id AS "snapshotId", s.plan_hash AS "planHash", s.revision,
      s.revision_id AS "revisionId", s.keys, s.changed_at AS "changedAt"
    FROM waiting_restore s
    JOIN environment e ON e.id = s.environment_id
    JOIN project p ON p.id = e.project_id
    JOIN organization o ON o.id = p.organization_id
    LEFT JOIN cluster_state c ON c.cluster = s.cluster
    WHERE ($2::text IS NULL OR (${order}) > ($2, $3::text, $4::uuid)) AND ${placeText(5)}
    ORDER BY ${order} LIMIT $1`,
};

/** Stores a plan in place of the one before. Writes nothing if it is the same. */
export async function reportWaitingRestore(pool: pg.Pool, cluster: string, plan: ReportedPlan): Promise<void> {
  const { uid, namespace, name, environmentId, snapshotId, planHash, revision, revisionId, keys } = plan;
  const place = [namespace, name, environmentId, snapshotId];
  await queryRows(pool, reportStatement, [
    cluster,
    uid,
    ...place,
    planHash,
    revision,
    revisionId,
    JSON.stringify(keys),
  ]);
}

/** Drops the plans of SnapshotRestores. */
export async function forgetWaitingRestores(pool: pg.Pool, cluster: string, uids: readonly string[]): Promise<void> {
  await queryRows(pool, forgetStatement, [cluster, uids]);
}

/** The SnapshotRestores of a cluster that have a row, by uid: those after one, or the first ones with null. */
export async function listReportedRestores(
  pool: pg.Pool,
  cluster: string,
  { after, limit }: ReportedRange,
): Promise<ReportedRestore[]> {
  return queryRows<ReportedRestore>(
    pool,
    sql`
      SELECT uid, namespace FROM waiting_restore
    WHERE cluster = ${cluster} AND (${after}::uuid IS NULL OR uid > ${after}::uuid)
    ORDER BY uid LIMIT ${limit}`,
  );
}

/** A page of the plans that wait in an organization, by cluster, name and uid. */
export async function listWaitingRestores(
  pool: pg.Pool,
  place: SeenPlace,
  { after, limit }: { readonly after: RestorePosition | null; readonly limit: number },
): Promise<WaitingRestoreRecord[]> {
  const position = [after?.cluster ?? null, after?.name ?? null, after?.uid ?? null];
  return queryRows(pool, listStatement, [limit, ...position, ...placeValues(place)]);
}
