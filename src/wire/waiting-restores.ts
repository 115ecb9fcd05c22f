import { z } from 'zod';
import { clusterReport } from './cluster-report.ts';

/** docs/interface.md 4.15: the SnapshotRestores whose plan waits for an approval. */

/** Some keys of a plan: all are counted, the first 100 are named. */
const plannedKeys = z.strictObject({ count: z.int(), keys: z.array(z.string()).readonly() });

export const waitingRestoreView = z
  .strictObject({
    ...clusterReport,
    /** Of the SnapshotRestore. */
    uid: z.guid(),
    /** Null if the caller may not see namespaces. */
    namespace: z.string().nullable(),
    name: z.string(),
    project: z.string(),
    environment: z.string(),
    environmentId: z.guid(),
    snapshotId: z.guid(),
    /** Approves this plan, of this SnapshotRestore alone. */
    planHash: z.string(),
    /** The revision that the environment was at. */
    revision: z.int(),
    revisionId: z.guid(),
    /** Which keys are treated how. */
    plan: z.strictObject({
      restored: plannedKeys,
      recreated: plannedKeys,
      pruned: plannedKeys,
      unchanged: plannedKeys,
      skipped: plannedKeys,
      destroyed: plannedKeys,
    }),
    /** When the plan last changed. */
    changedAt: z.iso.datetime(),
  })
  .meta({ id: 'WaitingRestore' });

export const waitingRestoreListView = z
  .strictObject({
    restores: z.array(waitingRestoreView),
    nextCursor: z.string().nullable(),
  })
  .meta({ id: 'WaitingRestoreList' });

export type WaitingRestoreView = z.infer<typeof waitingRestoreView>;
export type WaitingRestoreListView = z.infer<typeof waitingRestoreListView>;
