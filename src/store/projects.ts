import type pg from 'pg';
import { queryRows } from './database.ts';
import type { ProjectModel } from './generated/models.ts';
import { byBytes, readModels } from './models.ts';
import { raw, type Sql, sql } from './sql.ts';
import { seesProject } from './standing.ts';
import type { Transaction } from './transaction.ts';

const fields = { id: true, slug: true, displayName: true, createdAt: true } as const;

export type ProjectRecord = Readonly<Pick<ProjectModel, keyof typeof fields>>;

/** One that is deleted. */
export interface DeletedProjectRecord extends ProjectRecord {
  readonly deletedAt: NonNullable<ProjectModel['deletedAt']>;
}

export interface NewProject {
  readonly id: string;
  readonly organizationId: string;
  readonly slug: string;
  readonly displayName: string;
}

const columns = `p.id, p.slug, p.display_name AS "displayName", p.created_at AS "createdAt"`;

/** Inserts a project; undefined when the organization has the slug already, be it of a deleted project. */
export async function insertProject(
  tx: Transaction,
  { id, organizationId, slug, displayName }: NewProject,
): Promise<ProjectRecord | undefined> {
  const project = await tx.row<ProjectRecord>`
    INSERT INTO project (id, organization_id, slug, display_name)
    VALUES (${id}::uuid, ${organizationId}::uuid, ${slug}, ${displayName})
    ON CONFLICT (organization_id, slug) DO NOTHING
    RETURNING id, slug, display_name AS "displayName", created_at AS "createdAt"`;
  return project;
}

/** Changes the name that is shown; undefined for a project that was deleted. */
export async function renameProject(
  tx: Transaction,
  id: string,
  displayName: string,
): Promise<ProjectRecord | undefined> {
  const project = await tx.row<ProjectRecord>`
    UPDATE project SET display_name = ${displayName} WHERE id = ${id}::uuid AND deleted_at IS NULL
    RETURNING id, slug, display_name AS "displayName", created_at AS "createdAt"`;
  return project;
}

/** Like `findProject`, in a transaction. */
export async function readProject(tx: Transaction, id: string): Promise<ProjectRecord | undefined> {
  return tx.row<ProjectRecord>`
    SELECT ${raw(columns)} FROM project p WHERE p.id = ${id}::uuid AND p.deleted_at IS NULL`;
}

export async function findProject(pool: pg.Pool, id: string): Promise<ProjectRecord | undefined> {
  const where = { id, deletedAt: null };
  return (await readModels(pool, ({ project }) => project.findUnique({ where, select: fields }))) ?? undefined;
}

/** What a caller sees of a list: all of it if both are null. */
export interface Visible {
  /** The id of the only one that a service token sees. */
  readonly only: string | null;
  /** The user who sees only those in which they have a role by a role binding. */
  readonly visibleTo: string | null;
}

/** A condition: whether a row has the id, if only one is seen. */
export function isOnly(table: 'p' | 'e', only: string | null): Sql {
  return only === null ? raw('true') : sql`${raw(table)}.id = ${only}::uuid`;
}

/** The visible projects of an organization, by slug. */
export async function listProjects(
  pool: pg.Pool,
  organizationId: string,
  { only, visibleTo }: Visible,
): Promise<ProjectRecord[]> {
  return queryRows<ProjectRecord>(
    pool,
    sql`
      SELECT ${raw(columns)} FROM project p JOIN organization o ON o.id = p.organization_id
      CROSS JOIN (SELECT ${visibleTo}::uuid AS id) viewer
      WHERE o.id = ${organizationId} AND p.deleted_at IS NULL AND ${isOnly('p', only)}
        AND (viewer.id IS NULL OR ${raw(seesProject('viewer.id'))})
      ORDER BY p.slug COLLATE "C"`,
  );
}

/** The projects of an organization that are deleted and not purged, by slug. */
export async function listDeletedProjects(pool: pg.Pool, organizationId: string): Promise<DeletedProjectRecord[]> {
  const where = { organizationId, deletedAt: { not: null } };
  const select = { ...fields, deletedAt: true } as const;
  const found = await readModels(pool, ({ project }) => project.findMany({ where, select }));
  return byBytes(
    found.flatMap(({ deletedAt, ...project }) => (deletedAt === null ? [] : [{ ...project, deletedAt }])),
    ({ slug }) => slug,
  );
}
