import { DomainError } from '../domain/domain-error.ts';
import {
  type Action,
  decide,
  decideInstance,
  type Decision,
  type EnvironmentAction,
  type InstanceAction,
  type OrganizationAction,
  type PolicyTarget,
  type ProjectAction,
  rules,
} from '../domain/policy.ts';
import type { Caller, Principal, Role } from '../domain/principal.ts';
import {
  findEnvironmentTarget,
  findOrganizationTarget,
  findProjectTarget,
  holdInstanceAdmin,
  holdTarget,
} from '../store/access.ts';
import type { Database } from '../store/database.ts';
import type { Transaction } from '../store/transaction.ts';
import type { AuditLog, AuditTarget } from './audit-log.ts';
import { checkSlug } from './checks.ts';

export interface OrganizationSlugs {
  readonly organization: string;
}

export interface ProjectSlugs extends OrganizationSlugs {
  readonly project: string;
}

export interface EnvironmentSlugs extends ProjectSlugs {
  readonly environment: string;
}

/** A target that exists, and the caller's role in its organization. */
interface Found extends PolicyTarget {
  readonly role: Role | null;
}

interface Grant<A extends Action, Slugs extends OrganizationSlugs> {
  readonly caller: Caller;
  readonly action: A;
  readonly slugs: Slugs;
  readonly found: Found;
}

/**
 * Proof that a caller may do one action on one target: what the services' methods ask for. Its classes are not
 * exported, so that only `Access` can make one, and a method is never reached before its authorisation.
 */
class InstanceHandle<A extends InstanceAction> {
  readonly #caller: Caller;
  readonly action: A;

  constructor(caller: Caller, action: A) {
    this.#caller = caller;
    this.action = action;
  }

  get caller(): Caller {
    return this.#caller;
  }

  /** Like `OrganizationHandle.confirm`, by what the user is now. */
  async confirm(tx: Transaction): Promise<void> {
    const { principal } = this.#caller;
    const now =
      principal.type === 'user'
        ? { ...principal, instanceAdmin: await holdInstanceAdmin(tx, principal.id) }
        : principal;
    if (decideInstance(now, this.action) !== 'allowed') throw instanceRefusal(this.action);
  }
}

/** Like `InstanceHandle`, for what lies in an organization. */
class OrganizationHandle<A extends Action = OrganizationAction> {
  // Private, so that no other object is taken for a handle because it looks like one.
  readonly #caller: Caller;
  readonly action: A;
  readonly organizationId: string;
  /** The organization's slug. */
  readonly organization: string;
  /** What the audit says of the target. */
  readonly target: AuditTarget;
  readonly #found: PolicyTarget;
  readonly #place: string;

  constructor({ caller, action, slugs, found }: Grant<A, OrganizationSlugs>) {
    this.#caller = caller;
    this.#found = found;
    this.#place = placeOf(slugs);
    this.action = action;
    this.organizationId = found.organizationId;
    this.organization = slugs.organization;
    this.target = { ...slugs };
  }

  get caller(): Caller {
    return this.#caller;
  }

  /**
   * Judges once more, inside a transaction and by what is committed now; from here to its end no withdrawal of the
   * right is. Throws DomainError not_found or forbidden as `Access` does.
   */
  async confirm(tx: Transaction): Promise<void> {
    const { principal } = this.#caller;
    const held = await holdTarget(tx, roleHolder(this.#caller), this.#found);
    const role = held?.role ?? null;
    const decision = held === undefined ? 'hidden' : decide(principal, role, this.action, this.#found);
    if (decision !== 'allowed') throw refusal(principal, this.action, { place: this.#place, decision, role });
  }
}

class ProjectHandle<A extends Action = ProjectAction> extends OrganizationHandle<A> {
  readonly projectId: string;
  /** The project's slug. */
  readonly project: string;

  constructor(grant: Grant<A, ProjectSlugs> & { readonly found: { readonly projectId: string } }) {
    super(grant);
    this.projectId = grant.found.projectId;
    this.project = grant.slugs.project;
  }
}

class EnvironmentHandle<A extends EnvironmentAction = EnvironmentAction> extends ProjectHandle<A> {
  readonly environmentId: string;
  /** The environment's slug. */
  readonly environment: string;

  constructor(
    grant: Grant<A, EnvironmentSlugs> & {
      readonly found: { readonly projectId: string; readonly environmentId: string };
    },
  ) {
    super(grant);
    this.environmentId = grant.found.environmentId;
    this.environment = grant.slugs.environment;
  }
}

/** Access for whatever action. */
export type AnyAccess = InstanceHandle<InstanceAction> | OrganizationHandle<Action>;
export type InstanceAccess<A extends InstanceAction> = InstanceHandle<A>;
export type OrganizationAccess<A extends OrganizationAction = OrganizationAction> = OrganizationHandle<A>;
export type ProjectAccess<A extends ProjectAction = ProjectAction> = ProjectHandle<A>;
export type EnvironmentAccess<A extends EnvironmentAction = EnvironmentAction> = EnvironmentHandle<A>;

/**
 * The door to everything that lies in an organization (docs/ARCHITECTURE.md, "Authorisation"). Each method throws
 * DomainError invalid_input for a malformed slug, not_found for what is not there or not for the caller to see (with
 * one text for both), and forbidden for what the caller sees but may not do; the last two are audited as denials.
 */
export class Access {
  readonly #pool: Database['pool'];
  readonly #audit: Pick<AuditLog, 'recordDenial' | 'recordFailure'>;

  constructor(deps: {
    readonly database: Pick<Database, 'pool'>;
    readonly audit: Pick<AuditLog, 'recordDenial' | 'recordFailure'>;
  }) {
    this.#pool = deps.database.pool;
    this.#audit = deps.audit;
  }

  /** Admits to an action on the instance itself. */
  async instance<A extends InstanceAction>(caller: Caller, action: A): Promise<InstanceAccess<A>> {
    if (decideInstance(caller.principal, action) === 'allowed') return new InstanceHandle(caller, action);
    const error = instanceRefusal(action);
    await this.#audit.recordDenial(caller, action, {}, error);
    throw error;
  }

  async organization<A extends OrganizationAction>(
    caller: Caller,
    action: A,
    { organization }: OrganizationSlugs,
  ): Promise<OrganizationAccess<A>> {
    const slugs = { organization };
    await this.#checkSlugs(caller, action, slugs);
    const target = await findOrganizationTarget(this.#pool, roleHolder(caller), organization);
    const found = await this.#admit({ caller, action, slugs }, target);
    return new OrganizationHandle({ caller, action, slugs, found });
  }

  async project<A extends ProjectAction>(
    caller: Caller,
    action: A,
    { organization, project }: ProjectSlugs,
  ): Promise<ProjectAccess<A>> {
    const slugs = { organization, project };
    await this.#checkSlugs(caller, action, slugs);
    const target = await findProjectTarget(this.#pool, roleHolder(caller), [organization, project]);
    const found = await this.#admit({ caller, action, slugs }, target);
    return new ProjectHandle({ caller, action, slugs, found });
  }

  async environment<A extends EnvironmentAction>(
    caller: Caller,
    action: A,
    { organization, project, environment }: EnvironmentSlugs,
  ): Promise<EnvironmentAccess<A>> {
    const slugs = { organization, project, environment };
    await this.#checkSlugs(caller, action, slugs);
    const target = await findEnvironmentTarget(this.#pool, roleHolder(caller), [organization, project, environment]);
    const found = await this.#admit({ caller, action, slugs }, target);
    return new EnvironmentHandle({ caller, action, slugs, found });
  }

  async #checkSlugs(caller: Caller, action: Action, slugs: Readonly<Record<string, string>>): Promise<void> {
    try {
      for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
    } catch (error) {
      // Without the slugs: what is no slug may be a misplaced secret.
      await this.#audit.recordFailure(caller, action, {}, error);
      throw error;
    }
  }

  async #admit<F extends Found>(
    { caller, action, slugs }: { readonly caller: Caller; readonly action: Action; readonly slugs: OrganizationSlugs },
    found: F | undefined,
  ): Promise<F> {
    const decision = found === undefined ? 'hidden' : decide(caller.principal, found.role, action, found);
    if (found !== undefined && decision === 'allowed') return found;
    const error = refusal(caller.principal, action, { place: placeOf(slugs), decision, role: found?.role ?? null });
    await this.#audit.recordDenial(caller, action, { ...slugs }, error);
    throw error;
  }
}

/** Whose role counts: a user's; a service token has none. */
function roleHolder({ principal }: Caller): string | null {
  return principal.type === 'user' ? principal.id : null;
}

/** `environment acme/web/prod` */
function placeOf(slugs: OrganizationSlugs): string {
  const levels = Object.keys(slugs);
  return `${levels.at(-1)} ${Object.values(slugs).join('/')}`;
}

function instanceRefusal(action: InstanceAction): DomainError {
  return new DomainError('forbidden', `${action} is for instance admins; ask one`);
}

interface Refused {
  readonly place: string;
  readonly decision: Decision;
  readonly role: Role | null;
}

function refusal(principal: Principal, action: Action, { place, decision, role }: Refused): DomainError {
  if (decision === 'hidden') return new DomainError('not_found', `${place} does not exist, or is not visible to you`);
  const needed = rules[action].serviceToken;
  if (principal.type === 'user') {
    return new DomainError(
      'forbidden',
      `the role ${role} does not allow ${action} on ${place}; ask an owner or admin of the organization`,
    );
  }
  if (needed === 'never') {
    return new DomainError('forbidden', `no service token allows ${action} on ${place}; use a personal token`);
  }
  return new DomainError('forbidden', `${action} on ${place} needs a service token with permission ${needed}`);
}
