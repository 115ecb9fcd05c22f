import type pg from 'pg';
import type { Role } from '../domain/principal.ts';
import { queryRows, type Statement } from './database.ts';
import { setMember } from './members.ts';
import type { Transaction } from './transaction.ts';

export interface OrganizationRecord {
  readonly id: string;
  readonly slug: string;
  readonly displayName: string;
  readonly createdAt: Date;
}

/** An organization with the role that the asking user has in it. */
export interface MemberOrganizationRecord extends OrganizationRecord {
  readonly role: Role;
}

export interface NewOrganization {
  readonly id: string;
  readonly slug: string;
  readonly displayName: string;
  /** Null for an organization that nobody owns: a custom resource made it. */
  readonly ownerId: string | null;
}

const columns = `o.id, o.slug, o.display_name AS "displayName", o.created_at AS "createdAt"`;

const byId: Statement = {
  name: 'organization-by-id',
  text: `SELECT ${columns} FROM organization o WHERE o.id = $1 AND o.deleted_at IS NULL`,
};

// Slugs are sorted as bytes everywhere, whatever the database's locale makes of hyphens.
const ofUser: Statement = {
  name: 'organizations-of-user',
  text: `SELECT ${columns}, m.role
    FROM membership m JOIN organization o ON o.id = m.organization_id
    WHERE m.user_id = $1 AND o.deleted_at IS NULL
    ORDER BY o.slug COLLATE "C"`,
};

/** Inserts an organization and its owner, if it has one; undefined when the slug is taken, be it by a deleted organization. */
export async function insertOrganization(
  tx: Transaction,
  { id, slug, displayName, ownerId }: NewOrganization,
): Promise<OrganizationRecord | undefined> {
  const rows = await tx.$queryRaw<OrganizationRecord[]>`
    INSERT INTO organization (id, slug, display_name) VALUES (${id}::uuid, ${slug}, ${displayName})
    ON CONFLICT (slug) DO NOTHING
    RETURNING id, slug, display_name AS "displayName", created_at AS "createdAt"`;
  const [organization] = rows;
  if (organization === undefined) return undefined;
  if (ownerId !== null) await setMember(tx, id, ownerId, 'owner');
  return organization;
}

/** Changes the name that is shown; undefined for an organization that was deleted. */
export async function renameOrganization(
  tx: Transaction,
  id: string,
  displayName: string,
): Promise<OrganizationRecord | undefined> {
  const [organization] = await tx.$queryRaw<OrganizationRecord[]>`
    UPDATE organization SET display_name = ${displayName} WHERE id = ${id}::uuid AND deleted_at IS NULL
    RETURNING id, slug, display_name AS "displayName", created_at AS "createdAt"`;
  return organization;
}

export async function findOrganization(pool: pg.Pool, id: string): Promise<OrganizationRecord | undefined> {
  const [organization] = await queryRows<OrganizationRecord>(pool, byId, [id]);
  return organization;
}

/** The organizations a user is a member of, by slug. */
export async function listOrganizationsOfUser(pool: pg.Pool, userId: string): Promise<MemberOrganizationRecord[]> {
  return queryRows<MemberOrganizationRecord>(pool, ofUser, [userId]);
}
