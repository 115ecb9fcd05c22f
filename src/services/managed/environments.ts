import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { resourceName, type ResourcePrincipal } from '../../domain/principal.ts';
import type {
  EnsuredEnvironment,
  EnsureEnvironmentInput,
  EnvironmentOrGone,
  FirstOwnersInput,
  HandOverInput,
  Successor,
} from '../../domain/resources/environments.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';
import { holdTarget } from '../../store/access.ts';
import { appendAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { holdTenant, markDeleted, notifyDeletion, type TenantSlugs } from '../../store/deletion.ts';
import { insertEnvironment, updateEnvironment } from '../../store/environments.ts';
import { notifyAppearance } from '../../store/notify.ts';
import { insertOrganization } from '../../store/organizations.ts';
import { insertProject } from '../../store/projects.ts';
import { type ClaimOwner, claimOnce, noteClaimed, hasClaim } from '../../store/resource-claims.ts';
import {
  type ClaimedEnvironmentRecord,
  type EnvironmentPath,
  findClaimedEnvironment,
  findEnvironmentPath,
  readClaimedEnvironment,
  readEnvironmentPath,
} from '../../store/resource-environments.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, successRecord } from '../audit/audited.ts';
import { checkName, checkSlug, checkUuid } from '../kernel/checks.ts';
import { makeChange, changeJudgedFirst } from '../change/change.ts';
import type { Changed } from '../kernel/changed.ts';
import { deletedMeanwhile } from '../tenancy/organizations.ts';
import { undeleteCommand } from '../tenancy/tenant-undeletion.ts';
import { placeOf } from '../access/refusals.ts';
import type { OwnAccess } from './access.ts';
import type { GrowthBudget } from '../kernel/growth-budget.ts';
import { appointFirstOwners } from './first-owners.ts';

export interface ResourceEnvironmentsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
  readonly budget: Pick<GrowthBudget, 'chargeEnd'>;
}

/** A path whose environment exists, with nothing of it deleted. */
interface WholePath extends EnvironmentPath {
  readonly projectId: string;
  readonly environmentId: string;
  readonly revision: number;
  readonly revisionId: string;
}

/** The environments of SecretEnvironments. A user who may create those outranks every owner of an organization. */
export class ResourceEnvironments {
  readonly #deps: ResourceEnvironmentsDeps;

  constructor(deps: ResourceEnvironmentsDeps) {
    this.#deps = deps;
  }

  /**
   * Creates what is missing of an organization, a project and an environment, in one change, and sets the environment's
   * display name if this resource decides it. An organization created like this has no member until `appointOwners`.
   * Records which environment the resource created. If nothing is to be done, nothing is written. Throws DomainError
   * invalid_input, and conflict for a slug of something deleted.
   */
  async ensure(
    access: OwnAccess<'environment.create'>,
    { organization, project, environment, displayName, namers }: EnsureEnvironmentInput,
  ): Promise<EnsuredEnvironment> {
    const slugs = { organization, project, environment };
    const { id } = access.caller.principal;
    const naming = { displayName, namers: namers ?? [id], own: id };
    const call: AuditedCall = { caller: access.caller, organizationId: null, action: access.action, target: {} };
    return auditedFailure(this.#deps.audit, call, async (note) => {
      for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
      if (displayName !== undefined) checkName('displayName', displayName);
      note(slugs);
      const path = await findEnvironmentPath(this.#deps.database.pool, [organization, project, environment]);
      refuseDeleted(slugs, path);
      if (isWhole(path) && !needsName(path, naming)) return ensured(path, naming, false);
      return makeChange(this.#deps, access, (tx) => new Ensuring(tx, access, { slugs, naming }).run());
    });
  }

  /** Appoints the first owners of an organization. Throws as `appointFirstOwners` does. */
  async appointOwners(access: OwnAccess<'environment.create'>, input: FirstOwnersInput): Promise<void> {
    await appointFirstOwners(this.#deps, access, input);
  }

  /** The environment that the resource made or took over; `gone` if it was deleted, undefined if there was never any. */
  async find(access: OwnAccess<'environment.read'>): Promise<EnvironmentOrGone | undefined> {
    return findClaimedEnvironment(this.#deps.database.pool, access.caller.principal);
  }

  /**
   * Deletes, softly, the environment that the resource made or took over, with all that is in it, and returns whether there
   * was one. What the resource found there, and the project and organization that it made, stay. From here on the resource
   * takes nothing over. `slugs` are those that the resource names.
   */
  async delete(access: OwnAccess<'environment.delete'>, slugs: EnvironmentSlugs): Promise<boolean> {
    return this.#end(access, slugs, async (tx, { organizationId, projectId, environmentId }) => {
      const target = { organizationId, projectId, environmentId };
      await markDeleted(tx, target);
      await notifyDeletion(tx, target);
      return {};
    });
  }

  /**
   * Gives the environment that the resource made or took over to a successor, as if that had made it, and returns whether
   * there was one. Throws DomainError conflict if the successor is over: this resource then still has the environment.
   * Otherwise ends the resource like `delete`.
   */
  async handOver(access: OwnAccess<'environment.hand_over'>, { successor, ...slugs }: HandOverInput): Promise<boolean> {
    const { principal } = access.caller;
    return this.#end(access, slugs, async (tx, { organizationId, environmentId }) => {
      const owner = successorOf(principal, successor);
      if (await hasClaim(tx, owner, 'environment_end')) {
        throw new DomainError('conflict', `${owner.name} was deleted, so it takes no environment over`);
      }
      const claim = { operation: 'environment', serial: 1, organizationId } as const;
      // It may have a claim on one that was purged before this resource created the present one.
      await claimOnce(tx, owner, claim);
      await noteClaimed(tx, owner, claim, { environmentId });
      await noteClaimed(tx, principal, claim, {});
      return { successor: owner.name, successorUid: owner.id };
    });
  }

  /**
   * Ends a resource, and returns whether it had an environment, on which `act` has acted. A resource that hands its
   * environment over to this one takes the same lock: either it came first, and `act` acts on what was handed over, or it
   * finds that this resource has ended.
   */
  async #end(
    access: OwnAccess<'environment.delete' | 'environment.hand_over'>,
    { organization, project, environment }: EnvironmentSlugs,
    act: (tx: Transaction, claimed: ClaimedEnvironmentRecord) => Promise<AuditTarget>,
  ): Promise<boolean> {
    const { caller, action } = access;
    const { principal } = caller;
    const { budget } = this.#deps;
    const slugs = { organization, project, environment };
    return auditedFailure(this.#deps.audit, { caller, organizationId: null, action, target: {} }, async (note) => {
      for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
      note(slugs);
      return changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          await holdTenant(tx, slugs);
        },
        async change(tx) {
          const isNew = await claimOnce(tx, principal, {
            operation: 'environment_end',
            serial: 1,
            organizationId: null,
          });
          const claimed = await readClaimedEnvironment(tx, principal);
          if (isNew && claimed === undefined) budget.chargeEnd(principal.cluster);
          if (claimed === undefined || claimed === 'gone') return { result: false, audit: null };
          checkNamed(slugs, claimed);
          const { organizationId, environmentId } = claimed;
          const call = { caller, organizationId, action, target: { ...slugs, environmentId } };
          return { result: true, audit: successRecord(call, await act(tx, claimed)) };
        },
      });
    });
  }
}

/** A successor as the owner of a claim. It is of the same cluster. */
function successorOf({ cluster, kind, namespace }: ResourcePrincipal, { name, uid }: Successor): ClaimOwner {
  checkUuid('successor.uid', uid);
  return { cluster, id: uid, kind, namespace, name: resourceName({ kind, namespace, name }) };
}

/** Refuses an environment that is not locked. A resource names the same one for its whole life. */
function checkNamed({ organization, project, environment }: EnvironmentSlugs, claimed: EnvironmentSlugs): void {
  const isNamed =
    claimed.organization === organization && claimed.project === project && claimed.environment === environment;
  if (!isNamed)
    throw new DomainError('invalid_input', 'the resource created another environment than the one it names');
}

/** One `ensure` in its transaction. */
class Ensuring {
  readonly #tx: Transaction;
  readonly #access: OwnAccess<'environment.create'>;
  readonly #slugs: EnvironmentSlugs;
  readonly #naming: Naming;

  constructor(
    tx: Transaction,
    access: OwnAccess<'environment.create'>,
    { slugs, naming }: { readonly slugs: EnvironmentSlugs; readonly naming: Naming },
  ) {
    this.#tx = tx;
    this.#access = access;
    this.#slugs = slugs;
    this.#naming = naming;
  }

  async run(): Promise<Changed<EnsuredEnvironment>> {
    const tx = this.#tx;
    const { organization, project, environment } = this.#slugs;
    const naming = this.#naming;
    const organizationId = await this.#organization();
    const projectId = await this.#project(organizationId);
    const created = await this.#create(organizationId, projectId);
    const path = await this.#look();
    if (!isWhole(path)) throw new Error('the environment that was just ensured does not exist');
    const { environmentId } = path;
    const { displayName } = decides(path, naming) ? naming : {};
    if (needsName(path, naming)) await updateEnvironment(tx, environmentId, { displayName });
    // From here to the commit nothing of it is deleted.
    const held = await holdTarget(tx, null, { organizationId, projectId, environmentId });
    if (held === undefined) throw deletedMeanwhile('environment');
    const target = { organization, project, environment, environmentId, ...(displayName && { displayName }) };
    const { caller } = this.#access;
    const action = created ? 'environment.create' : 'environment.update';
    return { result: ensured(path, naming, created), audit: successRecord({ caller, organizationId, action, target }) };
  }

  async #organization(): Promise<string> {
    const { organization: slug } = this.#slugs;
    const there = await this.#look();
    if (there !== undefined) return there.organizationId;
    // Without an owner: a resource is not a member of anything.
    const made = await insertOrganization(this.#tx, { id: randomUUID(), slug, displayName: slug, ownerId: null });
    if (made !== undefined) await this.#audit('organization.create', made.id, { organization: slug });
    const id = made?.id ?? (await this.#look())?.organizationId;
    if (id === undefined) throw deletedMeanwhile('organization');
    return id;
  }

  async #project(organizationId: string): Promise<string> {
    const { organization, project: slug } = this.#slugs;
    const there = await this.#look();
    if (typeof there?.projectId === 'string') return there.projectId;
    const made = await insertProject(this.#tx, { id: randomUUID(), organizationId, slug, displayName: slug });
    if (made !== undefined) {
      await this.#audit('project.create', organizationId, { organization, project: slug, projectId: made.id });
    }
    const id = made?.id ?? (await this.#look())?.projectId;
    if (typeof id !== 'string') throw deletedMeanwhile('project');
    return id;
  }

  /** Creates the environment and claims it, unless it exists; returns whether it did. */
  async #create(organizationId: string, projectId: string): Promise<boolean> {
    const tx = this.#tx;
    const { environment: slug } = this.#slugs;
    const ids = { id: randomUUID(), revisionId: randomUUID() };
    const { displayName = slug } = this.#naming;
    const made = await insertEnvironment(tx, { ...ids, projectId, slug, displayName });
    if (made === undefined) return false;
    const { principal } = this.#access.caller;
    const claim = { operation: 'environment', serial: 1, organizationId } as const;
    // One that it made before was purged: this one takes its place.
    await claimOnce(tx, principal, claim);
    await noteClaimed(tx, principal, claim, { environmentId: made.id });
    await notifyAppearance(tx, { organizationId, environmentId: made.id }, made.revisionId);
    return true;
  }

  async #look(): Promise<EnvironmentPath | undefined> {
    const { organization, project, environment } = this.#slugs;
    const path = await readEnvironmentPath(this.#tx, [organization, project, environment]);
    refuseDeleted(this.#slugs, path);
    return path;
  }

  async #audit(action: string, organizationId: string, target: AuditTarget): Promise<void> {
    const { caller } = this.#access;
    await appendAudit(this.#tx, successRecord({ caller, organizationId, action, target }));
  }
}

function isWhole(path: EnvironmentPath | undefined): path is WholePath {
  return path !== undefined && path.environmentId !== null;
}

/** The display name that the resource `own` sets, and all resources that set one. */
interface Naming {
  readonly displayName: string | undefined;
  readonly namers: readonly string[];
  readonly own: string;
}

/** The one that created or took over the environment decides, so that whatever else appears does not rename it. */
function namerOf({ creator }: EnvironmentPath, { namers }: Naming): string | undefined {
  return creator !== null && namers.includes(creator) ? creator : namers[0];
}

function decides(path: EnvironmentPath, naming: Naming): boolean {
  return namerOf(path, naming) === naming.own;
}

function needsName(path: EnvironmentPath, naming: Naming): boolean {
  const { displayName } = naming;
  return displayName !== undefined && path.displayName !== displayName && decides(path, naming);
}

function ensured(path: WholePath, naming: Naming, created: boolean): EnsuredEnvironment {
  const { environmentId, revision, revisionId, secretCount, hasOwner } = path;
  return { environmentId, revision, revisionId, secretCount, created, hasOwner, namer: namerOf(path, naming) };
}

/** Throws DomainError conflict, saying what to do, for the first thing that is deleted and still has its slug. */
function refuseDeleted(slugs: EnvironmentSlugs, path: EnvironmentPath | undefined): void {
  if (path === undefined) return;
  const { organization, project, environment } = slugs;
  const levels: readonly (readonly [isDeleted: boolean, TenantSlugs])[] = [
    [path.organizationDeleted, { organization }],
    [path.projectDeleted, { organization, project }],
    [path.environmentDeleted, { organization, project, environment }],
  ];
  const deleted = levels.find(([isDeleted]) => isDeleted);
  if (deleted === undefined) return;
  const [, place] = deleted;
  throw new DomainError(
    'conflict',
    `${placeOf(place)} was deleted and still has that slug; undelete it with \`${undeleteCommand(place)}\`, ` +
      'have an instance admin purge it, or choose another slug',
  );
}
