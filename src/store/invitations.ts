import type pg from 'pg';
import { limits } from '../domain/limits.ts';
import type { Role } from '../domain/principal.ts';
import type { TargetIds } from './access.ts';
import { queryRows } from './database.ts';
import type {
  EnvironmentModel,
  InvitationModel,
  OrganizationModel,
  ProjectModel,
  UserModel,
} from './generated/models.ts';
import { empty, raw, type Sql, sql } from './sql.ts';
import type { Transaction } from './transaction.ts';

/**
 * Roles that wait for the consent of a user who has none of their own in the organization, or of a person who is no user
 * yet and has a link (sign-in-links.ts).
 */

export type InvitationOutcome = NonNullable<InvitationModel['outcome']>;

/** `userId` and `displayName` are null while the address is no user's. */
export interface InvitationRecord extends Readonly<
  Pick<InvitationModel, 'id' | 'userId' | 'role' | 'createdAt' | 'expiresAt'>
> {
  /** Slugs; project and environment are null for a membership, and the environment for a whole project. */
  readonly organization: OrganizationModel['slug'];
  readonly project: ProjectModel['slug'] | null;
  readonly environment: EnvironmentModel['slug'] | null;
  readonly email: string;
  readonly displayName: UserModel['displayName'];
  /** The user who gives the role, with the present e-mail address. */
  readonly invitedById: InvitationModel['invitedBy'];
  readonly invitedByEmail: UserModel['email'];
}

/** An invitation with its place and its state. */
export type FoundInvitation = InvitationRecord &
  InvitationState &
  Readonly<Pick<InvitationModel, 'organizationId' | 'projectId' | 'environmentId'>>;

/** The outcome is null if the invitation waits, or has expired. */
export interface InvitationState extends Readonly<Pick<InvitationModel, 'outcome'>> {
  readonly isExpired: boolean;
}

/** Who is invited: a user, or an address in lower case that no user has. */
export type Invitee = { readonly userId: string } | { readonly address: string };

/** What an invitation is for. */
export interface NewInvitation {
  readonly id: string;
  readonly invitee: Invitee;
  readonly role: Role;
  readonly invitedBy: string;
  /** How long it waits. */
  readonly hours: number;
}

const columns = `i.id, o.slug AS organization, p.slug AS project, e.slug AS environment, i.user_id AS "userId",
    COALESCE(u.email, i.address) AS email,
    u.display_name AS "displayName", i.role, i.invited_by AS "invitedById", b.email AS "invitedByEmail",
    i.created_at AS "createdAt", i.expires_at AS "expiresAt"`;

const tables = `invitation i
    JOIN organization o ON o.id = i.organization_id
    LEFT JOIN project p ON p.id = i.project_id
    LEFT JOIN environment e ON e.id = i.environment_id
    LEFT JOIN app_user u ON u.id = i.user_id
    JOIN app_user b ON b.id = i.invited_by`;

const isWaiting = 'i.ended_at IS NULL AND i.expires_at > clock_timestamp()';

const isShown = `${isWaiting} AND o.deleted_at IS NULL AND p.deleted_at IS NULL AND e.deleted_at IS NULL`;

const byPlace = `o.slug COLLATE "C", coalesce(p.slug, '') COLLATE "C", coalesce(e.slug, '') COLLATE "C",
    COALESCE(u.email, i.address) COLLATE "C"`;

/** The invitations that wait for a user, by place. */
export async function listInvitationsOfUser(pool: pg.Pool, userId: string): Promise<InvitationRecord[]> {
  return queryRows<InvitationRecord>(
    pool,
    sql`
      SELECT ${raw(columns)} FROM ${raw(tables)} WHERE i.user_id = ${userId} AND ${raw(isShown)}
      ORDER BY ${raw(byPlace)}`,
  );
}

/** How many invitations wait for a user. */
export async function countInvitationsOfUser(pool: pg.Pool, userId: string): Promise<number> {
  const [row] = await queryRows<{ count: number }>(
    pool,
    sql`SELECT count(*)::int AS count FROM ${raw(tables)} WHERE i.user_id = ${userId} AND ${raw(isShown)}`,
  );
  return row?.count ?? 0;
}

/** The invitations that wait in an organization, by place and e-mail address. */
export async function listInvitations(pool: pg.Pool, organizationId: string): Promise<InvitationRecord[]> {
  return queryRows<InvitationRecord>(
    pool,
    sql`
      SELECT ${raw(columns)} FROM ${raw(tables)} WHERE i.organization_id = ${organizationId} AND ${raw(isShown)}
      ORDER BY ${raw(byPlace)}`,
  );
}

/** An invitation in any state. All of it but the state is immutable. */
export async function findInvitation(pool: pg.Pool, id: string): Promise<FoundInvitation | undefined> {
  const [found] = await queryRows<FoundInvitation>(
    pool,
    sql`
      SELECT ${raw(columns)}, i.organization_id AS "organizationId", i.project_id AS "projectId",
      i.environment_id AS "environmentId", i.outcome, i.expires_at <= clock_timestamp() AS "isExpired"
    FROM ${raw(tables)} WHERE i.id = ${id}`,
  );
  return found;
}

/** Like `findInvitation`, in a transaction. */
export async function readInvitation(tx: Transaction, id: string): Promise<InvitationRecord | undefined> {
  const [found] = await tx.rowsUnprepared<InvitationRecord>(
    `SELECT ${columns} FROM ${tables} WHERE i.id = $1::uuid`,
    id,
  );
  return found;
}

/**
 * Locks an invitation and returns its state; undefined if it was purged. Invitations are locked last: after users and
 * places, and of several by id.
 */
export async function lockInvitation(tx: Transaction, id: string): Promise<InvitationState | undefined> {
  return tx.row<InvitationState>`
    SELECT outcome, expires_at <= clock_timestamp() AS "isExpired" FROM invitation WHERE id = ${id}::uuid FOR UPDATE`;
}

/** The invitation of a user at exactly this place, if one waits. Lock the place before. */
export async function findWaitingInvitation(
  tx: Transaction,
  place: TargetIds,
  userId: string,
): Promise<Pick<FoundInvitation, 'id' | 'role' | 'invitedById'> | undefined> {
  return tx.row<Pick<FoundInvitation, 'id' | 'role' | 'invitedById'>>`
    SELECT i.id, i.role, i.invited_by AS "invitedById" FROM invitation i
    WHERE ${ofInviteeAt(place, { userId })} AND ${raw(isWaiting)}`;
}

// So long, the reason why an invitation cannot be accepted can be reported.
const keptDays = 30;

/** Inserts an invitation at a place, where none of the invitee waits; drops old ones of the organization. */
export async function insertInvitation(tx: Transaction, place: TargetIds, invitation: NewInvitation): Promise<void> {
  const { organizationId, projectId = null, environmentId = null } = place;
  const { id, invitee, role, invitedBy, hours } = invitation;
  const { userId, address } = columnsOf(invitee);
  await tx.run`
    DELETE FROM invitation WHERE id IN (
      SELECT id FROM invitation
      WHERE organization_id = ${organizationId}::uuid
        AND COALESCE(ended_at, expires_at) < clock_timestamp() - make_interval(days => ${keptDays}::int)
      ORDER BY id FOR UPDATE SKIP LOCKED)`;
  await tx.run`
    INSERT INTO invitation
      (id, organization_id, project_id, environment_id, user_id, address, role, invited_by, created_at, expires_at)
    VALUES (${id}::uuid, ${organizationId}::uuid, ${projectId}::uuid, ${environmentId}::uuid, ${userId}::uuid,
      ${address}, ${role}::role, ${invitedBy}::uuid, clock_timestamp(),
      clock_timestamp() + make_interval(hours => ${hours}::int))`;
}

/** How many invitations wait. */
export interface WaitingCounts {
  readonly inOrganization: number;
  readonly ofInvitee: number;
  readonly ofInviteeInOrganization: number;
}

export async function countWaitingInvitations(
  tx: Transaction,
  organizationId: string,
  invitee: Invitee,
): Promise<WaitingCounts> {
  const counts = await tx.row<WaitingCounts>`
    SELECT count(*) FILTER (WHERE i.organization_id = ${organizationId}::uuid)::int AS "inOrganization",
      count(*) FILTER (WHERE ${isOf(invitee)})::int AS "ofInvitee",
      count(*) FILTER (WHERE i.organization_id = ${organizationId}::uuid AND ${isOf(invitee)})::int
        AS "ofInviteeInOrganization"
    FROM invitation i
    WHERE (i.organization_id = ${organizationId}::uuid OR ${isOf(invitee)}) AND ${raw(isWaiting)}`;
  if (counts === undefined) throw new Error('an aggregate without GROUP BY returns one row');
  return counts;
}

/** Ends one invitation that `lockInvitation` locked. */
export async function endInvitation(tx: Transaction, id: string, outcome: InvitationOutcome): Promise<void> {
  await end(tx, sql`i.id = ${id}::uuid`, outcome);
}

/** Ends the invitation of an invitee at exactly this place; returns how many waited. Lock the place before. */
export async function endInvitationAt(
  tx: Transaction,
  place: TargetIds,
  invitee: Invitee,
  outcome: 'withdrawn' | 'replaced',
): Promise<number> {
  return (await end(tx, ofInviteeAt(place, invitee), outcome)).length;
}

/**
 * Lets the invitations of an address wait for the user who has it from now on, like others of a user. Lock the address
 * before.
 */
export async function adoptInvitations(
  tx: Transaction,
  { id, email }: { readonly id: string; readonly email: string },
): Promise<void> {
  await tx.run`
    WITH waiting AS (
      SELECT i.id FROM invitation i WHERE i.address = ${email} AND ${raw(isWaiting)} ORDER BY i.id FOR UPDATE
    )
    UPDATE invitation i SET user_id = ${id}::uuid, address = NULL,
      expires_at = i.created_at + make_interval(days => ${limits.invitationDays}::int)
    FROM waiting WHERE i.id = waiting.id`;
}

/** Withdraws the invitations of an address. Lock the address before. */
export async function withdrawInvitationsOfAddress(tx: Transaction, address: string): Promise<void> {
  await end(tx, isOf({ address }), 'withdrawn');
}

/** Withdraws all invitations of a user in an organization; returns how many waited. Lock the members before. */
export async function withdrawInvitationsOfUser(
  tx: Transaction,
  organizationId: string,
  userId: string,
): Promise<number> {
  const ofMember = sql`i.organization_id = ${organizationId}::uuid AND i.user_id = ${userId}::uuid`;
  return (await end(tx, ofMember, 'withdrawn')).length;
}

/** Withdraws all invitations of a user; returns the ids of the organizations of those that waited. Lock the user before. */
export async function withdrawAllInvitationsOfUser(tx: Transaction, userId: string): Promise<string[]> {
  const ended = await end(tx, sql`i.user_id = ${userId}::uuid`, 'withdrawn');
  return ended.map(({ organizationId }) => organizationId);
}

/** Withdraws all invitations that a user sent; returns how many waited. Lock the user before. */
export async function withdrawInvitationsBy(tx: Transaction, userId: string): Promise<number> {
  return (await end(tx, sql`i.invited_by = ${userId}::uuid`, 'withdrawn')).length;
}

/** Withdraws the invitations at a place and beneath it; returns how many waited. Lock the place before. */
export async function withdrawInvitationsWithin(
  tx: Transaction,
  { organizationId, projectId, environmentId }: TargetIds,
): Promise<number> {
  const within = sql`i.organization_id = ${organizationId}::uuid
    ${projectId === undefined ? empty : sql`AND i.project_id = ${projectId}::uuid`}
    ${environmentId === undefined ? empty : sql`AND i.environment_id = ${environmentId}::uuid`}`;
  return (await end(tx, within, 'withdrawn')).length;
}

/** Ends what a condition on `invitation i` finds; returns those that waited, and none that had expired. */
async function end(
  tx: Transaction,
  condition: Sql,
  outcome: InvitationOutcome,
): Promise<{ readonly organizationId: string }[]> {
  return tx.rows<{ organizationId: string }>`
    WITH locked AS (
      SELECT i.id, i.expires_at FROM invitation i WHERE i.ended_at IS NULL AND ${condition} ORDER BY i.id FOR UPDATE
    ), ended AS (
      UPDATE invitation i SET ended_at = clock_timestamp(), outcome = ${outcome}::invitation_outcome
      FROM locked WHERE i.id = locked.id
      RETURNING i.organization_id AS "organizationId", i.expires_at
    )
    SELECT "organizationId" FROM ended WHERE expires_at > clock_timestamp()`;
}

function ofInviteeAt({ organizationId, projectId, environmentId }: TargetIds, invitee: Invitee): Sql {
  return sql`i.organization_id = ${organizationId}::uuid AND i.project_id IS NOT DISTINCT FROM ${projectId ?? null}::uuid
    AND i.environment_id IS NOT DISTINCT FROM ${environmentId ?? null}::uuid AND ${isOf(invitee)}`;
}

function isOf(invitee: Invitee): Sql {
  return 'userId' in invitee ? sql`i.user_id = ${invitee.userId}::uuid` : sql`i.address = ${invitee.address}`;
}

function columnsOf(invitee: Invitee): { readonly userId: string | null; readonly address: string | null } {
  return 'userId' in invitee ? { userId: invitee.userId, address: null } : { userId: null, address: invitee.address };
}
