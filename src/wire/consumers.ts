import { z } from 'zod';
import { limits } from '../domain/limits.ts';
import { healths } from '../domain/sync-health.ts';
import { clusterReport } from './cluster-report.ts';
import { pageQuery } from './page.ts';

/** docs/interface.md 4.15: the SecretSyncs that read environments. */

export const consumersQuery = pageQuery.extend({
  limit: pageQuery.shape.limit.meta({ description: `Maximum entries of a page; default ${limits.pageSize}.` }),
  cluster: z
    .string()
    .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/, { error: 'must be the name of a cluster' })
    .exactOptional()
    .meta({ description: 'Only those of this cluster.' }),
  health: z.enum(healths).exactOptional(),
  reason: z
    .string()
    .regex(/^[A-Za-z0-9]{1,64}$/, { error: 'must be the reason of a condition, such as AccessDenied' })
    .exactOptional()
    .meta({ description: 'Only those whose condition Ready has this reason.' }),
});

const workload = z.strictObject({
  kind: z.string(),
  name: z.string(),
  /** The newest revision with the data of its pod template; null with spec.sources, and if it is not known. */
  revision: z.int().nullable(),
  replicas: z.int().nullable(),
  updatedReplicas: z.int().nullable(),
});

const rollout = z.strictObject({
  /** Whether all pods run with the data of the Secret. */
  converged: z.boolean(),
  /** Whether a person must act. */
  stalled: z.boolean(),
  /** The reason of the condition Converged. */
  reason: z.string(),
  /** The revision with which all workloads last converged; null before they did, and if it is not known. */
  convergedRevision: z.int().nullable(),
  convergedRevisionId: z.guid().nullable(),
  workloads: z.array(workload),
});

/** One source of a SecretSync. */
export const consumerView = z
  .strictObject({
    ...clusterReport,
    /** Of the SecretSync. */
    uid: z.guid(),
    /** Null if the caller may not see namespaces. */
    namespace: z.string().nullable(),
    name: z.string(),
    /** Null without spec.sources. */
    source: z.string().nullable(),
    /** Whether it stays at one revision or snapshot, whatever is written. */
    pinned: z.boolean(),
    health: z.enum(healths),
    /** The conditions Ready and Stalled of the SecretSync, and the reason of Ready. */
    ready: z.boolean(),
    stalled: z.boolean(),
    reason: z.string(),
    /** The revision that was last read; null if the newest attempt read nothing. */
    wantedRevision: z.int().nullable(),
    wantedRevisionId: z.guid().nullable(),
    /** The revision that the Secret holds; null if it holds none. The number is also null if the environment lost it. */
    syncedRevision: z.int().nullable(),
    syncedRevisionId: z.guid().nullable(),
    syncedAt: z.iso.datetime().nullable(),
    /** Name of the Secret, whether it exists or not. */
    secretName: z.string(),
    /** Null without spec.rollout. */
    rollout: rollout.nullable(),
    /** When any of this last changed. */
    changedAt: z.iso.datetime(),
  })
  .meta({ id: 'Consumer' });

export const consumerListView = z
  .strictObject({ consumers: z.array(consumerView), nextCursor: z.string().nullable() })
  .meta({ id: 'ConsumerList' });

/** A consumer with the environment that it reads. */
export const fleetConsumerView = z
  .strictObject({
    project: z.string(),
    environment: z.string(),
    environmentId: z.guid(),
    /** Whether the environment or its project is deleted. */
    environmentDeleted: z.boolean(),
    /** The newest revision of the environment, as of the same moment as all else here. */
    environmentRevision: z.int(),
    environmentRevisionId: z.guid(),
    ...consumerView.shape,
  })
  .meta({ id: 'FleetConsumer' });

export const fleetView = z
  .strictObject({ consumers: z.array(fleetConsumerView), nextCursor: z.string().nullable() })
  .meta({ id: 'Fleet' });

export type ConsumerView = z.infer<typeof consumerView>;
export type FleetConsumerView = z.infer<typeof fleetConsumerView>;
