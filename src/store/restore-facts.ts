import type pg from 'pg';
import type { RestoreFact, RestoreFacts } from '../domain/plans/restore.ts';
import { queryRows, type Statement } from './database.ts';
import type { SecretModel, SecretVersionModel } from './generated/models.ts';
import type { Transaction } from './transaction.ts';

/** Which environment is to go back to which of its snapshots. */
export interface RestorePlace {
  readonly environmentId: string;
  readonly snapshotId: string;
}

// The head keeps a row for an environment without a key. PostgreSQL takes a new snapshot for a small one until the table is
// analyzed. A plain join then compares each key with each entry; behind OFFSET 0, it looks each key's entry up.
const factsStatement: Statement = {
  name: 'restore-facts',
  text: `SELECT e.revision_number AS revision, e.revision_id AS "revisionId", fact.*
    FROM environment e
    JOIN snapshot n ON n.environment_id = e.id AND n.id = $2::uuid
    LEFT JOIN (
      SELECT s.id AS "secretId", s.key, s.version, s.deleted_at IS NOT NULL AS "isDeleted",
        present.id AS "presentId", present.value_mac AS "presentMac", present.value_bytes AS "presentBytes",
        target.id AS "targetId", target.version AS "targetVersion", target.value_mac AS "targetMac",
        target.value_bytes AS "targetBytes", target.destroyed_at IS NOT NULL AS "isTargetDestroyed"
      FROM secret s
      JOIN secret_version present ON present.id = s.current_version_id
      LEFT JOIN LATERAL (
        SELECT version_id FROM snapshot_entry WHERE snapshot_id = $2::uuid AND secret_id = s.id OFFSET 0
      ) AS entry ON true
      LEFT JOIN secret_version target ON target.id = entry.version_id
      WHERE s.environment_id = $1::uuid AND (s.deleted_at IS NULL OR entry.version_id IS NOT NULL)
    ) AS fact ON true
    WHERE e.id = $1::uuid AND e.deleted_at IS NULL
    ORDER BY fact.key COLLATE "C"`,
};

/**
 * Reads the facts of a restore, with one statement. Undefined if the environment is gone or does not have the snapshot.
 */
export async function readRestoreFacts(
  pool: pg.Pool,
  { environmentId, snapshotId }: RestorePlace,
): Promise<RestoreFacts | undefined> {
  return factsOf(await queryRows<FactsRow>(pool, factsStatement, [environmentId, snapshotId]));
}

/** Like `readRestoreFacts`, in the transaction that is to restore, which holds the environment's lock. */
export async function readLockedRestoreFacts(
  tx: Transaction,
  { environmentId, snapshotId }: RestorePlace,
): Promise<RestoreFacts | undefined> {
  return factsOf(await tx.rowsUnprepared<FactsRow>(factsStatement.text, environmentId, snapshotId));
}

interface FactRow extends Readonly<Pick<SecretModel, 'key' | 'version'>> {
  readonly secretId: SecretModel['id'];
  readonly isDeleted: boolean;
  readonly presentId: SecretVersionModel['id'];
  readonly presentMac: SecretVersionModel['valueMac'];
  readonly presentBytes: SecretVersionModel['valueBytes'];
  /** Null, like the other fields of the target, for a key that the snapshot does not have. */
  readonly targetId: SecretVersionModel['id'] | null;
  readonly targetVersion: SecretVersionModel['version'];
  readonly targetMac: SecretVersionModel['valueMac'];
  readonly targetBytes: SecretVersionModel['valueBytes'];
  readonly isTargetDestroyed: boolean;
}

type FactsRow = Pick<RestoreFacts, 'revision' | 'revisionId'> & (FactRow | { readonly key: null });

function factsOf(rows: readonly FactsRow[]): RestoreFacts | undefined {
  const [head] = rows;
  if (head === undefined) return undefined;
  const keys = rows.filter((row): row is FactRow & typeof row => row.key !== null).map(factOf);
  return { revision: head.revision, revisionId: head.revisionId, keys };
}

function factOf(row: FactRow): RestoreFact {
  const { secretId, key, version, targetId } = row;
  const live = row.isDeleted
    ? null
    : {
        versionId: row.presentId,
        version,
        valueMac: row.presentMac,
        valueBytes: row.presentBytes,
        isDestroyed: false,
      };
  const snapshot =
    targetId === null
      ? null
      : {
          versionId: targetId,
          version: row.targetVersion,
          valueMac: row.targetMac,
          valueBytes: row.targetBytes,
          isDestroyed: row.isTargetDestroyed,
        };
  return { secretId, key, version, live, snapshot };
}
