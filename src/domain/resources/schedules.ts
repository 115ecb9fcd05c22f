/** What the services and the controller say to each other about what SnapshotSchedules created. */

/** A SecretSnapshot that a SnapshotSchedule created for one of its times. */
export interface ScheduledChild {
  readonly dueAt: Date;
  readonly uid: string;
  readonly name: string;
}

/** A SecretSnapshot of a schedule, with what became of it. */
export interface ScheduleRun extends ScheduledChild {
  /** The snapshot that it took, while that can be restored from; else null, also for one that it adopted. */
  readonly snapshotId: string | null;
  readonly takenAt: Date | null;
  /** Whether that snapshot holds the newest revision of its environment. */
  readonly isNewest: boolean;
}

export interface RecordRunsInput {
  /** What the schedule created. */
  readonly made: readonly ScheduledChild[];
  /** Uids of what it created and no longer exists. */
  readonly gone: readonly string[];
}
