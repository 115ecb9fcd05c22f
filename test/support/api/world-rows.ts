import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { limits } from '../../../src/domain/limits.ts';
import type { Caller } from '../../../src/domain/principal.ts';
import { auditRecord } from '../../../src/services/audit/audit-log.ts';
import { appendAuditBatch, type AuditRecord } from '../../../src/store/audit.ts';
import { queryRows, type Statement } from '../../../src/store/database.ts';
import type { EnvironmentRecord } from '../../../src/store/environments.ts';
import { notifyChannel } from '../../../src/store/notify.ts';
import type { OrganizationRecord } from '../../../src/store/organizations.ts';
import type { ProjectRecord } from '../../../src/store/projects.ts';

/** The rows that the services write, in a few statements. `test/integration/support/world.test.ts` compares the two. */

/** A user with one personal token. */
export interface UserRow {
  readonly id: string;
  readonly email: string;
  readonly instanceAdmin: boolean;
  readonly tokenId: string;
  readonly tokenHash: Uint8Array;
}

// Each is a millisecond older than the next one, and the last is older than what follows: what orders them by time finds the
// order of the array. Times are stored in milliseconds.
const insertUsersStatement: Statement = {
  name: 'test-insert-users',
  text: `WITH person AS (
      SELECT *, now() - make_interval(secs => 0.001 * (cardinality($1) + 1 - position)) AS created_at
      FROM unnest($1::uuid[], $2::text[], $3::boolean[], $4::uuid[], $5::bytea[]) WITH ORDINALITY
        AS person (id, email, instance_admin, token_id, token_hash, position)
    ), users AS (
      INSERT INTO app_user (id, email, instance_admin, created_at)
      SELECT id, email, instance_admin, created_at FROM person
    )
    INSERT INTO personal_token
      (id, user_id, name, token_hash, created_at, last_used_at, created_by_type, created_by_id, created_by_name,
        delegators)
    SELECT token_id, id, 'test', token_hash, created_at, now(), 'user', id, email, '{}' FROM person`,
};

/** Inserts users, each with a personal token of their own that was just used. */
export async function insertUsers(pool: pg.Pool, users: readonly UserRow[]): Promise<void> {
  await queryRows(pool, insertUsersStatement, [
    users.map(({ id }) => id),
    users.map(({ email }) => email),
    users.map(({ instanceAdmin }) => instanceAdmin),
    users.map(({ tokenId }) => tokenId),
    users.map(({ tokenHash }) => tokenHash),
  ]);
}

/** Whose organization it is, and who accepted an invitation to it. */
export interface TenancyPeople {
  readonly owner: Caller;
  readonly members: Readonly<Record<'admin' | 'developer' | 'viewer', Caller>>;
}

/** An organization with one project, which has one environment. */
export interface Tenancy {
  readonly organization: OrganizationRecord;
  readonly project: ProjectRecord;
  readonly environment: EnvironmentRecord;
}

interface Membership {
  readonly caller: Caller;
  readonly role: string;
  readonly invitationId: string;
}

const insertTenancyStatement: Statement = {
  name: 'test-insert-tenancy',
  text: `WITH member AS (
      SELECT * FROM unnest($4::uuid[], $5::role[], $6::uuid[]) AS member (user_id, role, invitation_id)
    ), organizations AS (
      INSERT INTO organization (id, slug, display_name) VALUES ($1::uuid, $2::text, $2) RETURNING created_at
    ), memberships AS (
      INSERT INTO membership (organization_id, user_id, role)
      SELECT $1, $3::uuid, 'owner'::role UNION ALL SELECT $1, user_id, role FROM member
    ), invitations AS (
      INSERT INTO invitation (id, organization_id, user_id, role, invited_by, expires_at, ended_at, outcome)
      SELECT invitation_id, $1, user_id, role, $3, now() + make_interval(days => $7::int), now(), 'accepted' FROM member
    ), projects AS (
      INSERT INTO project (id, organization_id, slug, display_name) VALUES ($8::uuid, $1, $9::text, $9)
    ), environments AS (
      INSERT INTO environment (id, project_id, slug, display_name, revision_id)
      VALUES ($10::uuid, $8, $11::text, $11, $12::uuid)
    ), notices AS (
      SELECT pg_notify('${notifyChannel}', payload::text) FROM (
        SELECT json_build_object('u', user_id) FROM member
        UNION ALL SELECT json_build_object('o', $1, 'e', $10, 'r', $12, 'a', true)
      ) AS notice (payload)
    )
    SELECT created_at AS "createdAt", (SELECT count(*) FROM notices) FROM organizations`,
};

/** Inserts an organization with members, a project and an environment, and what the audit says of them. */
export async function insertTenancy(
  pool: pg.Pool,
  { owner, members }: TenancyPeople,
  slugs: { readonly organization: string; readonly project: string; readonly environment: string },
): Promise<Tenancy> {
  const [organizationId, projectId, environmentId, revisionId] = Array.from({ length: 4 }, () => randomUUID()) as [
    string,
    string,
    string,
    string,
  ];
  const memberships = Object.entries(members).map(([role, caller]) => ({ caller, role, invitationId: randomUUID() }));
  const [row] = await queryRows<{ createdAt: Date }>(pool, insertTenancyStatement, [
    organizationId,
    slugs.organization,
    owner.principal.id,
    memberships.map(({ caller }) => caller.principal.id),
    memberships.map(({ role }) => role),
    memberships.map(({ invitationId }) => invitationId),
    limits.invitationDays,
    projectId,
    slugs.project,
    environmentId,
    slugs.environment,
    revisionId,
  ]);
  if (row === undefined) throw new Error('an INSERT of one row returned no row');
  const { createdAt } = row;
  const named = (id: string, slug: string) => ({ id, slug, displayName: slug, createdAt });
  const tenancy: Tenancy = {
    organization: { ...named(organizationId, slugs.organization), impersonationForbidden: false },
    project: named(projectId, slugs.project),
    environment: { ...named(environmentId, slugs.environment), revision: 0, revisionId, isProtected: false },
  };
  await appendAuditBatch(pool, auditOf(tenancy, owner, memberships));
  return tenancy;
}

function auditOf(tenancy: Tenancy, owner: Caller, memberships: readonly Membership[]): AuditRecord[] {
  const { id: organizationId, slug: organization } = tenancy.organization;
  const { id: projectId, slug: project } = tenancy.project;
  const { id: environmentId, slug: environment } = tenancy.environment;
  const entry = (caller: Caller, action: string, target: AuditRecord['target']): AuditRecord =>
    auditRecord(caller, { organizationId, action, target: { organization, ...target } });
  return [
    entry(owner, 'organization.create', { owner: owner.principal.id }),
    ...memberships.flatMap(({ caller, role, invitationId }) => {
      const invited = { userId: caller.principal.id, email: caller.principal.name, role, invitationId };
      const { id: invitedById, name: invitedByEmail } = owner.principal;
      return [
        entry(owner, 'member.set', { ...invited, from: null }),
        entry(caller, 'invitation.accept', { ...invited, invitedById, invitedByEmail }),
      ];
    }),
    entry(owner, 'project.create', { project, projectId }),
    entry(owner, 'environment.create', { project, environment, environmentId }),
  ];
}
