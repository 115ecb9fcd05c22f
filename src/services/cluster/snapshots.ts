import type { Asker } from '../../domain/asker.ts';
import type { ResourceCaller } from '../../domain/principal.ts';
import type { SnapshotOrGone, TakeSnapshotInput } from '../../domain/resources/snapshots.ts';
import type { EnvironmentSlugs } from '../../domain/slugs.ts';
import type { ResourceAccess } from '../managed/access.ts';
import type { ResourceSnapshots } from '../managed/snapshots.ts';
import { callersOf, type ClusterDeps } from './cluster-deps.ts';

export interface ClusterSnapshotsDeps extends ClusterDeps {
  readonly resourceSnapshots: ResourceSnapshots;
}

/** Admits the SecretSnapshots of one cluster, and acts on their snapshots. */
export class ClusterSnapshots {
  readonly #access: ResourceAccess;
  readonly #snapshots: ResourceSnapshots;
  readonly #callerOf: (asker: Asker) => ResourceCaller;

  constructor({ resourceAccess, resourceSnapshots, cluster, sourceAddress }: ClusterSnapshotsDeps) {
    this.#access = resourceAccess;
    this.#snapshots = resourceSnapshots;
    this.#callerOf = callersOf({ cluster, sourceAddress });
  }

  async find(asker: Asker): Promise<SnapshotOrGone | undefined> {
    return this.#snapshots.find(await this.#access.owner(this.#callerOf(asker), 'snapshot.find'));
  }

  async take(asker: Asker, slugs: EnvironmentSlugs, input: TakeSnapshotInput): Promise<SnapshotOrGone> {
    return this.#snapshots.take(await this.#access.maySnapshot(this.#callerOf(asker), slugs), input);
  }

  async adopt(asker: Asker, snapshotId: string): Promise<SnapshotOrGone> {
    return this.#snapshots.adopt(await this.#access.mayAdopt(this.#callerOf(asker), snapshotId), snapshotId);
  }

  async delete(asker: Asker): Promise<void> {
    await this.#snapshots.delete(await this.#access.owner(this.#callerOf(asker), 'snapshot.delete'));
  }
}
