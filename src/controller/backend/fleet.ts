import type { RefusedReports, ReportedPage, SyncStateReport } from '../../domain/fleet.ts';

/**
 * What is reported of this cluster's resources, for those who look without kubectl. Only the leader may call it. Each
 * method throws DomainError store_unavailable and overloaded, and can be repeated.
 */
export interface FleetBackend {
  readonly syncStates: SyncStatesBackend;
  readonly waitingRestores: WaitingRestoresBackend;
}

export interface SyncStatesBackend {
  /**
   * Stores reports of at most 1,000 SecretSyncs, all sources of each together. Writes nothing if nothing differs. Returns
   * what a limit refuses; the others are stored. Throws DomainError invalid_input, with nothing stored, if a name, a reason
   * or a number has not the form that Kubernetes allows, and conflict if an environment is purged at the same moment.
   */
  readonly report: (reports: readonly SyncStateReport[]) => Promise<readonly RefusedReports[]>;
  /** Drops what was reported of SecretSyncs that are gone. */
  readonly forget: (uids: readonly string[]) => Promise<void>;
  /** A page of the SecretSyncs of which something is stored: those after a uid, or the first ones. */
  readonly reported: (after: string | null) => Promise<ReportedPage>;
  /** Records that all states are stored now. */
  readonly seen: () => Promise<void>;
}

/** The plans that `RestoresBackend.plan` stored, because they wait for an approval. */
export interface WaitingRestoresBackend {
  /** Drops the plans of SnapshotRestores that do not wait any more. */
  readonly forget: (uids: readonly string[]) => Promise<void>;
  /** A page of the SnapshotRestores of which a plan is stored: those after a uid, or the first ones. */
  readonly reported: (after: string | null) => Promise<ReportedPage>;
}
