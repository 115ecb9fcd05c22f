import type { DomainError } from '../domain/domain-error.ts';
import {
  type Action,
  type Decision,
  decide,
  decideInstance,
  decidePerson,
  type EnvironmentAction,
  type InstanceAction,
  type OrganizationAction,
  type PersonAction,
  type PolicyTarget,
  type ProjectAction,
} from '../domain/policy.ts';
import { type MemberStanding, refusedCreator } from '../domain/impersonation.ts';
import type { Caller, UserPrincipal } from '../domain/principal.ts';
import {
  type AskedEnvironment,
  type EnvironmentTarget,
  findEnvironmentTargets,
  findOrganizationTarget,
  findProjectTarget,
  findSnapshotTarget,
  holdInstanceAdmin,
  holdTarget,
} from '../store/access.ts';
import type { Database } from '../store/database.ts';
import type { Transaction } from '../store/transaction.ts';
import type { AuditLog, AuditTarget } from './audit-log.ts';
import { checkSlug, checkUuid } from './checks.ts';
import { GroupedLookup } from './grouped-lookup.ts';
import { impersonationRefusal, instanceRefusal, personRefusal, placeOf, refusal } from './refusals.ts';
import type { EnvironmentSlugs, OrganizationSlugs, ProjectSlugs } from './slugs.ts';

/** What a caller asks for, on what these names stand for. */
interface Asked {
  readonly caller: Caller;
  readonly action: Action;
  readonly slugs: Readonly<Record<string, string>>;
}

/** A target that exists, and how the caller stands in its organization. */
interface Found extends PolicyTarget, MemberStanding {}

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

/** Like `InstanceHandle`, for what is the caller's own. */
class PersonHandle<A extends PersonAction> {
  readonly #caller: Caller & { readonly principal: UserPrincipal };
  readonly action: A;

  constructor(caller: Caller & { readonly principal: UserPrincipal }, action: A) {
    this.#caller = caller;
    this.action = action;
  }

  get caller(): Caller & { readonly principal: UserPrincipal } {
    return this.#caller;
  }

  /** Nothing can withdraw the right; the credential is looked at elsewhere. */
  async confirm(_tx: Transaction): Promise<void> {}
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
    const held = await holdTarget(tx, roleHolder(this.#caller), this.#found);
    this.confirmAs(held ?? 'gone');
  }

  /**
   * Judges once more by what was looked up a moment ago: how the caller stands in the organization now, or that the target
   * is gone. Throws as `confirm` does.
   */
  confirmAs(held: MemberStanding | 'gone'): void {
    const found = held === 'gone' ? undefined : { ...this.#found, ...held };
    const { error } = judge(this.#caller, this.action, { place: this.#place, found });
    if (error !== undefined) throw error;
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
  /** The environment's newest revision at the moment of the authorisation. */
  readonly revision: number;
  readonly revisionId: string;

  constructor(grant: Grant<A, EnvironmentSlugs> & { readonly found: EnvironmentTarget }) {
    super(grant);
    const { environmentId, revision, revisionId } = grant.found;
    this.environmentId = environmentId;
    this.revision = revision;
    this.revisionId = revisionId;
    this.environment = grant.slugs.environment;
  }
}

/** Access for whatever action. */
export type AnyAccess = PersonHandle<PersonAction> | InstanceHandle<InstanceAction> | OrganizationHandle<Action>;
export type PersonAccess<A extends PersonAction> = PersonHandle<A>;
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
  readonly #environments: GroupedLookup<AskedEnvironment, EnvironmentTarget>;

  constructor(deps: {
    readonly database: Pick<Database, 'pool'>;
    readonly audit: Pick<AuditLog, 'recordDenial' | 'recordFailure'>;
  }) {
    this.#pool = deps.database.pool;
    this.#audit = deps.audit;
    this.#environments = new GroupedLookup({
      look: (asked) => findEnvironmentTargets(deps.database.pool, asked),
      keyOf: ({ userId, organization, project, environment }) => [userId, organization, project, environment].join('/'),
    });
  }

  /** Admits to an action on the instance itself. */
  async instance<A extends InstanceAction>(caller: Caller, action: A): Promise<InstanceAccess<A>> {
    if (decideInstance(caller.principal, action) === 'allowed') return new InstanceHandle(caller, action);
    const error = instanceRefusal(action);
    await this.#audit.recordDenial(caller, action, {}, error);
    throw error;
  }

  /** Admits to an action on what is the caller's own: every person, no service token. */
  async person<A extends PersonAction>(caller: Caller, action: A): Promise<PersonAccess<A>> {
    const { principal } = caller;
    if (principal.type === 'user' && decidePerson(principal, action) === 'allowed') {
      return new PersonHandle({ ...caller, principal }, action);
    }
    const error = personRefusal(action);
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
    const target = await this.#environments.find({ userId: roleHolder(caller), ...slugs });
    const found = await this.#admit({ caller, action, slugs }, target);
    return new EnvironmentHandle({ caller, action, slugs, found });
  }

  /** Admits to the environment of a snapshot by the snapshot's id alone: a refusal does not tell where it lies. */
  async snapshot<A extends EnvironmentAction>(caller: Caller, action: A, id: string): Promise<EnvironmentAccess<A>> {
    await this.#auditFaults(caller, action, () => checkUuid('id', id));
    const target = await findSnapshotTarget(this.#pool, roleHolder(caller), id);
    const found = await this.#admit({ caller, action, slugs: { snapshot: id } }, target);
    return new EnvironmentHandle({ caller, action, slugs: found.slugs, found });
  }

  async #checkSlugs(caller: Caller, action: Action, slugs: Readonly<Record<string, string>>): Promise<void> {
    await this.#auditFaults(caller, action, () => {
      for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
    });
  }

  async #auditFaults(caller: Caller, action: Action, check: () => void): Promise<void> {
    try {
      check();
    } catch (error) {
      // Without what was named: what is no slug or id may be a misplaced secret.
      await this.#audit.recordFailure(caller, action, {}, error);
      throw error;
    }
  }

  async #admit<F extends Found>({ caller, action, slugs }: Asked, found: F | undefined): Promise<F> {
    const { decision, error } = judge(caller, action, { place: placeOf(slugs), found });
    if (found !== undefined && error === undefined) return found;
    // In the audit of the place itself only for whom that is there.
    const organizationId = (decision === 'denied' ? found?.organizationId : undefined) ?? null;
    await this.#audit.recordDenial(caller, action, { ...slugs, organizationId }, error);
    throw error;
  }
}

interface Judged {
  readonly decision: Decision;
  /** Why not, unless the decision is to allow it. */
  readonly error: DomainError | undefined;
}

/** What comes of an action on a target, undefined for one that does not exist. */
function judge(
  { principal }: Caller,
  action: Action,
  { place, found }: { readonly place: string; readonly found: Found | undefined },
): Judged {
  const decision = found === undefined ? 'hidden' : decide(principal, found.role, action, found);
  if (found === undefined || decision === 'hidden') {
    return { decision: 'hidden', error: refusal(principal, action, { place, decision: 'hidden', role: null }) };
  }
  // Before the role, which the user may well have: what is wrong is the token.
  const creator = refusedCreator(principal, found);
  if (creator !== null) return { decision: 'denied', error: impersonationRefusal(principal, creator, place) };
  if (decision === 'allowed') return { decision, error: undefined };
  return { decision, error: refusal(principal, action, { place, decision, role: found.role }) };
}

/** Whose role counts: a user's; a service token has none. */
function roleHolder({ principal }: Caller): string | null {
  return principal.type === 'user' ? principal.id : null;
}
