import type pg from 'pg';
import type { Role } from '../domain/principal.ts';
import type { MembershipModel, UserModel } from './generated/models.ts';
import { byBytes, readModels } from './models.ts';
import { empty, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

const fields = {
  userId: true,
  role: true,
  /** When the user became a member. */
  createdAt: true,
} as const;

const userFields = { email: true, displayName: true } as const;

export type MemberRecord = Readonly<
  Pick<MembershipModel, keyof typeof fields> & Pick<UserModel, keyof typeof userFields>
>;

/** Names a user: by id, or by e-mail address in lower case. */
export type UserRef = { readonly id: string } | { readonly email: string };

/** A user as a change of their membership needs to know them. */
export interface Candidate extends Readonly<Pick<UserModel, 'id' | 'email' | 'displayName'>> {
  readonly isDisabled: boolean;
  /** Null for no member. */
  readonly role: MembershipModel['role'] | null;
  /** Null for no member. */
  readonly confirmedAt: MembershipModel['confirmedAt'] | null;
  /** Whether the user has a role of their own at any place in the organization; those of groups do not count. */
  readonly hasOwnRole: boolean;
}

export interface NewMembership {
  readonly organizationId: string;
  readonly userId: string;
  readonly role: Role;
  /** Whether the personal tokens that the user derived from another person's until now count as the user's own. */
  readonly confirm?: boolean;
  /** Until when such tokens of a new member count; now by default. */
  readonly confirmedAt?: Date | undefined;
}

/** All members of an organization, by e-mail address. */
export async function listMembers(pool: pg.Pool, organizationId: string): Promise<MemberRecord[]> {
  const select = { ...fields, user: { select: userFields } };
  const found = await readModels(pool, ({ membership }) => membership.findMany({ where: { organizationId }, select }));
  return byBytes(
    found.map(({ user, ...member }) => ({ ...member, ...user })),
    ({ email }) => email,
  );
}

/** The ids of the users who have a role at any place in an organization. */
export async function listRoleHolderIds(tx: Transaction, organizationId: string): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>`
    SELECT user_id AS id FROM membership WHERE organization_id = ${organizationId}::uuid
    UNION SELECT user_id FROM role_binding WHERE organization_id = ${organizationId}::uuid AND user_id IS NOT NULL
    UNION SELECT g.user_id FROM role_binding b JOIN group_member g ON g.group_name = b.group_name
    WHERE b.organization_id = ${organizationId}::uuid`;
  return rows.map(({ id }) => id);
}

/** The id of a user; undefined for none. An address changes only while its user is disabled, so it names the same user. */
export async function findUserId(tx: Transaction, ref: UserRef): Promise<string | undefined> {
  const named = 'id' in ref ? sql`id = ${ref.id}::uuid` : sql`email = ${ref.email}`;
  const user = await tx.row<{ id: string }>`SELECT id FROM app_user WHERE ${named}`;
  return user?.id;
}

/** Lets one change of an organization's members at a time be made: held to the end. Lock users before. */
export async function lockMembers(tx: Transaction, organizationId: string): Promise<void> {
  await tx.run`SELECT FROM organization WHERE id = ${organizationId}::uuid FOR NO KEY UPDATE`;
}

/** Like `lockMembers`, by the slug: returns the organization's id, undefined if there is none or it is deleted. */
export async function lockMembersOf(tx: Transaction, organization: string): Promise<string | undefined> {
  const locked = await tx.row<{ id: string }>`
    SELECT id FROM organization WHERE slug = ${organization} AND deleted_at IS NULL FOR NO KEY UPDATE`;
  return locked?.id;
}

/** A user and the role they have in an organization. */
export async function findCandidate(
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<Candidate | undefined> {
  const candidate = await tx.row<Candidate>`
    SELECT u.id, u.email, u.display_name AS "displayName", u.disabled_at IS NOT NULL AS "isDisabled", m.role,
      m.confirmed_at AS "confirmedAt",
      m.role IS NOT NULL OR EXISTS (
        SELECT FROM role_binding b WHERE b.organization_id = ${organizationId}::uuid AND b.user_id = u.id
      ) AS "hasOwnRole"
    FROM app_user u LEFT JOIN membership m ON m.user_id = u.id AND m.organization_id = ${organizationId}::uuid
    WHERE u.id = ${userId}::uuid`;
  return candidate;
}

/** How many owners who are not disabled an organization has, leaving out one user or none. */
export async function countOwners(tx: Transaction, organizationId: string, except: string | null): Promise<number> {
  const exception = except === null ? empty : sql`AND m.user_id <> ${except}::uuid`;
  const counted = await tx.row<{ owners: number }>`
    SELECT count(*)::int AS owners FROM membership m JOIN app_user u ON u.id = m.user_id AND u.disabled_at IS NULL
    WHERE m.organization_id = ${organizationId}::uuid AND m.role = 'owner' ${exception}`;
  return counted?.owners ?? 0;
}

/**
 * Makes a user a member, or gives a member another role; returns since when they are one. A new member is confirmed, a
 * present one only if asked for.
 */
export async function setMember(
  tx: Transaction,
  { organizationId, userId, role, confirm = false, confirmedAt }: NewMembership,
): Promise<Date> {
  const member = await tx.row<{ createdAt: Date }>`
    INSERT INTO membership AS m (organization_id, user_id, role, confirmed_at)
    VALUES (${organizationId}::uuid, ${userId}::uuid, ${role}::role,
      COALESCE(${confirmedAt ?? null}::timestamptz, clock_timestamp()))
    ON CONFLICT (organization_id, user_id) DO UPDATE SET role = EXCLUDED.role,
      confirmed_at = CASE WHEN ${confirm}::boolean THEN EXCLUDED.confirmed_at ELSE m.confirmed_at END
    RETURNING created_at AS "createdAt"`;
  if (member === undefined) throw new Error('an INSERT of one row returned no row');
  return member.createdAt;
}

export async function deleteMember(tx: Transaction, organizationId: string, userId: string): Promise<void> {
  await tx.run`DELETE FROM membership WHERE organization_id = ${organizationId}::uuid AND user_id = ${userId}::uuid`;
}
