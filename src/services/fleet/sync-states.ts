import type { ReportedResource, SyncStateReport } from '../../domain/fleet.ts';
import type { Database } from '../../store/database.ts';
import {
  dropEndedClusters,
  forgetSyncStates,
  listReportedSyncs,
  recordClusterSeen,
  reportSyncStates,
} from '../../store/sync-states.ts';

/** After so long, a cluster that was not seen is taken to be gone for good. */
const clusterDays = 30;

/**
 * The states of the SecretSyncs, as the controllers report them. Only the leader of a cluster may call it, for that
 * cluster. Each method throws DomainError store_unavailable and overloaded, and can be repeated.
 */
export class SyncStates {
  readonly #pool: Database['pool'];

  constructor({ database }: { readonly database: Pick<Database, 'pool'> }) {
    this.#pool = database.pool;
  }

  /**
   * Stores reports, all sources of a SecretSync together. Writes nothing if nothing differs. Throws DomainError conflict if
   * an environment is purged at the same moment.
   */
  async report(cluster: string, reports: readonly SyncStateReport[]): Promise<void> {
    await reportSyncStates(this.#pool, cluster, reports);
  }

  /** Drops what was reported of SecretSyncs that are gone. */
  async forget(cluster: string, uids: readonly string[]): Promise<void> {
    await forgetSyncStates(this.#pool, cluster, uids);
  }

  /** The SecretSyncs of a cluster of which something is stored. */
  async reported(cluster: string): Promise<readonly ReportedResource[]> {
    return listReportedSyncs(this.#pool, cluster);
  }

  /** Records that all states of a cluster are stored now. Drops every cluster that was not seen for 30 days. */
  async seen(cluster: string): Promise<void> {
    await recordClusterSeen(this.#pool, cluster);
    await dropEndedClusters(this.#pool, clusterDays);
  }
}
