import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';

/** A revision as a caller names it: its number, or its id in lower case. */
export type RevisionRef = number | string;

/** A revision's number, for people, and its id, for comparing. */
export interface RevisionIds {
  readonly revision: number;
  readonly revisionId: string;
}

/**
 * SELECT of environment_id, number and id of the revision of environment $1 that has the number $2 or the id $3; no row
 * where it has none or is deleted. The present one is looked at too: revision 0, before the first change, has no row.
 */
export const wantedRevision = `SELECT e.id AS environment_id, r.number, r.id
      FROM environment e JOIN environment_revision r ON r.environment_id = e.id
      WHERE e.id = $1 AND e.deleted_at IS NULL AND r.number = $2::int
    UNION SELECT e.id, r.number, r.id
      FROM environment e JOIN environment_revision r ON r.environment_id = e.id
      WHERE e.id = $1 AND e.deleted_at IS NULL AND r.id = $3::uuid
    UNION SELECT e.id, e.revision_number, e.revision_id FROM environment e
      WHERE e.id = $1 AND e.deleted_at IS NULL AND (e.revision_number = $2::int OR e.revision_id = $3::uuid)`;

const findStatement: Statement = {
  name: 'revision-find',
  text: `SELECT number AS revision, id AS "revisionId" FROM (${wantedRevision}) wanted`,
};

/** The values of `wantedRevision`. */
export function wantedRevisionValues(
  environmentId: string,
  wanted: RevisionRef,
): [string, number | null, string | null] {
  return typeof wanted === 'number' ? [environmentId, wanted, null] : [environmentId, null, wanted];
}

/** A revision of an environment; undefined where it has none such. */
export async function findRevision(
  pool: pg.Pool,
  environmentId: string,
  wanted: RevisionRef,
): Promise<RevisionIds | undefined> {
  const [found] = await queryRows<RevisionIds>(pool, findStatement, wantedRevisionValues(environmentId, wanted));
  return found;
}
