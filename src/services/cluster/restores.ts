import type { Asker } from '../../domain/asker.ts';
import type { ReportedPlan } from '../../domain/fleet.ts';
import type { ResourceCaller } from '../../domain/principal.ts';
import type {
  ClaimedRestore,
  PlanHashes,
  ResourcePlan,
  ResourceRestoreOptions,
  RestoreSource,
} from '../../domain/resources/restores.ts';
import type { EnvironmentPlace } from '../../domain/slugs.ts';
import type { EnvironmentPlaceAccess, ResourceAccess } from '../managed/access.ts';
import type { WaitingRestores } from '../fleet/waiting-restores.ts';
import type { ResourceRestores } from '../managed/restores.ts';
import { callersOf, type ClusterDeps } from './cluster-deps.ts';
import { environmentPlaceOf } from './environment-place.ts';

export interface ClusterRestoresDeps extends ClusterDeps {
  readonly resourceRestores: ResourceRestores;
  readonly waitingRestores: WaitingRestores;
}

/** Admits the SnapshotRestores of one cluster, and plans and carries out their restores. */
export class ClusterRestores {
  readonly #access: ResourceAccess;
  readonly #restores: ResourceRestores;
  readonly #waiting: WaitingRestores;
  readonly #cluster: () => string;
  readonly #callerOf: (asker: Asker) => ResourceCaller;

  constructor({ resourceAccess, resourceRestores, waitingRestores, cluster, sourceAddress }: ClusterRestoresDeps) {
    this.#access = resourceAccess;
    this.#restores = resourceRestores;
    this.#waiting = waitingRestores;
    this.#cluster = cluster;
    this.#callerOf = callersOf({ cluster, sourceAddress });
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
    { known, approved }: PlanHashes,
  ): Promise<ResourcePlan> {
    const { snapshotId } = source;
    const access = await this.#admit(asker, source);
    const plan = await this.#restores.plan(access, { ...options, snapshotId }, known);
    if (plan.planHash !== approved) await this.#waiting.report(this.#cluster(), waitingOf(asker, plan));
    return plan;
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
}

/** The plan as it is listed. The cluster vouches for nothing of it but its own resource. */
function waitingOf({ uid, namespace, name }: Asker, plan: ResourcePlan): ReportedPlan {
  if (namespace === null) throw new Error('a SnapshotRestore has a namespace');
  const { environmentId, snapshotId, planHash, revision, revisionId } = plan;
  const { restored, recreated, unchanged, skipped, destroyed, pruned } = plan;
  const keys = { restored, recreated, unchanged, skipped, destroyed, pruned };
  return { uid, namespace, name, environmentId, snapshotId, planHash, revision, revisionId, keys };
}
