import type { SecretModel } from './generated/models.ts';
import type { RevisionIds } from './revisions.ts';
import type { StoredSecret } from './secrets.ts';
import type { Transaction } from './transaction.ts';

/** A key of a copy's destination, also one that is deleted. */
export interface DestinationKey extends StoredSecret {
  readonly versionId: SecretModel['currentVersionId'];
}

/** The environment that a copy changes, at its newest revision. */
export interface DestinationState extends RevisionIds {
  readonly keys: readonly DestinationKey[];
}

// The outer join keeps the revision's row of an environment without a key.
const destinationText = `SELECT e.revision_number AS revision, e.revision_id AS "revisionId", s.id AS "secretId", s.key,
    s.version, s.current_version_id AS "versionId", s.deleted_at IS NOT NULL AS "isDeleted", v.value_mac AS "valueMac",
    v.value_bytes AS "valueBytes"
  FROM environment e
  LEFT JOIN (secret s JOIN secret_version v ON v.id = s.current_version_id) ON s.environment_id = e.id
  WHERE e.id = $1::uuid AND e.deleted_at IS NULL`;

/** Every key that an environment has or once had; undefined if it is deleted. */
export async function readDestination(tx: Transaction, environmentId: string): Promise<DestinationState | undefined> {
  type Row = RevisionIds & (DestinationKey | { readonly secretId: null });
  const rows = await tx.rowsUnprepared<Row>(destinationText, environmentId);
  const [first] = rows;
  if (first === undefined) return undefined;
  const keys = rows.filter((row): row is RevisionIds & DestinationKey => row.secretId !== null);
  return { revision: first.revision, revisionId: first.revisionId, keys };
}

/**
 * Lets no write into an environment until the transaction ends, and other copies read it. Returns whether it exists. Locks
 * of several environments are taken in the order of their ids.
 */
export async function shareEnvironment(tx: Transaction, environmentId: string): Promise<boolean> {
  const found = await tx.run`
    SELECT FROM environment WHERE id = ${environmentId}::uuid AND deleted_at IS NULL FOR SHARE`;
  return found > 0;
}

/** Makes everything that a transaction reads of one moment, without a lock. It must be its first statement. */
export async function readOneMoment(tx: Transaction): Promise<void> {
  await tx.run`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
}
