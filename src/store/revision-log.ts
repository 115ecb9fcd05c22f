import type pg from 'pg';
import type { BearerPrincipal } from '../domain/principal.ts';
import { raw, sql } from './sql.ts';
import { type Standing, standingColumns, standingJoins } from './standing.ts';
import { liveCredentialIds } from './credentials.ts';
import { queryRows, type Statement } from './database.ts';
import type { EnvironmentRevisionModel } from './generated/models.ts';
import type { RevisionIds } from './revisions.ts';

/** What a revision did to one key: the number of the version it set, null if it deleted the key. */
export interface ChangedKey {
  readonly key: string;
  readonly version: number | null;
}

/** One committed change of an environment's secrets. */
export interface RevisionRecord extends RevisionIds, Readonly<Pick<EnvironmentRevisionModel, 'comment' | 'createdAt'>> {
  readonly changedBy: EnvironmentRevisionModel['actorId'];
  readonly changedByType: EnvironmentRevisionModel['actorType'];
  /** The actor's name as of then. */
  readonly changedByName: EnvironmentRevisionModel['actorName'];
  readonly changedByCluster: EnvironmentRevisionModel['actorCluster'];
  /** By key. */
  readonly keys: readonly ChangedKey[];
}

export interface RevisionPage {
  /** Revisions above this number. */
  readonly above: number;
  /** And below this one; null begins at the newest. */
  readonly below: number | null;
  readonly limit: number;
  /** The page ends early with the revision that makes its keys so many. */
  readonly keys: number;
}

export interface RevisionList {
  /** Newest first. */
  readonly revisions: readonly RevisionRecord[];
  /** Whether there are more below. */
  readonly hasMore: boolean;
}

/** Where a reader of changes stands. An id of null stands for «before the first change». */
export interface StreamPosition {
  readonly revision: number;
  readonly revisionId: string | null;
}

/** A revision as a stream reports it. */
export interface StreamedRevision extends RevisionIds {
  readonly keys: readonly ChangedKey[];
}

/** All that a stream must know before it reports anything, of one moment. */
export interface StreamLook {
  /** The environment's newest revision. */
  readonly present: RevisionIds;
  readonly credentialIsLive: boolean;
  /** How the caller stands in the organization now. */
  readonly standing: Standing;
  /** False when the environment does not know the position: its database was recovered to an earlier point. */
  readonly positionIsKnown: boolean;
  /** The first revision after the position, if there is one. */
  readonly next: StreamedRevision | undefined;
}

interface KeysRow {
  /** Arrays of one length; null if the revision has no key any more. */
  readonly keys: readonly string[] | null;
  readonly versions: readonly (number | null)[] | null;
}

// Of one revision; a lateral subquery, so that it is read only for the revisions that the page has.
const changedKeys = `SELECT array_agg(s.key ORDER BY s.key COLLATE "C") AS keys,
        array_agg(v.version ORDER BY s.key COLLATE "C") AS versions
      FROM secret_change c JOIN secret s ON s.id = c.secret_id LEFT JOIN secret_version v ON v.id = c.version_id
      WHERE c.revision_id = r.id`;

// No row if the environment, or anything above it, is deleted.
const lookStatement: Statement = {
  name: 'stream-look',
  text: `SELECT e.revision_number AS revision, e.revision_id AS "revisionId", ${standingColumns},
      coalesce($6::timestamptz > clock_timestamp(), true) AND EXISTS (${liveCredentialIds('ARRAY[$3]::uuid[]')})
        AS "credentialIsLive",
      $5::uuid IS NULL OR $5 = e.revision_id
        OR EXISTS (SELECT FROM environment_revision known WHERE known.id = $5 AND known.environment_id = e.id)
        AS "positionIsKnown",
      next.number AS "nextRevision", next.id AS "nextRevisionId", next.keys, next.versions
    FROM environment e
    JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
    JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
    ${standingJoins('$2::uuid', 'environment')}
    LEFT JOIN LATERAL (
      SELECT r.number, r.id, changed.keys, changed.versions
      FROM environment_revision r CROSS JOIN LATERAL (${changedKeys}) changed
      WHERE r.environment_id = e.id AND r.number > $4::int
      ORDER BY r.number LIMIT 1
    ) next ON true
    WHERE e.id = $1 AND e.deleted_at IS NULL`,
};

/** A page of the revisions of an environment with what they changed. */
export async function listRevisions(
  pool: pg.Pool,
  environmentId: string,
  { above, below, limit, keys: maxKeys }: RevisionPage,
): Promise<RevisionList> {
  type Row = Omit<RevisionRecord, 'keys'> & KeysRow & { readonly found: number };
  // Bounds and no choices, so that the index serves them whatever is asked for. How many keys each revision changed is
  // counted in the index, before any of them is read. One more than asked for shows whether there is a next page.
  const rows = await queryRows<Row>(
    pool,
    sql`
      SELECT r.number AS revision, r.id AS "revisionId", r.actor_id AS "changedBy", r.actor_type AS "changedByType",
      r.actor_name AS "changedByName", r.actor_cluster AS "changedByCluster", r.comment, r.created_at AS "createdAt",
      r.found, changed.keys, changed.versions
    FROM (
      SELECT page.*, count(*) OVER ()::int AS found,
        sum(counted.keys) OVER (ORDER BY page.number DESC) - counted.keys AS keys_before
      FROM (
        SELECT * FROM environment_revision
        WHERE environment_id = ${environmentId} AND number > ${above} AND number < coalesce(${below}, 2147483648::bigint)
        ORDER BY number DESC LIMIT ${limit + 1}
      ) page CROSS JOIN LATERAL (SELECT count(*) AS keys FROM secret_change WHERE revision_id = page.id) counted
    ) r CROSS JOIN LATERAL (${raw(changedKeys)}) changed
    WHERE r.keys_before < ${maxKeys}
    ORDER BY r.number DESC`,
  );
  const revisions = rows.slice(0, limit).map(({ keys, versions, found: _found, ...revision }) => ({
    ...revision,
    keys: changedKeysOf({ keys, versions }),
  }));
  return { revisions, hasMore: (rows[0]?.found ?? 0) > revisions.length };
}

interface LookRow extends RevisionIds, KeysRow, Standing {
  readonly credentialIsLive: boolean;
  readonly positionIsKnown: boolean;
  readonly nextRevision: EnvironmentRevisionModel['number'] | null;
  readonly nextRevisionId: EnvironmentRevisionModel['id'] | null;
}

/**
 * Looks, with one statement, whether a caller may still hear of an environment and what comes next; undefined if it is
 * gone.
 */
export async function lookForStream(
  pool: pg.Pool,
  {
    environmentId,
    principal,
    position,
  }: { readonly environmentId: string; readonly principal: BearerPrincipal; readonly position: StreamPosition },
): Promise<StreamLook | undefined> {
  const userId = principal.type === 'user' ? principal.id : null;
  const jwtEndsAt = principal.type === 'service_token' ? (principal.jwtEndsAt ?? null) : null;
  const values = [environmentId, userId, principal.credentialId, position.revision, position.revisionId, jwtEndsAt];
  const [row] = await queryRows<LookRow>(pool, lookStatement, values);
  if (row === undefined) return undefined;
  const { revision, revisionId, nextRevision, nextRevisionId, credentialIsLive, positionIsKnown } = row;
  const { role, bindingId, impersonationForbidden, confirmedAt } = row;
  const next =
    nextRevision === null || nextRevisionId === null
      ? undefined
      : { revision: nextRevision, revisionId: nextRevisionId, keys: changedKeysOf(row) };
  const standing = { role, bindingId, impersonationForbidden, confirmedAt };
  return { present: { revision, revisionId }, standing, credentialIsLive, positionIsKnown, next };
}

function changedKeysOf({ keys, versions }: KeysRow): ChangedKey[] {
  return (keys ?? []).map((key, index) => ({ key, version: versions?.[index] ?? null }));
}
