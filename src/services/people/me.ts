import type { TokenPermission } from '../../domain/grants.ts';
import type { Caller, Role, ServiceTokenPrincipal, TokenScope, UserPrincipal } from '../../domain/principal.ts';
import type { Database } from '../../store/database.ts';
import { countInvitationsOfUser } from '../../store/invitations.ts';
import { listOrganizationsOfUser } from '../../store/organizations.ts';
import { listBindingsOfUser, type OwnBinding } from '../../store/role-bindings.ts';
import { findIssuerName } from '../../store/federations.ts';
import { findScopeNames } from '../../store/service-tokens.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedTokenRead } from '../audit/audited.ts';

/** A person as `me` returns them. */
export interface UserSelf {
  readonly type: 'user';
  readonly id: string;
  readonly name: string;
  readonly instanceAdmin: boolean;
  /** The session of the request; null for a personal token. */
  readonly session: { readonly id: string; readonly recentSignIn: boolean } | null;
  /** When the presented token ends; null for never. */
  readonly expiresAt: Date | null;
  readonly serverVersion: string;
  /** By slug. */
  readonly organizations: readonly { readonly id: string; readonly slug: string; readonly role: Role }[];
  /** Roles by place that count now, by place. */
  readonly rolesByPlace: readonly OwnBinding[];
  /** How many invitations wait for the user. */
  readonly waitingInvitations: number;
}

/** A service token as `me` returns it. */
export interface ServiceTokenSelf {
  readonly type: 'service_token';
  readonly id: string;
  readonly name: string;
  readonly scope: TokenScope;
  readonly permission: TokenPermission;
  readonly expiresAt: Date | null;
  readonly serverVersion: string;
  readonly organization: Named;
  /** Of project and environment scope. */
  readonly project: Named | null;
  /** Of environment scope. */
  readonly environment: Named | null;
  /** The trusted issuer whose JWT was presented; absent for a token with a value. */
  readonly federation?: { readonly issuer: string };
}

export interface Named {
  readonly id: string;
  readonly slug: string;
}

export type Self = UserSelf | ServiceTokenSelf;

export interface MeDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
  /** The release of this server. */
  readonly serverVersion: string;
}

/** Returns who callers are, what they can reach, and the release of this server; it needs no right. */
export class Me {
  readonly #deps: MeDeps;

  constructor(deps: MeDeps) {
    this.#deps = deps;
  }

  async get(caller: Caller): Promise<Self> {
    const { principal } = caller;
    if (principal.type === 'user') return this.#user(principal);
    const call = { caller, organizationId: principal.organizationId, action: 'me.read', target: {} };
    return auditedTokenRead(this.#deps.audit, call, () => this.#serviceToken(principal));
  }

  async #user({
    type,
    id,
    name,
    instanceAdmin,
    expiresAt,
    credentialId,
    ...principal
  }: UserPrincipal): Promise<UserSelf> {
    const { serverVersion, database } = this.#deps;
    const found = await listOrganizationsOfUser(database.pool, id);
    const organizations = found.flatMap(({ id: organizationId, slug, role }) =>
      role === null ? [] : [{ id: organizationId, slug, role }],
    );
    const rolesByPlace = await listBindingsOfUser(database.pool, id);
    const session =
      principal.session === undefined ? null : { id: credentialId, recentSignIn: principal.session.isRecent };
    const waitingInvitations = await countInvitationsOfUser(database.pool, id);
    const roles = { organizations, rolesByPlace, waitingInvitations };
    return { type, id, name, instanceAdmin, session, expiresAt, serverVersion, ...roles };
  }

  async #serviceToken(principal: ServiceTokenPrincipal): Promise<ServiceTokenSelf> {
    const { type, id, name, scope, permission, expiresAt } = principal;
    const slugs = await findScopeNames(this.#deps.database.pool, id);
    if (slugs === undefined) throw new Error('the token was removed between authentication and this');
    const issuer = principal.jwtEndsAt && (await findIssuerName(this.#deps.database.pool, principal.credentialId));
    return {
      type,
      id,
      name,
      scope,
      permission,
      expiresAt,
      serverVersion: this.#deps.serverVersion,
      organization: { id: principal.organizationId, slug: slugs.organization },
      project: named(principal.projectId, slugs.project),
      environment: named(principal.environmentId, slugs.environment),
      ...(issuer === undefined ? {} : { federation: { issuer } }),
    };
  }
}

function named(id: string | null, slug: string | null): Named | null {
  return id === null || slug === null ? null : { id, slug };
}
