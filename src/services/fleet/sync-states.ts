import type { RefusedReports, ReportedResource, SyncStateReport } from '../../domain/fleet.ts';
import { limits } from '../../domain/limits.ts';
import type { Database } from '../../store/database.ts';
import type { ReportLimit, ReportLimits } from '../../store/report-limits.ts';
import {
  dropEndedClusters,
  forgetSyncStates,
  listReportedSyncs,
  recordClusterSeen,
  type ReportedRange,
  reportSyncStates,
} from '../../store/sync-states.ts';
import { checkSyncStateReports, checkUids } from './report-checks.ts';

/** Resources of a page of what is stored of a cluster. */
export const reportedPageSize = 10_000;

/** After so long, a cluster that was not seen is taken to be gone for good. */
const clusterDays = 30;

const reportLimits: ReportLimits = {
  sources: limits.reportedSourcesPerOrganization,
  namespaces: limits.reportedNamespacesPerEnvironment,
};

/** What to do at each limit. */
const refusals: Readonly<Record<ReportLimit, string>> = {
  sources:
    `at most ${reportLimits.sources} sources of SecretSyncs of a cluster are listed in an organization. ` +
    'Delete SecretSyncs that nothing needs, or move some to another cluster or organization',
  namespaces:
    `the SecretSyncs of at most ${reportLimits.namespaces} namespaces of a cluster are listed for an environment. ` +
    'Delete SecretSyncs that nothing needs, or let some namespaces read another environment',
};

/**
 * The states of the SecretSyncs, as the controllers report them. Only the leader of a cluster may call it, for that
 * cluster. Each method throws DomainError store_unavailable and overloaded, and can be repeated. What has not the form of a
 * report is invalid_input.
 */
export class SyncStates {
  readonly #database: Pick<Database, 'pool' | 'transactionPool'>;
  readonly #limits: ReportLimits;

  /** Tests have other limits. */
  constructor(database: Pick<Database, 'pool' | 'transactionPool'>, given = reportLimits) {
    this.#database = database;
    this.#limits = given;
  }

  /**
   * Stores reports, all sources of a SecretSync together. Writes nothing if nothing differs. Returns what a limit refuses.
   * Throws DomainError conflict if an environment is purged at the same moment.
   */
  async report(cluster: string, reports: readonly SyncStateReport[]): Promise<readonly RefusedReports[]> {
    checkSyncStateReports(cluster, reports);
    const exceeding = await reportSyncStates(this.#database, cluster, { reports, limits: this.#limits });
    return Object.entries(refusals).flatMap(([limit, detail]) => {
      const uids = exceeding.filter((one) => one.limit === limit).map(({ uid }) => uid);
      return uids.length === 0 ? [] : [{ uids, code: 'quota_exceeded', detail }];
    });
  }

  /** Drops what was reported of SecretSyncs that are gone. */
  async forget(cluster: string, uids: readonly string[]): Promise<void> {
    checkUids(cluster, uids);
    await forgetSyncStates(this.#database.pool, cluster, uids);
  }

  /** The SecretSyncs of a cluster of which something is stored, by uid; the first `reportedPageSize` by default. */
  async reported(cluster: string, range: Partial<ReportedRange> = {}): Promise<readonly ReportedResource[]> {
    return listReportedSyncs(this.#database.pool, cluster, { after: null, limit: reportedPageSize, ...range });
  }

  /** Records that all states of a cluster are stored now. Drops every cluster that was not seen for 30 days. */
  async seen(cluster: string): Promise<void> {
    await recordClusterSeen(this.#database.pool, cluster);
    await dropEndedClusters(this.#database.pool, clusterDays);
  }
}
