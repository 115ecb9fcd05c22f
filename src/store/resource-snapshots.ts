import type pg from 'pg';
import { queryRows } from './database.ts';
import type { EnvironmentModel, OrganizationModel, ProjectModel } from './generated/models.ts';
import type { ClaimOwner } from './resource-claims.ts';
import { recordColumns, recordTables, type SnapshotRecord } from './snapshots.ts';
import { raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** The snapshot that a custom resource took or adopted, and where it lies. */
export interface ClaimedSnapshotRecord extends SnapshotRecord {
  /** Whether the resource adopted it, and so did not take it. */
  readonly adopted: boolean;
  readonly organizationId: OrganizationModel['id'];
  readonly environmentId: EnvironmentModel['id'];
  readonly organization: OrganizationModel['slug'];
  readonly project: ProjectModel['slug'];
  readonly environment: EnvironmentModel['slug'];
  /** Whether the environment, or something above it, is deleted: over the API the snapshot is not there any more. */
  readonly environmentDeleted: boolean;
  /** SHA-256 over the keys and the ids of their versions, in hexadecimal digits. */
  readonly digest: string;
}

// For each entry, by key: key and version id, each after its length in bytes as a big-endian 32-bit number. The keys
// are ASCII, so that their order as bytes is their order everywhere.
const digestColumn = `(SELECT encode(sha256(coalesce(string_agg(
        int4send(octet_length(s.key)) || convert_to(s.key, 'UTF8') || int4send(16) || uuid_send(x.version_id),
        ''::bytea ORDER BY s.key COLLATE "C"), ''::bytea)), 'hex')
      FROM snapshot_entry x JOIN secret s ON s.id = x.secret_id WHERE x.snapshot_id = n.id)`;

// What a resource took bears its uid as the creator's: nothing else is ever deleted for it.
function claimOf({ cluster, id }: ClaimOwner): Sql {
  return sql`
    SELECT n.created_by_type <> 'resource' OR n.created_by_id <> c.uid AS adopted, ${raw(recordColumns)},
      o.id AS "organizationId", e.id AS "environmentId", o.slug AS organization, p.slug AS project, e.slug AS environment,
      coalesce(e.deleted_at, p.deleted_at, o.deleted_at) IS NOT NULL AS "environmentDeleted", ${raw(digestColumn)} AS digest
    FROM resource_claim c
    LEFT JOIN (${raw(recordTables)}) ON n.id = c.snapshot_id
    LEFT JOIN environment e ON e.id = n.environment_id
    LEFT JOIN project p ON p.id = e.project_id
    LEFT JOIN organization o ON o.id = p.organization_id
    WHERE c.cluster = ${cluster} AND c.uid = ${id}::uuid AND c.operation = 'snapshot'`;
}

type ClaimedRow = ClaimedSnapshotRecord | { readonly id: null };

/** What a resource took or adopted; `gone` if that was deleted, undefined if there was never any. */
export async function findClaimedSnapshot(
  pool: pg.Pool,
  owner: ClaimOwner,
): Promise<ClaimedSnapshotRecord | 'gone' | undefined> {
  const [row] = await queryRows<ClaimedRow>(pool, claimOf(owner));
  return claimed(row);
}

/** Whether a resource of a namespace took or adopted a snapshot. */
export async function hasClaimedSnapshot(
  pool: pg.Pool,
  { cluster, id, namespace }: Pick<ClaimOwner, 'cluster' | 'id' | 'namespace'>,
  snapshotId: string,
): Promise<boolean> {
  const claims = await queryRows(
    pool,
    sql`
      SELECT FROM resource_claim WHERE cluster = ${cluster} AND uid = ${id}::uuid AND operation = 'snapshot'
        AND namespace = ${namespace} AND snapshot_id = ${snapshotId}::uuid`,
  );
  return claims.length > 0;
}

/** Like `findClaimedSnapshot`, in a transaction. */
export async function readClaimedSnapshot(
  tx: Transaction,
  owner: ClaimOwner,
): Promise<ClaimedSnapshotRecord | 'gone' | undefined> {
  return claimed(await tx.row<ClaimedRow>`${claimOf(owner)}`);
}

function claimed(row: ClaimedRow | undefined): ClaimedSnapshotRecord | 'gone' | undefined {
  return row?.id === null ? 'gone' : row;
}
