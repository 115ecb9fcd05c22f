import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';
import type { EnvironmentModel } from './generated/models.ts';
import { sql } from './sql.ts';

/** A revision as a caller names it: its number, or its id in lower case. */
export type RevisionRef = number | string;

/** A revision's number, for people, and its id, for comparing. */
export interface RevisionIds {
  readonly revision: EnvironmentModel['revisionNumber'];
  readonly revisionId: EnvironmentModel['revisionId'];
}

/**
 * SELECT of environment_id, number and id of the revision of environment $1 that has the number $2 or the id $3; no row
 * if it has none or is deleted. The present one is looked at too: revision 0, before the first change, has no row.
 */
export const wantedRevision = `SELECT e.id AS environment_id, r.number, r.id
      FROM environment e JOIN environment_revision r ON r.environment_id = e.id
      WHERE e.id = $1 AND e.deleted_at IS NULL AND r.number = $2::int
    UNION SELECT e.id, r.number, r.id
      FROM environment e JOIN environment_revision r ON r.environment_id = e.id
      WHERE e.id = $1 AND e.deleted_at IS NULL AND r.id = $3::uuid
    UNION SELECT e.id, e.revision_number, e.revision_id FROM environment e
      WHERE e.id = $1 AND e.deleted_at IS NULL AND (e.revision_number = $2::int OR e.revision_id = $3::uuid)`;

/**
 * SQL for whether a key of an environment at a revision, both SQL as well, is at a version whose value was
 * destroyed; `keys` narrows which secret `s` is meant.
 */
export function hasDestroyed(environmentId: string, revision: string, keys = 'true'): string {
  return `EXISTS (SELECT FROM secret s
      JOIN secret_version lost ON lost.secret_id = s.id AND lost.destroyed_at IS NOT NULL
      WHERE s.environment_id = ${environmentId} AND ${keys} AND lost.id = (
        SELECT c.version_id FROM secret_change c WHERE c.secret_id = s.id AND c.revision_number <= ${revision}
        ORDER BY c.revision_number DESC LIMIT 1))`;
}

const findStatement: Statement = {
  name: 'revision-find',
  text: `SELECT number AS revision, id AS "revisionId" FROM (${wantedRevision}) wanted`,
};

const findWholeStatement: Statement = {
  name: 'revision-find-whole',
  text: `SELECT number AS revision, id AS "revisionId",
      NOT ${hasDestroyed('wanted.environment_id', 'wanted.number', 'starts_with(s.key, $4)')} AS "isWhole"
    FROM (${wantedRevision}) wanted`,
};

/** The values of `wantedRevision`. */
export function wantedRevisionValues(
  environmentId: string,
  wanted: RevisionRef,
): [string, number | null, string | null] {
  return typeof wanted === 'number' ? [environmentId, wanted, null] : [environmentId, null, wanted];
}

/** A revision of an environment; undefined if it has none such. */
export async function findRevision(
  pool: pg.Pool,
  environmentId: string,
  wanted: RevisionRef,
): Promise<RevisionIds | undefined> {
  const [found] = await queryRows<RevisionIds>(pool, findStatement, wantedRevisionValues(environmentId, wanted));
  return found;
}

/** The same, and whether the values of all its keys that begin so are still there. */
export async function findWholeRevision(
  pool: pg.Pool,
  environmentId: string,
  { revision, prefix = '' }: { readonly revision: RevisionRef; readonly prefix?: string | undefined },
): Promise<(RevisionIds & { readonly isWhole: boolean }) | undefined> {
  const values = [...wantedRevisionValues(environmentId, revision), prefix];
  const [found] = await queryRows<RevisionIds & { isWhole: boolean }>(pool, findWholeStatement, values);
  return found;
}

/** The keys of an environment that were deleted after a revision, also those that were made again since. */
export async function keysDeletedSince(
  pool: pg.Pool,
  environmentId: string,
  revision: number,
): Promise<ReadonlySet<string>> {
  const rows = await queryRows<{ key: string }>(
    pool,
    sql`
      SELECT DISTINCT s.key FROM secret s
    JOIN secret_change c ON c.secret_id = s.id AND c.revision_number > ${revision} AND c.version_id IS NULL
    WHERE s.environment_id = ${environmentId}`,
  );
  return new Set(rows.map(({ key }) => key));
}
