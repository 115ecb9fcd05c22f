import { DomainError } from '../../domain/errors/domain-error.ts';
import { type ClusterCeiling, letsSee, type SeenRules } from '../../domain/cluster-ceiling.ts';
import { ceilingRefusal, stateRefusal } from '../../domain/cluster-refusal.ts';
import { grantRefusal } from '../../domain/grant-refusal.ts';
import {
  type AskedPlace,
  type GrantNeed,
  type GrantPlace,
  reveals,
  type TokenPermission,
} from '../../domain/grants.ts';
import {
  type AskedAtPlace,
  decideResource,
  needsName,
  type ResourceAction,
  resourceRules,
} from '../../domain/resource-policy.ts';
import type { AnyCaller, ResourceCaller, ResourcePrincipal } from '../../domain/principal.ts';
import type { RestoreSource } from '../../domain/resources/restores.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';
import { sha256 } from '../../lib/digest.ts';
import { findDeletion, findSnapshotTarget, holdTarget, type TargetIds } from '../../store/access.ts';
import { findCeiling, holdCeiling } from '../../store/cluster-ceilings.ts';
import type { Database } from '../../store/database.ts';
import { hasClaimedSnapshot } from '../../store/resource-snapshots.ts';
import type { Transaction } from '../../store/transaction.ts';
import { Handle } from '../access/handle.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { auditedCheck } from '../audit/audited.ts';
import { checkSlug, checkUuid } from '../kernel/checks.ts';
import { absentPlace, resourceRefusal, snapshotRefusal } from '../access/refusals.ts';
import { findPlace, placeTarget } from './place.ts';

/** Actions on what a resource created itself: no grant is needed. */
export type OwnAction =
  | 'service_token.read'
  | 'service_token.activate'
  | 'service_token.suspend'
  | 'service_token.revoke'
  | 'snapshot.find'
  | 'snapshot.delete'
  | 'restore.find'
  | 'schedule.find'
  | 'environment.read'
  | 'environment.delete'
  | 'environment.hand_over'
  | 'environment.create';

/** Actions at a place, for which a grant is needed. */
export type PlaceAction = Exclude<ResourceAction, OwnAction>;

/** The key of a resource's claims in the database. */
export interface ResourceOwner {
  readonly cluster: string;
  readonly uid: string;
}

/** For what a custom resource owns, or needs no grant for. The handles of resources are not exported. */
class OwnHandle<A extends ResourceAction> extends Handle<ResourcePrincipal, A> {
  get owner(): ResourceOwner {
    const { cluster, id } = this.caller.principal;
    return { cluster, uid: id };
  }

  /**
   * The right to what a resource owns cannot be withdrawn, but its cluster can be disabled: then it may only end its token.
   * From here to the end of the transaction the state of the cluster stays.
   */
  async confirm(tx: Transaction): Promise<void> {
    if (endingActions.has(this.action)) return;
    const { cluster } = this.caller.principal;
    const refusal = stateRefusal(cluster, await holdCeiling(tx, cluster, null));
    if (refusal !== undefined) throw refusal;
  }
}

/** What a resource of a disabled cluster may do: it only ends access. */
const endingActions: ReadonlySet<ResourceAction> = new Set<ResourceAction>([
  'service_token.suspend',
  'service_token.revoke',
]);

interface FoundPlace extends TargetIds {
  readonly asked: AskedPlace;
  readonly ceiling: ClusterCeiling;
}

interface FoundEnvironment extends FoundPlace {
  readonly asked: AskedPlace & EnvironmentSlugs;
  readonly projectId: string;
  readonly environmentId: string;
}

class PlaceHandle<A extends ResourceAction> extends OwnHandle<A> {
  readonly organizationId: string;
  /** Null if a whole organization is asked for. */
  readonly projectId: string | null;
  /** Null if a whole project or organization is asked for. */
  readonly environmentId: string | null;
  readonly asked: AskedPlace;
  /** What the organization allows the cluster. */
  readonly clusterRules: SeenRules;
  /** What the audit says of the target. */
  readonly target: AuditTarget;

  constructor(caller: ResourceCaller, action: A, found: FoundPlace) {
    super(caller, action);
    this.asked = found.asked;
    this.organizationId = found.organizationId;
    this.clusterRules = { organizationId: found.organizationId, version: found.ceiling.version };
    this.projectId = found.projectId ?? null;
    this.environmentId = found.environmentId ?? null;
    this.target = placeTarget(found.asked);
  }

  /**
   * Judges once more, inside a transaction: by the grants as they are now, and by what is committed now; from here to
   * its end nothing of the place is deleted, and what the cluster may do stays. Throws as `ResourceAccess` does.
   */
  override async confirm(tx: Transaction): Promise<void> {
    const { organizationId, projectId, environmentId } = this;
    const { principal } = this.caller;
    const ids = {
      organizationId,
      ...(projectId === null ? {} : { projectId }),
      ...(environmentId === null ? {} : { environmentId }),
    };
    const locks = [holdTarget(tx, null, ids), holdCeiling(tx, principal.cluster, organizationId)] as const;
    const [held, ceiling] = await tx.pipeline(locks);
    const asked = { ...this.asked, isProtected: held?.isProtected ?? false };
    const refusal = refusalAt(principal, this.action, { asked, ceiling });
    if (refusal !== undefined) throw refusal;
    if (held === undefined) throw absentPlace(this.asked, undefined);
  }
}

class EnvironmentPlaceHandle<A extends ResourceAction> extends PlaceHandle<A> {
  override readonly asked: AskedPlace & EnvironmentSlugs;
  override readonly projectId: string;
  override readonly environmentId: string;

  constructor(caller: ResourceCaller, action: A, found: FoundEnvironment) {
    super(caller, action, found);
    this.asked = found.asked;
    this.projectId = found.projectId;
    this.environmentId = found.environmentId;
  }
}

/** Access to what a resource owns, or for what it needs no grant. */
export type OwnAccess<A extends OwnAction> = OwnHandle<A>;
/** Access at a place that a grant covers: an organization, a project or an environment. */
export type PlaceAccess<A extends PlaceAction> = PlaceHandle<A>;
export type EnvironmentPlaceAccess<A extends PlaceAction> = EnvironmentPlaceHandle<A>;

export interface ResourceAccessDeps {
  readonly database: Pick<Database, 'pool'>;
  readonly audit: Pick<AuditLog, 'recordDenial' | 'recordFailure'>;
}

/** What is asked for in the environment of a snapshot. */
interface AskedSnapshot {
  readonly snapshotId: string;
  readonly permission: TokenPermission;
  /** Whether a resource may know where the snapshot lies although no grant covers what it asks for there. */
  readonly isKnown: (principal: ResourcePrincipal, place: GrantPlace, ceiling: ClusterCeiling) => Promise<boolean>;
}

type TokenPlaceAction = Extract<PlaceAction, `service_token.${string}`>;

/**
 * Gives access to custom resources (docs/internals/authorization.md): they may do what an AccessGrant of their
 * namespace covers, and may end what they own without one. Grants are judged by name, before anything is looked up, so
 * that no refusal reveals what exists; then what the organization allows the cluster. Each method throws DomainError
 * forbidden, with the missing AccessGrant as YAML, what `ceilingRefusal` returns, invalid_input for a malformed slug, and not_found for a
 * place that is granted and does not exist; all are audited.
 */
export class ResourceAccess {
  readonly #pool: Database['pool'];
  readonly #audit: ResourceAccessDeps['audit'];

  constructor({ database, audit }: ResourceAccessDeps) {
    this.#pool = database.pool;
    this.#audit = audit;
  }

  /**
   * Gives access to a token of a scope and permission: project null for organization scope, environment null for
   * project scope.
   */
  async token<A extends TokenPlaceAction>(caller: AnyCaller, action: A, asked: AskedPlace): Promise<PlaceAccess<A>> {
    const resource = await this.#decide(caller, action, asked);
    return new PlaceHandle(resource, action, await this.#find(resource, action, asked));
  }

  /** `token` for making one, or the next serial of one. */
  async mayMint(caller: AnyCaller, asked: AskedPlace): Promise<PlaceAccess<'service_token.create'>> {
    return this.token(caller, 'service_token.create', asked);
  }

  /** Gives access to take a snapshot of an environment. */
  async maySnapshot(caller: AnyCaller, slugs: EnvironmentSlugs): Promise<EnvironmentPlaceAccess<'snapshot.create'>> {
    return this.#writing(caller, 'snapshot.create', slugs);
  }

  /** Gives access to schedule snapshots of an environment. The SecretSnapshots need a grant as well. */
  async maySchedule(caller: AnyCaller, slugs: EnvironmentSlugs): Promise<EnvironmentPlaceAccess<'schedule.run'>> {
    return this.#writing(caller, 'schedule.run', slugs);
  }

  /**
   * Gives access to adopt a snapshot. One whose environment is not granted does not exist for the resource:
   * DomainError not_found does not distinguish the two.
   */
  async mayAdopt(caller: AnyCaller, snapshotId: string): Promise<EnvironmentPlaceAccess<'snapshot.read'>> {
    const asked = { snapshotId, permission: 'read', isKnown: () => Promise.resolve(false) } as const;
    return this.#ofSnapshot(caller, 'snapshot.read', asked);
  }

  /**
   * Gives access to restore an environment from one of its snapshots. A missing grant is reported, with the
   * environment, if the namespace may know that: its SecretSnapshot took or adopted the snapshot, or it is granted something
   * there. Else the snapshot does not exist, as for `mayAdopt`.
   */
  async mayRestore(
    caller: AnyCaller,
    { snapshotId, secretSnapshotUid }: RestoreSource,
  ): Promise<EnvironmentPlaceAccess<'snapshot.restore'>> {
    await auditedCheck(this.#audit, caller, 'snapshot.restore', () => {
      if (secretSnapshotUid !== null) checkUuid('secretSnapshotUid', secretSnapshotUid);
    });
    const isKnown: AskedSnapshot['isKnown'] = async ({ cluster, namespace, grants }, place, ceiling) => {
      if (reveals(grants, place) && letsSee(ceiling, place)) return true;
      if (secretSnapshotUid === null) return false;
      return hasClaimedSnapshot(this.#pool, { cluster, namespace, id: secretSnapshotUid }, snapshotId);
    };
    return this.#ofSnapshot(caller, 'snapshot.restore', { snapshotId, permission: 'read_write', isKnown });
  }

  /** Gives access to create environments with their projects and organizations: only the kind counts, no grant. */
  async mayEnsureEnvironment(caller: AnyCaller): Promise<OwnAccess<'environment.create'>> {
    return this.owner(caller, 'environment.create');
  }

  /** Gives access to what the resource owns. */
  async owner<A extends OwnAction>(caller: AnyCaller, action: A): Promise<OwnAccess<A>> {
    return new OwnHandle(await this.#decide(caller, action), action);
  }

  async #ofSnapshot<A extends PlaceAction>(
    caller: AnyCaller,
    action: A,
    { snapshotId, permission, isKnown }: AskedSnapshot,
  ): Promise<EnvironmentPlaceAccess<A>> {
    await auditedCheck(this.#audit, caller, action, () => checkUuid('snapshotId', snapshotId));
    const resource = await this.#resource(caller, action);
    const { principal } = resource;
    const found = await findSnapshotTarget(this.#pool, null, snapshotId, principal.cluster);
    const ceiling = found?.ceiling ?? undefined;
    let error = snapshotRefusal(principal, snapshotId);
    if (found !== undefined && ceiling !== undefined) {
      const asked = { ...found.slugs, permission, isProtected: found.isProtected };
      const refusal = refusalAt(principal, action, { asked, ceiling });
      if (refusal === undefined) return new EnvironmentPlaceHandle(resource, action, { ...found, asked, ceiling });
      if (await isKnown(principal, asked, ceiling)) error = refusal;
    }
    await this.#audit.recordDenial(caller, action, { snapshot: snapshotId }, error);
    throw error;
  }

  async #writing<A extends PlaceAction>(
    caller: AnyCaller,
    action: A,
    { organization, project, environment }: EnvironmentSlugs,
  ): Promise<EnvironmentPlaceAccess<A>> {
    const asked = { organization, project, environment, permission: 'read_write' } as const;
    const resource = await this.#decide(caller, action, asked);
    const found = await this.#find(resource, action, asked);
    const { projectId, environmentId } = found;
    if (projectId === undefined || environmentId === undefined) throw new Error('an environment has both ids');
    return new EnvironmentPlaceHandle(resource, action, { ...found, asked, projectId, environmentId });
  }

  async #decide(caller: AnyCaller, action: ResourceAction, asked?: AskedPlace): Promise<ResourceCaller> {
    if (asked !== undefined) {
      await auditedCheck(this.#audit, caller, action, () => {
        const { organization, project, environment } = asked;
        for (const [field, slug] of Object.entries({ organization, project, environment })) {
          if (slug !== null) checkSlug(field, slug);
        }
      });
    }
    const resource = await this.#resource(caller, action);
    if (decideResource(resource.principal, action, asked) === 'allowed') return resource;
    const { principal } = resource;
    const error = asked === undefined ? resourceRefusal(principal, action) : refusalOf(principal, action, asked);
    await this.#audit.recordDenial(caller, action, asked === undefined ? {} : placeTarget(asked), error);
    throw error;
  }

  /** The caller as a resource whose kind may do the action. */
  async #resource(caller: AnyCaller, action: ResourceAction): Promise<ResourceCaller> {
    const { principal } = caller;
    if (principal.type === 'resource' && resourceRules[principal.kind][action] !== undefined)
      return { ...caller, principal };
    const error =
      principal.type === 'resource'
        ? resourceRefusal(principal, action)
        : new DomainError('forbidden', 'only custom resources may do this');
    await this.#audit.recordDenial(caller, action, {}, error);
    throw error;
  }

  async #find(caller: ResourceCaller, action: ResourceAction, asked: AskedPlace): Promise<FoundPlace> {
    const { principal } = caller;
    const found = await findPlace(this.#pool, asked, principal.cluster);
    const ceiling = found?.ceiling ?? (await findCeiling(this.#pool, principal.cluster, asked.organization));
    // Once more, by what is known of the place now.
    const known = { ...asked, isProtected: found?.isProtected ?? false };
    const refusal = refusalAt(principal, action, { asked: known, ceiling });
    if (refusal !== undefined) {
      await this.#audit.recordDenial(caller, action, placeTarget(asked), refusal);
      throw refusal;
    }
    if (found === undefined) {
      const error = absentPlace(asked, await findDeletion(this.#pool, asked));
      await this.#audit.recordFailure(caller, action, placeTarget(asked), error);
      throw error;
    }
    return { ...found, asked, ceiling };
  }
}

interface JudgedPlace {
  readonly asked: AskedAtPlace;
  readonly ceiling: ClusterCeiling;
}

/** The refusal of an action at a place: by the grants first, then by what the organization allows the cluster. */
function refusalAt(
  principal: ResourcePrincipal,
  action: ResourceAction,
  { asked, ceiling }: JudgedPlace,
): DomainError | undefined {
  if (decideResource(principal, action, asked) !== 'allowed') return refusalOf(principal, action, asked);
  const { kind } = principal;
  const { organization, project, environment, permission } = asked;
  const need: GrantNeed = { organization, project, environment, permission, kind, byName: needsName(action, asked) };
  return ceilingRefusal(principal, ceiling, need);
}

function refusalOf(principal: ResourcePrincipal, action: ResourceAction, asked: AskedAtPlace): DomainError {
  const { organization, project, environment, permission } = asked;
  const byName = needsName(action, asked);
  return grantRefusal(principal, { organization, project, environment, permission, byName }, sha256);
}
