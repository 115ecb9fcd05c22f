import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { makeControllerPort } from '../support/cluster/controller-port.ts';
import { grantedEnvironment } from './fleet.ts';
import {
  type Contender,
  floorContender,
  keyframeContender,
  measureChanges,
  type SecretPlace,
  startSecretPlace,
} from './secret-contender.ts';
import { homeTokenFile, startAgent, startProcesses } from './site-processes.ts';
import { percentile, summaryHeader, summaryLine } from './statistics.ts';

const rounds = 10;
const changesPerRound = 20;
const warmUps = 10;
// A single change: its status patch is done before the next one begins.
const pauseMs = (): number => 25;

/** What the median divided by the floor's should be at most; undefined if none was set. */
const aims = new Map([
  ['floor', undefined],
  ['in process, with a token', undefined],
  ['in process', 1.6],
  ['over HTTPS', 2.0],
]);

/**
 * How long a committed change takes to the watch event of its native Secret, for Keyframe and for the floor (floor.ts) in
 * turn: ten rounds of twenty single changes each. Both clocks start at PostgreSQL's own commit timestamp. Keyframe runs as
 * users run it: an API, a controller with connections to the database, and one that works through the API over HTTPS, all as
 * processes of their own; durable database, real API server, audited reads.
 */
export async function changeToSecret(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const contenders = await startContenders(resources, await startSecretPlace(resources));
  for (const contender of contenders.values()) await measureChanges(contender, warmUps, pauseMs);
  const samples = new Map([...contenders.keys()].map((name) => [name, [] as number[]]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, contender] of contenders)
      samples.get(name)?.push(...(await measureChanges(contender, changesPerRound, pauseMs)));
  }
  report(samples);
}

async function startContenders(
  resources: AsyncDisposableStack,
  place: SecretPlace,
): Promise<ReadonlyMap<string, Contender>> {
  const [withToken, inProcess, overHttps] = [await namespace(resources), await namespace(resources), place.namespace];
  const port = await makeControllerPort(resources);
  const { client } = await startProcesses(resources, place, {
    role: 'controller',
    env: { WATCH_NAMESPACES: [withToken, inProcess].join(',') },
    api: { env: port.env },
  });
  const tokenFile = await homeTokenFile(place);
  await startAgent(resources, { port, tokenFile, clusterName: 'https', namespaces: [overHttps] });
  const keyless = async (at: string): Promise<Contender> => {
    const environment = await grantedEnvironment(client, [at], {});
    return await keyframeContender(resources, { ...place, namespace: at }, client, environment);
  };
  return new Map([
    ['floor', await floorContender(resources, place)],
    ['in process, with a token', await keyframeContender(resources, { ...place, namespace: withToken }, client)],
    ['in process', await keyless(inProcess)],
    ['over HTTPS', await keyless(overHttps)],
  ]);
}

async function namespace(resources: AsyncDisposableStack): Promise<string> {
  const name = await createNamespace();
  resources.defer(() => discardNamespace(name));
  return name;
}

function report(samples: ReadonlyMap<string, readonly number[]>): void {
  const floor = samples.get('floor') ?? [];
  console.log(
    `\nFrom the commit to the watch event of the native Secret (${rounds} interleaved rounds of ${changesPerRound} single changes)`,
  );
  console.log(summaryHeader);
  for (const [name, samplesMs] of samples) {
    const ratio = (share: number): string => (percentile(samplesMs, share) / percentile(floor, share)).toFixed(2);
    const aim = aims.get(name);
    const aimed = aim === undefined ? '' : `; aim for p50 ≤ ${aim}`;
    console.log(`${summaryLine(name, samplesMs)}   ratio p50 ${ratio(0.5)}, p99 ${ratio(0.99)}${aimed}`);
  }
}
