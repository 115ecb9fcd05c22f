import { z } from 'zod';
import type {
  RefusedReports,
  ReportedPage,
  ReportedRevision,
  RolloutReport,
  SyncStateReport,
  WorkloadState,
} from '../../domain/fleet.ts';
import { limits } from '../../domain/limits.ts';
import { rolloutStates, syncStates } from '../../domain/sync-health.ts';
import { boundedText, codecOf, date, id, strict } from './codec.ts';

/** What is reported of the resources of a cluster. The services say what has not the form of a report. */

/** Resources that one request forgets. */
export const maxForgotten = 10_000;
const maxReports = limits.reportedAtOnce * limits.sourcesPerSecretSync;

export const uids = codecOf<readonly string[]>()(z.array(id).max(maxForgotten));
export const after = id.nullable();

const revision = codecOf<ReportedRevision>()(strict({ revision: z.number(), revisionId: boundedText() })).nullable();
const workload = codecOf<WorkloadState>()(
  strict({
    kind: boundedText(),
    name: boundedText(),
    revision: z.number().optional(),
    replicas: z.number().optional(),
    updatedReplicas: z.number().optional(),
  }),
);

const rollout = codecOf<RolloutReport>()(
  strict({
    state: z.enum(rolloutStates),
    reason: boundedText(),
    converged: revision,
    workloads: z.array(workload).max(limits.workloadsPerSecretSync),
  }),
);

export const syncStateReport = codecOf<SyncStateReport>()(
  strict({
    uid: boundedText(),
    source: boundedText(),
    namespace: boundedText(),
    name: boundedText(),
    environmentId: boundedText().nullable(),
    isPinned: z.boolean(),
    state: z.enum(syncStates),
    reason: boundedText(),
    wanted: revision,
    synced: revision,
    syncedAt: date.nullable(),
    secretName: boundedText(),
    rollout: rollout.nullable(),
  }),
);

export const syncStateReports = codecOf<readonly SyncStateReport[]>()(z.array(syncStateReport).max(maxReports));

export const refusedReports = codecOf<readonly RefusedReports[]>()(
  z.array(z.object({ uids: z.array(z.string()), code: z.literal('quota_exceeded'), detail: z.string() })),
);

export const reportedPage = codecOf<ReportedPage>()(
  z.object({
    resources: z.array(z.object({ uid: z.string(), namespace: z.string() })),
    next: z.string().nullable(),
  }),
);
