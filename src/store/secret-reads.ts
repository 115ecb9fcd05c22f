import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';
import type {
  EnvironmentModel,
  EnvironmentRevisionModel,
  SecretModel,
  SecretVersionModel,
} from './generated/models.ts';
import { type RevisionIds, type RevisionRef, wantedRevision, wantedRevisionValues } from './revisions.ts';
import { sql } from './sql.ts';
import type { Transaction } from './transaction.ts';
import {
  contentCiphertext,
  contentColumns,
  contentDataKeyId,
  contentJoin,
  type StoredContent,
} from './version-contents.ts';

/** A secret at some revision, without its value. */
export interface StoredKey extends Readonly<Pick<SecretModel, 'key'>>, Readonly<Pick<SecretVersionModel, 'version'>> {
  readonly secretId: SecretModel['id'];
  /** The id of the version record. */
  readonly versionId: SecretVersionModel['id'];
  /** When that version was made. */
  readonly updatedAt: SecretVersionModel['createdAt'];
  /** Set if its value was destroyed, which only that of a past revision can have been. */
  readonly isDestroyed?: boolean;
}

/** The same with who made its version, under the actor's name as of then. */
export interface AttributedKey extends StoredKey {
  readonly updatedBy: SecretVersionModel['changedById'];
  readonly updatedByType: SecretVersionModel['changedByType'];
  readonly updatedByName: SecretVersionModel['changedByName'];
  readonly updatedByCluster: SecretVersionModel['changedByCluster'];
}

/** The same with its value as it is stored. */
export interface SealedSecret extends StoredKey, StoredContent {}

/** Secrets of an environment, and the revision they are of. */
export interface EnvironmentState<Row extends StoredKey> extends RevisionIds {
  /** By key. */
  readonly secrets: readonly Row[];
}

/** Which secrets are wanted: all of the newest revision by default. */
export interface SecretSelection {
  /** Only keys that begin so. */
  readonly prefix?: string;
  /** The state at this revision. */
  readonly revision?: RevisionRef;
}

/** What a statement reads; each shape is a separate text, so that the common one stays the simplest. */
interface Shape {
  readonly of: 'all' | 'prefix' | 'key';
  readonly at: 'present' | 'past';
  readonly values: 'sealed' | 'none';
}

const attribution = `, v.changed_by_id AS "updatedBy", v.changed_by_type AS "updatedByType",
          v.changed_by_name AS "updatedByName", v.changed_by_cluster AS "updatedByCluster"`;

// Revision and rows in one statement: so they are of one moment, without a lock. The outer join keeps the revision's
// row if no secret fits.
function statementOf({ of, at, values }: Shape): Statement {
  const isPresent = at === 'present';
  const argument = isPresent ? '$2' : '$4';
  const keys = { all: '', prefix: ` AND starts_with(s.key, ${argument})`, key: ` AND s.key = ${argument}` }[of];
  const [columns, content] = values === 'sealed' ? [`, ${contentColumns}`, ` ${contentJoin}`] : [attribution, ''];
  const name = `secrets-${of}-${at}-${values}`;
  if (isPresent) {
    return {
      name,
      text: `SELECT e.revision_number AS revision, e.revision_id AS "revisionId", s.id AS "secretId", s.key, s.version,
          s.current_version_id AS "versionId", s.updated_at AS "updatedAt"${columns}
        FROM environment e
        LEFT JOIN (secret s JOIN secret_version v ON v.id = s.current_version_id${content})
          ON s.environment_id = e.id AND s.deleted_at IS NULL${keys}
        WHERE e.id = $1 AND e.deleted_at IS NULL
        ORDER BY s.key COLLATE "C"`,
    };
  }
  return {
    name,
    text: `SELECT r.number AS revision, r.id AS "revisionId", s.id AS "secretId", s.key, v.version, v.id AS "versionId",
        v.created_at AS "updatedAt", v.destroyed_at IS NOT NULL AS "isDestroyed"${columns}
      FROM (${wantedRevision}) r
      LEFT JOIN (secret s
        CROSS JOIN LATERAL (SELECT c.version_id FROM secret_change c
          WHERE c.secret_id = s.id AND c.revision_number <= r.number
          ORDER BY c.revision_number DESC LIMIT 1) newest
        JOIN secret_version v ON v.id = newest.version_id${content}
      ) ON s.environment_id = r.environment_id${keys}
      ORDER BY s.key COLLATE "C"`,
  };
}

/** Secrets of an environment by key; undefined if it is gone or has no such revision. */
export async function listSecrets(
  pool: pg.Pool,
  environmentId: string,
  selection: SecretSelection = {},
): Promise<EnvironmentState<SealedSecret> | undefined> {
  return readList(pool, environmentId, { selection, values: 'sealed' });
}

/** How many bytes the present values of an environment have whose keys begin with the prefix; 0 if it is gone. */
export async function measureSecrets(pool: pg.Pool, environmentId: string, prefix = ''): Promise<number> {
  const [size] = await queryRows<{ readonly bytes: number }>(
    pool,
    sql`
      SELECT coalesce(sum(v.value_bytes), 0)::float8 AS bytes
    FROM secret s JOIN secret_version v ON v.id = s.current_version_id
    WHERE s.environment_id = ${environmentId} AND s.deleted_at IS NULL AND starts_with(s.key, ${prefix})`,
  );
  return size?.bytes ?? 0;
}

/** Like `listSecrets`, of all keys, in a transaction. */
export async function readSecrets(
  tx: Transaction,
  environmentId: string,
  revision: RevisionRef | undefined,
): Promise<EnvironmentState<SealedSecret> | undefined> {
  const at = revision === undefined ? 'present' : 'past';
  const place = revision === undefined ? [environmentId] : wantedRevisionValues(environmentId, revision);
  const { text } = statementFor({ of: 'all', at, values: 'sealed' });
  return stateOf(await tx.rowsUnprepared<(SealedSecret & RevisionIds) | NoSecret>(text, ...place));
}

/** The same with who made each version and without values, of which not a byte is returned. */
export async function listSecretKeys(
  pool: pg.Pool,
  environmentId: string,
  selection: SecretSelection = {},
): Promise<EnvironmentState<AttributedKey> | undefined> {
  return readList(pool, environmentId, { selection, values: 'none' });
}

interface KeySelection {
  readonly key: string;
  readonly revision: RevisionRef | undefined;
}

/** One secret: `no-revision` if the environment is gone or has no such revision, `no-key` if it has no such key. */
export async function findSecret(
  pool: pg.Pool,
  environmentId: string,
  selection: KeySelection,
): Promise<SealedSecret | 'no-key' | 'no-revision'> {
  return readOne<SealedSecret>(pool, environmentId, { selection, values: 'sealed' });
}

/** The same without its value. */
export async function findSecretKey(
  pool: pg.Pool,
  environmentId: string,
  selection: KeySelection,
): Promise<StoredKey | 'no-key' | 'no-revision'> {
  return readOne<StoredKey>(pool, environmentId, { selection, values: 'none' });
}

/** The one row if no secret fits: all but the revision is null. */
type NoSecret = RevisionIds & { readonly secretId: null };

async function readList<Row extends StoredKey>(
  pool: pg.Pool,
  environmentId: string,
  { selection: { prefix, revision }, values }: { selection: SecretSelection; values: Shape['values'] },
): Promise<EnvironmentState<Row> | undefined> {
  const of = prefix === undefined ? 'all' : 'prefix';
  const wanted = prefix === undefined ? [] : [prefix];
  return stateOf(await readRows<Row>(pool, { of, values, environmentId, revision, wanted }));
}

function stateOf<Row extends StoredKey>(
  rows: readonly ((Row & RevisionIds) | NoSecret)[],
): EnvironmentState<Row> | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const { revision, revisionId } = first;
  return { revision, revisionId, secrets: first.secretId === null ? [] : (rows as readonly Row[]) };
}

async function readOne<Row extends StoredKey>(
  pool: pg.Pool,
  environmentId: string,
  { selection: { key, revision }, values }: { selection: KeySelection; values: Shape['values'] },
): Promise<Row | 'no-key' | 'no-revision'> {
  const [row] = await readRows<Row>(pool, { of: 'key', values, environmentId, revision, wanted: [key] });
  if (row === undefined) return 'no-revision';
  return row.secretId === null ? 'no-key' : row;
}

interface Reading extends Pick<Shape, 'of' | 'values'> {
  readonly environmentId: string;
  readonly revision: RevisionRef | undefined;
  /** The prefix or key, if any. */
  readonly wanted: readonly string[];
}

async function readRows<Row extends StoredKey>(
  pool: pg.Pool,
  { of, values, environmentId, revision, wanted }: Reading,
): Promise<((Row & RevisionIds) | NoSecret)[]> {
  const at = revision === undefined ? 'present' : 'past';
  const place = revision === undefined ? [environmentId] : wantedRevisionValues(environmentId, revision);
  return queryRows(pool, statementFor({ of, at, values }), [...place, ...wanted]);
}

const statements = new Map<string, Statement>();

/** Each text is made once. */
function statementFor(shape: Shape): Statement {
  const id = `${shape.of} ${shape.at} ${shape.values}`;
  const known = statements.get(id);
  if (known !== undefined) return known;
  const made = statementOf(shape);
  statements.set(id, made);
  return made;
}

/** A key that is deleted, with its last version. */
export interface DeletedKey extends Pick<StoredKey, 'secretId' | 'key' | 'version' | 'updatedAt'> {
  readonly deletedAt: NonNullable<SecretModel['deletedAt']>;
  readonly deletedBy: EnvironmentRevisionModel['actorId'];
  readonly deletedByType: EnvironmentRevisionModel['actorType'];
  /** The actor's name as of then. */
  readonly deletedByName: EnvironmentRevisionModel['actorName'];
  readonly deletedByCluster: EnvironmentRevisionModel['actorCluster'];
}

export interface DeletedKeys extends RevisionIds {
  /** By key. */
  readonly secrets: readonly DeletedKey[];
}

/** The deleted keys of an environment that begin with a prefix; undefined if the environment is gone. */
export async function listDeletedKeys(
  pool: pg.Pool,
  environmentId: string,
  prefix: string,
): Promise<DeletedKeys | undefined> {
  type Row = RevisionIds & (DeletedKey | { readonly secretId: null });
  // The last change of a deleted key is its deletion.
  const rows = await queryRows<Row>(
    pool,
    sql`
      SELECT e.revision_number AS revision, e.revision_id AS "revisionId", s.id AS "secretId", s.key, s.version,
      s.updated_at AS "updatedAt", s.deleted_at AS "deletedAt", r.actor_id AS "deletedBy",
      r.actor_type AS "deletedByType", r.actor_name AS "deletedByName",
      r.actor_cluster AS "deletedByCluster"
    FROM environment e
    LEFT JOIN (secret s
      CROSS JOIN LATERAL (SELECT c.revision_id FROM secret_change c
        WHERE c.secret_id = s.id ORDER BY c.revision_number DESC LIMIT 1) newest
      JOIN environment_revision r ON r.id = newest.revision_id
    ) ON s.environment_id = e.id AND s.deleted_at IS NOT NULL AND starts_with(s.key, ${prefix})
    WHERE e.id = ${environmentId} AND e.deleted_at IS NULL
    ORDER BY s.key COLLATE "C"`,
  );
  const [first] = rows;
  if (first === undefined) return undefined;
  const { revision, revisionId } = first;
  return { revision, revisionId, secrets: first.secretId === null ? [] : (rows as (Row & DeletedKey)[]) };
}

/** A secret with the size of its value, and the value as it is stored if the whole state is small. */
export interface SizedSecret
  extends StoredKey, Readonly<Pick<SecretVersionModel, 'valueBytes'>>, Pick<StoredContent, 'dataKeyId'> {
  readonly ciphertext: StoredContent['ciphertext'] | null;
}

/** An environment's state with the sizes of its values. */
export interface SizedState extends EnvironmentState<SizedSecret> {
  /** How many keys the state has; `secrets` holds `maxKeys` of them at most. */
  readonly keys: number;
}

export interface SizedSelection {
  readonly revision: RevisionRef | undefined;
  readonly maxKeys: number;
  /** The values come along if all of them have this many bytes at most, and `maxKeys` holds all keys. */
  readonly maxInlineBytes: number;
}

// PostgreSQL knows the sizes without fetching the values.
const sizedColumns = `s.id AS "secretId", s.key, v.id AS "versionId", v.value_bytes AS "valueBytes",
    ${contentDataKeyId} AS "dataKeyId", (count(s.id) OVER ())::int AS keys,
    CASE WHEN count(s.id) OVER () <= $2 AND sum(v.value_bytes) OVER () <= $3 THEN ${contentCiphertext} END
      AS ciphertext`;

const presentSizes: Statement = {
  name: 'secrets-sizes-present',
  text: `SELECT e.revision_number AS revision, e.revision_id AS "revisionId", s.version, s.updated_at AS "updatedAt",
      ${sizedColumns}
    FROM environment e
    LEFT JOIN (secret s JOIN secret_version v ON v.id = s.current_version_id ${contentJoin})
      ON s.environment_id = e.id AND s.deleted_at IS NULL
    WHERE e.id = $1 AND e.deleted_at IS NULL
    ORDER BY s.key COLLATE "C" LIMIT $2`,
};

const pastSizes: Statement = {
  name: 'secrets-sizes-past',
  text: `SELECT r.number AS revision, r.id AS "revisionId", v.version, v.created_at AS "updatedAt",
      v.destroyed_at IS NOT NULL AS "isDestroyed", ${sizedColumns}
    FROM (${wantedRevision.replaceAll('$2', '$4').replaceAll('$3', '$5')}) r
    LEFT JOIN (secret s
      CROSS JOIN LATERAL (SELECT c.version_id FROM secret_change c
        WHERE c.secret_id = s.id AND c.revision_number <= r.number
        ORDER BY c.revision_number DESC LIMIT 1) newest
      JOIN secret_version v ON v.id = newest.version_id ${contentJoin}
    ) ON s.environment_id = r.environment_id
    ORDER BY s.key COLLATE "C" LIMIT $2`,
};

/**
 * The keys of an environment by name, with the sizes of their values; undefined if it is gone or has no such revision.
 * All of it is of one moment.
 */
export async function listSizes(
  pool: pg.Pool,
  environmentId: string,
  { revision, maxKeys, maxInlineBytes }: SizedSelection,
): Promise<SizedState | undefined> {
  type Row = (SizedSecret | { readonly secretId: null }) & RevisionIds & { readonly keys: number };
  const limits = [maxKeys, maxInlineBytes];
  const rows =
    revision === undefined
      ? await queryRows<Row>(pool, presentSizes, [environmentId, ...limits])
      : await queryRows<Row>(pool, pastSizes, [
          environmentId,
          ...limits,
          ...wantedRevisionValues('', revision).slice(1),
        ]);
  const [first] = rows;
  if (first === undefined) return undefined;
  const secrets = first.secretId === null ? [] : (rows as (SizedSecret & Row)[]);
  return { revision: first.revision, revisionId: first.revisionId, keys: first.keys, secrets };
}

/** An environment at a revision. */
export interface StatePlace {
  readonly environmentId: EnvironmentModel['id'];
  readonly revisionId: EnvironmentModel['revisionId'];
}

/** A value as it is stored, with what it was sealed for. */
export type SealedValue = Pick<SealedSecret, 'secretId' | 'key' | 'ciphertext' | 'dataKeyId'>;

// The newest state knows its versions. Those of a past one are looked for by its number.
const valuesAt: Statement = {
  name: 'secrets-values-at',
  text: `SELECT s.id AS "secretId", s.key, ${contentColumns}
    FROM environment e
    LEFT JOIN environment_revision r ON r.id = $2::uuid AND r.environment_id = e.id
    JOIN secret s ON s.environment_id = e.id AND s.key = ANY($3::text[])
    JOIN secret_version v ON v.destroyed_at IS NULL AND v.id = CASE
      WHEN e.revision_id <> $2::uuid THEN (SELECT c.version_id FROM secret_change c
        WHERE c.secret_id = s.id AND c.revision_number <= r.number
        ORDER BY c.revision_number DESC LIMIT 1)
      WHEN s.deleted_at IS NULL THEN s.current_version_id END
    ${contentJoin}
    WHERE e.id = $1 AND e.deleted_at IS NULL`,
};

/**
 * The values that keys of an environment have at a revision, in no order. Those that the revision does not have, and those
 * that were destroyed, are absent; all of them if the environment is gone or has no such revision.
 */
export async function listValuesAt(
  pool: pg.Pool,
  { environmentId, revisionId }: StatePlace,
  keys: readonly string[],
): Promise<readonly SealedValue[]> {
  return queryRows(pool, valuesAt, [environmentId, revisionId, keys]);
}
