import type pg from 'pg';
import { queryRows } from './database.ts';
import type { EnvironmentModel, OrganizationModel, ProjectModel, ResourceClaimModel } from './generated/models.ts';
import type { ClaimOwner } from './resource-claims.ts';
import type { RevisionIds } from './revisions.ts';
import { raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/**
 * What stands at slugs from an organization down to an environment. Null for what is not there, be it deleted or not.
 */
export interface EnvironmentPath {
  readonly organizationId: OrganizationModel['id'];
  readonly organizationDeleted: boolean;
  readonly projectId: ProjectModel['id'] | null;
  readonly projectDeleted: boolean;
  readonly environmentId: EnvironmentModel['id'] | null;
  readonly environmentDeleted: boolean;
  /** Those of the environment; null without it. */
  readonly displayName: EnvironmentModel['displayName'] | null;
  readonly revision: EnvironmentModel['revisionNumber'] | null;
  readonly revisionId: EnvironmentModel['revisionId'] | null;
  readonly secretCount: number;
  /** Whether the organization has an owner who is not disabled. */
  readonly hasOwner: boolean;
  /** The uid of the resource that made the environment or took it over. */
  readonly creator: ResourceClaimModel['uid'] | null;
}

/** The environment that a resource made. */
export interface ClaimedEnvironmentRecord extends RevisionIds {
  readonly organizationId: OrganizationModel['id'];
  readonly projectId: ProjectModel['id'];
  readonly environmentId: EnvironmentModel['id'];
  readonly organization: OrganizationModel['slug'];
  readonly project: ProjectModel['slug'];
  readonly environment: EnvironmentModel['slug'];
  readonly secretCount: number;
}

const secretCount = `(SELECT count(*)::int FROM secret s WHERE s.environment_id = e.id AND s.deleted_at IS NULL)
      AS "secretCount"`;

type Slugs = readonly [organization: string, project: string, environment: string];

function pathOf([organization, project, environment]: Slugs): Sql {
  return sql`
    SELECT o.id AS "organizationId", o.deleted_at IS NOT NULL AS "organizationDeleted",
      p.id AS "projectId", p.deleted_at IS NOT NULL AS "projectDeleted", e.id AS "environmentId",
      e.deleted_at IS NOT NULL AS "environmentDeleted", e.display_name AS "displayName",
      e.revision_number AS revision, e.revision_id AS "revisionId", ${raw(secretCount)},
      EXISTS (SELECT FROM membership m JOIN app_user u ON u.id = m.user_id AND u.disabled_at IS NULL
        WHERE m.organization_id = o.id AND m.role = 'owner') AS "hasOwner",
      (SELECT c.uid FROM resource_claim c WHERE c.environment_id = e.id AND c.operation = 'environment') AS creator
    FROM organization o
    LEFT JOIN project p ON p.organization_id = o.id AND p.slug = ${project}
    LEFT JOIN environment e ON e.project_id = p.id AND e.slug = ${environment}
    WHERE o.slug = ${organization}`;
}

/** Looks up what stands at these slugs, deleted things too; undefined without the organization. */
export async function findEnvironmentPath(pool: pg.Pool, slugs: Slugs): Promise<EnvironmentPath | undefined> {
  const [path] = await queryRows<EnvironmentPath>(pool, pathOf(slugs));
  return path;
}

/** Like `findEnvironmentPath`, in a transaction. */
export async function readEnvironmentPath(tx: Transaction, slugs: Slugs): Promise<EnvironmentPath | undefined> {
  return tx.row<EnvironmentPath>`${pathOf(slugs)}`;
}

type ClaimedRow = ClaimedEnvironmentRecord | { readonly environmentId: null };

function claimOf({ cluster, id }: ClaimOwner): Sql {
  return sql`
    SELECT o.id AS "organizationId", p.id AS "projectId", e.id AS "environmentId", o.slug AS organization,
      p.slug AS project, e.slug AS environment, e.revision_number AS revision, e.revision_id AS "revisionId",
      ${raw(secretCount)}
    FROM resource_claim c
    LEFT JOIN (environment e
      JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
      JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL)
      ON e.id = c.environment_id AND e.deleted_at IS NULL
    WHERE c.cluster = ${cluster} AND c.uid = ${id}::uuid AND c.operation = 'environment'`;
}

/**
 * The environment that a resource made or took over; `gone` if it or something above it was deleted, or if the resource
 * handed it over; undefined if there was never any.
 */
export async function findClaimedEnvironment(
  pool: pg.Pool,
  owner: ClaimOwner,
): Promise<ClaimedEnvironmentRecord | 'gone' | undefined> {
  const [row] = await queryRows<ClaimedRow>(pool, claimOf(owner));
  return claimed(row);
}

/** Like `findClaimedEnvironment`, in a transaction. */
export async function readClaimedEnvironment(
  tx: Transaction,
  owner: ClaimOwner,
): Promise<ClaimedEnvironmentRecord | 'gone' | undefined> {
  return claimed(await tx.row<ClaimedRow>`${claimOf(owner)}`);
}

function claimed(row: ClaimedRow | undefined): ClaimedEnvironmentRecord | 'gone' | undefined {
  return row?.environmentId === null ? 'gone' : row;
}
