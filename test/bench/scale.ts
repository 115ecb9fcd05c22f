import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ApiEnvironment } from '../support/api/api-client.ts';
import { adminClient } from '../support/cluster/cluster.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { readSize } from './bench-size.ts';
import { takeFanOut } from './fan-out.ts';
import { type Fleet, syncsPerEnvironment } from './fleet.ts';
import { type Contenders, type FleetSite, addContenders, measureBoth, startFleetSite } from './fleet-site.ts';
import { processFigures } from './process-figures.ts';
import { processTimes, usedBetween } from './process-times.ts';
import { type SecretPlace, commitTime } from './secret-contender.ts';
import { sumOfSeries, untilIdle } from './reconciles.ts';
import { percentile } from './statistics.ts';
import { type Takeover, takeOver } from './takeover.ts';

const defaultSize = 1_000;
const minSize = 400;
const creationRounds = 3;
const fanOutRounds = 5;
const restMs = 30_000;
const settleMs = 3_000;
const mebibyte = 1024 * 1024;

type Site = FleetSite & Contenders;

/**
 * What many SecretSyncs cost: their creation, a change with few and with many in place, one change that many take, memory and
 * connections, a rest, and a new leader. KEYFRAME_BENCH_SIZE says how many. Each figure has its floor beside it.
 */
export async function scale(): Promise<void> {
  const size = readSize({ usual: defaultSize, min: minSize });
  await using resources = new AsyncDisposableStack();
  const fleetSite = await startFleetSite(resources);
  const { fleet, reconciling, apiServer } = fleetSite;
  await untilIdle(reconciling, settleMs);
  const empty = { ...figuresOf(reconciling, apiServer), rest: await restOf(reconciling) };
  const site = { ...fleetSite, ...(await addContenders(resources, fleetSite)) };

  await fleet.add(syncsPerEnvironment);
  const few = await measureChange(site, `${syncsPerEnvironment} in place`);
  await measureCreation(site, size);
  await untilIdle(reconciling, settleMs);
  const many = await measureChange(site, `${size} in place`);
  line(`the same, ${size} beside ${syncsPerEnvironment}`, (many / few).toFixed(2), 'aim ≤ 1.2');
  await measureFanOut(site);
  await untilIdle(reconciling, settleMs);
  reportSize(empty, figuresOf(reconciling, apiServer), size);
  reportRest('at rest, no SecretSync', empty.rest);
  reportRest(`at rest, ${size}`, await restOf(reconciling));
  reportTakeover(fleet, await takeOver(resources, site, { leader: reconciling, settleMs }));
}

/** From the commit to the watch event of a Secret; returns Keyframe's median divided by the floor's. */
async function measureChange({ contenders }: Site, title: string): Promise<number> {
  const samples = await measureBoth(contenders);
  for (const [name, share, aim] of [
    ['median', 0.5, 1.6],
    ['99 of 100', 0.99, 2.5],
  ] as const) {
    const [floor, keyframe] = [percentile(samples.floor, share), percentile(samples.keyframe, share)];
    const figures = `floor ${floor.toFixed(1)} ms, keyframe ${keyframe.toFixed(1)} ms, ratio ${(keyframe / floor).toFixed(2)}`;
    line(`change to Secret, ${title}, ${name}`, figures, `aim ≤ ${aim}`);
  }
  return percentile(samples.keyframe, 0.5) / percentile(samples.floor, 0.5);
}

/** SecretSyncs made until all are Ready, in rounds that fill the fleet up to `size`. */
async function measureCreation({ fleet, floorObjects }: Site, size: number): Promise<void> {
  const samples = { floor: [] as number[], keyframe: [] as number[] };
  for (let round = 0; round < creationRounds; round += 1) {
    const count = Math.ceil((size - fleet.size) / (creationRounds - round));
    samples.floor.push(await floorObjects.create(count));
    samples.keyframe.push(await fleet.add(count));
  }
  rateLine('SecretSyncs that become Ready', samples, 0.5);
}

/** One commit that a hundred Secrets take, beside a hundred bare PUTs. */
async function measureFanOut({ place, fleet, floorObjects }: Site): Promise<void> {
  const [environment] = fleet.environments;
  if (environment === undefined) throw new Error('the fleet has no environment');
  const samples = { floor: [] as number[], keyframe: [] as number[] };
  for (let round = 0; round < fanOutRounds; round += 1) {
    samples.floor.push(await floorObjects.put(syncsPerEnvironment));
    samples.keyframe.push(await fanOut(place, fleet, environment));
    await pause(2_000);
  }
  rateLine(`one change to ${syncsPerEnvironment} Secrets`, samples, 0.7);
}

async function fanOut({ database }: SecretPlace, fleet: Fleet, environment: ApiEnvironment): Promise<number> {
  const { revisionId, lastAtMs } = await takeFanOut(fleet, environment, randomBytes(12).toString('hex'));
  const committedAtMs = await commitTime(database, 'SELECT xmin FROM environment_revision WHERE id = $1', revisionId);
  return (fleet.secretsOf(environment).length * 1000) / (lastAtMs - committedAtMs);
}

function reportTakeover(fleet: Fleet, { floorPerSecond, perSecond, written, changesMs }: Takeover): void {
  line(
    `takeover of ${fleet.size}`,
    `floor ${floorPerSecond.toFixed(0)}/s, keyframe ${perSecond.toFixed(0)}/s, ratio ${(perSecond / floorPerSecond).toFixed(2)}`,
    'aim ≥ 300/s',
  );
  line('  objects written meanwhile', `${written}`, 'aim 0');
  line(
    '  a change meanwhile',
    `first ${(changesMs[0] ?? NaN).toFixed(0)} ms, median of ${changesMs.length}: ${percentile(changesMs, 0.5).toFixed(0)} ms`,
    '',
  );
}

interface Figures {
  readonly controllerBytes: number;
  readonly sockets: number;
  readonly apiServerBytes: number;
}

function figuresOf(reconciling: ServerProcess, apiServer: number): Figures {
  const { residentBytes, sockets } = processFigures(reconciling.captured.pid);
  return { controllerBytes: residentBytes, sockets, apiServerBytes: processFigures(apiServer).residentBytes };
}

function reportSize(empty: Figures, full: Figures, size: number): void {
  const perSync = (field: 'controllerBytes' | 'apiServerBytes'): string =>
    `${(empty[field] / mebibyte).toFixed(0)} → ${(full[field] / mebibyte).toFixed(0)} MiB, ${(
      (full[field] - empty[field]) /
      1024 /
      size
    ).toFixed(1)} KiB for each`;
  line('memory of the controller', perSync('controllerBytes'), 'aim ≤ 25 KiB');
  line('memory of the API server', perSync('apiServerBytes'), '');
  line('connections of the controller', `${empty.sockets} → ${full.sockets}`, 'aim: none for each');
}

interface Rest {
  readonly cores: number;
  readonly apiServerCores: number;
  readonly requests: number;
}

/** What the controller does while nothing happens. */
async function restOf(reconciling: ServerProcess): Promise<Rest> {
  const [before, requestsBefore, startedAt] = [processTimes(), await requestCount(), performance.now()];
  await pause(restMs);
  const used = usedBetween(before, processTimes());
  const elapsedMs = performance.now() - startedAt;
  const cores = (name: string): number => (used.get(name) ?? 0) / elapsedMs;
  // The reading itself is one.
  const requests = (await requestCount()) - requestsBefore - 1;
  if (!reconciling.captured.isRunning) throw new Error('the controller has ended');
  return { cores: cores('keyframe-server controller'), apiServerCores: cores('kube-apiserver'), requests };
}

function reportRest(title: string, { cores, apiServerCores, requests }: Rest): void {
  const figures = `controller ${(cores * 100).toFixed(1)} % of a core, API server ${(apiServerCores * 100).toFixed(1)} %`;
  line(title, `${figures}, ${requests} requests to it in ${restMs / 1000} s`, 'aim ≤ 1 %');
}

/** How many requests the API server has answered, of all clients. */
async function requestCount(): Promise<number> {
  const { body } = await adminClient().send({ path: '/metrics' });
  return sumOfSeries(/^apiserver_request_total\{.*\} (\d+)$/gm, String(body));
}

function rateLine(
  title: string,
  samples: { floor: readonly number[]; keyframe: readonly number[] },
  aim: number,
): void {
  const ratios = samples.keyframe.map((figure, round) => figure / (samples.floor[round] ?? NaN));
  const median = (values: readonly number[]): number => percentile(values, 0.5);
  line(
    title,
    `floor ${median(samples.floor).toFixed(0)}/s, keyframe ${median(samples.keyframe).toFixed(0)}/s, ` +
      `ratio ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`,
    `aim ≥ ${aim}`,
  );
}

function line(title: string, figures: string, aim: string): void {
  console.log(`${title.padEnd(48)}${figures}   ${aim}`);
}
