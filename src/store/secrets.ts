import type { RecordedActor } from '../domain/principal.ts';
import { byteaArray } from './bytea-array.ts';
import type { SecretModel, SecretVersionModel } from './generated/models.ts';
import { budgetAssignment, bytesOfVersions, growthColumns, type StoredGrowth, writtenVersion } from './growth.ts';
import type { RevisionIds } from './revisions.ts';
import { raw } from './sql.ts';
import type { Transaction } from './transaction.ts';
import { copiedContentId } from './version-contents.ts';

export type ChangeType = SecretVersionModel['changeType'];

/** A value as it is stored. */
export interface SealedContent {
  readonly ciphertext: Uint8Array;
  readonly dataKeyId: string;
  readonly valueMac: Uint8Array;
  readonly valueBytes: number;
}

/** What a write needs to know of a key that exists or once did. */
export interface StoredSecret
  extends
    Readonly<Pick<SecretModel, 'key' | 'version'>>,
    Readonly<Pick<SecretVersionModel, 'valueMac' | 'valueBytes'>> {
  readonly secretId: SecretModel['id'];
  readonly isDeleted: boolean;
}

/** A version's number and size, for a rollback to it. */
export interface StoredVersion extends Readonly<Pick<SecretVersionModel, 'secretId' | 'version' | 'valueBytes'>> {
  readonly versionId: SecretVersionModel['id'];
  /** Whether its value was erased for good. */
  readonly isDestroyed: boolean;
}

/**
 * A new version of a key, with new content or that of an earlier version, which must not be destroyed. It then refers to
 * that content (version-contents.ts).
 */
export interface NewVersion {
  readonly kind: 'version';
  readonly secretId: string;
  readonly key: string;
  readonly versionId: string;
  readonly version: number;
  readonly changeType: ChangeType;
  readonly content: SealedContent | { readonly copiedVersionId: string };
}

export interface Deletion {
  readonly kind: 'deletion';
  readonly secretId: string;
  readonly key: string;
}

export type SecretChange = NewVersion | Deletion;

export interface NewRevision {
  readonly id: string;
  readonly environmentId: string;
  readonly number: number;
  readonly actor: RecordedActor;
  readonly comment: string | null;
  readonly changes: readonly SecretChange[];
  /** The daily limit of the environment; 0 for none. */
  readonly budgetBytesPerDay: number;
}

export interface WrittenRevision extends StoredGrowth {
  readonly at: Date;
}

/**
 * Locks an environment until the transaction ends, and returns its newest revision; undefined if it is gone. Each
 * writer does this before anything else: that is the one order of writes.
 */
export async function lockEnvironment(tx: Transaction, environmentId: string): Promise<RevisionIds | undefined> {
  return tx.row<RevisionIds>`
    SELECT revision_number AS revision, revision_id AS "revisionId" FROM environment
    WHERE id = ${environmentId}::uuid AND deleted_at IS NULL
    FOR NO KEY UPDATE`;
}

/** Those of the keys that exist or once did. Under the environment's lock they do not change meanwhile. */
export async function findStoredSecrets(
  tx: Transaction,
  environmentId: string,
  keys: readonly string[],
): Promise<StoredSecret[]> {
  return tx.rows<StoredSecret>`
    SELECT s.id AS "secretId", s.key, s.version, s.deleted_at IS NOT NULL AS "isDeleted", v.value_mac AS "valueMac",
      v.value_bytes AS "valueBytes"
    FROM secret s JOIN secret_version v ON v.id = s.current_version_id
    WHERE s.environment_id = ${environmentId}::uuid AND s.key = ANY(${[...keys]}::text[])`;
}

/** Those of the wanted versions that exist. */
export async function findStoredVersions(
  tx: Transaction,
  wanted: readonly { readonly secretId: string; readonly version: number }[],
): Promise<StoredVersion[]> {
  return tx.rows<StoredVersion>`
    SELECT v.secret_id AS "secretId", v.id AS "versionId", v.version, v.value_bytes AS "valueBytes",
      v.destroyed_at IS NOT NULL AS "isDestroyed"
    FROM unnest(${wanted.map(({ secretId }) => secretId)}::uuid[], ${wanted.map(({ version }) => version)}::int[])
      AS wanted (secret_id, version)
    JOIN secret_version v ON v.secret_id = wanted.secret_id AND v.version = wanted.version`;
}

/** How many secrets an environment holds, and how many bytes their values are. */
export async function measureEnvironment(
  tx: Transaction,
  environmentId: string,
): Promise<{ readonly secrets: number; readonly bytes: number }> {
  const size = await tx.row<{ secrets: number; bytes: number }>`
    SELECT count(*)::int AS secrets, coalesce(sum(v.value_bytes), 0)::float8 AS bytes
    FROM secret s JOIN secret_version v ON v.id = s.current_version_id
    WHERE s.environment_id = ${environmentId}::uuid AND s.deleted_at IS NULL`;
  return size ?? { secrets: 0, bytes: 0 };
}

/**
 * Writes a revision with all its changes, in one statement whatever their number, and returns its time and what it
 * adds. The caller holds the environment's lock; `number` follows the newest revision's.
 */
export async function writeRevision(tx: Transaction, revision: NewRevision): Promise<WrittenRevision> {
  const { id, environmentId, number, actor, comment, budgetBytesPerDay } = revision;
  const column = await columnsOf(revision.changes);
  // The statement's time and not the transaction's: it is taken under the lock, so it has the order of the revisions.
  const rows = await tx.rows<WrittenRevision>`
    WITH change AS MATERIALIZED (
      SELECT * FROM unnest(
        ${column.secretIds}::uuid[], ${column.keys}::text[], ${column.versionIds}::uuid[], ${column.versions}::int[],
        ${column.changeTypes}::change_type[], ${column.copiedVersionIds}::uuid[], ${column.ciphertexts}::bytea[],
        ${column.dataKeyIds}::uuid[], ${column.valueMacs}::bytea[], ${column.valueBytes}::int[]
      ) AS change (secret_id, key, version_id, version, change_type, copied_id, ciphertext, data_key_id, value_mac,
        value_bytes)
    ), written AS (
      INSERT INTO secret (id, environment_id, key, version, current_version_id, created_at, updated_at)
      SELECT secret_id, ${environmentId}::uuid, key, version, version_id, statement_timestamp(), statement_timestamp()
      FROM change WHERE version_id IS NOT NULL
      ON CONFLICT (id) DO UPDATE SET version = excluded.version, current_version_id = excluded.current_version_id,
        updated_at = excluded.updated_at, deleted_at = NULL
    ), deleted AS (
      UPDATE secret SET deleted_at = statement_timestamp(), updated_at = statement_timestamp()
      FROM change WHERE secret.id = change.secret_id AND change.version_id IS NULL
    ), version AS (
      INSERT INTO secret_version (id, secret_id, version, change_type, changed_by_id, changed_by_type, changed_by_name,
        changed_by_cluster, comment, created_at, ciphertext, content_version_id, data_key_id, value_mac, value_bytes)
      SELECT change.version_id, change.secret_id, change.version, change.change_type, ${actor.id}::uuid,
        ${actor.type}::actor_type, ${actor.name}, ${actor.cluster}, ${comment}, statement_timestamp(),
        CASE WHEN change.copied_id IS NULL THEN change.ciphertext ELSE '' END,
        CASE WHEN change.copied_id IS NOT NULL THEN ${raw(copiedContentId)} END,
        coalesce(change.data_key_id, copied.data_key_id),
        coalesce(change.value_mac, copied.value_mac), coalesce(change.value_bytes, copied.value_bytes)
      FROM change
      LEFT JOIN secret_version copied ON copied.id = change.copied_id AND copied.secret_id = change.secret_id
        AND copied.destroyed_at IS NULL
      WHERE change.version_id IS NOT NULL
      RETURNING ${raw(writtenVersion)}
    ), grown AS (
      ${raw(bytesOfVersions)}
    ), budget AS (
      SELECT ${budgetBytesPerDay}::float8 AS per_day
    ), revision AS (
      INSERT INTO environment_revision (id, environment_id, number, actor_id, actor_type, actor_name, actor_cluster,
        comment, created_at)
      VALUES (${id}::uuid, ${environmentId}::uuid, ${number}::int, ${actor.id}::uuid, ${actor.type}::actor_type,
        ${actor.name}, ${actor.cluster}, ${comment}, statement_timestamp())
    ), logged AS (
      INSERT INTO secret_change (revision_id, secret_id, revision_number, version_id)
      SELECT ${id}::uuid, secret_id, ${number}::int, version_id FROM change
    )
    UPDATE environment SET revision_number = ${number}::int, revision_id = ${id}::uuid, ${raw(budgetAssignment)}
    WHERE id = ${environmentId}::uuid
    RETURNING statement_timestamp()::timestamptz(3) AS at, ${raw(growthColumns)}`;
  const [written] = rows;
  if (written === undefined) throw new Error('the environment of the revision is not there');
  return written;
}

/** The changes as one array for each column of the statement above. */
async function columnsOf(changes: readonly SecretChange[]) {
  const each = <T>(pick: (version: NewVersion) => T): (T | null)[] =>
    changes.map((change) => (change.kind === 'version' ? pick(change) : null));
  const sealed = <T>(pick: (content: SealedContent) => T): (T | null)[] =>
    each(({ content }) => ('ciphertext' in content ? pick(content) : null));
  return {
    secretIds: changes.map(({ secretId }) => secretId),
    keys: changes.map(({ key }) => key),
    versionIds: each(({ versionId }) => versionId),
    versions: each(({ version }) => version),
    changeTypes: each(({ changeType }) => changeType),
    copiedVersionIds: each(({ content }) => ('copiedVersionId' in content ? content.copiedVersionId : null)),
    ciphertexts: await byteaArray(sealed(({ ciphertext }) => ciphertext)),
    dataKeyIds: sealed(({ dataKeyId }) => dataKeyId),
    valueMacs: await byteaArray(sealed(({ valueMac }) => valueMac)),
    valueBytes: sealed(({ valueBytes }) => valueBytes),
  };
}
