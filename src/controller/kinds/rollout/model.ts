import type { ConditionClaim } from '../../frame/conditions.ts';
import type { SecretSyncStatus } from '../../generated/secret-sync.ts';

/** The facts that rollouts and SecretSyncs exchange. */

/** What all workloads of a SecretSync last converged with, as its status reports. */
export type ConvergedRecord = NonNullable<SecretSyncStatus['converged']>;

/** One workload of a SecretSync, as its status reports. */
export type WorkloadRow = NonNullable<SecretSyncStatus['workloads']>[number];

/** What a Secret holds. */
export interface HeldData {
  /** 0 if the data is of several sources, which have no common revision. */
  readonly revision: number;
  /** Replaces the revision in messages then. */
  readonly label?: string;
  readonly revisionId: string;
  /** The states of all sources. */
  readonly sources: ConvergedRecord['sources'];
  /** See `dataMark`. */
  readonly data: string;
  /** Since when, if the change was observed. A workload that was restarted earlier may have read other data. */
  readonly since?: number | undefined;
}

/** What the status reports of a SecretSync's workloads. Without a claim there is no condition Converged. */
export interface RolloutOutcome {
  readonly claim: ConditionClaim | undefined;
  readonly workloads: readonly WorkloadRow[] | undefined;
  /** What all workloads have converged with, if they have. */
  readonly converged?: ConvergedRecord | undefined;
}

interface SourceRevisionId {
  /** Undefined for the one source of a SecretSync without spec.sources. */
  readonly name: string | undefined;
  readonly revisionId: string;
}

/** Identifies a set of revisions: the id of the only one, or those of all sources with their names. */
export function revisionIdOf(sources: readonly SourceRevisionId[]): string {
  return sources.map(({ name, revisionId }) => (name === undefined ? revisionId : `${name}=${revisionId}`)).join();
}

/** The same of the revisions that the Secret holds according to a status; undefined if it reports none. */
export function syncedRevisionIdOf({ syncedRevisionId, sources }: SecretSyncStatus): string | undefined {
  if (sources === undefined) return syncedRevisionId;
  return revisionIdOf(sources.map(({ name, syncedRevisionId: revisionId = '' }) => ({ name, revisionId })));
}
