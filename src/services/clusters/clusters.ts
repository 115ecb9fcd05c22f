import type { ClusterState } from '../../domain/cluster-ceiling.ts';
import type { Database } from '../../store/database.ts';
import { notifyCluster } from '../../store/notify.ts';
import {
  type ClusterBelongings,
  dropReports,
  enableClusterIssuer,
  findBelongings,
  findServedCluster,
  listServedClusters,
  lockServedCluster,
  readServedCluster,
  type ServedClusterRecord,
  setClusterState,
} from '../../store/served-clusters.ts';
import type { InstanceAccess } from '../access/access.ts';
import { absentCluster } from '../access/refusals.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { auditedFailure, auditedRead, instanceCall, successRecord } from '../audit/audited.ts';
import { makeChange } from '../change/change.ts';
import { checkClusterName } from '../kernel/checks.ts';
import { revokeClusterTokens, suspendRefusedTokens } from './end-tokens.ts';

export type { ClusterBelongings, ServedClusterRecord } from '../../store/served-clusters.ts';

export interface ClustersDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

type StateAccess = InstanceAccess<'cluster.disable' | 'cluster.enable' | 'cluster.forget'>;

/** Entries of a list of what a cluster has; all are counted. */
const maxListed = 1_000;
const reportsAtOnce = 1_000;

/**
 * The clusters that Keyframe serves (docs/clusters.md). A state is committed first; then tokens end in batches. Each change
 * of the cluster that commits later is judged by the new state.
 */
export class Clusters {
  readonly #deps: ClustersDeps;

  constructor(deps: ClustersDeps) {
    this.#deps = deps;
  }

  /** All clusters by name, also those that were forgotten. */
  async list(_access: InstanceAccess<'cluster.list_all'>): Promise<readonly ServedClusterRecord[]> {
    return listServedClusters(this.#deps.database.pool);
  }

  /**
   * Does nothing for a cluster any more until it is enabled: nothing is read for it, and the tokens of its ServiceTokens are
   * suspended. Its Secrets stay as they are. Throws DomainError not_found for a cluster that is not known or was forgotten.
   */
  async disable(access: InstanceAccess<'cluster.disable'>, cluster: string): Promise<ServedClusterRecord> {
    return this.#audited(access, cluster, async () => {
      const disabled = await this.#set(access, cluster, 'disabled');
      await suspendRefusedTokens(this.#deps, access, { cluster, organizationId: null });
      return disabled;
    });
  }

  /** Serves a cluster again, also one that was forgotten. Reconciles resume its tokens. Throws DomainError not_found. */
  async enable(access: InstanceAccess<'cluster.enable'>, cluster: string): Promise<ServedClusterRecord> {
    return this.#audited(access, cluster, async () => this.#set(access, cluster, 'enabled'));
  }

  /** What `forget` would end, and what would stay behind in the cluster. Throws DomainError not_found. */
  async planForget(access: InstanceAccess<'cluster.forget'>, cluster: string): Promise<ClusterBelongings> {
    return auditedRead(this.#deps.audit, instanceCall(access), async (note) => {
      checkClusterName('name', cluster);
      note({ cluster, plan: true });
      const { pool } = this.#deps.database;
      const found = await findServedCluster(pool, cluster);
      if (found === undefined || found.state === 'forgotten') throw absentCluster(cluster);
      return findBelongings(pool, cluster, maxListed);
    });
  }

  /**
   * Ends everything that a cluster has: revokes its tokens, and drops what it reported. Returns what it had; the Secrets
   * stay behind in the cluster. A second call finishes what a first one left. Throws DomainError not_found.
   */
  async forget(access: InstanceAccess<'cluster.forget'>, cluster: string): Promise<ClusterBelongings> {
    return this.#audited(access, cluster, async () => {
      const belongings = await findBelongings(this.#deps.database.pool, cluster, maxListed);
      await this.#set(access, cluster, 'forgotten');
      await revokeClusterTokens(this.#deps, access, cluster);
      const drop = async (): Promise<boolean> =>
        makeChange(this.#deps, access, async (tx) => {
          const isMoreLeft = await dropReports(tx, cluster, reportsAtOnce);
          // With the reports goes what proves the cluster: streams end that were opened after it was forgotten.
          const left = isMoreLeft ? undefined : await readServedCluster(tx, cluster);
          if (left !== undefined) await notifyCluster(tx, left, left.state);
          return { result: isMoreLeft, audit: null };
        });
      while (await drop());
      return belongings;
    });
  }

  async #audited<T>(access: StateAccess, cluster: string, work: () => Promise<T>): Promise<T> {
    return auditedFailure(this.#deps.audit, instanceCall(access), async (note) => {
      checkClusterName('name', cluster);
      note({ cluster });
      return work();
    });
  }

  async #set(access: StateAccess, cluster: string, state: ClusterState): Promise<ServedClusterRecord> {
    return makeChange(this.#deps, access, async (tx) => {
      const before = await lockServedCluster(tx, cluster);
      if (before === undefined || (state === 'disabled' && before.state === 'forgotten')) throw absentCluster(cluster);
      await setClusterState(tx, cluster, state);
      if (state === 'enabled') await enableClusterIssuer(tx, cluster);
      await notifyCluster(tx, before, state);
      const result = await readServedCluster(tx, cluster);
      if (result === undefined) throw new Error('a cluster that was locked does not exist');
      return { result, audit: successRecord(instanceCall(access), { cluster, from: before.state }) };
    });
  }
}
