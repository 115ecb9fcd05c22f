import type { TestServices, World } from '../api/services.ts';
import { prismaOf } from './prisma.ts';

/** A version as it lies in the database, with its value. */
export interface StoredVersion {
  readonly key: string;
  readonly version: number;
  readonly value: string;
  readonly changeType: string;
  readonly changedBy: string;
  readonly comment: string | null;
  /** The revision that it was made in. */
  readonly revision: number;
}

export interface StoredHistory {
  /** By key and number. */
  readonly versions: readonly StoredVersion[];
  /** The number of the newest revision. */
  readonly revision: number;
  /** What contradicts docs/interface.md 2.2 and 4.5 or the audit; empty where all is sound. */
  readonly faults: readonly string[];
}

interface VersionRow extends Omit<StoredVersion, 'value' | 'revision'> {
  readonly secretId: string;
  readonly ciphertext: Uint8Array;
  readonly dataKeyId: string;
  readonly revisions: readonly number[];
}

/** Everything that an environment has ever been, past the services. It must not be written to meanwhile. */
export async function readHistory(services: TestServices, world: World): Promise<StoredHistory> {
  const { organization, project, environment } = world;
  const rows = await prismaOf(services.database).$queryRaw<VersionRow[]>`
    SELECT s.key, v.version, v.change_type::text AS "changeType", v.changed_by_id AS "changedBy", v.comment,
      v.secret_id AS "secretId", content.ciphertext, content.data_key_id AS "dataKeyId",
      array(SELECT c.revision_number FROM secret_change c WHERE c.version_id = v.id) AS revisions
    FROM secret_version v JOIN secret s ON s.id = v.secret_id
      JOIN secret_version content ON content.id = coalesce(v.content_version_id, v.id)
    WHERE s.environment_id = ${environment.id}::uuid ORDER BY s.key, v.version`;
  const opener = await services.keyring.opener(new Set(rows.map(({ dataKeyId }) => dataKeyId)));
  const ids = { organizationId: organization.id, projectId: project.id, environmentId: environment.id };
  const versions = rows.map(({ secretId, ciphertext, dataKeyId, revisions, ...row }) => {
    const value = opener.open({ ...ids, secretId }, { ciphertext, dataKeyId }).reveal();
    return { ...row, value, revision: revisions[0] ?? 0 };
  });
  const [head] = await prismaOf(services.database).$queryRaw<{ revision: number }[]>`
    SELECT revision_number AS revision FROM environment WHERE id = ${environment.id}::uuid`;
  const faults = [...numberingFaults(rows), ...(await storedFaults(services, world))];
  return { versions, revision: head?.revision ?? 0, faults };
}

/** Of rows by key and number. */
function numberingFaults(rows: readonly VersionRow[]): string[] {
  return rows.flatMap((row, index) => {
    const previous = rows[index - 1];
    return versionFaults(row, previous?.key === row.key ? previous : undefined);
  });
}

function versionFaults({ key, version, revisions }: VersionRow, before: VersionRow | undefined): string[] {
  const expected = (before?.version ?? 0) + 1;
  const [revision = 0] = revisions;
  const [revisionBefore = 0] = before?.revisions ?? [];
  const judged = [
    [version === expected, `${key} has version ${version} where ${expected} should be`],
    [revisions.length === 1, `${key} ${version} is of ${revisions.length} revisions`],
    [revision > revisionBefore, `${key} ${version} is of revision ${revision}, after one of ${revisionBefore}`],
  ] as const;
  return judged.flatMap(([isSound, fault]) => (isSound ? [] : [fault]));
}

// Each query names what should not be.
async function storedFaults({ database }: TestServices, world: World): Promise<string[]> {
  const environment = world.environment.id;
  const found = await prismaOf(database).$queryRaw<{ fault: string }[]>`
    WITH revision AS (
      SELECT id, number, row_number() OVER (ORDER BY number) AS expected FROM environment_revision
      WHERE environment_id = ${environment}::uuid
    ), audited AS (
      SELECT (target->>'revisionId')::uuid AS revision_id, count(*) AS entries, min((target->>'revision')::int) AS number
      FROM audit_entry
      WHERE organization_id = ${world.organization.id}::uuid AND outcome = 'success' AND target ? 'revisionId'
        AND NOT target ? 'replayed'
        AND (action IN ('secret.write', 'secret.delete', 'version.rollback', 'snapshot.restore', 'change.revert')
          OR (action = 'environment.copy' AND target ? 'fromEnvironment'))
      GROUP BY 1
    ), copied AS (
      SELECT (target->>'revisionId')::uuid AS revision_id, count(*) FILTER (WHERE target ? 'toEnvironment') AS entries
      FROM audit_entry
      WHERE organization_id = ${world.organization.id}::uuid AND outcome = 'success' AND target ? 'revisionId'
        AND NOT target ? 'replayed' AND action = 'environment.copy'
      GROUP BY 1
    )
    SELECT format('revision %s is the %s.', number, expected) AS fault FROM revision WHERE number <> expected
    UNION ALL
    SELECT format('revision %s has %s audit entries', r.number, coalesce(a.entries, 0))
    FROM revision r LEFT JOIN audited a ON a.revision_id = r.id
    WHERE a.entries IS DISTINCT FROM 1 OR a.number <> r.number
    UNION ALL
    SELECT format('the audit has a revision that is not there: %s', a.number)
    FROM audited a LEFT JOIN environment_revision r ON r.id = a.revision_id WHERE r.id IS NULL
    UNION ALL
    SELECT format('revision %s, a copy, has %s audit entries in its source', r.number, c.entries)
    FROM revision r JOIN copied c ON c.revision_id = r.id WHERE c.entries <> 1
    UNION ALL
    SELECT format('revision %s changed nothing', r.number) FROM revision r
    WHERE NOT EXISTS (SELECT FROM secret_change c WHERE c.revision_id = r.id)
    UNION ALL
    SELECT format('a change of revision %s has number %s', r.number, c.revision_number)
    FROM revision r JOIN secret_change c ON c.revision_id = r.id WHERE c.revision_number <> r.number
    UNION ALL
    SELECT format('the environment is at %s, its newest revision is %s', e.revision_number, r.number)
    FROM environment e JOIN revision r ON r.expected = (SELECT count(*) FROM revision)
    WHERE e.id = ${environment}::uuid AND (e.revision_id <> r.id OR e.revision_number <> r.number)
    UNION ALL
    SELECT format('%s is at %s and its newest version is %s', s.key, s.version, newest.version)
    FROM secret s CROSS JOIN LATERAL (
      SELECT id, version FROM secret_version v WHERE v.secret_id = s.id ORDER BY version DESC LIMIT 1
    ) newest
    WHERE s.environment_id = ${environment}::uuid
      AND (s.version <> newest.version OR s.current_version_id <> newest.id)
    UNION ALL
    SELECT format('%s %s refers to a version without its value', s.key, v.version)
    FROM secret_version v JOIN secret s ON s.id = v.secret_id
      LEFT JOIN secret_version c ON c.id = v.content_version_id AND c.secret_id = v.secret_id
        AND c.content_version_id IS NULL AND c.value_mac = v.value_mac AND c.value_bytes = v.value_bytes
    WHERE s.environment_id = ${environment}::uuid AND v.content_version_id IS NOT NULL AND c.id IS NULL
    UNION ALL
    SELECT format('%s is not as its newest change left it', s.key)
    FROM secret s CROSS JOIN LATERAL (
      SELECT version_id FROM secret_change c WHERE c.secret_id = s.id ORDER BY revision_number DESC LIMIT 1
    ) change
    WHERE s.environment_id = ${environment}::uuid
      AND change.version_id IS DISTINCT FROM CASE WHEN s.deleted_at IS NULL THEN s.current_version_id END`;
  return found.map(({ fault }) => fault);
}
