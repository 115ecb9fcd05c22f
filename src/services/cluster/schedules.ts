import type { Asker } from '../../domain/asker.ts';
import type { ResourceCaller } from '../../domain/principal.ts';
import type { RecordRunsInput, ScheduledChild, ScheduleRun } from '../../domain/resources/schedules.ts';
import type { EnvironmentPlace, EnvironmentSlugs } from '../../domain/slugs.ts';
import type { ResourceAccess } from '../managed/access.ts';
import type { ResourceSchedules } from '../managed/schedules.ts';
import { callersOf, type ClusterDeps } from './cluster-deps.ts';
import { environmentPlaceOf } from './environment-place.ts';

export interface ClusterSchedulesDeps extends ClusterDeps {
  readonly resourceSchedules: ResourceSchedules;
}

/** Admits the SnapshotSchedules of one cluster, and records what they created. */
export class ClusterSchedules {
  readonly #access: ResourceAccess;
  readonly #schedules: ResourceSchedules;
  readonly #callerOf: (asker: Asker) => ResourceCaller;

  constructor({ resourceAccess, resourceSchedules, cluster, sourceAddress }: ClusterSchedulesDeps) {
    this.#access = resourceAccess;
    this.#schedules = resourceSchedules;
    this.#callerOf = callersOf({ cluster, sourceAddress });
  }

  async list(asker: Asker): Promise<readonly ScheduleRun[]> {
    return this.#schedules.list(await this.#access.owner(this.#callerOf(asker), 'schedule.find'));
  }

  async admit(asker: Asker, slugs: EnvironmentSlugs): Promise<EnvironmentPlace> {
    return environmentPlaceOf(await this.#access.maySchedule(this.#callerOf(asker), slugs));
  }

  async record(asker: Asker, slugs: EnvironmentSlugs, runs: RecordRunsInput): Promise<void> {
    await this.#schedules.record(await this.#access.maySchedule(this.#callerOf(asker), slugs), runs);
  }

  async extend(asker: Asker, slugs: EnvironmentSlugs, child: ScheduledChild): Promise<void> {
    await this.#schedules.extend(await this.#access.maySchedule(this.#callerOf(asker), slugs), child);
  }
}
