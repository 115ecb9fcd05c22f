import type { Asker } from '../../domain/asker.ts';
import type { ResourceCaller } from '../../domain/principal.ts';
import type {
  ClaimedRestore,
  ResourcePlan,
  ResourceRestoreOptions,
  RestoreSource,
} from '../../domain/resources/restores.ts';
import type { EnvironmentPlace } from '../../domain/slugs.ts';
import { resourceCaller } from '../access/cluster-access.ts';
import type { EnvironmentPlaceAccess, ResourceAccess } from '../managed/access.ts';
import type { ResourceRestores } from '../managed/restores.ts';
import type { ClusterDeps } from './cluster-deps.ts';
import { environmentPlaceOf } from './environment-place.ts';

export interface ClusterRestoresDeps extends ClusterDeps {
  readonly resourceRestores: ResourceRestores;
}

/** Admits the SnapshotRestores of one cluster, and plans and carries out their restores. */
export class ClusterRestores {
  readonly #access: ResourceAccess;
  readonly #restores: ResourceRestores;
  readonly #cluster: () => string;

  constructor({ resourceAccess, resourceRestores, cluster }: ClusterRestoresDeps) {
    this.#access = resourceAccess;
    this.#restores = resourceRestores;
    this.#cluster = cluster;
  }

  async find(asker: Asker): Promise<ClaimedRestore | undefined> {
    return this.#restores.find(await this.#access.owner(this.#callerOf(asker), 'restore.find'));
  }

  async admit(asker: Asker, source: RestoreSource): Promise<EnvironmentPlace> {
    return environmentPlaceOf(await this.#admit(asker, source));
  }

  async plan(
    asker: Asker,
    source: RestoreSource,
    options: ResourceRestoreOptions,
    known: string | undefined,
  ): Promise<ResourcePlan> {
    const { snapshotId } = source;
    return this.#restores.plan(await this.#admit(asker, source), { ...options, snapshotId }, known);
  }

  async restore(
    asker: Asker,
    source: RestoreSource,
    options: ResourceRestoreOptions,
    planHash: string | null,
  ): Promise<ClaimedRestore> {
    const { snapshotId } = source;
    return this.#restores.restore(await this.#admit(asker, source), { ...options, snapshotId }, planHash);
  }

  async #admit(asker: Asker, source: RestoreSource): Promise<EnvironmentPlaceAccess<'snapshot.restore'>> {
    return this.#access.mayRestore(this.#callerOf(asker), source);
  }

  #callerOf(asker: Asker): ResourceCaller {
    return resourceCaller(this.#cluster(), asker);
  }
}
