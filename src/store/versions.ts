import type pg from 'pg';
import type { Actor } from '../domain/principal.ts';
import { queryRows } from './database.ts';
import type { EnvironmentRevisionModel, SecretModel, SecretVersionModel } from './generated/models.ts';
import { raw, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';
import { contentColumns, contentJoin, type StoredContent } from './version-contents.ts';

/** One version of a secret, without its value. The names of actors are as of then. */
export interface VersionRecord extends Readonly<
  Pick<
    SecretVersionModel,
    | 'version'
    | 'changeType'
    | 'changedByType'
    | 'changedByName'
    | 'changedByCluster'
    | 'comment'
    | 'createdAt'
    | 'destroyedAt'
    | 'destroyedByType'
    | 'destroyedByName'
  >
> {
  readonly changedBy: SecretVersionModel['changedById'];
  readonly destroyedBy: SecretVersionModel['destroyedById'];
}

/** When and by whom a key was deleted; all null for one that is not. */
export interface Deletion {
  readonly deletedAt: SecretModel['deletedAt'];
  readonly deletedBy: EnvironmentRevisionModel['actorId'] | null;
  readonly deletedByType: EnvironmentRevisionModel['actorType'] | null;
  readonly deletedByName: EnvironmentRevisionModel['actorName'] | null;
  readonly deletedByCluster: EnvironmentRevisionModel['actorCluster'];
}

/** The versions of a key, newest first. */
export interface KeyHistory {
  readonly deletion: Deletion;
  readonly versions: readonly VersionRecord[];
}

/** What a version has that was not destroyed. */
export const notDestroyed = {
  destroyedAt: null,
  destroyedBy: null,
  destroyedByType: null,
  destroyedByName: null,
} as const satisfies Partial<VersionRecord>;

/** One version of a secret with its value as it is stored; without any if it was destroyed. */
export interface SealedVersion extends VersionRecord, StoredContent {
  readonly secretId: SecretModel['id'];
}

export interface VersionPage {
  /** Versions below this number; null begins at the newest. */
  readonly below: number | null;
  /** Null for all. */
  readonly limit: number | null;
}

const columns = `v.version, v.change_type AS "changeType", v.changed_by_id AS "changedBy",
    v.changed_by_type AS "changedByType", v.changed_by_name AS "changedByName",
    v.changed_by_cluster AS "changedByCluster", v.comment, v.created_at AS "createdAt",
    v.destroyed_at AS "destroyedAt", v.destroyed_by_id AS "destroyedBy", v.destroyed_by_type AS "destroyedByType",
    v.destroyed_by_name AS "destroyedByName"`;

/** The versions of a key, newest first, also of a deleted one; undefined for a key that was never written. */
export async function listVersions(
  pool: pg.Pool,
  environmentId: string,
  key: string,
  { below, limit }: VersionPage,
): Promise<KeyHistory | undefined> {
  // The join keeps a row for a key that has no such version: so one statement distinguishes it from a key that never
  // existed. The last change of a deleted key is its deletion.
  const rows = await queryRows<Deletion & (VersionRecord | { version: null })>(
    pool,
    sql`
      SELECT ${raw(columns)}, s.deleted_at AS "deletedAt", r.actor_id AS "deletedBy", r.actor_type AS "deletedByType",
      r.actor_name AS "deletedByName", r.actor_cluster AS "deletedByCluster"
    FROM secret s
    LEFT JOIN LATERAL (SELECT c.revision_id FROM secret_change c
      WHERE c.secret_id = s.id AND s.deleted_at IS NOT NULL ORDER BY c.revision_number DESC LIMIT 1) newest ON true
    LEFT JOIN environment_revision r ON r.id = newest.revision_id
    LEFT JOIN secret_version v ON v.secret_id = s.id AND (${below}::int IS NULL OR v.version < ${below})
    WHERE s.environment_id = ${environmentId} AND s.key = ${key}
    ORDER BY v.version DESC LIMIT ${limit}`,
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const { deletedAt, deletedBy, deletedByType, deletedByName, deletedByCluster } = first;
  return {
    deletion: { deletedAt, deletedBy, deletedByType, deletedByName, deletedByCluster },
    versions: rows.flatMap((row) => (row.version === null ? [] : [versionOf(row)])),
  };
}

function versionOf({
  deletedAt: _at,
  deletedBy: _by,
  deletedByType: _type,
  deletedByName: _name,
  deletedByCluster: _cluster,
  ...version
}: VersionRecord & Deletion): VersionRecord {
  return version;
}

/** One version of a key, also of a deleted one: `no-key` or `no-version` if there is none. */
export async function findVersion(
  pool: pg.Pool,
  environmentId: string,
  key: string,
  version: number,
): Promise<SealedVersion | 'no-key' | 'no-version'> {
  const [row] = await queryRows<SealedVersion | { version: null }>(
    pool,
    sql`
      SELECT ${raw(columns)}, s.id AS "secretId", ${raw(contentColumns)}
    FROM secret s LEFT JOIN secret_version v ON v.secret_id = s.id AND v.version = ${version}
    ${raw(contentJoin)}
    WHERE s.environment_id = ${environmentId} AND s.key = ${key}`,
  );
  if (row === undefined) return 'no-key';
  return row.version === null ? 'no-version' : row;
}

/** A version that may be destroyed, and what else is to be known of its key. */
export interface VersionToDestroy extends VersionRecord {
  readonly secretId: SecretModel['id'];
  /** Whether it is what a read of the key returns now. */
  readonly isCurrent: boolean;
  /** The number of the version that a read of the key returns; null for a key that is deleted. */
  readonly currentVersion: number | null;
  /** The other versions that hold the same value; unknown for a destroyed one. */
  readonly equalVersions: readonly number[];
}

/**
 * Looks up a version that is to be destroyed, under the environment's lock: `no-key` or `no-version` if there is none.
 */
export async function findVersionToDestroy(
  tx: Transaction,
  environmentId: string,
  key: string,
  version: number,
): Promise<VersionToDestroy | 'no-key' | 'no-version'> {
  const text = `SELECT ${columns}, s.id AS "secretId", s.deleted_at IS NULL AND v.id = s.current_version_id AS "isCurrent",
      CASE WHEN s.deleted_at IS NULL THEN s.version END AS "currentVersion",
      ARRAY(SELECT other.version FROM secret_version other
        WHERE other.secret_id = s.id AND other.id <> v.id AND other.value_mac = v.value_mac AND v.destroyed_at IS NULL
        ORDER BY other.version) AS "equalVersions"
    FROM secret s LEFT JOIN secret_version v ON v.secret_id = s.id AND v.version = $3::int
    WHERE s.environment_id = $1::uuid AND s.key = $2`;
  const [row] = await tx.rowsUnprepared<VersionToDestroy | { version: null }>(text, environmentId, key, version);
  if (row === undefined) return 'no-key';
  return row.version === null ? 'no-version' : row;
}

/**
 * Erases the values of these versions of a secret for good and returns when; their records stay. If versions that stay
 * refer to one of them for its value, the newest of those gets it and the others refer to that one. The caller holds
 * the environment's lock, and none of the versions is current or destroyed already.
 */
export async function destroyVersions(
  tx: Transaction,
  {
    secretId,
    versions,
    actor,
  }: { readonly secretId: string; readonly versions: readonly number[]; readonly actor: Actor },
): Promise<Date> {
  // The newest, because it is the one that may be current, and is then read without a reference.
  const rows = await tx.rows<{ at: Date }>`
    WITH doomed AS MATERIALIZED (
      SELECT id, ciphertext, data_key_id FROM secret_version
      WHERE secret_id = ${secretId}::uuid AND version = ANY(${[...versions]}::int[]) AND destroyed_at IS NULL
    ), heir AS MATERIALIZED (
      SELECT DISTINCT ON (doomed.id) doomed.id AS former_id, doomed.ciphertext, doomed.data_key_id, v.id
      FROM doomed JOIN secret_version v ON v.content_version_id = doomed.id
      WHERE v.id NOT IN (SELECT id FROM doomed)
      ORDER BY doomed.id, v.version DESC
    ), kept AS (
      UPDATE secret_version v SET ciphertext = CASE WHEN v.id = heir.id THEN heir.ciphertext ELSE '' END,
        data_key_id = heir.data_key_id, content_version_id = nullif(heir.id, v.id)
      FROM heir WHERE v.content_version_id = heir.former_id AND v.id NOT IN (SELECT id FROM doomed)
    )
    UPDATE secret_version v SET ciphertext = '', content_version_id = NULL, value_mac = '', value_bytes = 0,
      destroyed_at = statement_timestamp(), destroyed_by_id = ${actor.id}::uuid,
      destroyed_by_type = ${actor.type}::actor_type, destroyed_by_name = ${actor.name}
    FROM doomed WHERE v.id = doomed.id
    RETURNING v.destroyed_at AS at`;
  const [first] = rows;
  if (first === undefined || rows.length !== versions.length) throw new Error('not all versions were there to destroy');
  return first.at;
}

/** The versions of a secret that were destroyed together with one of them, by number. */
export async function findDestroyedTogether(
  tx: Transaction,
  { secretId, destroyedAt, destroyedBy }: Pick<VersionToDestroy, 'secretId' | 'destroyedAt' | 'destroyedBy'>,
): Promise<number[]> {
  const rows = await tx.rows<{ version: number }>`
    SELECT version FROM secret_version
    WHERE secret_id = ${secretId}::uuid AND destroyed_at = ${destroyedAt}::timestamptz(3)
      AND destroyed_by_id = ${destroyedBy}::uuid
    ORDER BY version`;
  return rows.map(({ version }) => version);
}
