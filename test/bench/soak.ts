import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { readSize } from './bench-size.ts';
import { startFleetSite } from './fleet-site.ts';
import { judgeFlatness } from './flatness.ts';
import { HeapProbe, type Leak, leaks } from './heap-probe.ts';
import { startReconciling } from './site-processes.ts';
import { SoakCrowd } from './soak-crowd.ts';
import { faultsAtTheEnd } from './soak-end.ts';
import { changeLeader } from './soak-leaders.ts';
import { PacedLoad } from './soak-load.ts';
import { type Figure, type Sampled, Sampler } from './soak-samples.ts';
import { soakTasks } from './soak-tasks.ts';

const minuteMs = 60_000;
const usualMinutes = 30;
const settleMs = 120_000;
const shownFaults = 10;

interface Plan {
  readonly size: number;
  readonly durationMs: number;
  readonly sampleMs: number;
  /** When the leader changes, as shares of the duration; the first time within the warm-up, so that both have led by then. */
  readonly leaderChanges: readonly number[];
  /** A leak that the controllers get, to see that it is found. */
  readonly leak: Leak | undefined;
}

/**
 * Half an hour of mixed load over many SecretSyncs, with five changes of the leader (two in a shorter run). Memory, sockets, database
 * connections and queues must stay flat, and nothing may be stale at the end: else the process exits with 1. KEYFRAME_BENCH_SIZE
 * says how many SecretSyncs, KEYFRAME_BENCH_MINUTES how long, and KEYFRAME_BENCH_LEAK plants a leak.
 */
export async function soak(): Promise<void> {
  const plan = readPlan();
  await using resources = new AsyncDisposableStack();
  const { crowd, client, sampled, leasePath } = await prepare(resources, plan);
  const startedAtMs = performance.now();
  const sampler = Sampler.start(resources, sampled, plan.sampleMs);
  const load = PacedLoad.start(resources, soakTasks(crowd));
  for (const share of plan.leaderChanges) {
    await pauseUntil(startedAtMs + share * plan.durationMs);
    await changeLeader(
      sampled.controllers.map(({ server }) => server),
      leasePath,
    );
  }
  await pauseUntil(startedAtMs + plan.durationMs);
  await sampler.stop();
  await load.stop();
  reportLoad(load, plan);
  // By then both controllers have led for a while.
  const warmAtMs = startedAtMs + plan.durationMs / 3;
  const faults = [
    ...load.failures.map((failure) => `a request of the load failed: ${failure}`),
    ...reportFigures(sampler.figuresSince(warmAtMs)),
    ...(await reportEnd(() => faultsAtTheEnd(crowd, client, sampled))),
  ];
  for (const fault of faults.slice(0, shownFaults)) console.error(`FAULT ${fault}`);
  if (faults.length > shownFaults) console.error(`and ${faults.length - shownFaults} faults more`);
  if (faults.length > 0) process.exitCode = 1;
  else console.log('Everything stayed flat, and nothing is stale.');
}

function readPlan(): Plan {
  const minutes = Number(process.env['KEYFRAME_BENCH_MINUTES'] ?? usualMinutes);
  // A ServiceToken is rotated after a minute.
  if (!(minutes >= 2)) throw new Error('KEYFRAME_BENCH_MINUTES must be a number, and at least 2');
  const leak = process.env['KEYFRAME_BENCH_LEAK'] as Leak | undefined;
  if (leak !== undefined && !leaks.includes(leak)) throw new Error(`KEYFRAME_BENCH_LEAK must be ${leaks.join(', ')}`);
  const durationMs = minutes * minuteMs;
  // In a short run the takeovers would otherwise fill the time.
  const sixths = minutes >= usualMinutes ? [1, 2, 3, 4, 5] : [1, 3];
  return {
    size: readSize({ usual: 1_000, min: 100 }),
    durationMs,
    sampleMs: Math.min(5_000, durationMs / 180),
    leaderChanges: sixths.map((sixth) => sixth / 6),
    leak,
  };
}

interface Prepared {
  readonly crowd: SoakCrowd;
  readonly client: Parameters<typeof faultsAtTheEnd>[1];
  readonly sampled: Sampled;
  readonly leasePath: string;
}

async function prepare(resources: AsyncDisposableStack, { size, leak }: Plan): Promise<Prepared> {
  const probes = {
    api: await HeapProbe.make(),
    controller: await HeapProbe.make(leak),
    second: await HeapProbe.make(leak),
  };
  const { place, client, fleet, api, reconciling, env, apiServer } = await startFleetSite(resources, probes);
  const second = await startReconciling(resources, place, {
    role: 'controller',
    env,
    nodeArgs: probes.second.nodeArgs,
  });
  const crowd = await SoakCrowd.make(fleet, size);
  console.log(`${crowd.followed().length} SecretSyncs are Ready; the load begins.`);
  const sampled = {
    controllers: [
      { server: reconciling, probe: probes.controller },
      { server: second, probe: probes.second },
    ],
    api: { server: api, probe: probes.api },
    database: place.database,
    apiServer,
  };
  const [namespace = ''] = fleet.namespaces;
  const leasePath = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/keyframe-controller`;
  return { crowd, client, sampled, leasePath };
}

async function pauseUntil(atMs: number): Promise<void> {
  await pause(Math.max(0, atMs - performance.now()));
}

function reportLoad({ counts }: PacedLoad, { leaderChanges }: Plan): void {
  for (const [name, count] of counts) console.log(`${name.padEnd(44)}${String(count).padStart(8)}`);
  console.log(`${'changes of the leader'.padEnd(44)}${String(leaderChanges.length).padStart(8)}`);
}

/** Prints every figure and returns a sentence for each that has grown. */
function reportFigures(figures: readonly Figure[]): string[] {
  console.log(`\n${'after the warm-up'.padEnd(36)}${['first third', 'last third', 'at most'].map(column).join('')}`);
  return figures.flatMap(({ name, unit, allowance, samples }) => {
    const { first, last, most, isFlat } = judgeFlatness(samples, allowance ?? { absolute: Infinity, share: 0 });
    const shown = (value: number): string => (unit === '' ? value.toFixed(0) : `${value.toFixed(1)} ${unit}`);
    const limit = allowance === undefined ? 'not judged' : shown(most);
    console.log(`${name.padEnd(36)}${[shown(first), shown(last), limit].map(column).join('')}`);
    return isFlat ? [] : [`${name}: from ${shown(first)} to ${shown(last)}, at most ${shown(most)}`];
  });
}

function column(text: string): string {
  return text.padStart(14);
}

/** Waits until nothing is stale, and returns what still is after two minutes. */
async function reportEnd(look: () => Promise<string[]>): Promise<string[]> {
  const startedAtMs = performance.now();
  const isDone = async (): Promise<boolean> => {
    const faults = await look();
    if (faults.length > 0) throw new StaleError(faults);
    return true;
  };
  try {
    await waitFor('everything to be in step', isDone, { timeoutMs: settleMs, pollMs: 1_000 });
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined;
    if (cause instanceof StaleError) return [...cause.faults];
    throw error;
  }
  console.log(`\nIn step ${((performance.now() - startedAtMs) / 1_000).toFixed(1)} s after the end of the load.`);
  return [];
}

/** What is stale. */
class StaleError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('; '));
    this.faults = faults;
  }
}
