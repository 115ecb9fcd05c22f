import type pg from 'pg';
import { queryRows } from './database.ts';
import type { EnvironmentModel } from './generated/models.ts';
import { byBytes, readModels } from './models.ts';
import { isOnly, type Visible } from './projects.ts';
import { raw, type Sql, sql } from './sql.ts';
import { seesEnvironment } from './standing.ts';
import type { Transaction } from './transaction.ts';

const fields = {
  id: true,
  slug: true,
  displayName: true,
  createdAt: true,
  revisionNumber: true,
  revisionId: true,
  protected: true,
} as const;

type EnvironmentRow = Readonly<Pick<EnvironmentModel, keyof typeof fields>>;

export interface EnvironmentRecord extends Omit<EnvironmentRow, 'revisionNumber' | 'protected'> {
  /** The number of the newest revision; 0 before the first change. */
  readonly revision: EnvironmentRow['revisionNumber'];
  readonly isProtected: EnvironmentRow['protected'];
}

/** One that is deleted. */
export interface DeletedEnvironmentRecord extends EnvironmentRecord {
  readonly deletedAt: NonNullable<EnvironmentModel['deletedAt']>;
}

export interface NewEnvironment {
  readonly id: string;
  readonly projectId: string;
  readonly slug: string;
  readonly displayName: string;
  readonly revisionId: string;
}

const columns = `e.id, e.slug, e.display_name AS "displayName", e.created_at AS "createdAt",
    e.revision_number AS revision, e.revision_id AS "revisionId", e.protected AS "isProtected"`;

/** The rows that a caller sees, as far as a user sees only some. */
function visibleRows(visibleTo: string | null): Sql {
  return sql`environment e
      JOIN project p ON p.id = e.project_id
      JOIN organization o ON o.id = p.organization_id
      JOIN (SELECT ${visibleTo}::uuid AS id) viewer ON viewer.id IS NULL OR ${raw(seesEnvironment('viewer.id'))}`;
}

/** Inserts an environment; undefined when the project has the slug already, be it of a deleted environment. */
export async function insertEnvironment(
  tx: Transaction,
  { id, projectId, slug, displayName, revisionId }: NewEnvironment,
): Promise<EnvironmentRecord | undefined> {
  const environment = await tx.row<EnvironmentRecord>`
    INSERT INTO environment AS e (id, project_id, slug, display_name, revision_id)
    VALUES (${id}::uuid, ${projectId}::uuid, ${slug}, ${displayName}, ${revisionId}::uuid)
    ON CONFLICT (project_id, slug) DO NOTHING
    RETURNING ${raw(columns)}`;
  return environment;
}

/** What of an environment can be changed. What is undefined stays. */
export interface EnvironmentChange {
  readonly displayName?: string | undefined;
  readonly isProtected?: boolean | undefined;
}

/** Changes the name that is shown, or the protection; undefined for an environment that was deleted. */
export async function updateEnvironment(
  tx: Transaction,
  id: string,
  { displayName, isProtected }: EnvironmentChange,
): Promise<EnvironmentRecord | undefined> {
  const environment = await tx.row<EnvironmentRecord>`
    UPDATE environment e SET display_name = coalesce(${displayName ?? null}, display_name),
      protected = coalesce(${isProtected ?? null}::boolean, protected)
    WHERE id = ${id}::uuid AND deleted_at IS NULL
    RETURNING ${raw(columns)}`;
  return environment;
}

/** Like `findEnvironment`, in a transaction. */
export async function readEnvironment(tx: Transaction, id: string): Promise<EnvironmentRecord | undefined> {
  return tx.row<EnvironmentRecord>`
    SELECT ${raw(columns)} FROM environment e WHERE e.id = ${id}::uuid AND e.deleted_at IS NULL`;
}

export async function findEnvironment(pool: pg.Pool, id: string): Promise<EnvironmentRecord | undefined> {
  const where = { id, deletedAt: null };
  const found = await readModels(pool, ({ environment }) => environment.findUnique({ where, select: fields }));
  return found === null ? undefined : recordOf(found);
}

function recordOf({ revisionNumber, protected: isProtected, ...row }: EnvironmentRow): EnvironmentRecord {
  return { ...row, revision: revisionNumber, isProtected };
}

/** The visible environments of a project, by slug. */
export async function listEnvironments(
  pool: pg.Pool,
  projectId: string,
  { only, visibleTo }: Visible,
): Promise<EnvironmentRecord[]> {
  return queryRows<EnvironmentRecord>(
    pool,
    sql`
      SELECT ${raw(columns)} FROM ${visibleRows(visibleTo)}
      WHERE e.project_id = ${projectId} AND e.deleted_at IS NULL AND ${isOnly('e', only)}
      ORDER BY e.slug COLLATE "C"`,
  );
}

/** An environment and the project that it is in. */
export interface PlacedEnvironmentRecord extends EnvironmentRecord, Readonly<Pick<EnvironmentModel, 'projectId'>> {}

/** What a caller sees of the environments of an organization. */
export interface VisibleEnvironments extends Visible {
  /** The id of the only project that a service token sees. */
  readonly onlyProject: string | null;
}

/** The visible environments of all projects of an organization, by slug. */
export async function listAllEnvironments(
  pool: pg.Pool,
  organizationId: string,
  { onlyProject, only, visibleTo }: VisibleEnvironments,
): Promise<PlacedEnvironmentRecord[]> {
  return queryRows<PlacedEnvironmentRecord>(
    pool,
    sql`
      SELECT ${raw(columns)}, e.project_id AS "projectId" FROM ${visibleRows(visibleTo)}
      WHERE o.id = ${organizationId} AND p.deleted_at IS NULL AND e.deleted_at IS NULL
        AND ${isOnly('p', onlyProject)} AND ${isOnly('e', only)}
      ORDER BY e.slug COLLATE "C"`,
  );
}

/** The environments of a project that are deleted and not purged, by slug. */
export async function listDeletedEnvironments(pool: pg.Pool, projectId: string): Promise<DeletedEnvironmentRecord[]> {
  const where = { projectId, deletedAt: { not: null } };
  const select = { ...fields, deletedAt: true } as const;
  const found = await readModels(pool, ({ environment }) => environment.findMany({ where, select }));
  return byBytes(
    found.flatMap(({ deletedAt, ...row }) => (deletedAt === null ? [] : [{ ...recordOf(row), deletedAt }])),
    ({ slug }) => slug,
  );
}
