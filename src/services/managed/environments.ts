import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import type {
  EnsuredEnvironment,
  EnsureEnvironmentInput,
  EnvironmentOrGone,
  FirstOwnersInput,
} from '../../domain/resources/environments.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';
import { holdTarget } from '../../store/access.ts';
import { appendAudit } from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { lockForDeletion, markDeleted, notifyDeletion, type TenantSlugs } from '../../store/deletion.ts';
import { insertEnvironment, updateEnvironment } from '../../store/environments.ts';
import { notifyAppearance } from '../../store/notify.ts';
import { insertOrganization } from '../../store/organizations.ts';
import { insertProject } from '../../store/projects.ts';
import { claimOnce, noteClaimed } from '../../store/resource-claims.ts';
import {
  type EnvironmentPath,
  findClaimedEnvironment,
  findEnvironmentPath,
  readEnvironmentPath,
} from '../../store/resource-environments.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, successRecord } from '../audit/audited.ts';
import { checkName, checkSlug } from '../kernel/checks.ts';
import { lockAtRevision } from '../kernel/environment-lock.ts';
import { makeChange, changeJudgedFirst } from '../change/change.ts';
import type { Changed } from '../kernel/changed.ts';
import { deletedMeanwhile } from '../tenancy/organizations.ts';
import { undeleteCommand } from '../tenancy/tenant-undeletion.ts';
import { placeOf } from '../access/refusals.ts';
import type { OwnAccess } from './access.ts';
import { appointFirstOwners } from './first-owners.ts';

export interface ResourceEnvironmentsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
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
   * display name. An organization created like this has no member until `appointOwners`. Records which environment the resource created. If
   * nothing is to be done, nothing is written. Throws DomainError invalid_input, and conflict for a slug of something
   * deleted.
   */
  async ensure(
    access: OwnAccess<'environment.create'>,
    { organization, project, environment, displayName }: EnsureEnvironmentInput,
  ): Promise<EnsuredEnvironment> {
    const slugs = { organization, project, environment };
    const call: AuditedCall = { caller: access.caller, organizationId: null, action: access.action, target: {} };
    return auditedFailure(this.#deps.audit, call, async (note) => {
      for (const [field, slug] of Object.entries(slugs)) checkSlug(field, slug);
      if (displayName !== undefined) checkName('displayName', displayName);
      note(slugs);
      const path = await findEnvironmentPath(this.#deps.database.pool, [organization, project, environment]);
      refuseDeleted(slugs, path);
      if (isWhole(path) && !needsName(path, displayName)) return ensured(path, false);
      return makeChange(this.#deps, access, (tx) => new Ensuring(tx, access, { slugs, displayName }).run());
    });
  }

  /** Appoints the first owners of an organization. Throws as `appointFirstOwners` does. */
  async appointOwners(access: OwnAccess<'environment.create'>, input: FirstOwnersInput): Promise<void> {
    await appointFirstOwners(this.#deps, access, input);
  }

  /** The environment that the resource made; `gone` if it was deleted, undefined if it made none. */
  async find(access: OwnAccess<'environment.read'>): Promise<EnvironmentOrGone | undefined> {
    return findClaimedEnvironment(this.#deps.database.pool, access.caller.principal);
  }

  /**
   * Deletes, softly, the environment that the resource made, with all that is in it, and returns whether there was one.
   * What the resource found there, and the project and organization that it made, stay.
   */
  async delete(access: OwnAccess<'environment.delete'>): Promise<boolean> {
    const { caller, action } = access;
    const found = await findClaimedEnvironment(this.#deps.database.pool, caller.principal);
    if (found === undefined || found === 'gone') return false;
    const { organizationId, projectId, environmentId, organization, project, environment } = found;
    const call = { caller, action, organizationId, target: { organization, project, environment, environmentId } };
    const target = { organizationId, projectId, environmentId };
    await auditedFailure(this.#deps.audit, call, () =>
      changeJudgedFirst(this.#deps, access, {
        async lock(tx) {
          await lockForDeletion(tx, target);
          await lockAtRevision(tx, environmentId);
        },
        async change(tx) {
          await markDeleted(tx, target);
          await notifyDeletion(tx, target);
          return { result: undefined, audit: successRecord(call) };
        },
      }),
    );
    return true;
  }
}

/** One `ensure` in its transaction. */
class Ensuring {
  readonly #tx: Transaction;
  readonly #access: OwnAccess<'environment.create'>;
  readonly #slugs: EnvironmentSlugs;
  readonly #displayName: string | undefined;

  constructor(
    tx: Transaction,
    access: OwnAccess<'environment.create'>,
    { slugs, displayName }: { readonly slugs: EnvironmentSlugs; readonly displayName: string | undefined },
  ) {
    this.#tx = tx;
    this.#access = access;
    this.#slugs = slugs;
    this.#displayName = displayName;
  }

  async run(): Promise<Changed<EnsuredEnvironment>> {
    const tx = this.#tx;
    const { organization, project, environment } = this.#slugs;
    const displayName = this.#displayName;
    const organizationId = await this.#organization();
    const projectId = await this.#project(organizationId);
    const created = await this.#create(organizationId, projectId);
    const path = await this.#look();
    if (!isWhole(path)) throw new Error('the environment that was just ensured does not exist');
    const { environmentId } = path;
    if (needsName(path, displayName)) await updateEnvironment(tx, environmentId, { displayName });
    // From here to the commit nothing of it is deleted.
    const held = await holdTarget(tx, null, { organizationId, projectId, environmentId });
    if (held === undefined) throw deletedMeanwhile('environment');
    const target = { organization, project, environment, environmentId, ...(displayName && { displayName }) };
    const { caller } = this.#access;
    const action = created ? 'environment.create' : 'environment.update';
    return { result: ensured(path, created), audit: successRecord({ caller, organizationId, action, target }) };
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
    const made = await insertEnvironment(tx, { ...ids, projectId, slug, displayName: this.#displayName ?? slug });
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

function needsName(path: EnvironmentPath, displayName: string | undefined): displayName is string {
  return displayName !== undefined && path.displayName !== displayName;
}

function ensured(
  { environmentId, revision, revisionId, secretCount, hasOwner }: WholePath,
  created: boolean,
): EnsuredEnvironment {
  return { environmentId, revision, revisionId, secretCount, created, hasOwner };
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
