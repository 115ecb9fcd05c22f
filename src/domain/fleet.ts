import type { RolloutState, SyncState } from './sync-health.ts';

/** What controllers report of their resources. */

/** A resource of a cluster of which something is stored. */
export interface ReportedResource {
  readonly uid: string;
  readonly namespace: string;
}

/** A page of such resources, by their uids. */
export interface ReportedPage {
  readonly resources: readonly ReportedResource[];
  /** The uid that the next page begins after; null for the last page. */
  readonly next: string | null;
}

/** A revision's number, for people, and its id, for comparing. */
export interface ReportedRevision {
  readonly revision: number;
  readonly revisionId: string;
}

/** One workload of a SecretSync; what is absent is not known. */
export interface WorkloadState {
  readonly kind: string;
  readonly name: string;
  readonly revision?: number;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
}

/** SecretSyncs of which a report was not stored, or not all. What was stored of them before stays. */
export interface RefusedReports {
  readonly uids: readonly string[];
  readonly code: 'quota_exceeded';
  /** Which limit is reached, and what to do. */
  readonly detail: string;
}

/** One source of a SecretSync. A null keeps what the row has, unless a field says otherwise. */
export interface SyncStateReport {
  /** Of the SecretSync. */
  readonly uid: string;
  /** The name of the source; empty for the only one of a SecretSync without spec.sources. */
  readonly source: string;
  readonly namespace: string;
  readonly name: string;
  /** Null if the source was not admitted to an environment. A source that never was has no row. */
  readonly environmentId: string | null;
  readonly isPinned: boolean;
  readonly state: SyncState;
  readonly reason: string;
  /** What the newest reconcile read; null if it read nothing, also in the row. */
  readonly wanted: ReportedRevision | null;
  /** What the Secret holds. */
  readonly synced: ReportedRevision | null;
  readonly syncedAt: Date | null;
  readonly secretName: string;
  /** Null without spec.rollout, also in the row. */
  readonly rollout: RolloutReport | null;
}

export interface RolloutReport {
  readonly state: RolloutState;
  readonly reason: string;
  /** What all workloads have converged with. */
  readonly converged: ReportedRevision | null;
  readonly workloads: readonly WorkloadState[];
}

/** Some keys of a plan: all are counted, the first ones are named. */
export interface ReportedKeys {
  readonly count: number;
  readonly keys: readonly string[];
}

/** What a restore does to the keys, as far as it is reported. */
export interface ReportedLists {
  readonly restored: ReportedKeys;
  /** Deleted since the snapshot was made, and restored because of `includeDeleted`. */
  readonly recreated: ReportedKeys;
  /** Left alone because of `skipUnchanged`. */
  readonly unchanged: ReportedKeys;
  /** Deleted since the snapshot was made. */
  readonly skipped: ReportedKeys;
  /** Left as they are, because their values of then were destroyed. */
  readonly destroyed: ReportedKeys;
  readonly pruned: ReportedKeys;
}

/** A plan of a SnapshotRestore that waits for an approval. */
export interface ReportedPlan extends ReportedResource, ReportedRevision {
  readonly name: string;
  readonly environmentId: string;
  readonly snapshotId: string;
  readonly planHash: string;
  readonly keys: ReportedLists;
}
