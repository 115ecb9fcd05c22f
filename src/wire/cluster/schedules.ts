import { z } from 'zod';
import type { RecordRunsInput, ScheduledChild, ScheduleRun } from '../../domain/resources/schedules.ts';
import { objectName } from './asker.ts';
import { codecOf, date, id, strict } from './codec.ts';

/** What SnapshotSchedules created. */

const maxRuns = 1_000;

export const scheduledChild = codecOf<ScheduledChild>()(strict({ dueAt: date, uid: id, name: objectName }));

export const recordRunsInput = codecOf<RecordRunsInput>()(
  strict({ made: z.array(scheduledChild).max(maxRuns), gone: z.array(id).max(maxRuns) }),
);

export const scheduleRuns = codecOf<readonly ScheduleRun[]>()(
  z.array(
    z.object({
      dueAt: date,
      uid: z.string(),
      name: z.string(),
      snapshotId: z.string().nullable(),
      takenAt: date.nullable(),
      isNewest: z.boolean(),
    }),
  ),
);
