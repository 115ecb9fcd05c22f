import type pg from 'pg';
import type { ClaimedRestore, RestoreResult } from '../domain/resources/restores.ts';
import { queryRows } from './database.ts';
import type { ResourceClaimModel } from './generated/models.ts';
import type { ClaimOwner } from './resource-claims.ts';
import { type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

interface ClaimedRow {
  readonly result: RestoreResult & { readonly completedAt: string };
  readonly startedAt: ResourceClaimModel['createdAt'];
}

function claimOf({ cluster, id }: ClaimOwner): Sql {
  return sql`
    SELECT result, created_at AS "startedAt" FROM resource_claim
    WHERE cluster = ${cluster} AND uid = ${id}::uuid AND operation = 'restore' AND result IS NOT NULL`;
}

/** What a resource restored; undefined if it did not. */
export async function findClaimedRestore(pool: pg.Pool, owner: ClaimOwner): Promise<ClaimedRestore | undefined> {
  const [row] = await queryRows<ClaimedRow>(pool, claimOf(owner));
  return row && claimedOf(row);
}

/** Like `findClaimedRestore`, in a transaction. */
export async function readClaimedRestore(tx: Transaction, owner: ClaimOwner): Promise<ClaimedRestore | undefined> {
  const row = await tx.row<ClaimedRow>`${claimOf(owner)}`;
  return row && claimedOf(row);
}

/** Notes what was done in the claim of a restore. */
export async function noteRestore(tx: Transaction, { cluster, id }: ClaimOwner, result: RestoreResult): Promise<void> {
  await tx.run`
    UPDATE resource_claim SET environment_id = ${result.environmentId}::uuid,
      result = ${JSON.stringify(result)}::jsonb || jsonb_build_object('completedAt', clock_timestamp())
    WHERE cluster = ${cluster} AND uid = ${id}::uuid AND operation = 'restore'`;
}

/**
 * Whether another resource of the same kind, namespace and name, in whatever cluster, restored this environment. Read
 * under the environment's lock, so that of two at once the second one sees the first.
 */
export async function wasRestoredUnderName(
  tx: Transaction,
  { cluster, id, kind, namespace, name }: ClaimOwner,
  environmentId: string,
): Promise<boolean> {
  const rows = await tx.rows<object>`
    SELECT FROM resource_claim
    WHERE environment_id = ${environmentId}::uuid AND operation = 'restore' AND kind = ${kind}
      AND namespace IS NOT DISTINCT FROM ${namespace} AND name = ${name}
      AND (cluster <> ${cluster} OR uid <> ${id}::uuid)
    LIMIT 1`;
  return rows.length > 0;
}

function claimedOf({ result: { completedAt, ...result }, startedAt }: ClaimedRow): ClaimedRestore {
  return { ...result, startedAt, completedAt: new Date(completedAt) };
}
