import type pg from 'pg';
import type { ScheduledChild } from '../domain/resources/schedules.ts';
import { queryRows } from './database.ts';
import type { ScheduleRunModel, SnapshotModel } from './generated/models.ts';
import type { ClaimOwner } from './resource-claims.ts';
import { sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** A SecretSnapshot that a SnapshotSchedule made for one of its times, with what became of it. */
export interface ScheduleRunRecord extends Readonly<Pick<ScheduleRunModel, 'dueAt'>> {
  readonly uid: ScheduleRunModel['childUid'];
  readonly name: ScheduleRunModel['childName'];
  /** The snapshot that the child took, while that can be restored from; else null, also for one that it adopted. */
  readonly snapshotId: SnapshotModel['id'] | null;
  readonly takenAt: SnapshotModel['createdAt'] | null;
  /** Whether that snapshot holds the newest revision of its environment. */
  readonly isNewest: boolean;
}

/** What a schedule made and was not forgotten, newest first. */
export async function listScheduleRuns(pool: pg.Pool, { cluster, id }: ClaimOwner): Promise<ScheduleRunRecord[]> {
  // What a child took bears its uid as the creator's; with its environment a snapshot is deleted.
  return queryRows<ScheduleRunRecord>(
    pool,
    sql`
      SELECT s.due_at AS "dueAt", s.child_uid AS uid, s.child_name AS name, n.id AS "snapshotId",
      n.created_at AS "takenAt",
      n.id IS NOT NULL AND n.revision_id IS NOT DISTINCT FROM (
        SELECT r.id FROM environment_revision r WHERE r.id = e.revision_id) AS "isNewest"
    FROM schedule_run s
    LEFT JOIN resource_claim c ON c.cluster = s.cluster AND c.uid = s.child_uid AND c.operation = 'snapshot'
    LEFT JOIN (
      snapshot n
      JOIN environment e ON e.id = n.environment_id AND e.deleted_at IS NULL
      JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
      JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
    ) ON n.id = c.snapshot_id AND n.created_by_type = 'resource' AND n.created_by_id = s.child_uid
    WHERE s.cluster = ${cluster} AND s.schedule_uid = ${id}::uuid
    ORDER BY s.due_at DESC`,
  );
}

/** Remembers what a schedule made; what is remembered for a time already stays. Returns how many are new. */
export async function insertScheduleRuns(
  tx: Transaction,
  { cluster, id }: ClaimOwner,
  children: readonly ScheduledChild[],
): Promise<number> {
  const rows = JSON.stringify(children.map(({ dueAt, uid, name }) => ({ due_at: dueAt, uid, name })));
  return tx.run`
    INSERT INTO schedule_run (cluster, schedule_uid, due_at, child_uid, child_name)
    SELECT ${cluster}, ${id}::uuid, child.due_at, child.uid, child.name
    FROM json_to_recordset(${rows}::json) AS child (due_at timestamptz, uid uuid, name text)
    ON CONFLICT DO NOTHING`;
}

/**
 * Remembers that a child stands for one more time. Of its times, only the one that it was made for and the latest stay, or
 * an unchanged environment would add a row for each time.
 */
export async function extendScheduleRun(tx: Transaction, owner: ClaimOwner, child: ScheduledChild): Promise<number> {
  const { cluster, id } = owner;
  const inserted = await insertScheduleRuns(tx, owner, [child]);
  await tx.run`
    DELETE FROM schedule_run s WHERE s.cluster = ${cluster} AND s.schedule_uid = ${id}::uuid
      AND s.child_uid = ${child.uid}::uuid AND s.due_at < ${child.dueAt}
      AND s.due_at > (SELECT min(f.due_at) FROM schedule_run f
        WHERE f.cluster = s.cluster AND f.schedule_uid = s.schedule_uid AND f.child_uid = s.child_uid)`;
  return inserted;
}

/** Forgets children of a schedule, but never its latest time. */
export async function deleteScheduleRuns(
  tx: Transaction,
  { cluster, id }: ClaimOwner,
  uids: readonly string[],
): Promise<void> {
  await tx.run`
    DELETE FROM schedule_run s WHERE s.cluster = ${cluster} AND s.schedule_uid = ${id}::uuid
      AND s.child_uid = ANY(${[...uids]}::uuid[])
      AND s.due_at < (SELECT max(l.due_at) FROM schedule_run l
        WHERE l.cluster = s.cluster AND l.schedule_uid = s.schedule_uid)`;
}
