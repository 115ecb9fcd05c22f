import type pg from 'pg';
import type { ActorType } from '../domain/principal.ts';
import { queryRows, type Statement } from './database.ts';
import type { ChangeType } from './secrets.ts';

/** One version of a secret, without its value. */
export interface VersionRecord {
  readonly version: number;
  readonly changeType: ChangeType;
  readonly changedBy: string;
  readonly changedByType: ActorType;
  /** The actor's name as of then. */
  readonly changedByName: string;
  readonly comment: string | null;
  readonly createdAt: Date;
}

/** One version of a secret with its value as it is stored. */
export interface SealedVersion extends VersionRecord {
  readonly secretId: string;
  readonly ciphertext: Uint8Array;
  readonly dataKeyId: string;
}

export interface VersionPage {
  /** Versions below this number; null begins at the newest. */
  readonly below: number | null;
  /** Null for all. */
  readonly limit: number | null;
}

const columns = `v.version, v.change_type AS "changeType", v.changed_by_id AS "changedBy",
    v.changed_by_type AS "changedByType", v.changed_by_name AS "changedByName", v.comment, v.created_at AS "createdAt"`;

// The join keeps a row for a key that has no such version: so one statement tells it from a key that never was.
const listStatement: Statement = {
  name: 'versions-list',
  text: `SELECT ${columns}
    FROM secret s LEFT JOIN secret_version v ON v.secret_id = s.id AND ($3::int IS NULL OR v.version < $3)
    WHERE s.environment_id = $1 AND s.key = $2
    ORDER BY v.version DESC LIMIT $4`,
};

const findStatement: Statement = {
  name: 'version-find',
  text: `SELECT ${columns}, s.id AS "secretId", v.ciphertext, v.data_key_id AS "dataKeyId"
    FROM secret s LEFT JOIN secret_version v ON v.secret_id = s.id AND v.version = $3
    WHERE s.environment_id = $1 AND s.key = $2`,
};

/** The versions of a key, newest first, also of a deleted one; undefined for a key that was never written. */
export async function listVersions(
  pool: pg.Pool,
  environmentId: string,
  key: string,
  { below, limit }: VersionPage,
): Promise<VersionRecord[] | undefined> {
  const rows = await queryRows<VersionRecord | { version: null }>(pool, listStatement, [
    environmentId,
    key,
    below,
    limit,
  ]);
  return rows.length === 0 ? undefined : rows.filter((row): row is VersionRecord => row.version !== null);
}

/** One version of a key, also of a deleted one: `no-key` or `no-version` where there is none. */
export async function findVersion(
  pool: pg.Pool,
  environmentId: string,
  key: string,
  version: number,
): Promise<SealedVersion | 'no-key' | 'no-version'> {
  const [row] = await queryRows<SealedVersion | { version: null }>(pool, findStatement, [environmentId, key, version]);
  if (row === undefined) return 'no-key';
  return row.version === null ? 'no-version' : row;
}
