import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../support/api/api-client.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import { readSize } from './bench-size.ts';
import { type ClusterFleetSite, startClusterFleet } from './cluster-fleet-site.ts';
import { databaseTime, processorTime } from './database-time.ts';
import { type Fleet, isReady, syncsPerEnvironment } from './fleet.ts';
import { FloorObjects } from './floor-objects.ts';
import { HeapProbe } from './heap-probe.ts';
import { processFigures } from './process-figures.ts';
import { sumOfSeries, untilIdle } from './reconciles.ts';
import { commitTime } from './secret-contender.ts';
import { percentile } from './statistics.ts';

const clusters = 10;
const defaultSize = 100;
const creationRounds = 3;
const changeRounds = 3;
const fanOutRounds = 5;
const settleMs = 3_000;
const restMs = 60_000;
const mebibyte = 1024 * 1024;

type Site = ClusterFleetSite & { readonly floorObjects: FloorObjects };

/**
 * Ten remote clusters with many SecretSyncs each, whose controllers reach one API over HTTPS: the first Secrets, one change
 * of every environment, one change that a hundred Secrets take, a rest, and restarts of the API. KEYFRAME_BENCH_SIZE says how
 * many SecretSyncs each cluster has. The floor makes the same objects in bare loops.
 */
export async function clusterFleet(): Promise<void> {
  const size = readSize({ usual: defaultSize, min: syncsPerEnvironment });
  await using resources = new AsyncDisposableStack();
  const probe = await HeapProbe.make();
  const api = { alone: 0, connected: 0, full: 0 };
  const site = await startClusterFleet(resources, {
    clusters,
    probe,
    whileAlone: async () => void (api.alone = await probe.heapBytes()),
  });
  console.log(`\n${clusters} clusters × ${size} SecretSyncs, one API server for all of them`);
  await untilAllIdle(site);
  api.connected = await probe.heapBytes();
  await site.fleet.add(syncsPerEnvironment);
  const full: Site = { ...site, floorObjects: await openFloor(resources, site) };
  await measureCreation(full, clusters * size);
  await measureChangeOfAll(full);
  await measureFanOut(full);
  await untilAllIdle(site);
  api.full = await probe.heapBytes();
  reportApi(site, api);
  await measureRest(site);
  let running = site.api;
  for (const how of ['stop', 'kill'] as const) running = await measureRestart(full, running, how);
}

async function openFloor(resources: AsyncDisposableStack, { place, fleet }: ClusterFleetSite): Promise<FloorObjects> {
  const status = [...fleet.syncs.objects.values()].find(isReady)?.status;
  if (status === undefined) throw new Error('no SecretSync of the fleet has a status');
  return await FloorObjects.open(resources, place.namespace, status);
}

/** SecretSyncs made until all are Ready, in rounds that fill the fleet. */
async function measureCreation({ fleet, floorObjects }: Site, size: number): Promise<void> {
  const samples = { floor: [] as number[], keyframe: [] as number[] };
  for (let round = 0; round < creationRounds; round += 1) {
    const count = Math.ceil((size - fleet.size) / (creationRounds - round));
    samples.floor.push(await floorObjects.create(count));
    samples.keyframe.push(await fleet.add(count));
  }
  rateLine('the first Secrets, until all are Ready', samples, 'aim ≥ 0.33');
}

/** One change of every environment at once, until all Secrets hold it, beside as many bare PUTs. */
async function measureChangeOfAll(site: Site): Promise<void> {
  const { fleet, floorObjects, api } = site;
  const samples = { floor: [] as number[], keyframe: [] as number[] };
  const costs: { readonly database: number; readonly api: number; readonly requests: number }[] = [];
  for (let round = 0; round < changeRounds; round += 1) {
    // It has one environment's fewer.
    samples.floor.push(await floorObjects.put(fleet.size - syncsPerEnvironment));
    await untilAllIdle(site);
    const before = await meter(site, api);
    samples.keyframe.push(await changeAll(fleet));
    await untilAllIdle(site);
    const after = await meter(site, api);
    const each = (name: keyof typeof before): number => (after[name] - before[name]) / fleet.size;
    costs.push({ database: each('database') * 1000, api: each('api') * 1000, requests: each('requests') });
  }
  rateLine('a change of every environment, until all hold it', samples, 'aim ≥ 0.33');
  const median = (name: 'database' | 'api' | 'requests'): number =>
    percentile(
      costs.map((one) => one[name]),
      0.5,
    );
  line(
    '  processor time for each Secret, its report included',
    `PostgreSQL ${median('database').toFixed(0)} µs, API ${median('api').toFixed(0)} µs; ${median('requests').toFixed(2)} requests`,
  );
}

async function meter(
  { place }: Pick<Site, 'place'>,
  api: ServerProcess,
): Promise<Readonly<Record<'database' | 'api' | 'requests', number>>> {
  return {
    database: (await databaseTime(place.postgres.pid, place.database)).processorMs,
    api: processorTime(api.captured.pid),
    requests: await requestsOf(api),
  };
}

/** Returns how many Secrets a second took a change of their environment, from the first request to the last Secret. */
async function changeAll(fleet: Fleet): Promise<number> {
  const value = randomBytes(12).toString('hex');
  const all = fleet.secrets.all('take the change', fleet.keys(), holds(value));
  const startedAtMs = performance.timeOrigin + performance.now();
  await Promise.all(fleet.environments.map((environment) => environment.change({ KEY_0: value })));
  return (fleet.size * 1000) / ((await all) - startedAtMs);
}

function holds(value: string): (secret: SecretObject) => boolean {
  const wanted = Buffer.from(value).toString('base64');
  return ({ data }) => data?.['KEY_0'] === wanted;
}

/** One commit that a hundred Secrets in all clusters take, beside a hundred bare PUTs. */
async function measureFanOut(site: Site): Promise<void> {
  const samples = { floor: [] as number[], keyframe: [] as number[] };
  for (let round = 0; round < fanOutRounds; round += 1) {
    samples.floor.push(await site.floorObjects.put(syncsPerEnvironment));
    samples.keyframe.push(await fanOut(site));
    await pause(2_000);
  }
  rateLine(`one change to ${syncsPerEnvironment} Secrets of ${clusters} clusters`, samples);
}

/** Returns how many Secrets a second took a change of the first environment, which this client makes. */
async function fanOut({ fleet, place }: Pick<Site, 'fleet' | 'place'>, client?: ApiClient): Promise<number> {
  const [environment] = fleet.environments;
  if (environment === undefined) throw new Error('the fleet has no environment');
  const value = randomBytes(12).toString('hex');
  const keys = fleet.secretsOf(environment);
  const all = fleet.secrets.all('take the change', keys, holds(value));
  const { revisionId } = await (client === undefined ? environment : environment.at(client)).change({ KEY_0: value });
  const lastAtMs = await all;
  const sql = 'SELECT xmin FROM environment_revision WHERE id = $1';
  return (keys.length * 1000) / (lastAtMs - (await commitTime(place.database, sql, revisionId)));
}

function reportApi({ api }: ClusterFleetSite, heap: Readonly<Record<'alone' | 'connected' | 'full', number>>): void {
  const { residentBytes, sockets } = processFigures(api.captured.pid);
  const mib = (bytes: number): string => (bytes / mebibyte).toFixed(1);
  line(
    'heap of the API: alone, with controllers, with SecretSyncs',
    `${mib(heap.alone)}, ${mib(heap.connected)}, ${mib(heap.full)} MiB`,
  );
  line('resident memory of the API, its sockets', `${mib(residentBytes)} MiB, ${sockets}`);
}

/** What happens while nothing changes. */
async function measureRest(site: ClusterFleetSite): Promise<void> {
  const { api, controllers } = site;
  await untilAllIdle(site);
  const [before, startedAt] = [await meter(site, api), performance.now()];
  const controllersBefore = sumOf(controllers);
  await pause(restMs);
  const after = await meter(site, api);
  const elapsedMs = performance.now() - startedAt;
  const share = (usedMs: number): string => ((usedMs * 100) / elapsedMs).toFixed(2);
  line(
    'at rest, in a minute',
    `${(after.requests - before.requests).toFixed(0)} requests of ${controllers.length} controllers; ` +
      `API ${share(after.api - before.api)} % of a core, PostgreSQL ${share(after.database - before.database)} %, ` +
      `all controllers ${share(sumOf(controllers) - controllersBefore)} %`,
  );
}

function sumOf(servers: readonly ServerProcess[]): number {
  return servers.reduce((sum, { captured }) => sum + processorTime(captured.pid), 0);
}

/** The API ends and starts again: until a change reaches all clusters, with what the controllers were refused. */
async function measureRestart(site: Site, api: ServerProcess, how: 'stop' | 'kill'): Promise<ServerProcess> {
  await untilAllIdle(site);
  const writes = await writesOf(site);
  await api[how]();
  const started = await site.restart();
  const startedAt = performance.now();
  await fanOut(site, started.client);
  const backMs = performance.now() - startedAt;
  await untilAllIdle(site);
  const refused = await refusalsOf(started.api);
  const written = (await writesOf(site)) - writes - syncsPerEnvironment;
  line(
    `the API ends (${how}) and starts again`,
    `a change is in all clusters ${(backMs / 1000).toFixed(1)} s after its start; ${refused} answers 429 (aim 0); ${written} Secrets written again (aim 0)`,
  );
  return started.api;
}

async function untilAllIdle({ controllers }: Pick<Site, 'controllers'>): Promise<void> {
  await Promise.all(controllers.map((controller) => untilIdle(controller, settleMs)));
}

/** Requests of controllers that an API has answered. */
async function requestsOf(api: ServerProcess): Promise<number> {
  const pattern = /^keyframe_http_request_duration_seconds_count\{.*route="\/api\/v1\/cluster[^"]*".*\} (\d+)$/gm;
  return sumOfSeries(pattern, await api.metrics());
}

async function refusalsOf(api: ServerProcess): Promise<number> {
  return sumOfSeries(/^keyframe_http_request_duration_seconds_count\{.*status="429".*\} (\d+)$/gm, await api.metrics());
}

async function writesOf({ controllers }: Pick<Site, 'controllers'>): Promise<number> {
  const texts = await Promise.all(controllers.map((controller) => controller.metrics()));
  const pattern = /^keyframe_kubernetes_secret_writes_total\{.*\} (\d+)$/gm;
  return texts.reduce((sum, text) => sum + sumOfSeries(pattern, text), 0);
}

function rateLine(
  title: string,
  samples: { readonly floor: readonly number[]; readonly keyframe: readonly number[] },
  aim = '',
): void {
  const ratios = samples.keyframe.map((figure, round) => figure / (samples.floor[round] ?? NaN));
  const median = (values: readonly number[]): string => percentile(values, 0.5).toFixed(0);
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  line(
    title,
    `floor ${median(samples.floor)}/s, keyframe ${median(samples.keyframe)}/s, ratio ${percentile(ratios, 0.5).toFixed(2)} (${spread}) ${aim}`,
  );
}

function line(title: string, figures: string): void {
  console.log(`${title.padEnd(60)}${figures}`);
}
