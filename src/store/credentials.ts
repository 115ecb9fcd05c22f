import type pg from 'pg';
import type { CredentialFault } from '../domain/credential-faults.ts';
import type { FederationFault } from '../domain/jwt-faults.ts';
import type { TokenPermission } from '../domain/grants.ts';
import type {
  BearerPrincipal,
  ResourcePrincipal,
  ServiceTokenPrincipal,
  SessionFacts,
  TokenCreator,
} from '../domain/principal.ts';
import { limits } from '../domain/limits.ts';
import { queryRows, type Statement } from './database.ts';
import type {
  PersonalTokenModel,
  ServiceTokenCredentialModel,
  ServiceTokenModel,
  SessionModel,
  UserModel,
} from './generated/models.ts';
import { raw } from './sql.ts';
import type { Transaction } from './transaction.ts';

export type CredentialKind = 'service_token' | 'personal_token' | 'session';

export interface FoundCredential {
  readonly principal: BearerPrincipal;
  /** SHA-256 of the whole token. */
  readonly tokenHash: Uint8Array;
  /** Judged by the database's clock. */
  readonly fault: CredentialFault | null;
  /** Whether its time of use was last noted more than a minute ago, or never. */
  readonly useDue: boolean;
}

/** What rows of all kinds have, besides the hash. */
type CredentialRow = Pick<FoundCredential, 'fault' | 'useDue'> & { readonly credentialId: string };

export type ServiceTokenRow = CredentialRow &
  Readonly<
    Pick<ServiceTokenCredentialModel, 'tokenHash' | 'expiresAt'> &
      Pick<ServiceTokenModel, 'id' | 'name' | 'organizationId' | 'projectId' | 'environmentId' | 'scope' | 'permission'>
  >;

type UserRow = CredentialRow &
  TokenCreatorRow &
  Readonly<Pick<UserModel, 'id' | 'instanceAdmin'>> & { readonly name: UserModel['email'] };

type PersonalTokenRow = UserRow & Readonly<Pick<PersonalTokenModel, 'tokenHash' | 'expiresAt'>>;

type SessionRow = UserRow &
  SessionFacts &
  Readonly<
    Pick<SessionModel, 'tokenHash' | 'expiresAt' | 'personalTokenId' | 'identityId' | 'signInLinkId' | 'passkeyId'>
  >;

/** Who created a personal token, as a row has it. */
export type TokenCreatorRow = Readonly<Pick<PersonalTokenModel, keyof typeof creatorFields>>;

/** The fields of `TokenCreatorRow`, for Prisma. The creator is null if unknown. */
export const creatorFields = {
  createdByType: true,
  createdById: true,
  createdByName: true,
  derivedAt: true,
} as const;

/** The columns of `TokenCreatorRow`, of a personal token under an alias. */
export function tokenCreatorColumns(alias: string): string {
  return `${alias}.created_by_type AS "createdByType", ${alias}.created_by_id AS "createdById",
      ${alias}.created_by_name AS "createdByName", ${alias}.derived_at AS "derivedAt"`;
}

/** Who else created a user's token; null if the user did. */
export function tokenCreatorOf(row: TokenCreatorRow, userId: string): TokenCreator | null {
  const { createdByType: type, createdById: id, createdByName: name, derivedAt } = row;
  if (type === null || id === null || name === null) return { actor: null, derivedAt };
  return id === userId ? null : { actor: { type, id, name }, derivedAt };
}

const tokenScopes = `JOIN organization o ON o.id = t.organization_id
    LEFT JOIN project p ON p.id = t.project_id AND p.organization_id = o.id AND p.deleted_at IS NULL
    LEFT JOIN environment e ON e.id = t.environment_id AND e.project_id = p.id AND e.deleted_at IS NULL`;
const scopeIsDeleted = `(o.deleted_at IS NOT NULL OR (t.scope <> 'organization' AND p.id IS NULL)
      OR (t.scope = 'environment' AND e.id IS NULL))`;
/** SQL: credentials of service tokens as c, the token as t, and what it is for as o, p and e. */
// Rows of a token whose parents do not belong together are as good as deleted: it must open nothing.
export const serviceTokenTables = `service_token_credential c
    JOIN service_token t ON t.id = c.service_token_id ${tokenScopes}`;
/** SQL over `serviceTokenTables`: the CredentialFault of a row, null for a credential that works. */
export const serviceTokenFault = `CASE
    WHEN c.revoked_at IS NOT NULL OR t.revoked_at IS NOT NULL THEN 'revoked'
    WHEN ${scopeIsDeleted} THEN 'scope_deleted'
    WHEN c.state = 'pending' THEN 'pending'
    WHEN c.expires_at <= clock_timestamp() THEN 'expired'
    WHEN t.suspended_at IS NOT NULL THEN 'suspended' END`;
// Of a federation f with its issuer i, if that was not deleted, and the organization o.
const federationFault = `CASE
    WHEN f.ended_at IS NOT NULL OR i.id IS NULL THEN 'revoked'
    WHEN i.disabled_at IS NOT NULL THEN 'issuer_disabled'
    WHEN o.impersonation_forbidden AND f.generation <> i.generation THEN 'issuer_changed' END`;
/** SQL: credentials of federated service tokens, as `serviceTokenTables`, with the federation as f and its issuer as i. */
export const federatedTables = `${serviceTokenTables}
    JOIN service_token_federation f ON f.credential_id = c.id
    JOIN trusted_issuer i ON i.id = f.issuer_id`;
/** SQL over `federatedTables`: why a row works with no JWT, null for a credential that works. */
export const federatedFault = `COALESCE(${serviceTokenFault}, ${federationFault})`;
/** SQL: personal tokens as c, and their users as u. */
export const personalTokenTables = 'personal_token c JOIN app_user u ON u.id = c.user_id';
/** SQL over `personalTokenTables`: the CredentialFault of a row, null for a token that works. */
export const personalTokenFault = `CASE
    WHEN c.revoked_at IS NOT NULL THEN 'revoked'
    WHEN u.disabled_at IS NOT NULL THEN 'disabled'
    WHEN c.expires_at <= clock_timestamp() THEN 'expired' END`;
/**
 * SQL: sessions as c, their users as u, and as t, i, l and k the personal tokens, identities, links and passkeys that they
 * began with. As lt the token that the link was created with, by `linkToken`.
 */
function sessionTablesWith(linkToken: string): string {
  return `session c JOIN app_user u ON u.id = c.user_id
    LEFT JOIN personal_token t ON t.id = c.personal_token_id
    LEFT JOIN identity i ON i.id = c.identity_id
    LEFT JOIN sign_in_link l ON l.id = c.sign_in_link_id
    LEFT JOIN ${linkToken}
    LEFT JOIN passkey k ON k.id = c.passkey_id`;
}
export const sessionTables = sessionTablesWith('personal_token lt ON lt.id = l.personal_token_id');
// The token may be another user's, whom the session's change does not lock. So the token is locked, before the session, as
// what ends both does.
const heldSessionTables = sessionTablesWith(
  `LATERAL (SELECT user_id, expires_at, revoked_at FROM personal_token WHERE id = l.personal_token_id FOR SHARE) lt ON true`,
);
/** SQL over `sessionTables`: the CredentialFault of a row, null for a session that works. */
// Disabling a user ends the sessions too: users read why.
export const sessionFault = `CASE
    WHEN u.disabled_at IS NOT NULL THEN 'disabled'
    WHEN c.ended_at IS NOT NULL OR t.revoked_at IS NOT NULL OR lt.revoked_at IS NOT NULL THEN 'revoked'
    WHEN c.expires_at <= clock_timestamp() THEN 'expired'
    WHEN c.last_used_at <= clock_timestamp() - interval '${limits.sessionIdleMinutes} minutes' THEN 'expired' END`;
/** SQL over `sessionTables`: the id of the user whose token, identity, passkey or link a session began with; null if unknown. */
export const sessionCreatorId = 'COALESCE(t.created_by_id, i.created_by_id, k.created_by_id, l.created_by)';
// What a user sets up with the link of another user stays after the token of that one (docs/people.md).
const ownLinkTokenEnd = 'CASE WHEN lt.user_id = c.user_id THEN lt.expires_at END';
const userColumns = 'u.id, u.email AS name, u.instance_admin AS "instanceAdmin"';

/** The columns that credentials of all kinds have as c. */
function credentialColumns(fault: string): string {
  return `c.id AS "credentialId", c.token_hash AS "tokenHash", c.expires_at AS "expiresAt", ${fault} AS fault,
      (c.last_used_at IS NULL OR c.last_used_at < clock_timestamp() - interval '1 minute') AS "useDue"`;
}

/** The columns of a service token as t, and of its credential. */
export function serviceTokenColumns(fault: string): string {
  return `${credentialColumns(fault)}, t.id, t.name, t.organization_id AS "organizationId",
      t.project_id AS "projectId", t.environment_id AS "environmentId", t.scope, t.permission`;
}

const findServiceTokens: Statement = {
  name: 'credential-find-service-tokens',
  text: `SELECT ${serviceTokenColumns(serviceTokenFault)}
    FROM ${serviceTokenTables} WHERE c.id = ANY($1::uuid[])`,
};

const findPersonalTokens: Statement = {
  name: 'credential-find-personal-tokens',
  text: `SELECT ${credentialColumns(personalTokenFault)}, ${userColumns}, ${tokenCreatorColumns('c')}
    FROM ${personalTokenTables} WHERE c.id = ANY($1::uuid[])`,
};

const findSessions: Statement = {
  name: 'credential-find-sessions',
  text: `SELECT ${credentialColumns(sessionFault)}, ${userColumns}, c.personal_token_id AS "personalTokenId",
      c.identity_id AS "identityId", c.sign_in_link_id AS "signInLinkId", c.passkey_id AS "passkeyId",
      COALESCE(t.created_by_type, i.created_by_type, k.created_by_type, CASE WHEN l.id IS NOT NULL THEN 'user'::actor_type END) AS "createdByType",
      ${sessionCreatorId} AS "createdById",
      COALESCE(t.created_by_name, i.created_by_name, k.created_by_name, lb.email) AS "createdByName",
      COALESCE(t.derived_at, i.derived_at, k.derived_at) AS "derivedAt",
      COALESCE(c.verified_at > clock_timestamp() - interval '${limits.recentSignInMinutes} minutes', false) AS "isRecent",
      LEAST(t.expires_at, ${ownLinkTokenEnd}, clock_timestamp() + interval '${limits.sessionTokenDays} days') AS "tokensEndAt",
      COALESCE(t.expires_at, ${ownLinkTokenEnd}) AS "tokenExpiresAt"
    FROM ${sessionTables} LEFT JOIN app_user lb ON lb.id = l.created_by WHERE c.id = ANY($1::uuid[])`,
};

// SKIP LOCKED: noting a use never waits for a change under way with that credential, nor holds one up.
const touchServiceTokens: Statement = {
  name: 'credential-touch-service-tokens',
  text: `UPDATE service_token_credential AS c
    SET first_used_at = COALESCE(c.first_used_at, clock_timestamp()), last_used_at = clock_timestamp()
    FROM (SELECT id FROM service_token_credential WHERE id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED) AS used
    WHERE c.id = used.id`,
};

const touchPersonalTokens: Statement = {
  name: 'credential-touch-personal-tokens',
  text: `UPDATE personal_token AS c SET last_used_at = clock_timestamp()
    FROM (SELECT id FROM personal_token WHERE id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED) AS used
    WHERE c.id = used.id`,
};

const touchSessions: Statement = {
  name: 'credential-touch-sessions',
  text: `UPDATE session AS c SET last_used_at = clock_timestamp()
    FROM (SELECT id FROM session WHERE id = ANY($1::uuid[]) FOR NO KEY UPDATE SKIP LOCKED) AS used
    WHERE c.id = used.id`,
};

const touchStatements: Readonly<Record<CredentialKind, Statement>> = {
  service_token: touchServiceTokens,
  personal_token: touchPersonalTokens,
  session: touchSessions,
};

/** SELECT of the ids of those of `ids` (an SQL expression of type uuid[]) that are live credentials of any kind. */
export function liveCredentialIds(ids: string): string {
  return `SELECT live.id FROM (${liveServiceCredentials(ids)}) live
    UNION ALL SELECT c.id FROM ${personalTokenTables} WHERE c.id = ANY(${ids}) AND ${personalTokenFault} IS NULL
    UNION ALL SELECT c.id FROM ${sessionTables} WHERE c.id = ANY(${ids}) AND ${sessionFault} IS NULL`;
}

/**
 * SELECT of `id` and `organization_id` of those of `ids` (an SQL expression of type uuid[]) that are live credentials of
 * service tokens.
 */
export function liveServiceCredentials(ids: string): string {
  return `SELECT c.id, t.organization_id FROM ${serviceTokenTables}
    WHERE c.id = ANY(${ids}) AND ${serviceTokenFault} IS NULL
      AND NOT EXISTS (SELECT FROM service_token_federation f LEFT JOIN trusted_issuer i ON i.id = f.issuer_id
        WHERE f.credential_id = c.id AND ${federationFault} IS NOT NULL)`;
}

/**
 * SELECT of `id` and `organization_id` of those of `ids` (an SQL expression of type uuid[]) that are live service tokens,
 * with a credential or not.
 */
export function liveTokens(ids: string): string {
  return `SELECT t.id, t.organization_id FROM service_token t ${tokenScopes}
    WHERE t.id = ANY(${ids}) AND t.revoked_at IS NULL AND t.suspended_at IS NULL AND NOT ${scopeIsDeleted}`;
}

/**
 * Reads credentials and who they stand for, with one statement; in the order of `ids`, which are UUIDs in lower case,
 * undefined for those that are not there.
 */
export async function findCredentials(
  pool: pg.Pool,
  kind: CredentialKind,
  ids: readonly string[],
): Promise<(FoundCredential | undefined)[]> {
  const found = await finders[kind](pool, ids);
  const byId = new Map(found.map((credential) => [credential.principal.credentialId, credential]));
  return ids.map((id) => byId.get(id));
}

/** Finds credentials of one kind. */
type Finder = (pool: pg.Pool, ids: readonly string[]) => Promise<FoundCredential[]>;

const finders: Readonly<Record<CredentialKind, Finder>> = {
  service_token: async (pool, ids) =>
    (await queryRows<ServiceTokenRow>(pool, findServiceTokens, [ids])).map(foundServiceToken),
  personal_token: async (pool, ids) =>
    (await queryRows<PersonalTokenRow>(pool, findPersonalTokens, [ids])).map(foundPersonalToken),
  session: async (pool, ids) => (await queryRows<SessionRow>(pool, findSessions, [ids])).map(foundSession),
};

/**
 * Whether the principal's credential still stands, seen from inside a transaction. It share-locks the credential and
 * its token or user: a revocation waits from here to the commit, so that none is confirmed while such a change is under way.
 * The order of locks is that of changes of people: the token that the session's link was created with, the user, and then
 * the personal token or session. A revocation of the token that a session began with locks the user too.
 * A custom resource has no credential that could end. A service token whose permission was changed meanwhile is no longer
 * what was let in.
 */
export async function credentialIsLive(
  tx: Transaction,
  principal: BearerPrincipal | ResourcePrincipal,
): Promise<boolean> {
  if (principal.type === 'resource') return true;
  const { tables, fault, permission, locks } = heldAs[heldKindOf(principal)];
  const row = await tx.row<HeldRow>`
    SELECT ${raw(fault)} AS fault, ${raw(permission)} AS permission, clock_timestamp() AS now
    FROM ${raw(tables)}
    WHERE c.id = ${principal.credentialId}::uuid FOR SHARE OF ${raw(locks)}`;
  if (row === undefined || row.fault !== null) return false;
  if (principal.type === 'user') return true;
  const { jwtEndsAt, permission: letIn } = principal;
  return letIn === row.permission && (jwtEndsAt === undefined || row.now < jwtEndsAt);
}

/** Notes that credentials were used just now. One that is being changed at this moment is passed over. */
export async function touchCredentials(pool: pg.Pool, kind: CredentialKind, ids: readonly string[]): Promise<void> {
  await queryRows(pool, touchStatements[kind], [ids]);
}

interface HeldRow {
  readonly fault: CredentialFault | FederationFault | null;
  readonly permission: TokenPermission | null;
  readonly now: Date;
}

interface HeldAs {
  readonly tables: string;
  readonly fault: string;
  readonly permission: string;
  readonly locks: string;
}

const heldAs: Readonly<Record<CredentialKind | 'federated_token', HeldAs>> = {
  service_token: {
    tables: serviceTokenTables,
    fault: serviceTokenFault,
    permission: 't.permission',
    locks: 'c, t',
  },
  // A change of the issuer that commits at the same time counts as later. Its row is not locked: fetching keys updates it.
  federated_token: {
    tables: federatedTables,
    fault: federatedFault,
    permission: 't.permission',
    locks: 'c, t',
  },
  personal_token: { tables: personalTokenTables, fault: personalTokenFault, permission: 'NULL', locks: 'u, c' },
  session: { tables: heldSessionTables, fault: sessionFault, permission: 'NULL', locks: 'u, c' },
};

function heldKindOf(principal: BearerPrincipal): keyof typeof heldAs {
  if (principal.type === 'service_token') {
    return principal.jwtEndsAt === undefined ? 'service_token' : 'federated_token';
  }
  return principal.session === undefined ? 'personal_token' : 'session';
}

function foundServiceToken(row: ServiceTokenRow): FoundCredential {
  return foundCredential(row, serviceTokenPrincipal(row));
}

export function serviceTokenPrincipal(row: Omit<ServiceTokenRow, keyof FoundCredential>): ServiceTokenPrincipal {
  return {
    type: 'service_token',
    id: row.id,
    name: row.name,
    organizationId: row.organizationId,
    scope: row.scope,
    projectId: row.projectId,
    environmentId: row.environmentId,
    permission: row.permission,
    credentialId: row.credentialId,
    expiresAt: row.expiresAt,
  };
}

function foundPersonalToken(row: PersonalTokenRow): FoundCredential {
  return foundCredential(row, {
    type: 'user',
    id: row.id,
    name: row.name,
    instanceAdmin: row.instanceAdmin,
    tokenCreator: tokenCreatorOf(row, row.id),
    credentialId: row.credentialId,
    expiresAt: row.expiresAt,
  });
}

function foundSession(row: SessionRow): FoundCredential {
  const session: SessionFacts = {
    isRecent: row.isRecent,
    tokensEndAt: row.tokensEndAt,
    tokenExpiresAt: row.tokenExpiresAt,
  };
  return foundCredential(row, {
    type: 'user',
    id: row.id,
    name: row.name,
    instanceAdmin: row.instanceAdmin,
    // Other ways to sign in prove who the user is.
    tokenCreator: hasCreator(row) ? tokenCreatorOf(row, row.id) : null,
    credentialId: row.credentialId,
    expiresAt: row.expiresAt,
    session,
  });
}

/** Whether a session began with what another person may have created and kept. */
function hasCreator({ personalTokenId, identityId, signInLinkId, passkeyId }: SessionRow): boolean {
  return [personalTokenId, identityId, signInLinkId, passkeyId].some((id) => id !== null);
}

function foundCredential(
  { tokenHash, fault, useDue }: Omit<FoundCredential, 'principal'>,
  principal: BearerPrincipal,
): FoundCredential {
  return { principal, tokenHash, fault, useDue };
}
