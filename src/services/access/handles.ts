import type { SeenRules } from '../../domain/cluster-ceiling.ts';
import type { DomainError } from '../../domain/errors/domain-error.ts';
import { refusedCreator, type MemberStanding } from '../../domain/impersonation.ts';
import {
  type Action,
  actionsOnDeleted,
  type Decision,
  decide,
  decideInstance,
  type EnvironmentAction,
  type HeldRole,
  type InstanceAction,
  type OrganizationAction,
  type PersonAction,
  type PolicyTarget,
  type ProjectAction,
} from '../../domain/policy.ts';
import type { BearerPrincipal, Caller, Role, TenantPrincipal, UserPrincipal } from '../../domain/principal.ts';
import { type EnvironmentTarget, type HeldTarget, holdInstanceAdmin, holdTarget } from '../../store/access.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { impersonationRefusal, instanceRefusal, placeOf, refusal } from './refusals.ts';
import type { EnvironmentSlugs, OrganizationSlugs, ProjectSlugs } from '../../domain/slugs.ts';
import { Handle } from './handle.ts';

/** A target that exists, and the caller's standing there. */
export interface Found extends PolicyTarget, MemberStanding {
  readonly bindingId: string | null;
  /** Not null for a user who has roles only beneath the target. */
  readonly confirmedBeneath?: Date | null;
}

interface Grant<A extends Action, Slugs extends OrganizationSlugs, P extends TenantPrincipal> {
  readonly caller: Caller<P>;
  readonly action: A;
  readonly slugs: Slugs;
  readonly found: Found;
  /** What the audit says of the target beside its slugs. */
  readonly target?: AuditTarget;
}

/** For what belongs to the instance. */
export class InstanceHandle<A extends InstanceAction> extends Handle<BearerPrincipal, A> {
  /** Like `OrganizationHandle.confirm`, by what the user is now. */
  async confirm(tx: Transaction): Promise<void> {
    const { principal } = this.caller;
    const now =
      principal.type === 'user'
        ? { ...principal, instanceAdmin: await holdInstanceAdmin(tx, principal.id) }
        : principal;
    if (decideInstance(now, this.action) !== 'allowed') throw instanceRefusal(this.action);
  }
}

/** For what belongs to the caller. */
export class PersonHandle<A extends PersonAction> extends Handle<UserPrincipal, A> {
  /** Nothing can withdraw the right; the credential is looked at elsewhere. */
  async confirm(_tx: Transaction): Promise<void> {}
}

/** For what belongs to an organization. */
export class OrganizationHandle<
  A extends Action = OrganizationAction,
  P extends TenantPrincipal = BearerPrincipal,
> extends Handle<P, A> {
  readonly organizationId: string;
  /** The organization's slug. */
  readonly organization: string;
  /** What the audit says of the target. */
  readonly target: AuditTarget;
  /** As it was found, or as the last `confirm` found it. */
  #found: Found;
  readonly #place: string;

  constructor({ caller, action, slugs, found, target = {} }: Grant<A, OrganizationSlugs, P>) {
    super(caller, action);
    this.#found = found;
    this.#place = placeOf(slugs);
    this.organizationId = found.organizationId;
    this.organization = slugs.organization;
    this.target = { ...slugs, ...target };
  }

  /** The user whose roles beneath the target decide what the caller sees of it; null if the caller sees all of it. */
  get visibleTo(): string | null {
    return heldRole(this.#found) === 'beneath' ? roleHolder(this.caller) : null;
  }

  /**
   * The highest role of the caller at the target, as the last `confirm` found it. Null for a service token, and for a user
   * who has roles only beneath the target.
   */
  get role(): Role | null {
    return this.#found.role;
  }

  /** Whether the caller may also do another action on the target. Nothing is refused or audited. */
  allows(action: Action): boolean {
    return judge(this.caller, action, { place: this.#place, found: this.#found }).error === undefined;
  }

  async confirm(tx: Transaction): Promise<void> {
    const includesDeleted = actionsOnDeleted.has(this.action);
    const { bindingId } = this.#found;
    const held = await holdTarget(tx, roleHolder(this.caller), this.#found, { includesDeleted, bindingId });
    this.confirmAs(held ?? 'gone');
  }

  /**
   * Judges once more by what was looked up a moment ago: how the caller stands at the target now, or that the target is
   * gone. Throws as `confirm` does.
   */
  confirmAs(held: HeldTarget | 'gone'): void {
    const found = held === 'gone' ? undefined : { ...this.#found, ...held };
    const { error } = judge(this.caller, this.action, { place: this.#place, found });
    if (error !== undefined) throw error;
    if (found !== undefined) this.#found = found;
  }
}

export class ProjectHandle<
  A extends Action = ProjectAction,
  P extends TenantPrincipal = BearerPrincipal,
> extends OrganizationHandle<A, P> {
  readonly projectId: string;
  /** The project's slug. */
  readonly project: string;

  constructor(grant: Grant<A, ProjectSlugs, P> & { readonly found: { readonly projectId: string } }) {
    super(grant);
    this.projectId = grant.found.projectId;
    this.project = grant.slugs.project;
  }
}

export class EnvironmentHandle<
  A extends EnvironmentAction = EnvironmentAction,
  P extends TenantPrincipal = BearerPrincipal,
> extends ProjectHandle<A, P> {
  readonly environmentId: string;
  /** The environment's slug. */
  readonly environment: string;
  /** The environment's newest revision at the moment of the authorisation. */
  readonly revision: number;
  readonly revisionId: string;
  /** What the organization allows the cluster that the request comes through; undefined for none. */
  readonly clusterRules: SeenRules | undefined;

  constructor(grant: Grant<A, EnvironmentSlugs, P> & { readonly found: EnvironmentTarget }) {
    super(grant);
    const { environmentId, revision, revisionId, ceiling, organizationId } = grant.found;
    this.clusterRules = ceiling ? { organizationId, version: ceiling.version } : undefined;
    this.environmentId = environmentId;
    this.revision = revision;
    this.revisionId = revisionId;
    this.environment = grant.slugs.environment;
  }
}

interface Judged {
  readonly decision: Decision;
  /** Why not, unless the decision is to allow it. */
  readonly error: DomainError | undefined;
}

/** The decision about an action on a target; undefined for one that does not exist. */
export function judge(
  { principal }: Caller<TenantPrincipal>,
  action: Action,
  { place, found }: { readonly place: string; readonly found: Found | undefined },
): Judged {
  const decision = found === undefined ? 'hidden' : decide(principal, heldRole(found), action, found);
  if (found === undefined || decision === 'hidden') {
    return {
      decision: 'hidden',
      error: refusal(principal, action, { place, decision: 'hidden', role: null, target: {} }),
    };
  }
  // Before the role, which the user may well have: what is wrong is the token.
  const { confirmedAt, confirmedBeneath = null } = found;
  const standing = { ...found, confirmedAt: confirmedAt ?? confirmedBeneath };
  const creator = principal.type === 'user' ? refusedCreator(principal, standing) : null;
  if (creator !== null) return { decision: 'denied', error: impersonationRefusal(principal, creator, place) };
  if (decision === 'allowed') return { decision, error: undefined };
  const role = heldRole(found);
  return { decision, error: refusal(principal, action, { place, decision, role, target: found }) };
}

function heldRole({ role, confirmedBeneath = null }: Found): HeldRole {
  return role ?? (confirmedBeneath === null ? null : 'beneath');
}

/** The id whose role counts: a user's. A service token has no role. */
export function roleHolder({ principal }: Caller<TenantPrincipal>): string | null {
  return principal.type === 'user' ? principal.id : null;
}
