import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';
import { budgetAssignment, bytesOfVersions, growthColumns, type StoredGrowth } from './growth.ts';
import type { NewRevision } from './secrets.ts';
import type { Transaction } from './transaction.ts';

/** Which environment is to go back to which of its snapshots, and how. */
export interface RestoreRequest {
  readonly environmentId: string;
  readonly snapshotId: string;
  /** Also deletes the keys that are there now and not in the snapshot. */
  readonly prune: boolean;
  /** Makes no version if the key has the value already. */
  readonly skipUnchanged: boolean;
}

/**
 * What a restore does with a key: `restore` makes a version with the snapshot's value, `leave` finds it equal already,
 * `skip` passes over a key that was deleted since, `destroyed` over one whose value of then was destroyed; `prune`
 * deletes and `keep` keeps a key that the snapshot does not have.
 */
export type RestoreAction = 'restore' | 'leave' | 'skip' | 'destroyed' | 'prune' | 'keep';

export interface PlannedKey {
  readonly key: string;
  readonly action: RestoreAction;
  /** The number of the key's newest version. */
  readonly version: number;
  /** The number of the version that the snapshot has of it; null if it has none. */
  readonly snapshotVersion: number | null;
  /** Bytes of the key's value now; 0 if it is deleted. */
  readonly presentBytes: number;
  /** Bytes of the value that the snapshot has; null if it has none. */
  readonly snapshotBytes: number | null;
}

/** What a restore would do to an environment at one revision. */
export interface StoredPlan {
  readonly revision: number;
  readonly revisionId: string;
  /** By key. */
  readonly keys: readonly PlannedKey[];
}

export interface WrittenRestore extends StoredGrowth {
  /** How many keys were changed. */
  readonly changes: number;
}

// The one place that says what a restore does: the plan is read from it, and the restore is written from it. PostgreSQL
// takes a new snapshot for a small one until the table is analyzed. A plain join then compares each key with each
// entry; behind OFFSET 0, it looks each key's entry up.
const planText = `SELECT s.id AS secret_id, s.key, s.version, target.id AS target_id, target.version AS target_version,
    CASE
      WHEN target.id IS NULL THEN CASE WHEN $3::boolean THEN 'prune' ELSE 'keep' END
      WHEN s.deleted_at IS NOT NULL THEN 'skip'
      WHEN target.destroyed_at IS NOT NULL THEN 'destroyed'
      WHEN $4::boolean AND target.value_mac = present.value_mac THEN 'leave'
      ELSE 'restore'
    END AS action,
    CASE WHEN s.deleted_at IS NULL THEN present.value_bytes ELSE 0 END AS present_bytes,
    target.value_bytes AS target_bytes
  FROM secret s
  JOIN secret_version present ON present.id = s.current_version_id
  LEFT JOIN LATERAL (
    SELECT version_id FROM snapshot_entry WHERE snapshot_id = $2::uuid AND secret_id = s.id OFFSET 0
  ) AS entry ON true
  LEFT JOIN secret_version target ON target.id = entry.version_id
  WHERE s.environment_id = $1::uuid AND (s.deleted_at IS NULL OR entry.version_id IS NOT NULL)`;

// The head keeps a row for an environment without a key to plan for.
const planStatement: Statement = {
  name: 'restore-plan',
  text: `SELECT e.revision_number AS revision, e.revision_id AS "revisionId", plan.key, plan.action, plan.version,
      plan.target_version AS "snapshotVersion", plan.present_bytes AS "presentBytes",
      plan.target_bytes AS "snapshotBytes"
    FROM environment e
    JOIN snapshot n ON n.environment_id = e.id AND n.id = $2::uuid
    LEFT JOIN (${planText}) AS plan ON true
    WHERE e.id = $1::uuid AND e.deleted_at IS NULL
    ORDER BY plan.key COLLATE "C"`,
};

const writeText = `WITH plan AS MATERIALIZED (${planText}),
  change AS MATERIALIZED (
    SELECT secret_id, target_id, version + 1 AS version,
      CASE action WHEN 'restore' THEN gen_random_uuid() END AS version_id
    FROM plan WHERE action IN ('restore', 'prune')
  ), restored AS (
    UPDATE secret SET version = change.version, current_version_id = change.version_id,
      updated_at = statement_timestamp()
    FROM change WHERE secret.id = change.secret_id AND change.version_id IS NOT NULL
  ), pruned AS (
    UPDATE secret SET deleted_at = statement_timestamp(), updated_at = statement_timestamp()
    FROM change WHERE secret.id = change.secret_id AND change.version_id IS NULL
  ), version AS (
    INSERT INTO secret_version (id, secret_id, version, change_type, changed_by_id, changed_by_type, changed_by_name,
      comment, created_at, ciphertext, data_key_id, value_mac, value_bytes)
    SELECT change.version_id, change.secret_id, change.version, 'rolled_back', $7::uuid, $8::actor_type, $9, $10,
      statement_timestamp(), copied.ciphertext, copied.data_key_id, copied.value_mac, copied.value_bytes
    FROM change JOIN secret_version copied ON copied.id = change.target_id AND copied.secret_id = change.secret_id
    WHERE change.version_id IS NOT NULL
    RETURNING value_bytes, comment
  ), grown AS (
    ${bytesOfVersions}
  ), budget AS (
    SELECT $11::float8 AS per_day
  ), revision AS (
    INSERT INTO environment_revision (id, environment_id, number, actor_id, actor_type, actor_name, comment, created_at)
    VALUES ($5::uuid, $1::uuid, $6::int, $7::uuid, $8::actor_type, $9, $10, statement_timestamp())
  ), logged AS (
    INSERT INTO secret_change (revision_id, secret_id, revision_number, version_id)
    SELECT $5::uuid, secret_id, $6::int, version_id FROM change
  )
  UPDATE environment SET revision_number = $6::int, revision_id = $5::uuid, ${budgetAssignment} WHERE id = $1::uuid
  RETURNING (SELECT count(*)::int FROM change) AS changes, ${growthColumns}`;

/** Plans a restore, with one statement; undefined if the environment is gone or does not have the snapshot. */
export async function planRestore(pool: pg.Pool, request: RestoreRequest): Promise<StoredPlan | undefined> {
  return planOf(await queryRows<PlanRow>(pool, planStatement, valuesOf(request)));
}

/** Like `planRestore`, in the transaction that is to write it, which holds the environment's lock. */
export async function planLockedRestore(tx: Transaction, request: RestoreRequest): Promise<StoredPlan | undefined> {
  return planOf(await tx.rowsUnprepared<PlanRow>(planStatement.text, ...valuesOf(request)));
}

/**
 * Writes what the plan says: a version of each key to restore, the deletion of each to prune, and one revision with all
 * of it; in one statement whatever their number. The caller holds the environment's lock since before the plan was
 * read, so that both are of one state; returns how many keys were changed, and what that adds.
 */
export async function writeRestore(
  tx: Transaction,
  request: RestoreRequest,
  { id, number, actor, comment, budgetBytesPerDay }: Omit<NewRevision, 'environmentId' | 'changes'>,
): Promise<WrittenRestore> {
  const authorship = [actor.id, actor.type, actor.name, comment];
  const values = [...valuesOf(request), id, number, ...authorship, budgetBytesPerDay];
  const [written] = await tx.rowsUnprepared<WrittenRestore>(writeText, ...values);
  if (written === undefined) throw new Error('the environment of the restore does not exist');
  return written;
}

type PlanRow = Pick<StoredPlan, 'revision' | 'revisionId'> & (PlannedKey | { readonly key: null });

function planOf(rows: readonly PlanRow[]): StoredPlan | undefined {
  const [head] = rows;
  if (head === undefined) return undefined;
  const keys = rows.filter((row): row is PlannedKey & typeof row => row.key !== null);
  return { revision: head.revision, revisionId: head.revisionId, keys };
}

function valuesOf({ environmentId, snapshotId, prune, skipUnchanged }: RestoreRequest): (string | boolean)[] {
  return [environmentId, snapshotId, prune, skipUnchanged];
}
