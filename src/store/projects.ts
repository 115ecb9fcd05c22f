import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';
import { Prisma } from './generated/client.ts';
import { seesProject } from './standing.ts';
import type { Transaction } from './transaction.ts';

export interface ProjectRecord {
  readonly id: string;
  readonly slug: string;
  readonly displayName: string;
  readonly createdAt: Date;
}

/** One that is deleted. */
export interface DeletedProjectRecord extends ProjectRecord {
  readonly deletedAt: Date;
}

export interface NewProject {
  readonly id: string;
  readonly organizationId: string;
  readonly slug: string;
  readonly displayName: string;
}

const columns = `p.id, p.slug, p.display_name AS "displayName", p.created_at AS "createdAt"`;

const byId: Statement = {
  name: 'project-by-id',
  text: `SELECT ${columns} FROM project p WHERE p.id = $1 AND p.deleted_at IS NULL`,
};

const ofOrganization: Statement = {
  name: 'projects-of-organization',
  text: `SELECT ${columns} FROM project p JOIN organization o ON o.id = p.organization_id
    WHERE o.id = $1 AND p.deleted_at IS NULL AND ($2::uuid IS NULL OR p.id = $2)
      AND ($3::uuid IS NULL OR ${seesProject('$3')})
    ORDER BY p.slug COLLATE "C"`,
};

const deletedOfOrganization: Statement = {
  name: 'projects-deleted',
  text: `SELECT ${columns}, p.deleted_at AS "deletedAt" FROM project p
    WHERE p.organization_id = $1 AND p.deleted_at IS NOT NULL ORDER BY p.slug COLLATE "C"`,
};

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
    SELECT ${Prisma.raw(columns)} FROM project p WHERE p.id = ${id}::uuid AND p.deleted_at IS NULL`;
}

export async function findProject(pool: pg.Pool, id: string): Promise<ProjectRecord | undefined> {
  const [project] = await queryRows<ProjectRecord>(pool, byId, [id]);
  return project;
}

/** What a caller sees of a list: all of it if both are null. */
export interface Visible {
  /** The id of the only one that a service token sees. */
  readonly only: string | null;
  /** The user who sees only those in which they have a role by a role binding. */
  readonly visibleTo: string | null;
}

/** The visible projects of an organization, by slug. */
export async function listProjects(
  pool: pg.Pool,
  organizationId: string,
  { only, visibleTo }: Visible,
): Promise<ProjectRecord[]> {
  return queryRows<ProjectRecord>(pool, ofOrganization, [organizationId, only, visibleTo]);
}

/** The projects of an organization that are deleted and not purged, by slug. */
export async function listDeletedProjects(pool: pg.Pool, organizationId: string): Promise<DeletedProjectRecord[]> {
  return queryRows<DeletedProjectRecord>(pool, deletedOfOrganization, [organizationId]);
}
