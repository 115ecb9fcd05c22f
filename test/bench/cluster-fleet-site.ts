import { join } from 'node:path';
import { ControllerToken, registerCluster } from '../../tools/start/remote-cluster.ts';
import type { ApiClient } from '../support/api/api-client.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { adminClient, sharedCluster } from '../support/cluster/cluster.ts';
import { makeControllerPort } from '../support/cluster/controller-port.ts';
import { Fleet, fleetNamespaces } from './fleet.ts';
import type { HeapProbe } from './heap-probe.ts';
import { type SecretPlace, startSecretPlace } from './secret-contender.ts';
import { startAgent, startApi, type StartedApi } from './site-processes.ts';

const namespacesPerCluster = 3;

/** One API, and the controllers of several remote clusters, which share one API server: each has namespaces of its own. */
export interface ClusterFleetSite {
  readonly place: SecretPlace;
  readonly fleet: Fleet;
  readonly api: ServerProcess;
  readonly controllers: readonly ServerProcess[];
  /** Starts the API again, on the same port of controllers, after it has ended. */
  readonly restart: () => Promise<StartedApi>;
}

export interface ClusterFleetOptions {
  readonly clusters: number;
  readonly probe: HeapProbe;
  /** Called before the first controller starts. */
  readonly whileAlone: (api: ServerProcess) => Promise<void>;
}

/** Starts everything, with no SecretSync yet, to be ended with `resources`. Controllers have their usual limits. */
export async function startClusterFleet(
  resources: AsyncDisposableStack,
  { clusters, probe, whileAlone }: ClusterFleetOptions,
): Promise<ClusterFleetSite> {
  const place = await startSecretPlace(resources);
  const port = await makeControllerPort(resources);
  const namespaces = await fleetNamespaces(resources, clusters * namespacesPerCluster);
  const start = (): Promise<StartedApi> => startApi(resources, place, { env: port.env, nodeArgs: probe.nodeArgs });
  const { api, client } = await start();
  await whileAlone(api);
  const names = Array.from({ length: clusters }, (_, index) => `cluster-${index}`);
  const controllers: ServerProcess[] = [];
  for (const [index, clusterName] of names.entries()) {
    const tokenFile = await registered(resources, client, clusterName);
    // The namespaces of a fleet take turns: each environment is read in all clusters.
    const own = namespaces.filter((_, position) => position % clusters === index);
    controllers.push(await startAgent(resources, { port, tokenFile, clusterName, namespaces: own }));
  }
  const fleet = await Fleet.open(resources, client, namespaces, names);
  return { place, fleet, api, controllers, restart: start };
}

/** Registers the API server under this name; returns the file with the token of its controller. */
async function registered(resources: AsyncDisposableStack, client: ApiClient, name: string): Promise<string> {
  const audience = await registerCluster(client, adminClient(), name);
  const file = join(sharedCluster().runFolder, `token-of-${name}`);
  const token = await ControllerToken.keep(adminClient(), { audience, file });
  resources.defer(() => token.stop());
  return file;
}
