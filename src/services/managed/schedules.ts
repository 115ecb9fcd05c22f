import type { RecordRunsInput, ScheduledChild, ScheduleRun } from '../../domain/resources/schedules.ts';
import type { Database } from '../../store/database.ts';
import {
  deleteScheduleRuns,
  extendScheduleRun,
  insertScheduleRuns,
  listScheduleRuns,
} from '../../store/schedule-runs.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, successRecord } from '../audit/audited.ts';
import { makeChange } from '../change/change.ts';
import type { EnvironmentPlaceAccess, OwnAccess } from './access.ts';

export interface ResourceSchedulesDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

/**
 * What SnapshotSchedules made, known by cluster and uid: the SecretSnapshots for their times. Only what is recorded
 * here belongs to a schedule, whatever labels say. `ResourceSnapshots` has the snapshots themselves.
 */
export class ResourceSchedules {
  readonly #deps: ResourceSchedulesDeps;

  constructor(deps: ResourceSchedulesDeps) {
    this.#deps = deps;
  }

  /** What the schedule made, newest first. */
  async list(access: OwnAccess<'schedule.find'>): Promise<readonly ScheduleRun[]> {
    return listScheduleRuns(this.#deps.database.pool, access.caller.principal);
  }

  /**
   * Records what the schedule made, one for each time: the first that is recorded for a time stays. Removes what is
   * gone, except its latest time. Throws what `makeChange` throws.
   */
  async record(access: EnvironmentPlaceAccess<'schedule.run'>, { made, gone }: RecordRunsInput): Promise<void> {
    const owner = access.caller.principal;
    await auditedFailure(this.#deps.audit, access, (note) => {
      note({ made: made.map(({ name }) => name) });
      return makeChange(this.#deps, access, async (tx) => {
        const recorded = await insertScheduleRuns(tx, owner, made);
        if (gone.length > 0) await deleteScheduleRuns(tx, owner, gone);
        const replayed = recorded < made.length ? { replayed: true } : {};
        const audit = successRecord(access, { made: made.map(({ name }) => name), ...replayed });
        return { result: undefined, audit };
      });
    });
  }

  /**
   * Records that what the schedule made for an earlier time also stands for `dueAt`, because the environment has not
   * changed. Throws what `makeChange` throws.
   */
  async extend(access: EnvironmentPlaceAccess<'schedule.run'>, child: ScheduledChild): Promise<void> {
    const owner = access.caller.principal;
    await auditedFailure(this.#deps.audit, access, (note) => {
      note({ unchanged: child.name });
      return makeChange(this.#deps, access, async (tx) => {
        const extended = await extendScheduleRun(tx, owner, child);
        const replayed = extended === 0 ? { replayed: true } : {};
        return { result: undefined, audit: successRecord(access, { unchanged: child.name, ...replayed }) };
      });
    });
  }
}
