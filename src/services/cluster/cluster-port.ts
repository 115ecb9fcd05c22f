import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Keyring } from '../../crypto/keyring.ts';
import { type ClusterPrincipal, limitsOwner } from '../../domain/cluster-principal.ts';
import type { Hello, HelloAnswer, PortProgram } from '../../domain/clusters.ts';
import type { RefusedReports, ReportedPage, ReportedResource, SyncStateReport } from '../../domain/fleet.ts';
import { workFor } from '../../store/pool-shares.ts';
import { reportedPageSize, type SyncStates } from '../fleet/sync-states.ts';
import type { WaitingRestores } from '../fleet/waiting-restores.ts';
import { ClusterChanges, type ClusterChangesDeps } from './changes.ts';
import type { ClusterRegistry } from './cluster-registry.ts';
import { ClusterEnvironments, type ClusterEnvironmentsDeps } from './environments.ts';
import { ClusterRestores, type ClusterRestoresDeps } from './restores.ts';
import { ClusterSchedules, type ClusterSchedulesDeps } from './schedules.ts';
import { ClusterSnapshots, type ClusterSnapshotsDeps } from './snapshots.ts';
import { ClusterSources, type ClusterSourcesDeps } from './sources.ts';
import { ClusterTokens, type ClusterTokensDeps } from './tokens.ts';

type PartDeps = ClusterChangesDeps &
  ClusterEnvironmentsDeps &
  ClusterRestoresDeps &
  ClusterSchedulesDeps &
  ClusterSnapshotsDeps &
  ClusterSourcesDeps &
  ClusterTokensDeps;

export interface ClusterPortsDeps extends Omit<PartDeps, 'cluster' | 'sourceAddress' | 'admissions'> {
  readonly clusters: Pick<ClusterRegistry, 'hello'>;
  readonly keyring: Pick<Keyring, 'fingerprintKeyFor'>;
  readonly syncStates: Pick<SyncStates, 'report' | 'forget' | 'reported' | 'seen'>;
  readonly waitingRestores: WaitingRestores;
}

// Far more than the sources that are read at the same time. Without its admission, a source is admitted again.
const maxAdmissions = 1_000;

/** What the controller of one cluster asks of the services: the port of docs/internals/controller-port.md. */
export interface ClusterPort {
  readonly cluster: {
    /** See `ClusterBackend.hello`. The controller says which program it is. */
    hello(hello: Hello & PortProgram): Promise<HelloAnswer>;
  };
  readonly changes: ClusterChanges;
  readonly sources: ClusterSources;
  readonly tokens: ClusterTokens;
  readonly snapshots: ClusterSnapshots;
  readonly restores: ClusterRestores;
  readonly schedules: ClusterSchedules;
  readonly environments: ClusterEnvironments;
  /** See `FleetBackend`. */
  readonly fleet: {
    readonly syncStates: {
      report(reports: readonly SyncStateReport[]): Promise<readonly RefusedReports[]>;
      forget(uids: readonly string[]): Promise<void>;
      reported(after: string | null): Promise<ReportedPage>;
      seen(): Promise<void>;
    };
    readonly waitingRestores: {
      forget(uids: readonly string[]): Promise<void>;
      reported(after: string | null): Promise<ReportedPage>;
    };
  };
  /** The key of the cluster's fingerprints. */
  fingerprintKey(): KeyObject;
}

/** Makes the ports of clusters. They know a cluster by its name in the database. */
export class ClusterPorts {
  readonly #deps: ClusterPortsDeps;

  constructor(deps: ClusterPortsDeps) {
    this.#deps = deps;
  }

  /**
   * For one request of a cluster that was authenticated. It is made for each, so that no admission is remembered: the next
   * request may come long after the access was withdrawn. The audit names the address of the request.
   */
  of(cluster: string, sourceAddress: string | null = null): ClusterPort {
    return portOf({ ...this.#deps, cluster: () => cluster, sourceAddress });
  }

  /**
   * Runs work for a request of this cluster. It uses no more of the connections to the database than the share of a cluster,
   * and waits inside this share. Throws what the work throws, and DomainError overloaded if it waits too long.
   */
  async inShare<T>(cluster: ClusterPrincipal, work: () => Promise<T>): Promise<T> {
    return await workFor(limitsOwner(cluster), work);
  }

  /** For the controller of this process. `cluster` throws DomainError cluster_unavailable while the name is unknown. */
  ofOwn(cluster: () => string): ClusterPort {
    return portOf({ ...this.#deps, cluster, sourceAddress: null, admissions: new LRUCache({ max: maxAdmissions }) });
  }
}

function portOf(deps: ClusterPortsDeps & PartDeps): ClusterPort {
  const { clusters, keyring, syncStates, waitingRestores, cluster } = deps;
  return {
    cluster: { hello: async (hello) => await clusters.hello(cluster(), hello) },
    changes: new ClusterChanges(deps),
    sources: new ClusterSources(deps),
    tokens: new ClusterTokens(deps),
    snapshots: new ClusterSnapshots(deps),
    restores: new ClusterRestores(deps),
    schedules: new ClusterSchedules(deps),
    environments: new ClusterEnvironments(deps),
    fleet: {
      syncStates: {
        report: async (reports) => await syncStates.report(cluster(), reports),
        forget: async (uids) => await syncStates.forget(cluster(), uids),
        reported: async (after) => pageOf(await syncStates.reported(cluster(), { after })),
        seen: async () => await syncStates.seen(cluster()),
      },
      waitingRestores: {
        forget: async (uids) => await waitingRestores.forget(cluster(), uids),
        reported: async (after) => pageOf(await waitingRestores.reported(cluster(), { after })),
      },
    },
    fingerprintKey: () => keyring.fingerprintKeyFor(cluster()),
  };
}

/** A full page may be the last one: then the next one is empty. */
function pageOf(resources: readonly ReportedResource[]): ReportedPage {
  return { resources, next: resources.length < reportedPageSize ? null : (resources.at(-1)?.uid ?? null) };
}
