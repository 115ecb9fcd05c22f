import type { ClusterCeiling } from '../../domain/cluster-ceiling.ts';
import { ceilingRefusal } from '../../domain/cluster-refusal.ts';
import type { DomainError } from '../../domain/errors/domain-error.ts';
import {
  type Action,
  actionsOnDeleted,
  decideInstance,
  decidePerson,
  type EnvironmentAction,
  type InstanceAction,
  type OrganizationAction,
  type PersonAction,
  type ProjectAction,
} from '../../domain/policy.ts';
import type { BearerPrincipal, Caller, ResourcePrincipal, TenantPrincipal } from '../../domain/principal.ts';
import { needsRecentSignIn } from '../../domain/recent-sign-in.ts';
import {
  type AskedEnvironment,
  type EnvironmentTarget,
  findAnyEnvironmentTarget,
  findAnyProjectTarget,
  findEnvironmentTargets,
  findOrganizationTarget,
  findProjectTarget,
  findSnapshotTarget,
  hasEndedGroups,
  type MaybeDeleted,
} from '../../store/access.ts';
import type { Database } from '../../store/database.ts';
import type { Handle } from './handle.ts';
import {
  EnvironmentHandle,
  type Found,
  InstanceHandle,
  judge,
  OrganizationHandle,
  PersonHandle,
  ProjectHandle,
  roleHolder,
} from './handles.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { auditedCheck } from '../audit/audited.ts';
import { checkSlug, checkUuid } from '../kernel/checks.ts';
import { GroupedLookup } from '../kernel/grouped-lookup.ts';
import { endedGroupsRefusal, instanceRefusal, personRefusal, placeOf, recentSignInError } from './refusals.ts';
import type { EnvironmentSlugs, OrganizationSlugs, ProjectSlugs } from '../../domain/slugs.ts';

/** What a caller asks for, on what these names stand for. */
interface Asked {
  readonly caller: Caller;
  readonly action: Action;
  readonly slugs: Readonly<Record<string, string>>;
}

/** Access for any action, also of a custom resource; not as a keyless token, which changes nothing. */
export type AnyAccess = Handle<BearerPrincipal | ResourcePrincipal>;
export type PersonAccess<A extends PersonAction> = PersonHandle<A>;
export type InstanceAccess<A extends InstanceAction> = InstanceHandle<A>;
export type OrganizationAccess<A extends OrganizationAction = OrganizationAction> = OrganizationHandle<A>;
export type ProjectAccess<A extends ProjectAction = ProjectAction> = ProjectHandle<A>;
export type EnvironmentAccess<
  A extends EnvironmentAction = EnvironmentAction,
  P extends TenantPrincipal = BearerPrincipal,
> = EnvironmentHandle<A, P>;
/** Access to read the secrets of an environment, also as a keyless token. */
export type ReadingAccess = EnvironmentAccess<'secret.list', TenantPrincipal>;

/**
 * Gives access to the instance and to everything in an organization (docs/internals/authorization.md). Each throws
 * DomainError invalid_input for a malformed slug, not_found for what does not exist or the caller may not see (with
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
      keyOf: ({ userId, organization, project, environment, cluster }) =>
        [userId, organization, project, environment, cluster].join('/'),
    });
  }

  /** Gives access for an action on the instance itself. */
  async instance<A extends InstanceAction>(caller: Caller, action: A): Promise<InstanceAccess<A>> {
    if (decideInstance(caller.principal, action) === 'allowed') {
      await this.#checkRecentSignIn(caller, action, {});
      return new InstanceHandle(caller, action);
    }
    const error = instanceRefusal(action);
    await this.#audit.recordDenial(caller, action, {}, error);
    throw error;
  }

  /** Gives access to what belongs to the caller: for each person, not for a service token. */
  async person<A extends PersonAction>(caller: Caller, action: A): Promise<PersonAccess<A>> {
    const { principal } = caller;
    if (principal.type === 'user' && decidePerson(principal, action) === 'allowed') {
      await this.#checkRecentSignIn(caller, action, {});
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
    const find = actionsOnDeleted.has(action) ? findAnyProjectTarget : findProjectTarget;
    const target = await find(this.#pool, roleHolder(caller), [organization, project]);
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
    const userId = roleHolder(caller);
    const target = actionsOnDeleted.has(action)
      ? await findAnyEnvironmentTarget(this.#pool, userId, [organization, project, environment])
      : await this.#environments.find({ userId, ...slugs, cluster: caller.through?.cluster });
    const found = await this.#admit({ caller, action, slugs }, target);
    await this.#judgeCeiling(caller, action, slugs, found);
    return new EnvironmentHandle({ caller, action, slugs, found });
  }

  /**
   * Gives access to the environment of a snapshot by the snapshot's id alone: a refusal does not reveal where it is.
   */
  async snapshot<A extends EnvironmentAction>(caller: Caller, action: A, id: string): Promise<EnvironmentAccess<A>> {
    await auditedCheck(this.#audit, caller, action, () => checkUuid('id', id));
    const target = await findSnapshotTarget(this.#pool, roleHolder(caller), id);
    const found = await this.#admit({ caller, action, slugs: { snapshot: id } }, target);
    return new EnvironmentHandle({ caller, action, slugs: found.slugs, found });
  }

  /** Throws what `ceilingRefusal` returns, which is audited, for a read of a SecretSync that the organization does not allow its cluster. */
  async #judgeCeiling(
    caller: Caller,
    action: EnvironmentAction,
    slugs: EnvironmentSlugs,
    { ceiling, organizationId }: { readonly ceiling?: ClusterCeiling | null; readonly organizationId: string },
  ): Promise<void> {
    const { through } = caller;
    if (through === undefined || ceiling === undefined || ceiling === null) return;
    const refusal = ceilingRefusal(through, ceiling, { ...slugs, permission: 'read', kind: 'SecretSync' });
    if (refusal === undefined) return;
    await this.#audit.recordDenial(caller, action, { ...slugs, organizationId, cluster: through.cluster }, refusal);
    throw refusal;
  }

  async #checkSlugs(caller: Caller, action: Action, slugs: Readonly<Record<string, string>>): Promise<void> {
    await auditedCheck(this.#audit, caller, action, () => {
      for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
    });
  }

  /** Throws DomainError recent_sign_in_required, which is audited, for a session whose sign-in is too long ago. */
  async #checkRecentSignIn(
    caller: Caller,
    action: Action | PersonAction | InstanceAction,
    target: AuditTarget,
  ): Promise<void> {
    if (needsRecentSignIn[action] !== 'always') return;
    const error = recentSignInError(caller.principal, action);
    if (error === undefined) return;
    await this.#audit.recordDenial(caller, action, target, error);
    throw error;
  }

  async #admit<F extends Found & Partial<MaybeDeleted>>(
    { caller, action, slugs }: Asked,
    target: F | undefined,
  ): Promise<F> {
    const place = placeOf(slugs);
    const judged = judge(caller, action, { place, found: target });
    // What is deleted exists only for callers who may do this to it.
    const found = target?.isDeleted === true && judged.error !== undefined ? undefined : target;
    const { decision, error: refused } = found === target ? judged : judge(caller, action, { place, found });
    if (found !== undefined && refused === undefined) {
      await this.#checkRecentSignIn(caller, action, { ...slugs, organizationId: found.organizationId });
      return found;
    }
    // In the audit of the place only if the caller may know that it exists.
    const error = await this.#withGroups(caller, refused);
    const organizationId = (decision === 'denied' ? found?.organizationId : undefined) ?? null;
    await this.#audit.recordDenial(caller, action, { ...slugs, organizationId }, error);
    throw error;
  }

  /** A refusal, with what to do for a user whose groups have ended: it may be for that reason. */
  async #withGroups(caller: Caller, error: DomainError | undefined): Promise<DomainError | undefined> {
    const userId = roleHolder(caller);
    if (error === undefined || userId === null || !(await hasEndedGroups(this.#pool, userId))) return error;
    return endedGroupsRefusal(error);
  }
}
