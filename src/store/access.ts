import type pg from 'pg';
import type { MemberStanding } from '../domain/impersonation.ts';
import { queryRows, type Statement } from './database.ts';
import { Prisma } from './generated/client.ts';
import type { Transaction } from './transaction.ts';

/** An organization that exists, and how a user stands in it. */
export interface OrganizationTarget extends MemberStanding {
  readonly organizationId: string;
}

export interface ProjectTarget extends OrganizationTarget {
  readonly projectId: string;
}

export interface EnvironmentTarget extends ProjectTarget {
  readonly environmentId: string;
  /** The newest revision at this moment. */
  readonly revision: number;
  readonly revisionId: string;
}

/** The columns of `MemberStanding`: those of the organization `o` and of the membership `m`, which may be absent. */
export const standingColumns = `m.role, o.impersonation_forbidden AS "impersonationForbidden",
      m.confirmed_at AS "confirmedAt"`;

export const standingOfNoMember = `NULL AS role, o.impersonation_forbidden AS "impersonationForbidden",
      NULL::timestamptz AS "confirmedAt"`;

// Of every request and every reconcile, by the unique indexes of the slugs.
const organizationTarget: Statement = {
  name: 'access-organization',
  text: `SELECT o.id AS "organizationId", ${standingColumns}
    FROM organization o
    LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = $1::uuid
    WHERE o.slug = $2 AND o.deleted_at IS NULL`,
};

const projectTarget: Statement = {
  name: 'access-project',
  text: `SELECT o.id AS "organizationId", p.id AS "projectId", ${standingColumns}
    FROM organization o
    JOIN project p ON p.organization_id = o.id AND p.slug = $3 AND p.deleted_at IS NULL
    LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = $1::uuid
    WHERE o.slug = $2 AND o.deleted_at IS NULL`,
};

// For any number of questions at once: the ways to environments are what most requests ask for.
const environmentTargets: Statement = {
  name: 'access-environments',
  text: `SELECT asked.position::int AS position, o.id AS "organizationId", p.id AS "projectId", e.id AS "environmentId",
      e.revision_number AS revision, e.revision_id AS "revisionId", ${standingColumns}
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) WITH ORDINALITY
      AS asked (user_id, organization, project, environment, position)
    JOIN organization o ON o.slug = asked.organization AND o.deleted_at IS NULL
    JOIN project p ON p.organization_id = o.id AND p.slug = asked.project AND p.deleted_at IS NULL
    JOIN environment e ON e.project_id = p.id AND e.slug = asked.environment AND e.deleted_at IS NULL
    LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = asked.user_id`,
};

// Rare, so apart from those above. A slug stays taken until the purge, so it names one thing.
const anyProject: Statement = {
  name: 'access-any-project',
  text: `SELECT o.id AS "organizationId", p.id AS "projectId", ${standingColumns},
      o.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL AS "isDeleted"
    FROM organization o
    JOIN project p ON p.organization_id = o.id AND p.slug = $3
    LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = $1::uuid
    WHERE o.slug = $2`,
};

const anyEnvironment: Statement = {
  name: 'access-any-environment',
  text: `SELECT o.id AS "organizationId", p.id AS "projectId", e.id AS "environmentId", e.revision_number AS revision,
      e.revision_id AS "revisionId", ${standingColumns},
      o.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL OR e.deleted_at IS NOT NULL AS "isDeleted"
    FROM organization o
    JOIN project p ON p.organization_id = o.id AND p.slug = $3
    JOIN environment e ON e.project_id = p.id AND e.slug = $4
    LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = $1::uuid
    WHERE o.slug = $2`,
};

// By the primary key of the snapshot, for callers that know only its id.
const snapshotTarget: Statement = {
  name: 'access-snapshot',
  text: `SELECT o.id AS "organizationId", p.id AS "projectId", e.id AS "environmentId", e.revision_number AS revision,
      e.revision_id AS "revisionId", ${standingColumns}, o.slug AS organization, p.slug AS project, e.slug AS environment
    FROM snapshot n
    JOIN environment e ON e.id = n.environment_id AND e.deleted_at IS NULL
    JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
    JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
    LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = $1::uuid
    WHERE n.id = $2`,
};

/** Looks up an organization that is not deleted; `userId` is null for service tokens, which have no role. */
export async function findOrganizationTarget(
  pool: pg.Pool,
  userId: string | null,
  organization: string,
): Promise<OrganizationTarget | undefined> {
  const [target] = await queryRows<OrganizationTarget>(pool, organizationTarget, [userId, organization]);
  return target;
}

/** Looks up a project that is not deleted, nor its organization. */
export async function findProjectTarget(
  pool: pg.Pool,
  userId: string | null,
  slugs: readonly [organization: string, project: string],
): Promise<ProjectTarget | undefined> {
  const [target] = await queryRows<ProjectTarget>(pool, projectTarget, [userId, ...slugs]);
  return target;
}

/** Whether a target or anything above it is deleted. */
export interface MaybeDeleted {
  readonly isDeleted: boolean;
}

/** Looks up a project, deleted or not. */
export async function findAnyProjectTarget(
  pool: pg.Pool,
  userId: string | null,
  slugs: readonly [organization: string, project: string],
): Promise<(ProjectTarget & MaybeDeleted) | undefined> {
  const [target] = await queryRows<ProjectTarget & MaybeDeleted>(pool, anyProject, [userId, ...slugs]);
  return target;
}

/** Looks up an environment, deleted or not. */
export async function findAnyEnvironmentTarget(
  pool: pg.Pool,
  userId: string | null,
  slugs: readonly [organization: string, project: string, environment: string],
): Promise<(EnvironmentTarget & MaybeDeleted) | undefined> {
  const [target] = await queryRows<EnvironmentTarget & MaybeDeleted>(pool, anyEnvironment, [userId, ...slugs]);
  return target;
}

/** An environment by its slugs, and whose role counts; null for service tokens, which have none. */
export interface AskedEnvironment {
  readonly userId: string | null;
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
}

/**
 * Looks up environments that are not deleted, nor anything above them, with one statement; in the order asked,
 * undefined for those that are not there.
 */
export async function findEnvironmentTargets(
  pool: pg.Pool,
  asked: readonly AskedEnvironment[],
): Promise<(EnvironmentTarget | undefined)[]> {
  const rows = await queryRows<EnvironmentTarget & { readonly position: number }>(pool, environmentTargets, [
    asked.map(({ userId }) => userId),
    asked.map(({ organization }) => organization),
    asked.map(({ project }) => project),
    asked.map(({ environment }) => environment),
  ]);
  const targets: (EnvironmentTarget | undefined)[] = asked.map(() => undefined);
  for (const { position, ...target } of rows) targets[position - 1] = target;
  return targets;
}

/** An environment that was found by the id of one of its snapshots, with its slugs. */
export interface SnapshotTarget extends EnvironmentTarget {
  readonly slugs: { readonly organization: string; readonly project: string; readonly environment: string };
}

/** Looks up the environment of a snapshot; it is not deleted, nor anything above it. */
export async function findSnapshotTarget(
  pool: pg.Pool,
  userId: string | null,
  snapshotId: string,
): Promise<SnapshotTarget | undefined> {
  type Row = EnvironmentTarget & SnapshotTarget['slugs'];
  const [row] = await queryRows<Row>(pool, snapshotTarget, [userId, snapshotId]);
  if (row === undefined) return undefined;
  const { organization, project, environment, ...target } = row;
  return { ...target, slugs: { organization, project, environment } };
}

/** Ids from the organization down to a target. */
export interface TargetIds {
  readonly organizationId: string;
  readonly projectId?: string;
  readonly environmentId?: string;
}

/**
 * Looks a target up again from inside a transaction; undefined if it or anything above it is deleted (with
 * `includesDeleted`: purged), or if the user has no role any more. It share-locks all of them and the membership: from here to the commit a deletion or a change
 * of the role waits. `userId` is null for service tokens, which have no role.
 */
export async function holdTarget(
  tx: Transaction,
  userId: string | null,
  { organizationId, projectId, environmentId }: TargetIds,
  { includesDeleted = false } = {},
): Promise<MemberStanding | undefined> {
  const live = (table: 'o' | 'p' | 'e'): Prisma.Sql =>
    includesDeleted ? Prisma.empty : Prisma.raw(`AND ${table}.deleted_at IS NULL`);
  // Inner joins: an outer one's rows cannot be locked.
  const membership = Prisma.sql`JOIN membership m ON m.organization_id = o.id AND m.user_id = ${userId}::uuid`;
  const project = Prisma.sql`
    JOIN project p ON p.organization_id = o.id AND p.id = ${projectId}::uuid ${live('p')}`;
  const environment = Prisma.sql`
    JOIN environment e ON e.project_id = p.id AND e.id = ${environmentId}::uuid ${live('e')}`;
  const held = await tx.row<MemberStanding>`
    SELECT ${Prisma.raw(userId === null ? standingOfNoMember : standingColumns)}
    FROM organization o
    ${userId === null ? Prisma.empty : membership}
    ${projectId === undefined ? Prisma.empty : project}
    ${environmentId === undefined ? Prisma.empty : environment}
    WHERE o.id = ${organizationId}::uuid ${live('o')}
    FOR SHARE`;
  return held;
}

/**
 * Share-locks users, those that exist, in the one order of all who lock several. Who changes something above the
 * environments locks the users concerned first: so disabling one, which locks their organizations, cannot deadlock.
 */
export async function holdUsers(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.run`SELECT FROM app_user WHERE id = ANY(${[...ids]}::uuid[]) ORDER BY id FOR SHARE`;
}

/** Whether a user is an instance admin now; from here to the commit a change of that waits. */
export async function holdInstanceAdmin(tx: Transaction, userId: string): Promise<boolean> {
  const user = await tx.row<{ instanceAdmin: boolean }>`
    SELECT instance_admin AS "instanceAdmin" FROM app_user WHERE id = ${userId}::uuid FOR SHARE`;
  return user?.instanceAdmin === true;
}
