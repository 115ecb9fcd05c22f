import type { Asker } from '../../domain/asker.ts';
import type { RecordRunsInput, ScheduledChild, ScheduleRun } from '../../domain/resources/schedules.ts';
import type { EnvironmentPlace, EnvironmentSlugs } from '../../domain/slugs.ts';

/**
 * What SnapshotSchedules created. What takes slugs needs an AccessGrant for the environment: it throws DomainError
 * forbidden without one, which is audited, and not_found. All throw store_unavailable and cluster_unavailable.
 */
export interface SchedulesBackend {
  /** What the schedule created, newest first. */
  readonly list: (asker: Asker) => Promise<readonly ScheduleRun[]>;
  /** The environment that the schedule may have snapshots of. The SecretSnapshots need a grant as well. */
  readonly admit: (asker: Asker, slugs: EnvironmentSlugs) => Promise<EnvironmentPlace>;
  /**
   * Records what the schedule created, one for each time: the first that is recorded for a time stays. Removes what is
   * gone, except its latest time.
   */
  readonly record: (asker: Asker, slugs: EnvironmentSlugs, runs: RecordRunsInput) => Promise<void>;
  /**
   * Records that what the schedule created for an earlier time also stands for `dueAt`, because the environment has not
   * changed.
   */
  readonly extend: (asker: Asker, slugs: EnvironmentSlugs, child: ScheduledChild) => Promise<void>;
}
