import type { Asker } from '../../domain/asker.ts';
import type { ResourceCaller } from '../../domain/principal.ts';
import type {
  EnsuredEnvironment,
  EnsureEnvironmentInput,
  EnvironmentOrGone,
  FirstOwnersInput,
  HandOverInput,
} from '../../domain/resources/environments.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';
import type { ResourceAccess } from '../managed/access.ts';
import type { ResourceEnvironments } from '../managed/environments.ts';
import { callersOf, type ClusterDeps } from './cluster-deps.ts';

export interface ClusterEnvironmentsDeps extends ClusterDeps {
  readonly resourceEnvironments: ResourceEnvironments;
}

/** Admits the SecretEnvironments of one cluster, and acts on their environments. */
export class ClusterEnvironments {
  readonly #access: ResourceAccess;
  readonly #environments: ResourceEnvironments;
  readonly #callerOf: (asker: Asker) => ResourceCaller;

  constructor({ resourceAccess, resourceEnvironments, cluster, sourceAddress }: ClusterEnvironmentsDeps) {
    this.#access = resourceAccess;
    this.#environments = resourceEnvironments;
    this.#callerOf = callersOf({ cluster, sourceAddress });
  }

  async ensure(asker: Asker, input: EnsureEnvironmentInput): Promise<EnsuredEnvironment> {
    return this.#environments.ensure(await this.#access.mayEnsureEnvironment(this.#callerOf(asker)), input);
  }

  async appointOwners(asker: Asker, input: FirstOwnersInput): Promise<void> {
    await this.#environments.appointOwners(await this.#access.mayEnsureEnvironment(this.#callerOf(asker)), input);
  }

  async find(asker: Asker): Promise<EnvironmentOrGone | undefined> {
    return this.#environments.find(await this.#access.owner(this.#callerOf(asker), 'environment.read'));
  }

  async delete(asker: Asker, slugs: EnvironmentSlugs): Promise<void> {
    await this.#environments.delete(await this.#access.owner(this.#callerOf(asker), 'environment.delete'), slugs);
  }

  async handOver(asker: Asker, input: HandOverInput): Promise<void> {
    await this.#environments.handOver(await this.#access.owner(this.#callerOf(asker), 'environment.hand_over'), input);
  }
}
