import type { Backend, ConnectBackend } from '../controller/backend/backend.ts';
import type { Fingerprint } from '../controller/backend/fingerprint.ts';
import { portProtocol } from '../domain/clusters.ts';
import type { ReportedPage, ReportedResource } from '../domain/fleet.ts';
import { ownRelease } from '../lib/release.ts';
import { ClusterChanges } from '../services/cluster/changes.ts';
import { ClusterEnvironments } from '../services/cluster/environments.ts';
import { ClusterRestores } from '../services/cluster/restores.ts';
import { ClusterSchedules } from '../services/cluster/schedules.ts';
import { ClusterSnapshots } from '../services/cluster/snapshots.ts';
import { ClusterSources } from '../services/cluster/sources.ts';
import { ClusterTokens } from '../services/cluster/tokens.ts';
import { reportedPageSize } from '../services/fleet/sync-states.ts';
import type { Services } from './services.ts';

type LocalBackendServices = Pick<
  Services,
  | 'access'
  | 'authentication'
  | 'clusters'
  | 'database'
  | 'feed'
  | 'keyless'
  | 'keyring'
  | 'logger'
  | 'resourceAccess'
  | 'resourceEnvironments'
  | 'resourceRestores'
  | 'resourceSchedules'
  | 'resourceSnapshots'
  | 'resourceTokens'
  | 'secretReader'
  | 'syncStates'
  | 'waitingRestores'
>;

/** Connects a controller to the services of its own process. */
export function connectLocally(services: LocalBackendServices): ConnectBackend {
  const { clusters, database, feed, keyring, logger, syncStates, waitingRestores } = services;
  const program = { release: ownRelease(), protocol: portProtocol };
  return (cluster) => ({
    ...partsOfResources(services, cluster),
    cluster: { hello: async (hello) => await clusters.hello(cluster(), { ...hello, ...program }) },
    changes: new ClusterChanges({ database, feed, logger, cluster }),
    sources: new ClusterSources({ ...services, cluster }),
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
    fingerprint: fingerprintOfCluster((name) => keyring.fingerprintFor(name), cluster),
  });
}

/** A full page may be the last one: then the next one is empty. */
function pageOf(resources: readonly ReportedResource[]): ReportedPage {
  return { resources, next: resources.length < reportedPageSize ? null : (resources.at(-1)?.uid ?? null) };
}

type PartsOfResources = Pick<Backend, 'tokens' | 'snapshots' | 'restores' | 'schedules' | 'environments'>;

/** What custom resources that act in their own name ask. */
function partsOfResources(services: LocalBackendServices, cluster: () => string): PartsOfResources {
  const deps = { ...services, cluster };
  return {
    tokens: new ClusterTokens(deps),
    snapshots: new ClusterSnapshots(deps),
    restores: new ClusterRestores(deps),
    schedules: new ClusterSchedules(deps),
    environments: new ClusterEnvironments(deps),
  };
}

/** The fingerprints of the cluster that has the name at each use. Throws what `cluster` throws. */
export function fingerprintOfCluster(
  fingerprintFor: (cluster: string) => Fingerprint,
  cluster: () => string,
): Fingerprint {
  let known: { readonly name: string; readonly fingerprint: Fingerprint } | undefined;
  return (context, entries) => {
    const name = cluster();
    if (known?.name !== name) known = { name, fingerprint: fingerprintFor(name) };
    return known.fingerprint(context, entries);
  };
}
