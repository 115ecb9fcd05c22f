import type { ApiClient } from '../support/api/api-client.ts';
import { sharedCluster } from '../support/cluster/cluster.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { Fleet, fleetNamespaces, isReady } from './fleet.ts';
import { FloorObjects } from './floor-objects.ts';
import type { HeapProbe } from './heap-probe.ts';
import { findProcess } from './process-figures.ts';
import {
  type Contender,
  type SecretPlace,
  floorContender,
  keyframeContender,
  measureChanges,
  startSecretPlace,
} from './secret-contender.ts';
import { startProcesses } from './site-processes.ts';

/** What the benches of many SecretSyncs stand on: an API, a controller, and the namespaces that it watches. */
export interface FleetSite {
  readonly place: SecretPlace;
  readonly client: ApiClient;
  readonly fleet: Fleet;
  readonly api: ServerProcess;
  /** The first controller. */
  readonly reconciling: ServerProcess;
  /** With which every further controller is started. */
  readonly env: Readonly<Record<string, string>>;
  /** The process id of the API server. */
  readonly apiServer: number;
}

/** Probes for the two processes of a site. */
export interface SiteProbes {
  readonly api?: HeapProbe;
  readonly controller?: HeapProbe;
}

/** Starts everything, with no SecretSync yet, to be ended with `resources`. */
export async function startFleetSite(resources: AsyncDisposableStack, probes: SiteProbes = {}): Promise<FleetSite> {
  const place = await startSecretPlace(resources);
  const namespaces = await fleetNamespaces(resources);
  // The floor's namespace is not watched: what the floor writes there is no work for the controller.
  const env = { WATCH_NAMESPACES: namespaces.join(',') };
  const { client, api, reconciling } = await startProcesses(resources, place, {
    role: 'controller',
    env,
    nodeArgs: probes.controller?.nodeArgs ?? [],
    api: { nodeArgs: probes.api?.nodeArgs },
  });
  const fleet = await Fleet.open(resources, client, namespaces);
  return {
    place,
    client,
    fleet,
    api,
    reconciling,
    env,
    apiServer: findProcess('kube-apiserver', sharedCluster().runFolder),
  };
}

/** Both ways of a single change into a Secret, beside a fleet, and the floor of everything else. */
export interface Contenders {
  readonly contenders: { readonly keyframe: Contender; readonly floor: Contender };
  readonly floorObjects: FloorObjects;
}

/** Adds a SecretSync with an environment of its own, and the floors. */
export async function addContenders(
  resources: AsyncDisposableStack,
  { place, fleet, client }: Pick<FleetSite, 'place' | 'fleet' | 'client'>,
): Promise<Contenders> {
  const [namespace = ''] = fleet.namespaces;
  const environment = await fleet.makeEnvironment({});
  const keyframe = await keyframeContender(resources, { ...place, namespace }, client, environment);
  const floor = await floorContender(resources, place);
  const status = await waitFor('the first status', () => {
    const first = fleet.syncs.objects.get(`${namespace}/keyframe`);
    return first !== undefined && isReady(first) && first.status;
  });
  const floorObjects = await FloorObjects.open(resources, place.namespace, status);
  return { contenders: { keyframe, floor }, floorObjects };
}

const changeRounds = { count: 6, changes: 10 };
const changePauseMs = 25;

/** Milliseconds from the commit to the watch event of a Secret: single changes of both in interleaved rounds, after a warm-up. */
export async function measureBoth({
  keyframe,
  floor,
}: Contenders['contenders']): Promise<{ readonly floor: number[]; readonly keyframe: number[] }> {
  const samples = { floor: [] as number[], keyframe: [] as number[] };
  const measure = (contender: Contender, count: number): Promise<number[]> =>
    measureChanges(contender, count, () => changePauseMs);
  for (const contender of [keyframe, floor]) await measure(contender, 5);
  for (let round = 0; round < changeRounds.count; round += 1) {
    samples.floor.push(...(await measure(floor, changeRounds.changes)));
    samples.keyframe.push(...(await measure(keyframe, changeRounds.changes)));
  }
  return samples;
}
