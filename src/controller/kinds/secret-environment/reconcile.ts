import { DomainError } from '../../../domain/domain-error.ts';
import type { ResourceCaller } from '../../../domain/principal.ts';
import type { ResourceAccess } from '../../../services/resource-access.ts';
import type { EnsuredEnvironment, ResourceEnvironments } from '../../../services/resource-environments.ts';
import { FollowedIds } from '../../frame/followed-ids.ts';
import type { SecretEnvironment } from '../../generated/secret-environment.ts';
import type { Round } from '../../frame/kind-rules.ts';
import type { Outcome } from '../../frame/outcome.ts';
import { type CallerDeps, callerOf } from '../resource-caller.ts';
import { type MadeEnvironment, judgeConflict, judgeEnsured } from './judge.ts';

export interface EnvironmentServices {
  readonly resourceAccess: Pick<ResourceAccess, 'owner' | 'mayEnsureEnvironment'>;
  readonly resourceEnvironments: Pick<ResourceEnvironments, 'ensure' | 'find' | 'delete'>;
}

export interface EnvironmentReconcilerDeps extends CallerDeps {
  readonly services: EnvironmentServices;
}

type EnvironmentRound = Round<SecretEnvironment>;

/** Sees to it that the environment of a SecretEnvironment is there, and tells how it stands. */
export class EnvironmentReconciler {
  /** By the environment of a resource. */
  readonly environments = new FollowedIds();
  /** The resources that wait for a slug to be free again. */
  readonly waiting = new Set<string>();
  readonly #deps: EnvironmentReconcilerDeps;

  constructor(deps: EnvironmentReconcilerDeps) {
    this.#deps = deps;
  }

  /** Throws DomainError as the services do. */
  async reconcile(round: EnvironmentRound): Promise<Outcome<SecretEnvironment>> {
    const { spec } = round.resource;
    try {
      const ensured = await this.environments.look(round.key, async () => await this.#ensure(round));
      this.waiting.delete(round.key);
      return judgeEnsured(spec, ensured, spec.deletionPolicy === 'Delete' ? await this.#findMade(round) : undefined);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'conflict') throw error;
      this.waiting.add(round.key);
      return judgeConflict(spec, error, await this.#findMade(round));
    }
  }

  /** Deletes the environment that a deleted resource made; throws as `reconcile`. */
  async cleanup(round: EnvironmentRound): Promise<void> {
    const { resourceAccess, resourceEnvironments } = this.#deps.services;
    await resourceEnvironments.delete(await resourceAccess.owner(this.#callerOf(round), 'environment.delete'));
  }

  /** Drops what is kept of a resource that is gone. */
  forget(key: string): void {
    this.environments.set(key, undefined);
    this.waiting.delete(key);
  }

  async #ensure(round: EnvironmentRound): Promise<EnsuredEnvironment> {
    const { resourceAccess, resourceEnvironments } = this.#deps.services;
    const { environmentRef, displayName } = round.resource.spec;
    const { organization, project, name: environment } = environmentRef;
    const access = await resourceAccess.mayEnsureEnvironment(this.#callerOf(round));
    const ensured = await resourceEnvironments.ensure(access, { organization, project, environment, displayName });
    this.environments.set(round.key, ensured.environmentId);
    return ensured;
  }

  async #findMade(round: EnvironmentRound): Promise<MadeEnvironment> {
    const { resourceAccess, resourceEnvironments } = this.#deps.services;
    return await resourceEnvironments.find(await resourceAccess.owner(this.#callerOf(round), 'environment.read'));
  }

  #callerOf(round: EnvironmentRound): ResourceCaller {
    return callerOf(this.#deps, 'SecretEnvironment', round);
  }
}
