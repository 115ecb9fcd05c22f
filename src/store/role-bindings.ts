import type pg from 'pg';
import type { TargetIds } from './access.ts';
import { queryRows, type Statement } from './database.ts';
import type {
  EnvironmentModel,
  OrganizationModel,
  ProjectModel,
  RoleBindingModel,
  UserModel,
} from './generated/models.ts';
import { notifyUsers } from './notify.ts';
import { sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/** Roles of users in projects and environments, and of groups at any place. The owner's role is only in memberships. */

export type BoundRole = Exclude<RoleBindingModel['role'], 'owner'>;

/** Who has the role: a user by id, or a group of the identity provider by name. */
export type Subject = { readonly userId: string } | { readonly group: string };

export interface RoleBindingRecord extends Readonly<Pick<RoleBindingModel, 'id' | 'userId' | 'createdAt'>> {
  /** Slugs; null for a role in the whole organization, or in a whole project. */
  readonly project: ProjectModel['slug'] | null;
  readonly environment: EnvironmentModel['slug'] | null;
  /** Both are null for a group, and so is `userId`. */
  readonly email: UserModel['email'] | null;
  readonly displayName: UserModel['displayName'];
  /** Null for a user. */
  readonly group: RoleBindingModel['groupName'];
  readonly role: BoundRole;
}

/** A role binding in a transaction. */
export type PresentBinding = Pick<RoleBindingRecord, 'id' | 'role'>;

/** Where a page begins: after this entry. Empty texts stand for null. */
export interface BindingPosition {
  readonly project: string;
  readonly environment: string;
  /** The e-mail address of a user, or the name of a group. */
  readonly subject: string;
  readonly id: string;
}

export interface BindingPage {
  readonly after: BindingPosition | null;
  readonly limit: number;
}

const order =
  `coalesce(p.slug, '') COLLATE "C", coalesce(e.slug, '') COLLATE "C", ` +
  `coalesce(u.email, b.group_name) COLLATE "C", b.id`;

const listStatement: Statement = {
  name: 'role-bindings-list',
  text: `SELECT b.id, p.slug AS project, e.slug AS environment, b.user_id AS "userId", u.email,
      u.display_name AS "displayName", b.group_name AS group, b.role, b.created_at AS "createdAt"
    FROM role_binding b
    LEFT JOIN project p ON p.id = b.project_id
    LEFT JOIN environment e ON e.id = b.environment_id
    LEFT JOIN app_user u ON u.id = b.user_id
    WHERE b.organization_id = $1 AND ($2::uuid IS NULL OR b.project_id = $2)
      AND ($3::uuid IS NULL OR b.environment_id = $3)
      AND p.deleted_at IS NULL AND e.deleted_at IS NULL
      AND ($4::text IS NULL OR (${order}) > ($4, $5::text, $6::text, $7::uuid))
    ORDER BY ${order} LIMIT $8`,
};

/** A page of the role bindings at a place and beneath it, by project, environment and subject. Those of deleted places are left out. */
export async function listRoleBindings(
  pool: pg.Pool,
  { organizationId, projectId, environmentId }: TargetIds,
  { after, limit }: BindingPage,
): Promise<RoleBindingRecord[]> {
  const position =
    after === null ? [null, null, null, null] : [after.project, after.environment, after.subject, after.id];
  const place = [organizationId, projectId ?? null, environmentId ?? null];
  return queryRows<RoleBindingRecord>(pool, listStatement, [...place, ...position, limit]);
}

/** A role of a user, or of a group of the user, that is not a membership. */
export interface OwnBinding extends Pick<RoleBindingRecord, 'project' | 'environment' | 'group' | 'role'> {
  /** The slug. */
  readonly organization: OrganizationModel['slug'];
}

/** The role bindings that count for a user now, by place. */
export async function listBindingsOfUser(pool: pg.Pool, userId: string): Promise<OwnBinding[]> {
  return queryRows<OwnBinding>(
    pool,
    sql`SELECT o.slug AS organization, p.slug AS project, e.slug AS environment, b.group_name AS group, b.role
    FROM (
      SELECT r.* FROM role_binding r WHERE r.user_id = ${userId}
      UNION ALL SELECT r.* FROM group_member g JOIN role_binding r ON r.group_name = g.group_name
      WHERE g.user_id = ${userId} AND g.expires_at > clock_timestamp()
    ) b
    JOIN organization o ON o.id = b.organization_id AND o.deleted_at IS NULL
    LEFT JOIN project p ON p.id = b.project_id
    LEFT JOIN environment e ON e.id = b.environment_id
    WHERE p.deleted_at IS NULL AND e.deleted_at IS NULL
    ORDER BY o.slug COLLATE "C", coalesce(p.slug, '') COLLATE "C", coalesce(e.slug, '') COLLATE "C",
      coalesce(b.group_name, '') COLLATE "C"`,
  );
}

/**
 * Lets one change of the role bindings at a place be made at a time: held to the end. Lock users before. The organization
 * comes before its project, as in `holdTarget`: otherwise changes of both that wait could deadlock.
 */
export async function lockPlace(
  tx: Transaction,
  { organizationId, projectId, environmentId }: TargetIds,
): Promise<void> {
  if (environmentId !== undefined) {
    await tx.run`SELECT FROM environment WHERE id = ${environmentId}::uuid FOR NO KEY UPDATE`;
  } else if (projectId !== undefined) {
    await tx.run`SELECT FROM organization WHERE id = ${organizationId}::uuid FOR SHARE`;
    await tx.run`SELECT FROM project WHERE id = ${projectId}::uuid FOR NO KEY UPDATE`;
  } else {
    await tx.run`SELECT FROM organization WHERE id = ${organizationId}::uuid FOR NO KEY UPDATE`;
  }
}

/** The role binding of a subject at exactly this place. Lock the place before. */
export async function findRoleBinding(
  tx: Transaction,
  { organizationId, projectId = null, environmentId = null }: PlaceIds,
  subject: Subject,
): Promise<PresentBinding | undefined> {
  const { userId, group } = columnsOf(subject);
  return tx.row<PresentBinding>`
    SELECT id, role FROM role_binding
    WHERE organization_id = ${organizationId}::uuid AND project_id IS NOT DISTINCT FROM ${projectId}::uuid
      AND environment_id IS NOT DISTINCT FROM ${environmentId}::uuid
      AND user_id IS NOT DISTINCT FROM ${userId}::uuid AND group_name IS NOT DISTINCT FROM ${group}::text`;
}

interface PlaceIds {
  readonly organizationId: string;
  readonly projectId?: string | null;
  readonly environmentId?: string | null;
}

export interface NewBinding {
  readonly id: string;
  readonly subject: Subject;
  readonly role: BoundRole;
  /** Until when the tokens that the user derived from another person's count as the user's own; now by default. */
  readonly confirmedAt?: Date;
}

/** Inserts a role binding; returns when. */
export async function insertRoleBinding(
  tx: Transaction,
  { organizationId, projectId = null, environmentId = null }: PlaceIds,
  binding: NewBinding,
): Promise<Date> {
  const { userId, group } = columnsOf(binding.subject);
  const row = await tx.row<{ createdAt: Date }>`
    INSERT INTO role_binding (id, organization_id, project_id, environment_id, user_id, group_name, role,
      confirmed_at)
    VALUES (${binding.id}::uuid, ${organizationId}::uuid, ${projectId}::uuid, ${environmentId}::uuid, ${userId}::uuid,
      ${group}, ${binding.role}::role, COALESCE(${binding.confirmedAt ?? null}::timestamptz, CURRENT_TIMESTAMP))
    RETURNING created_at AS "createdAt"`;
  if (row === undefined) throw new Error('an INSERT of one row returned no row');
  return row.createdAt;
}

/** Changes the role of a binding; returns when it was made. */
export async function setBoundRole(tx: Transaction, id: string, role: BoundRole): Promise<Date> {
  const row = await tx.row<{ createdAt: Date }>`
    UPDATE role_binding SET role = ${role}::role WHERE id = ${id}::uuid RETURNING created_at AS "createdAt"`;
  if (row === undefined) throw new Error('the place is locked, so its role bindings stay');
  return row.createdAt;
}

export async function deleteRoleBinding(tx: Transaction, id: string): Promise<void> {
  await tx.run`DELETE FROM role_binding WHERE id = ${id}::uuid`;
}

/** Deletes all role bindings of a user in an organization; returns how many. */
export async function deleteBindingsOfUser(tx: Transaction, organizationId: string, userId: string): Promise<number> {
  return tx.run`DELETE FROM role_binding WHERE organization_id = ${organizationId}::uuid AND user_id = ${userId}::uuid`;
}

export async function countRoleBindings(tx: Transaction, organizationId: string): Promise<number> {
  const row = await tx.row<{ count: number }>`
    SELECT count(*)::int AS count FROM role_binding WHERE organization_id = ${organizationId}::uuid`;
  return row?.count ?? 0;
}

/** Whether a user was in a group at the last sign-in, however long ago that was. */
export async function isInGroup(tx: Transaction, userId: string, group: string): Promise<boolean> {
  const found = await tx.run`
    SELECT FROM group_member WHERE user_id = ${userId}::uuid AND group_name = ${group}`;
  return found > 0;
}

/** Sends a notification that the roles of a subject changed, so that open streams are judged again. */
export async function notifySubject(tx: Transaction, subject: Subject): Promise<void> {
  const userIds = 'userId' in subject ? [subject.userId] : await listUsersInGroup(tx, subject.group);
  await notifyUsers(tx, userIds);
}

async function listUsersInGroup(tx: Transaction, group: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>`SELECT user_id AS id FROM group_member WHERE group_name = ${group}`;
  return rows.map(({ id }) => id);
}

function columnsOf(subject: Subject): { readonly userId: string | null; readonly group: string | null } {
  return 'userId' in subject ? { userId: subject.userId, group: null } : { userId: null, group: subject.group };
}
