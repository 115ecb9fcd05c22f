import type pg from 'pg';
import type { KeyVersion, PlannedSize } from '../domain/plans/plan.ts';
import type { RevertFact, RevertFacts } from '../domain/plans/revert.ts';
import { queryRows, type Statement } from './database.ts';
import type { EnvironmentRevisionModel, SecretModel } from './generated/models.ts';
import { type RevisionRef, wantedRevision, wantedRevisionValues } from './revisions.ts';
import type { Transaction } from './transaction.ts';

/** Which revision of an environment is to be reverted. */
export interface RevertPlace {
  readonly environmentId: string;
  readonly reverted: RevisionRef;
}

/** The facts of a revert, and how large the environment is. */
export interface StoredRevertFacts extends RevertFacts {
  readonly size: PlannedSize;
}

/** A version as one column: an array of the fields of `KeyVersion`, in their order; null for none. */
type VersionColumn = readonly [id: string, version: number, mac: string, bytes: number, isDestroyed: boolean] | null;

function versionColumn(name: string): string {
  return `CASE WHEN ${name}.id IS NOT NULL THEN json_build_array(${name}.id, ${name}.version,
          encode(${name}.value_mac, 'hex'), ${name}.value_bytes, ${name}.destroyed_at IS NOT NULL) END AS "${name}"`;
}

// The head keeps a row for a revision without a key.
const factsStatement: Statement = {
  name: 'revert-facts',
  text: `SELECT e.revision_number AS revision, e.revision_id AS "revisionId", reverted.number AS "revertedRevision",
      reverted.id AS "revertedId", size.secrets, size.bytes, fact.*
    FROM (${wantedRevision}) reverted
    JOIN environment e ON e.id = reverted.environment_id
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS secrets, coalesce(sum(v.value_bytes), 0)::float8 AS bytes
      FROM secret s JOIN secret_version v ON v.id = s.current_version_id
      WHERE s.environment_id = e.id AND s.deleted_at IS NULL
    ) size
    LEFT JOIN LATERAL (
      SELECT s.id AS "secretId", s.key, s.version, s.deleted_at IS NOT NULL AS "isDeleted",
        ${versionColumn('present')}, ${versionColumn('before')}, ${versionColumn('after')}
      FROM secret_change c
      JOIN secret s ON s.id = c.secret_id
      JOIN secret_version present ON present.id = s.current_version_id
      LEFT JOIN secret_version after ON after.id = c.version_id
      LEFT JOIN LATERAL (
        SELECT version_id FROM secret_change former
        WHERE former.secret_id = c.secret_id AND former.revision_number < c.revision_number
        ORDER BY former.revision_number DESC LIMIT 1
      ) AS earlier ON true
      LEFT JOIN secret_version before ON before.id = earlier.version_id
      WHERE c.revision_id = reverted.id
    ) AS fact ON true
    ORDER BY fact.key COLLATE "C"`,
};

/** Reads the facts of a revert, with one statement. Undefined if the environment is gone or does not have the revision. */
export async function readRevertFacts(pool: pg.Pool, place: RevertPlace): Promise<StoredRevertFacts | undefined> {
  return factsOf(await queryRows<FactsRow>(pool, factsStatement, valuesOf(place)));
}

/** Like `readRevertFacts`, in the transaction that is to revert, which holds the environment's lock. */
export async function readLockedRevertFacts(
  tx: Transaction,
  place: RevertPlace,
): Promise<StoredRevertFacts | undefined> {
  return factsOf(await tx.rowsUnprepared<FactsRow>(factsStatement.text, ...valuesOf(place)));
}

interface FactRow extends Readonly<Pick<SecretModel, 'key' | 'version'>> {
  readonly secretId: SecretModel['id'];
  readonly isDeleted: boolean;
  readonly present: VersionColumn;
  readonly before: VersionColumn;
  readonly after: VersionColumn;
}

type HeadRow = Pick<RevertFacts, 'revision' | 'revisionId'> &
  PlannedSize & {
    readonly revertedRevision: EnvironmentRevisionModel['number'];
    readonly revertedId: EnvironmentRevisionModel['id'];
  };
type FactsRow = HeadRow & (FactRow | { readonly key: null });

function factsOf(rows: readonly FactsRow[]): StoredRevertFacts | undefined {
  const [head] = rows;
  if (head === undefined) return undefined;
  const { revision, revisionId, revertedRevision, revertedId, secrets, bytes } = head;
  return {
    revision,
    revisionId,
    reverted: { revision: revertedRevision, revisionId: revertedId },
    size: { secrets, bytes },
    keys: rows.filter((row): row is HeadRow & FactRow => row.key !== null).map(factOf),
  };
}

function factOf({ secretId, key, version, isDeleted, present, before, after }: FactRow): RevertFact {
  const live = isDeleted ? null : versionOf(present);
  return { secretId, key, version, live, before: versionOf(before), after: versionOf(after) };
}

function versionOf(column: VersionColumn): KeyVersion | null {
  if (column === null) return null;
  const [versionId, version, mac, valueBytes, isDestroyed] = column;
  return { versionId, version, valueMac: Buffer.from(mac, 'hex'), valueBytes, isDestroyed };
}

function valuesOf({ environmentId, reverted }: RevertPlace): (string | number | null)[] {
  return wantedRevisionValues(environmentId, reverted);
}
