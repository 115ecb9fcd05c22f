import { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ResourceCaller } from '../../../domain/principal.ts';
import type { ResourceAccess } from '../../../services/managed/access.ts';
import type { EnsuredEnvironment } from '../../../domain/resources/environments.ts';
import type { ResourceEnvironments } from '../../../services/managed/environments.ts';
import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import type { ReconcileContext } from '../../frame/kind-rules.ts';
import type { Outcome } from '../../frame/outcome.ts';
import { type CallerDeps, callerOf } from '../resource-caller.ts';
import { type MadeEnvironment, judgeConflict, judgeEnsured } from './judge.ts';

export interface EnvironmentServices {
  readonly resourceAccess: Pick<ResourceAccess, 'owner' | 'mayEnsureEnvironment'>;
  readonly resourceEnvironments: Pick<ResourceEnvironments, 'ensure' | 'appointOwners' | 'find' | 'delete'>;
}

export interface EnvironmentReconcilerDeps extends CallerDeps {
  readonly services: EnvironmentServices;
}

type EnvironmentContext = ReconcileContext<SecretEnvironment>;

/** Creates the environment of a SecretEnvironment if it does not exist, and reports it. */
export class EnvironmentReconciler {
  readonly #deps: EnvironmentReconcilerDeps;

  constructor(deps: EnvironmentReconcilerDeps) {
    this.#deps = deps;
  }

  /** Throws DomainError as the services do. */
  async reconcile(context: EnvironmentContext): Promise<Outcome<SecretEnvironment>> {
    const { spec } = context.resource;
    try {
      const ensured = await this.#ensure(context);
      const made = spec.deletionPolicy === 'Delete' ? await this.#findMade(context) : undefined;
      const refusal = await this.#appointOwners(context, ensured);
      return judgeEnsured(spec, { ...ensured, refusal }, made);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'conflict') throw error;
      // A taken slug can become free, and what is deleted can be undeleted.
      context.seen.note('slugs', '');
      context.seen.note('environments', '');
      return judgeConflict(spec, error, await this.#findMade(context));
    }
  }

  /** Deletes the environment that a deleted resource created. Throws as `reconcile` does. */
  async cleanup(context: EnvironmentContext): Promise<void> {
    const { resourceAccess, resourceEnvironments } = this.#deps.services;
    await resourceEnvironments.delete(await resourceAccess.owner(this.#callerOf(context), 'environment.delete'));
  }

  async #ensure(context: EnvironmentContext): Promise<EnsuredEnvironment> {
    const { resourceAccess, resourceEnvironments } = this.#deps.services;
    const { environmentRef, displayName } = context.resource.spec;
    const { organization, project, name: environment } = environmentRef;
    const access = await resourceAccess.mayEnsureEnvironment(this.#callerOf(context));
    const ensured = await resourceEnvironments.ensure(access, { organization, project, environment, displayName });
    context.seen.note('environment', ensured.environmentId, ensured.revisionId);
    return ensured;
  }

  /** Appoints the owners of spec.owners if the organization has none. Returns why it could not. */
  async #appointOwners(
    context: EnvironmentContext,
    { hasOwner }: EnsuredEnvironment,
  ): Promise<DomainError | undefined> {
    const { owners = [], environmentRef } = context.resource.spec;
    if (hasOwner || owners.length === 0) return undefined;
    const { resourceAccess, resourceEnvironments } = this.#deps.services;
    const access = await resourceAccess.mayEnsureEnvironment(this.#callerOf(context));
    try {
      await resourceEnvironments.appointOwners(access, { organization: environmentRef.organization, owners });
      return undefined;
    } catch (error) {
      // A conflict is about a user here, not about a slug.
      if (!(error instanceof DomainError) || !['not_found', 'conflict'].includes(error.code)) throw error;
      return error;
    }
  }

  async #findMade(context: EnvironmentContext): Promise<MadeEnvironment> {
    const { resourceAccess, resourceEnvironments } = this.#deps.services;
    return await resourceEnvironments.find(await resourceAccess.owner(this.#callerOf(context), 'environment.read'));
  }

  #callerOf(context: EnvironmentContext): ResourceCaller {
    return callerOf(this.#deps, 'SecretEnvironment', context);
  }
}
