import type pg from 'pg';
import { queryRows, type Statement } from './database.ts';
import { Prisma } from './generated/client.ts';
import type { Visible } from './projects.ts';
import { seesEnvironment } from './standing.ts';
import type { Transaction } from './transaction.ts';

export interface EnvironmentRecord {
  readonly id: string;
  readonly slug: string;
  readonly displayName: string;
  readonly createdAt: Date;
  /** The number of the newest revision; 0 before the first change. */
  readonly revision: number;
  readonly revisionId: string;
  readonly isProtected: boolean;
}

/** One that is deleted. */
export interface DeletedEnvironmentRecord extends EnvironmentRecord {
  readonly deletedAt: Date;
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

const byId: Statement = {
  name: 'environment-by-id',
  text: `SELECT ${columns} FROM environment e WHERE e.id = $1 AND e.deleted_at IS NULL`,
};

const ofProject: Statement = {
  name: 'environments-of-project',
  text: `SELECT ${columns} FROM environment e
    JOIN project p ON p.id = e.project_id
    JOIN organization o ON o.id = p.organization_id
    WHERE e.project_id = $1 AND e.deleted_at IS NULL AND ($2::uuid IS NULL OR e.id = $2)
      AND ($3::uuid IS NULL OR ${seesEnvironment('$3')})
    ORDER BY e.slug COLLATE "C"`,
};

const ofOrganization: Statement = {
  name: 'environments-of-organization',
  text: `SELECT ${columns}, e.project_id AS "projectId" FROM environment e
    JOIN project p ON p.id = e.project_id
    JOIN organization o ON o.id = p.organization_id
    WHERE o.id = $1 AND p.deleted_at IS NULL AND e.deleted_at IS NULL AND ($2::uuid IS NULL OR p.id = $2)
      AND ($3::uuid IS NULL OR e.id = $3) AND ($4::uuid IS NULL OR ${seesEnvironment('$4')})
    ORDER BY e.slug COLLATE "C"`,
};

const deletedOfProject: Statement = {
  name: 'environments-deleted',
  text: `SELECT ${columns}, e.deleted_at AS "deletedAt" FROM environment e
    WHERE e.project_id = $1 AND e.deleted_at IS NOT NULL ORDER BY e.slug COLLATE "C"`,
};

/** Inserts an environment; undefined when the project has the slug already, be it of a deleted environment. */
export async function insertEnvironment(
  tx: Transaction,
  { id, projectId, slug, displayName, revisionId }: NewEnvironment,
): Promise<EnvironmentRecord | undefined> {
  const environment = await tx.row<EnvironmentRecord>`
    INSERT INTO environment AS e (id, project_id, slug, display_name, revision_id)
    VALUES (${id}::uuid, ${projectId}::uuid, ${slug}, ${displayName}, ${revisionId}::uuid)
    ON CONFLICT (project_id, slug) DO NOTHING
    RETURNING ${Prisma.raw(columns)}`;
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
    RETURNING ${Prisma.raw(columns)}`;
  return environment;
}

/** Like `findEnvironment`, in a transaction. */
export async function readEnvironment(tx: Transaction, id: string): Promise<EnvironmentRecord | undefined> {
  return tx.row<EnvironmentRecord>`
    SELECT ${Prisma.raw(columns)} FROM environment e WHERE e.id = ${id}::uuid AND e.deleted_at IS NULL`;
}

export async function findEnvironment(pool: pg.Pool, id: string): Promise<EnvironmentRecord | undefined> {
  const [environment] = await queryRows<EnvironmentRecord>(pool, byId, [id]);
  return environment;
}

/** The visible environments of a project, by slug. */
export async function listEnvironments(
  pool: pg.Pool,
  projectId: string,
  { only, visibleTo }: Visible,
): Promise<EnvironmentRecord[]> {
  return queryRows<EnvironmentRecord>(pool, ofProject, [projectId, only, visibleTo]);
}

/** An environment and the project that it is in. */
export interface PlacedEnvironmentRecord extends EnvironmentRecord {
  readonly projectId: string;
}

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
  return queryRows<PlacedEnvironmentRecord>(pool, ofOrganization, [organizationId, onlyProject, only, visibleTo]);
}

/** The environments of a project that are deleted and not purged, by slug. */
export async function listDeletedEnvironments(pool: pg.Pool, projectId: string): Promise<DeletedEnvironmentRecord[]> {
  return queryRows<DeletedEnvironmentRecord>(pool, deletedOfProject, [projectId]);
}
