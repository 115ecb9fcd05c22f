import type pg from 'pg';
import type { ClusterCeiling } from '../domain/cluster-ceiling.ts';
import { ceilingColumn, ceilingJoins } from './cluster-ceilings.ts';
import { queryRows, type Statement } from './database.ts';
import type { EnvironmentModel, OrganizationModel, ProjectModel, UserModel } from './generated/models.ts';
import type { RevisionIds } from './revisions.ts';
import {
  confirmedBeneathColumn,
  type PlaceLevel,
  type Standing,
  standingColumns,
  standingJoins,
  standingOfNoMember,
} from './standing.ts';
import { empty, raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** An organization that exists, and how a user stands in it. */
export interface OrganizationTarget extends Standing {
  readonly organizationId: OrganizationModel['id'];
  /** For a user who has roles only at places beneath this one: `confirmedAt` of the newest of them; else null. */
  readonly confirmedBeneath?: Date | null;
  /** Of the cluster that the request comes through; null for none. */
  readonly ceiling?: ClusterCeiling | null;
}

export interface ProjectTarget extends OrganizationTarget {
  readonly projectId: ProjectModel['id'];
}

/** With the newest revision at this moment. */
export interface EnvironmentTarget extends ProjectTarget, RevisionIds {
  readonly environmentId: EnvironmentModel['id'];
  readonly isProtected: EnvironmentModel['protected'];
}

// Of every request and every reconcile, by the unique indexes of the slugs.
const organizationTarget: Statement = {
  name: 'access-organization',
  text: `SELECT o.id AS "organizationId", ${standingColumns},
      ${confirmedBeneathColumn('$1::uuid', 'organization')}, ${ceilingColumn('$3::text')}
    FROM organization o
    ${standingJoins('$1::uuid', 'organization')}
    ${ceilingJoins('$3::text')}
    WHERE o.slug = $2 AND o.deleted_at IS NULL`,
};

const projectTarget: Statement = {
  name: 'access-project',
  text: `SELECT o.id AS "organizationId", p.id AS "projectId", ${standingColumns},
      ${confirmedBeneathColumn('$1::uuid', 'project')}, ${ceilingColumn('$4::text')}
    FROM organization o
    JOIN project p ON p.organization_id = o.id AND p.slug = $3 AND p.deleted_at IS NULL
    ${standingJoins('$1::uuid', 'project')}
    ${ceilingJoins('$4::text')}
    WHERE o.slug = $2 AND o.deleted_at IS NULL`,
};

// For any number of questions at once: the ways to environments are what most requests ask for.
const environmentTargets: Statement = {
  name: 'access-environments',
  text: `SELECT asked.position::int AS position, o.id AS "organizationId", p.id AS "projectId", e.id AS "environmentId",
      e.protected AS "isProtected", e.revision_number AS revision, e.revision_id AS "revisionId", ${standingColumns},
      ${ceilingColumn('asked.cluster')}
    FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[]) WITH ORDINALITY
      AS asked (user_id, organization, project, environment, cluster, position)
    JOIN organization o ON o.slug = asked.organization AND o.deleted_at IS NULL
    JOIN project p ON p.organization_id = o.id AND p.slug = asked.project AND p.deleted_at IS NULL
    JOIN environment e ON e.project_id = p.id AND e.slug = asked.environment AND e.deleted_at IS NULL
    ${standingJoins('asked.user_id', 'environment')}
    ${ceilingJoins('asked.cluster')}`,
};

// By the primary key of the snapshot, for callers that know only its id.
const snapshotTarget: Statement = {
  name: 'access-snapshot',
  text: `SELECT o.id AS "organizationId", p.id AS "projectId", e.id AS "environmentId",
      e.protected AS "isProtected", e.revision_number AS revision, e.revision_id AS "revisionId", ${standingColumns},
      o.slug AS organization, p.slug AS project, e.slug AS environment, ${ceilingColumn('$3::text')}
    FROM snapshot n
    JOIN environment e ON e.id = n.environment_id AND e.deleted_at IS NULL
    JOIN project p ON p.id = e.project_id AND p.deleted_at IS NULL
    JOIN organization o ON o.id = p.organization_id AND o.deleted_at IS NULL
    ${standingJoins('$1::uuid', 'environment')}
    ${ceilingJoins('$3::text')}
    WHERE n.id = $2`,
};

/** Whether a user had groups at the last sign-in, whose roles do not count any more. */
export async function hasEndedGroups(pool: pg.Pool, userId: string): Promise<boolean> {
  // Only after a refusal.
  return (
    (
      await queryRows(
        pool,
        sql`SELECT FROM group_member WHERE user_id = ${userId} AND expires_at <= clock_timestamp() LIMIT 1`,
      )
    ).length > 0
  );
}

/**
 * Looks up an organization that is not deleted. `userId` is null for service tokens, which have no role. `cluster` is the
 * one that the request comes through.
 */
export async function findOrganizationTarget(
  pool: pg.Pool,
  userId: string | null,
  organization: string,
  cluster: string | null = null,
): Promise<OrganizationTarget | undefined> {
  const [target] = await queryRows<OrganizationTarget>(pool, organizationTarget, [userId, organization, cluster]);
  return target;
}

/** Looks up a project that is not deleted, nor its organization. */
export async function findProjectTarget(
  pool: pg.Pool,
  userId: string | null,
  slugs: readonly [organization: string, project: string],
  cluster: string | null = null,
): Promise<ProjectTarget | undefined> {
  const [target] = await queryRows<ProjectTarget>(pool, projectTarget, [userId, ...slugs, cluster]);
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
  const [organization, project] = slugs;
  // A slug stays taken until the purge, so it names one thing.
  const [target] = await queryRows<ProjectTarget & MaybeDeleted>(
    pool,
    sql`
      SELECT o.id AS "organizationId", p.id AS "projectId", ${raw(standingColumns)},
        ${raw(confirmedBeneathColumn('asking.id', 'project'))},
        o.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL AS "isDeleted"
      FROM (SELECT ${userId}::uuid AS id) asking CROSS JOIN organization o
      JOIN project p ON p.organization_id = o.id AND p.slug = ${project}
      ${raw(standingJoins('asking.id', 'project'))}
      WHERE o.slug = ${organization}`,
  );
  return target;
}

/** Looks up an environment, deleted or not. */
export async function findAnyEnvironmentTarget(
  pool: pg.Pool,
  userId: string | null,
  slugs: readonly [organization: string, project: string, environment: string],
): Promise<(EnvironmentTarget & MaybeDeleted) | undefined> {
  const [organization, project, environment] = slugs;
  const [target] = await queryRows<EnvironmentTarget & MaybeDeleted>(
    pool,
    sql`
      SELECT o.id AS "organizationId", p.id AS "projectId", e.id AS "environmentId", e.protected AS "isProtected",
        e.revision_number AS revision, e.revision_id AS "revisionId", ${raw(standingColumns)},
        o.deleted_at IS NOT NULL OR p.deleted_at IS NOT NULL OR e.deleted_at IS NOT NULL AS "isDeleted"
      FROM (SELECT ${userId}::uuid AS id) asking CROSS JOIN organization o
      JOIN project p ON p.organization_id = o.id AND p.slug = ${project}
      JOIN environment e ON e.project_id = p.id AND e.slug = ${environment}
      ${raw(standingJoins('asking.id', 'environment'))}
      WHERE o.slug = ${organization}`,
  );
  return target;
}

/** What was deleted of a place: the outermost level, and when. */
export interface Deletion {
  readonly level: PlaceLevel;
  readonly at: Date;
}

/** The deletion of a place, or of what it lies in; undefined if nothing of it is deleted, or if it does not exist. */
export async function findDeletion(
  pool: pg.Pool,
  {
    organization,
    project,
    environment,
  }: Readonly<Record<'organization', string> & Record<'project' | 'environment', string | null>>,
): Promise<Deletion | undefined> {
  const [found] = await queryRows<Readonly<Record<PlaceLevel, Date | null>>>(
    pool,
    sql`
      SELECT o.deleted_at AS organization, p.deleted_at AS project, e.deleted_at AS environment
      FROM organization o
      LEFT JOIN project p ON p.organization_id = o.id AND p.slug = ${project}::text
      LEFT JOIN environment e ON e.project_id = p.id AND e.slug = ${environment}::text
      WHERE o.slug = ${organization}`,
  );
  const levels = ['organization', 'project', 'environment'] as const;
  return levels.flatMap((level) => {
    const at = found?.[level] ?? null;
    return at === null ? [] : [{ level, at }];
  })[0];
}

/** An environment by its slugs, and whose role counts; null for service tokens, which have none. */
export interface AskedEnvironment {
  readonly userId: string | null;
  readonly organization: string;
  readonly project: string;
  readonly environment: string;
  /** The cluster that the request comes through, if any. */
  readonly cluster?: string | undefined;
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
    asked.map(({ cluster }) => cluster ?? null),
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
  cluster: string | null = null,
): Promise<SnapshotTarget | undefined> {
  type Row = EnvironmentTarget & SnapshotTarget['slugs'];
  const [row] = await queryRows<Row>(pool, snapshotTarget, [userId, snapshotId, cluster]);
  if (row === undefined) return undefined;
  const { organization, project, environment, ...target } = row;
  return { ...target, slugs: { organization, project, environment } };
}

/** Ids from the organization down to a target. */
export interface TargetIds {
  readonly organizationId: OrganizationModel['id'];
  readonly projectId?: ProjectModel['id'];
  readonly environmentId?: EnvironmentModel['id'];
}

/** A target inside a transaction, as `holdTarget` found it. */
export interface HeldTarget extends Standing {
  /** Of an environment. */
  readonly isProtected?: EnvironmentModel['protected'];
}

export interface HoldOptions {
  /** Whether a target that is deleted counts, as long as it is not purged. */
  readonly includesDeleted?: boolean;
  /** The role binding that gave the user the role; null for the membership. */
  readonly bindingId?: string | null;
}

/**
 * Looks a target up again from inside a transaction; undefined if it or anything above it is deleted, or if what gave
 * the user the role is gone. It share-locks all of them, and the membership or role binding: from here to the commit a
 * deletion or a change of the role waits. `userId` is null for service tokens, which have no role.
 */
export async function holdTarget(
  tx: Transaction,
  userId: string | null,
  { organizationId, projectId, environmentId }: TargetIds,
  { includesDeleted = false, bindingId = null }: HoldOptions = {},
): Promise<HeldTarget | undefined> {
  const live = (table: 'o' | 'p' | 'e'): Sql => (includesDeleted ? empty : raw(`AND ${table}.deleted_at IS NULL`));
  const project = sql`
    JOIN project p ON p.organization_id = o.id AND p.id = ${projectId}::uuid ${live('p')}`;
  const environment = sql`
    JOIN environment e ON e.project_id = p.id AND e.id = ${environmentId}::uuid ${live('e')}`;
  const source = heldSource(userId, bindingId);
  return tx.row<HeldTarget>`
    SELECT ${source.columns} ${environmentId === undefined ? empty : raw(', e.protected AS "isProtected"')}
    FROM organization o
    ${projectId === undefined ? empty : project}
    ${environmentId === undefined ? empty : environment}
    ${source.joins}
    WHERE o.id = ${organizationId}::uuid ${live('o')} ${source.condition}
    FOR SHARE OF o ${raw(
      [projectId === undefined ? '' : ', p', environmentId === undefined ? '' : ', e', source.locks].join(''),
    )}`;
}

interface HeldSource {
  readonly columns: Sql;
  readonly joins: Sql;
  readonly condition: Sql;
  /** The tables to lock besides those of the target. */
  readonly locks: string;
}

/** Where the role of a user comes from. All of it is joined by inner joins: the rows of an outer one cannot be locked. */
function heldSource(userId: string | null, bindingId: string | null): HeldSource {
  if (userId === null) {
    return { columns: raw(standingOfNoMember), joins: empty, condition: empty, locks: '' };
  }
  const forbidden = 'o.impersonation_forbidden AS "impersonationForbidden"';
  if (bindingId === null) {
    return {
      columns: raw(`m.role, NULL::uuid AS "bindingId", ${forbidden}, m.confirmed_at AS "confirmedAt"`),
      joins: sql`JOIN membership m ON m.organization_id = o.id AND m.user_id = ${userId}::uuid`,
      condition: empty,
      locks: ', m',
    };
  }
  return {
    columns: raw(
      `b.role, b.id AS "bindingId", ${forbidden}, COALESCE(m.confirmed_at, b.confirmed_at) AS "confirmedAt"`,
    ),
    joins: sql`JOIN role_binding b ON b.organization_id = o.id AND b.id = ${bindingId}::uuid
    LEFT JOIN membership m ON m.organization_id = o.id AND m.user_id = ${userId}::uuid`,
    // A sign-in that takes a user out of a group does not wait: this change came before it.
    condition: sql`AND (b.user_id = ${userId}::uuid OR EXISTS (
      SELECT FROM group_member g
      WHERE g.user_id = ${userId}::uuid AND g.group_name = b.group_name AND g.expires_at > clock_timestamp()))`,
    locks: ', b',
  };
}

/**
 * Like `holdTarget` for a user who is not the caller: finds what gives the role first. Null for a user without a role
 * there; undefined if the target or anything above it is deleted.
 */
export async function holdStanding(
  tx: Transaction,
  userId: string,
  target: TargetIds,
): Promise<HeldTarget | null | undefined> {
  const { organizationId, projectId, environmentId } = target;
  const level = environmentId !== undefined ? 'environment' : projectId !== undefined ? 'project' : 'organization';
  const [found] = await tx.rowsUnprepared<Standing>(
    standingsById[level],
    userId,
    ...[organizationId, projectId, environmentId].filter((id) => id !== undefined),
  );
  if (found === undefined) return undefined;
  if (found.role === null) return null;
  return (await holdTarget(tx, userId, target, { bindingId: found.bindingId })) ?? null;
}

const projectById = 'JOIN project p ON p.organization_id = o.id AND p.id = $3::uuid AND p.deleted_at IS NULL';
const environmentById = 'JOIN environment e ON e.project_id = p.id AND e.id = $4::uuid AND e.deleted_at IS NULL';

const standingsById: Readonly<Record<PlaceLevel, string>> = {
  organization: standingById('organization', ''),
  project: standingById('project', projectById),
  environment: standingById('environment', `${projectById} ${environmentById}`),
};

function standingById(level: PlaceLevel, places: string): string {
  return `SELECT ${standingColumns} FROM organization o ${places} ${standingJoins('$1::uuid', level)}
    WHERE o.id = $2::uuid AND o.deleted_at IS NULL`;
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
  const user = await tx.row<Pick<UserModel, 'instanceAdmin'>>`
    SELECT instance_admin AS "instanceAdmin" FROM app_user WHERE id = ${userId}::uuid FOR SHARE`;
  return user?.instanceAdmin === true;
}
