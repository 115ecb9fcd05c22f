import { randomUUID } from 'node:crypto';
import {
  type DeletedEnvironmentRecord,
  type EnvironmentRecord,
  findEnvironment,
  insertEnvironment,
  listDeletedEnvironments,
  listEnvironments,
  readEnvironment,
  updateEnvironment,
} from '../../store/environments.ts';
import { notifyAppearance } from '../../store/notify.ts';
import { listWideWriters, type WritingToken } from '../../store/service-tokens.ts';
import type { EnvironmentAccess, InstanceAccess, ProjectAccess } from '../access/access.ts';
import { requireRecentSignIn } from '../access/refusals.ts';
import { auditedFailure, auditedTokenRead, successRecord } from '../audit/audited.ts';
import { checkName, checkSlug } from '../kernel/checks.ts';
import { makeChange } from '../change/change.ts';
import { type CreateInput, deletedMeanwhile, slugTaken } from './organizations.ts';
import type { TenancyDeps } from './tenancy-deps.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';
import { deleteTenant, purgeTenant } from './tenant-deletion.ts';
import { undeleteTenant } from './tenant-undeletion.ts';

export type { DeletedEnvironmentRecord, EnvironmentRecord } from '../../store/environments.ts';

/** What of an environment can be changed. What is left out stays. */
export interface UpdateEnvironmentInput {
  readonly displayName?: string;
  readonly isProtected?: boolean;
  readonly dryRun?: boolean;
}

export interface UpdatedEnvironment {
  readonly environment: EnvironmentRecord;
  /** By name. */
  readonly tokensWithoutAccess: readonly WritingToken[];
}

export class Environments {
  readonly #deps: TenancyDeps;

  constructor(deps: TenancyDeps) {
    this.#deps = deps;
  }

  /**
   * Makes an environment without secrets, and notifies the listeners, which may wait for it. Throws DomainError
   * conflict for a slug that is taken, also by a deleted environment.
   */
  async create(access: ProjectAccess<'environment.create'>, input: CreateInput): Promise<EnvironmentRecord> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      const { slug, displayName = slug } = input;
      checkSlug('slug', slug);
      checkName('displayName', displayName);
      note({ environment: slug });
      const { organizationId, projectId } = access;
      return makeChange(this.#deps, access, async (tx) => {
        const ids = { id: randomUUID(), revisionId: randomUUID() };
        const result = await insertEnvironment(tx, { ...ids, projectId, slug, displayName });
        if (result === undefined) throw slugTaken('environment', slug);
        await notifyAppearance(tx, { organizationId, environmentId: result.id }, result.revisionId);
        return { result, audit: successRecord(access, { environment: slug, environmentId: result.id }) };
      });
    });
  }

  /**
   * The environments the caller sees, by slug: all of them, the one that a service token is limited to, or those in
   * which a user has a role.
   */
  async list(access: ProjectAccess<'environment.list'>): Promise<readonly EnvironmentRecord[]> {
    return auditedTokenRead(this.#deps.audit, access, async () => {
      const { principal } = access.caller;
      const only = principal.type === 'service_token' ? principal.environmentId : null;
      return listEnvironments(this.#deps.database.pool, access.projectId, { only, visibleTo: access.visibleTo });
    });
  }

  async get(access: EnvironmentAccess<'environment.read'>): Promise<EnvironmentRecord> {
    return auditedTokenRead(this.#deps.audit, access, async () => {
      const environment = await findEnvironment(this.#deps.database.pool, access.environmentId);
      if (environment === undefined) throw deletedMeanwhile('environment');
      return environment;
    });
  }

  /**
   * Changes the display name or the protection. The slug is immutable. With `dryRun` nothing is changed. Returns also
   * which service tokens lose write access because the environment becomes protected.
   */
  async update(
    access: EnvironmentAccess<'environment.update'>,
    input: UpdateEnvironmentInput,
  ): Promise<UpdatedEnvironment> {
    const { environmentId } = access;
    const { displayName, isProtected, dryRun = false } = input;
    return auditedFailure(this.#deps.audit, access, async () => {
      if (displayName !== undefined) checkName('displayName', displayName);
      return makeChange(this.#deps, access, async (tx) => {
        const before = await readEnvironment(tx, environmentId);
        if (before === undefined) throw deletedMeanwhile('environment');
        const becomesProtected = isProtected === true && !before.isProtected;
        const tokensWithoutAccess = becomesProtected ? await listWideWriters(tx, access) : [];
        if (dryRun) return { result: { environment: changed(before, input), tokensWithoutAccess }, audit: null };
        requireRecentSignInToUnprotect(access, before, input);
        const environment = await updateEnvironment(tx, environmentId, { displayName, isProtected });
        if (environment === undefined) throw deletedMeanwhile('environment');
        const audit = successRecord(access, {
          ...(displayName === undefined ? {} : { displayName }),
          ...(isProtected === undefined ? {} : { protected: isProtected }),
          ...(becomesProtected ? { tokensWithoutAccess: tokensWithoutAccess.map(({ id }) => id) } : {}),
        });
        return { result: { environment, tokensWithoutAccess }, audit };
      });
    });
  }

  /** Deletes the environment with all that is in it, as `deleteTenant` does. */
  async delete(access: EnvironmentAccess<'environment.delete'>): Promise<void> {
    const { organizationId, projectId, environmentId } = access;
    await deleteTenant(this.#deps, access, { organizationId, projectId, environmentId });
  }

  /** The environments of the project that are deleted and not purged, by slug. Only people may ask. */
  async listDeleted({
    projectId,
  }: ProjectAccess<'environment.list_deleted'>): Promise<readonly DeletedEnvironmentRecord[]> {
    return listDeletedEnvironments(this.#deps.database.pool, projectId);
  }

  /** Takes the deletion of the environment back, as `undeleteTenant` does. */
  async undelete(access: EnvironmentAccess<'environment.undelete'>): Promise<EnvironmentRecord> {
    const { organization, project, environment, environmentId } = access;
    return undeleteTenant(this.#deps, access, { organization, project, environment }, (tx) =>
      readEnvironment(tx, environmentId),
    );
  }

  /** Removes a deleted environment for good, as `purgeTenant` does; the project keeps its data keys. */
  async purge(
    access: InstanceAccess<'environment.purge'>,
    { organization, project, environment }: EnvironmentSlugs,
  ): Promise<void> {
    await purgeTenant(this.#deps, access, { organization, project, environment });
  }
}

/** Throws DomainError recent_sign_in_required if the protection ends. */
function requireRecentSignInToUnprotect(
  access: EnvironmentAccess<'environment.update'>,
  before: EnvironmentRecord,
  { isProtected }: UpdateEnvironmentInput,
): void {
  if (before.isProtected && isProtected === false) requireRecentSignIn(access, 'ending the protection');
}

function changed(before: EnvironmentRecord, { displayName, isProtected }: UpdateEnvironmentInput): EnvironmentRecord {
  const { displayName: name, isProtected: was } = before;
  return { ...before, displayName: displayName ?? name, isProtected: isProtected ?? was };
}
