import { raw } from './sql.ts';
import type { Transaction } from './transaction.ts';

/**
 * What a write adds to the disk, and the daily budget of its environment. The budget is a bucket of one day's bytes
 * that drains steadily. `environment.write_budget_empty_at` is when it will be empty: one column, which keeps its
 * meaning when the limit changes.
 */

/** What one statement added, and how full that made the bucket of its environment. */
export interface StoredGrowth {
  /** Values, versions and entries of snapshots, with their indexes, about. */
  readonly bytes: number;
  /** Seconds until the bucket is empty; null without a limit. */
  readonly filledSeconds: number | null;
}

// Beside its value and comment: the row and its indexes, those of the change that names it, and the update of its secret.
const versionBytes = 600;
const snapshotEntryBytes = 150;

/** What an INSERT of versions returns for `bytesOfVersions`. A reference to a value writes none of its bytes. */
export const writtenVersion = `CASE WHEN content_version_id IS NULL THEN value_bytes ELSE 0 END AS value_bytes, comment`;

/** SQL of the bytes that the rows of a CTE `version` with the columns `writtenVersion` take. */
export const bytesOfVersions = `SELECT
      coalesce(sum(value_bytes::float8 + coalesce(octet_length(comment), 0) + ${versionBytes}), 0) AS bytes FROM version`;

/** SQL of the bytes that a snapshot of the rows of a CTE `present` takes. */
export const bytesOfSnapshot = `SELECT (count(*) + 1) * ${snapshotEntryBytes}::float8 AS bytes FROM present`;

/**
 * Assignment in an UPDATE of the environment, beside CTEs `grown (bytes)` and `budget (per_day)`; 0 a day is no limit.
 */
export const budgetAssignment = `write_budget_empty_at = (
      SELECT CASE WHEN per_day > 0
        THEN greatest(write_budget_empty_at, statement_timestamp()) + bytes / per_day * interval '1 day'
        ELSE write_budget_empty_at END
      FROM grown, budget)`;

/** The columns of `StoredGrowth` that such an UPDATE returns. */
export const growthColumns = `(SELECT bytes FROM grown) AS bytes,
      (SELECT CASE WHEN per_day > 0 THEN
        extract(epoch FROM environment.write_budget_empty_at - statement_timestamp())::float8 END FROM budget)
      AS "filledSeconds"`;

/** Bytes that a write adds besides versions and snapshots. */
export interface OtherGrowth {
  readonly environmentId: string;
  readonly bytes: number;
  readonly budgetBytesPerDay: number;
}

/** Counts bytes against the budget of an environment. Call it under the environment's lock. */
export async function countGrowth(
  tx: Transaction,
  { environmentId, bytes, budgetBytesPerDay }: OtherGrowth,
): Promise<StoredGrowth> {
  const counted = await tx.row<StoredGrowth>`
    WITH grown AS (SELECT ${bytes}::float8 AS bytes), budget AS (SELECT ${budgetBytesPerDay}::float8 AS per_day)
    UPDATE environment SET ${raw(budgetAssignment)} WHERE id = ${environmentId}::uuid
    RETURNING ${raw(growthColumns)}`;
  if (counted === undefined) throw new Error('the environment of the bytes does not exist');
  return counted;
}
