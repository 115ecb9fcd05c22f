import type pg from 'pg';
import type { RecordedActor } from '../domain/principal.ts';
import { queryRows, type Statement } from './database.ts';
import type { EnvironmentRevisionModel, SecretModel, SecretVersionModel, SnapshotModel } from './generated/models.ts';
import { budgetAssignment, bytesOfSnapshot, growthColumns, type StoredGrowth } from './growth.ts';
import { isAfter, newest, readModels, type RecordPage } from './models.ts';
import { notifySnapshots } from './notify.ts';
import { raw } from './sql.ts';
import type { Transaction } from './transaction.ts';

const columnFields = {
  id: true,
  name: true,
  description: true,
  createdById: true,
  createdByType: true,
  /** The creator's name as of then. */
  createdByName: true,
  createdByCluster: true,
  createdAt: true,
  secretCount: true,
  /** Null if the environment had no change yet. */
  revisionId: true,
} as const;

const fields = { ...columnFields, revision: { select: { number: true } } } as const;

type SnapshotRow = Readonly<Pick<SnapshotModel, keyof typeof columnFields>> & {
  readonly revision: Pick<EnvironmentRevisionModel, 'number'> | null;
};

/** A snapshot without its entries. */
export interface SnapshotRecord extends Readonly<Omit<Pick<SnapshotModel, keyof typeof columnFields>, 'createdById'>> {
  readonly createdBy: SnapshotModel['createdById'];
  /** The number of the revision it stands for; 0 if the environment had no change yet. */
  readonly revision: number;
}

export interface NewSnapshot {
  readonly id: string;
  readonly environmentId: string;
  readonly name: string | null;
  readonly description: string | null;
  readonly creator: RecordedActor;
  /** The daily limit of the environment; 0 for none. */
  readonly budgetBytesPerDay: number;
}

export interface WrittenSnapshot extends StoredGrowth {
  readonly snapshot: SnapshotRecord;
  /** How many snapshots the environment had before. */
  readonly snapshotsBefore: number;
}

/** A key that two states of an environment do not have alike: its versions' numbers, null if it is not there. */
export interface KeyDifference {
  readonly key: string;
  readonly from: number | null;
  readonly to: number | null;
  /** Whether both have the key, with values that differ or cannot be compared, because one was destroyed. */
  readonly valueChanged: boolean;
}

/** How a snapshot and another state of its environment differ. */
export interface SnapshotDifference {
  /** The revision of that other state, as in `SnapshotRecord`; of the present one it is never null. */
  readonly revision: SnapshotRecord['revision'];
  readonly revisionId: SnapshotRecord['revisionId'];
  /** How many keys are at the same version in both. */
  readonly unchanged: number;
  /** Versions of the first snapshot whose values were destroyed, by key. */
  readonly destroyed: readonly Readonly<Pick<SecretModel, 'key'> & Pick<SecretVersionModel, 'version'>>[];
  /** By key. */
  readonly differences: readonly KeyDifference[];
}

/** The columns of a `SnapshotRecord`, from `recordTables`. */
export const recordColumns = `n.id, n.name, n.description, n.created_by_id AS "createdBy",
    n.created_by_type AS "createdByType", n.created_by_name AS "createdByName",
    n.created_by_cluster AS "createdByCluster", n.created_at AS "createdAt",
    n.secret_count AS "secretCount", coalesce(r.number, 0) AS revision, n.revision_id AS "revisionId"`;
export const recordTables = 'snapshot n LEFT JOIN environment_revision r ON r.id = n.revision_id';

// Both states in one statement, and so of one moment. The head keeps a row if nothing differs.
const diffStatement: Statement = {
  name: 'snapshot-diff',
  text: `WITH head AS (
      SELECT other.id AS other_id, CASE WHEN $3::uuid IS NULL THEN e.revision_number ELSE coalesce(r.number, 0) END
        AS revision, CASE WHEN $3::uuid IS NULL THEN e.revision_id ELSE other.revision_id END AS "revisionId"
      FROM environment e
      JOIN snapshot n ON n.environment_id = e.id AND n.id = $2
      LEFT JOIN snapshot other ON other.environment_id = e.id AND other.id = $3
      LEFT JOIN environment_revision r ON r.id = other.revision_id
      WHERE e.id = $1 AND e.deleted_at IS NULL
    ), pair AS (
      SELECT coalesce(f.secret_id, t.secret_id) AS secret_id, f.version_id AS from_id, t.version_id AS to_id
      FROM (SELECT secret_id, version_id FROM snapshot_entry WHERE snapshot_id = $2) AS f
      FULL JOIN (
        SELECT secret_id, version_id FROM snapshot_entry WHERE snapshot_id = $3
        UNION ALL SELECT id, current_version_id FROM secret
        WHERE environment_id = $1 AND deleted_at IS NULL AND $3::uuid IS NULL
      ) AS t ON t.secret_id = f.secret_id
    ), difference AS (
      SELECT s.key, f.version AS "from", t.version AS "to",
        -- Two that were destroyed cannot be compared.
        coalesce(f.value_mac <> t.value_mac OR (f.destroyed_at IS NOT NULL AND t.id IS NOT NULL), false)
          AS "valueChanged"
      FROM pair JOIN secret s ON s.id = pair.secret_id
      LEFT JOIN secret_version f ON f.id = pair.from_id
      LEFT JOIN secret_version t ON t.id = pair.to_id
      WHERE pair.from_id IS DISTINCT FROM pair.to_id
    )
    SELECT head.other_id AS "otherId", head.revision, head."revisionId",
      (SELECT count(*)::int FROM pair WHERE from_id = to_id) AS unchanged,
      (SELECT coalesce(json_agg(json_build_object('key', s.key, 'version', v.version) ORDER BY s.key COLLATE "C"), '[]')
        FROM snapshot_entry lost JOIN secret_version v ON v.id = lost.version_id AND v.destroyed_at IS NOT NULL
        JOIN secret s ON s.id = v.secret_id WHERE lost.snapshot_id = $2) AS destroyed,
      difference.*
    FROM head LEFT JOIN difference ON true
    ORDER BY difference.key COLLATE "C"`,
};

/**
 * Makes a snapshot of an environment as it is, in one statement whatever the number of its secrets, and returns its
 * record and what it adds. The caller holds the environment's lock.
 */
export async function insertSnapshot(tx: Transaction, snapshot: NewSnapshot): Promise<WrittenSnapshot> {
  const { id, environmentId, name, description, creator, budgetBytesPerDay } = snapshot;
  // The statement's time and not the transaction's: it is taken under the lock, so that it has the order of the
  // changes.
  type Row = Pick<SnapshotRecord, 'createdAt' | 'secretCount' | 'revision' | 'revisionId'> &
    Omit<WrittenSnapshot, 'snapshot'>;
  const rows = await tx.rows<Row>`
    WITH present AS MATERIALIZED (
      SELECT id AS secret_id, current_version_id AS version_id FROM secret
      WHERE environment_id = ${environmentId}::uuid AND deleted_at IS NULL
    ), entry AS (
      INSERT INTO snapshot_entry (snapshot_id, secret_id, version_id)
      SELECT ${id}::uuid, secret_id, version_id FROM present
    ), made AS (
      INSERT INTO snapshot (id, environment_id, name, description, revision_id, secret_count, created_by_id,
        created_by_type, created_by_name, created_by_cluster, created_at)
      SELECT ${id}::uuid, e.id, ${name}, ${description}, CASE WHEN e.revision_number > 0 THEN e.revision_id END,
        (SELECT count(*) FROM present), ${creator.id}::uuid, ${creator.type}::actor_type, ${creator.name},
        ${creator.cluster}, statement_timestamp()
      FROM environment e WHERE e.id = ${environmentId}::uuid
      RETURNING created_at, secret_count, revision_id
    ), grown AS (
      ${raw(bytesOfSnapshot)}
    ), budget AS (
      SELECT ${budgetBytesPerDay}::float8 AS per_day
    ), charged AS (
      UPDATE environment SET ${raw(budgetAssignment)} WHERE id = ${environmentId}::uuid
      RETURNING ${raw(growthColumns)}
    )
    SELECT made.created_at AS "createdAt", made.secret_count AS "secretCount", made.revision_id AS "revisionId",
      e.revision_number AS revision, charged.bytes, charged."filledSeconds",
      (SELECT count(*)::int FROM snapshot WHERE environment_id = ${environmentId}::uuid) AS "snapshotsBefore"
    FROM made, charged, environment e WHERE e.id = ${environmentId}::uuid`;
  const [row] = rows;
  if (row === undefined) throw new Error('the environment of the snapshot is not there');
  const { bytes, filledSeconds, snapshotsBefore, ...made } = row;
  const { id: createdBy, type: createdByType, name: createdByName, cluster: createdByCluster } = creator;
  const created = { createdBy, createdByType, createdByName, createdByCluster };
  const record = { id, name, description, ...created, ...made };
  return { snapshot: record, bytes, filledSeconds, snapshotsBefore };
}

/** The snapshots of an environment, newest first. */
export async function listSnapshots(
  pool: pg.Pool,
  environmentId: string,
  { after, limit }: RecordPage,
): Promise<SnapshotRecord[]> {
  const found = await readModels(pool, ({ snapshot }) =>
    snapshot.findMany({ where: { environmentId, ...isAfter(after) }, select: fields, ...newest(limit) }),
  );
  return found.map(recordOf);
}

/** A snapshot of the environment; undefined if it has no such one. */
export async function findSnapshot(
  pool: pg.Pool,
  environmentId: string,
  id: string,
): Promise<SnapshotRecord | undefined> {
  const where = { id, environmentId };
  const found = await readModels(pool, ({ snapshot }) => snapshot.findUnique({ where, select: fields }));
  return found === null ? undefined : recordOf(found);
}

function recordOf({ createdById, revision, ...row }: SnapshotRow): SnapshotRecord {
  return { ...row, createdBy: createdById, revision: revision?.number ?? 0 };
}

/** Like `findSnapshot`, in a transaction that may hold the environment's lock. */
export async function readSnapshot(
  tx: Transaction,
  environmentId: string,
  id: string,
): Promise<SnapshotRecord | undefined> {
  return tx.row<SnapshotRecord>`
    SELECT ${raw(recordColumns)} FROM ${raw(recordTables)}
    WHERE n.environment_id = ${environmentId}::uuid AND n.id = ${id}::uuid`;
}

/**
 * Compares a snapshot with another of the same environment, or with its present state if `otherId` is null; with
 * one statement. Returns which of the two snapshots the environment does not have.
 */
export async function compareSnapshot(
  pool: pg.Pool,
  environmentId: string,
  { id, otherId }: { readonly id: string; readonly otherId: string | null },
): Promise<SnapshotDifference | 'no-snapshot' | 'no-other'> {
  type Row = Omit<SnapshotDifference, 'differences'> & { otherId: string | null };
  const values = [environmentId, id, otherId];
  const rows = await queryRows<Row & (KeyDifference | { key: null })>(pool, diffStatement, values);
  const [head] = rows;
  if (head === undefined) return 'no-snapshot';
  if (head.otherId !== otherId) return 'no-other';
  const differences = rows.flatMap((row) =>
    row.key === null ? [] : [{ key: row.key, from: row.from, to: row.to, valueChanged: row.valueChanged }],
  );
  const { revision, revisionId, unchanged, destroyed } = head;
  return { revision, revisionId, unchanged, destroyed, differences };
}

/** A snapshot, with the custom resource that took it or stands for it. */
export interface HeldSnapshot extends Readonly<Pick<SnapshotModel, 'id' | 'name' | 'createdAt'>> {
  /** `SecretSnapshot team-a/nightly`; null if there is none. */
  readonly heldBy: string | null;
}

/** All snapshots of an environment, newest first. */
export async function readHeldSnapshots(tx: Transaction, environmentId: string): Promise<HeldSnapshot[]> {
  return tx.rows<HeldSnapshot>`
    SELECT n.id, n.name, n.created_at AS "createdAt", coalesce(
        (SELECT c.name FROM resource_claim c
          WHERE c.snapshot_id = n.id ORDER BY c.created_at LIMIT 1),
        CASE WHEN n.created_by_type = 'resource' THEN n.created_by_name END) AS "heldBy"
    FROM snapshot n WHERE n.environment_id = ${environmentId}::uuid
    ORDER BY n.created_at DESC, n.id DESC`;
}

/**
 * Deletes snapshots of an organization with their entries, and notifies every listener. The caller holds the lock of their
 * environment.
 */
export async function deleteSnapshots(tx: Transaction, organizationId: string, ids: readonly string[]): Promise<void> {
  await tx.run`DELETE FROM snapshot WHERE id = ANY(${[...ids]}::uuid[])`;
  await notifySnapshots(tx, organizationId, ids);
}
