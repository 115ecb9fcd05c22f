import type pg from 'pg';
import type { Role } from '../domain/principal.ts';
import { queryRows } from './database.ts';
import type { OrganizationModel } from './generated/models.ts';
import { setMember } from './members.ts';
import { readModels } from './models.ts';
import { raw, type Sql, sql } from './sql.ts';
import { organizationsOf, standingJoins } from './standing.ts';
import type { Transaction } from './transaction.ts';

const fields = {
  id: true,
  slug: true,
  displayName: true,
  createdAt: true,
  /** Whether the organization accepts only personal tokens that their users created. */
  impersonationForbidden: true,
} as const;

export type OrganizationRecord = Readonly<Pick<OrganizationModel, keyof typeof fields>>;

/** An organization with the role that the asking user has in it. */
export interface MemberOrganizationRecord extends OrganizationRecord {
  /** Null for a user who has roles only at places within it. */
  readonly role: Role | null;
}

/** An organization as an instance admin sees it, who may have no role in it. */
export interface AdministeredOrganizationRecord extends OrganizationRecord {
  /** The role that the asking user has in it; null for none. */
  readonly role: Role | null;
  /** By e-mail address. */
  readonly owners: readonly OrganizationOwner[];
  /** Null for one that is not deleted. */
  readonly deletedAt: OrganizationModel['deletedAt'];
}

export interface OrganizationOwner {
  readonly userId: string;
  readonly email: string;
  readonly disabled: boolean;
}

export interface NewOrganization {
  readonly id: string;
  readonly slug: string;
  readonly displayName: string;
  /** Null for an organization without an owner: a custom resource made it. */
  readonly ownerId: string | null;
}

const columns = `o.id, o.slug, o.display_name AS "displayName", o.created_at AS "createdAt",
      o.impersonation_forbidden AS "impersonationForbidden"`;

/** All organizations as o, and how a user stands in each (`standingJoins`). The user's id is `asking.id`. */
function organizationsFor(userId: string): Sql {
  return sql`(SELECT ${userId}::uuid AS id) asking CROSS JOIN organization o
    ${raw(standingJoins('asking.id', 'organization'))}`;
}

/**
 * Inserts an organization and its owner, if it has one; undefined when the slug is taken, be it by a deleted
 * organization.
 */
export async function insertOrganization(
  tx: Transaction,
  { id, slug, displayName, ownerId }: NewOrganization,
): Promise<OrganizationRecord | undefined> {
  const rows = await tx.rows<OrganizationRecord>`
    INSERT INTO organization AS o (id, slug, display_name) VALUES (${id}::uuid, ${slug}, ${displayName})
    ON CONFLICT (slug) DO NOTHING
    RETURNING ${raw(columns)}`;
  const [organization] = rows;
  if (organization === undefined) return undefined;
  if (ownerId !== null) await setMember(tx, { organizationId: id, userId: ownerId, role: 'owner' });
  return organization;
}

/** Changes the name that is shown; undefined for an organization that was deleted. */
export async function renameOrganization(
  tx: Transaction,
  id: string,
  displayName: string,
): Promise<OrganizationRecord | undefined> {
  const organization = await tx.row<OrganizationRecord>`
    UPDATE organization o SET display_name = ${displayName} WHERE id = ${id}::uuid AND deleted_at IS NULL
    RETURNING ${raw(columns)}`;
  return organization;
}

/**
 * Forbids or allows impersonation, and returns whether that is a change; undefined for an organization that was
 * deleted. Forbidding it confirms all members, so that the tokens that they created until now keep working. Lock the
 * members before.
 */
export async function setImpersonation(
  tx: Transaction,
  id: string,
  forbidden: boolean,
): Promise<{ readonly organization: OrganizationRecord; readonly changed: boolean } | undefined> {
  const changed = await tx.run`
    UPDATE organization SET impersonation_forbidden = ${forbidden}
    WHERE id = ${id}::uuid AND deleted_at IS NULL AND impersonation_forbidden <> ${forbidden}`;
  if (changed > 0 && forbidden) {
    await tx.run`
      UPDATE membership SET confirmed_at = clock_timestamp() WHERE organization_id = ${id}::uuid`;
    await tx.run`
      UPDATE role_binding SET confirmed_at = clock_timestamp() WHERE organization_id = ${id}::uuid`;
  }
  const organization = await readOrganization(tx, id);
  return organization && { organization, changed: changed > 0 };
}

/** The ids of the organizations in which a user has a role at any place, and that are not deleted. */
export async function listOrganizationIdsOfUser(tx: Transaction, userId: string): Promise<string[]> {
  const rows = await tx.rowsUnprepared<{ id: string }>(
    `SELECT o.id FROM organization o WHERE o.deleted_at IS NULL AND o.id IN (${organizationsOf('$1::uuid')}) ORDER BY o.id`,
    userId,
  );
  return rows.map(({ id }) => id);
}

/** Like `findOrganization`, in a transaction. */
export async function readOrganization(tx: Transaction, id: string): Promise<OrganizationRecord | undefined> {
  return tx.row<OrganizationRecord>`
    SELECT ${raw(columns)} FROM organization o WHERE o.id = ${id}::uuid AND o.deleted_at IS NULL`;
}

export async function findOrganization(pool: pg.Pool, id: string): Promise<OrganizationRecord | undefined> {
  const where = { id, deletedAt: null };
  const found = await readModels(pool, ({ organization }) => organization.findUnique({ where, select: fields }));
  return found ?? undefined;
}

/** The organizations in which a user has a role at any place, by slug. */
export async function listOrganizationsOfUser(pool: pg.Pool, userId: string): Promise<MemberOrganizationRecord[]> {
  // Slugs are sorted as bytes everywhere, whatever the database's locale makes of hyphens.
  return queryRows<MemberOrganizationRecord>(
    pool,
    sql`
      SELECT ${raw(columns)}, LEAST(m.role, bound.role) AS role FROM ${organizationsFor(userId)}
      WHERE o.deleted_at IS NULL AND o.id IN (${raw(organizationsOf('asking.id'))})
      ORDER BY o.slug COLLATE "C"`,
  );
}

/**
 * All organizations that are deleted and not purged, or all others, by slug, with their owners and the role of a user in
 * each.
 */
export async function listEveryOrganization(
  pool: pg.Pool,
  userId: string,
  { deleted }: { readonly deleted: boolean },
): Promise<AdministeredOrganizationRecord[]> {
  return queryRows<AdministeredOrganizationRecord>(
    pool,
    sql`
      SELECT ${raw(columns)}, LEAST(m.role, bound.role) AS role, coalesce(owner.list, '[]') AS owners,
        o.deleted_at AS "deletedAt"
      FROM ${organizationsFor(userId)}
      LEFT JOIN (
        SELECT w.organization_id, json_agg(json_build_object(
          'userId', u.id, 'email', u.email, 'disabled', u.disabled_at IS NOT NULL) ORDER BY u.email COLLATE "C") AS list
        FROM membership w JOIN app_user u ON u.id = w.user_id WHERE w.role = 'owner' GROUP BY w.organization_id
      ) owner ON owner.organization_id = o.id
      WHERE (o.deleted_at IS NOT NULL) = ${deleted} ORDER BY o.slug COLLATE "C"`,
  );
}
