import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentFleet } from './agent-fleet.ts';
import { processorTime } from './database-time.ts';
import { HeapProbe } from './heap-probe.ts';
import { processFigures } from './process-figures.ts';
import { percentile } from './statistics.ts';

const clusters = 100;
const processesPerCluster = 2;
const syncsPerCluster = 10;
const changes = 100;
const rounds = 3;
const settleMs = 3_000;

interface Held {
  readonly heapBytes: number;
  readonly residentBytes: number;
  readonly sockets: number;
}

/**
 * What a hundred clusters with two processes each cost one API while they listen: memory, sockets, and its processor time for
 * each change. Then every cluster reads ten SecretSyncs. The controllers are this process, without Kubernetes; the floor of a
 * change is the same change with nothing that listens.
 */
export async function clusterStreams(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const probe = await HeapProbe.make();
  const fleet = await AgentFleet.start(resources, { clusters, syncsPerCluster }, probe.nodeArgs);
  const held = async (): Promise<Held> => await heldBy(fleet, probe);
  await changeAll(fleet);
  const before = await held();
  const samples = { floor: [] as number[], keyframe: [] as number[] };
  const streams = new Streams(fleet);
  for (let round = 0; round < rounds; round += 1) {
    samples.floor.push(await changeAll(fleet));
    await streams.open();
    samples.keyframe.push(await changeAll(fleet));
    if (round < rounds - 1) await streams.close();
  }
  const listening = await held();
  for (const cluster of fleet.clusters) await cluster.readAll();
  report({ before, listening, read: await held() }, samples);
  await streams.close();
}

/** The streams of all processes. */
class Streams {
  readonly #fleet: AgentFleet;
  #ends: (() => void)[] = [];

  constructor(fleet: AgentFleet) {
    this.#fleet = fleet;
  }

  async open(): Promise<void> {
    const processes = this.#fleet.clusters.flatMap((cluster) =>
      Array.from({ length: processesPerCluster }, () => cluster.connect()),
    );
    await Promise.all(
      processes.map(async ({ changes: { subscribe } }) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#ends.push(subscribe({ onEvent: () => {}, onReady: resolve }));
        await promise;
      }),
    );
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await pause(settleMs);
  }
}

/** Changes environments in turn; returns the processor time of the API for each, in microseconds. */
async function changeAll({ api, environments }: AgentFleet): Promise<number> {
  const { pid } = api.server.captured;
  const before = processorTime(pid);
  for (let index = 0; index < changes; index += 1) {
    const environment = environments[index % environments.length];
    await environment?.change({ KEY_00001: randomBytes(16).toString('hex') });
  }
  await pause(settleMs);
  return ((processorTime(pid) - before) * 1_000) / changes;
}

async function heldBy({ api }: AgentFleet, probe: HeapProbe): Promise<Held> {
  await pause(settleMs);
  const { residentBytes, sockets } = processFigures(api.server.captured.pid);
  return { heapBytes: await probe.heapBytes(), residentBytes, sockets };
}

function report(
  { before, listening, read }: Readonly<Record<'before' | 'listening' | 'read', Held>>,
  { floor, keyframe }: Readonly<Record<'floor' | 'keyframe', readonly number[]>>,
): void {
  const streams = clusters * processesPerCluster;
  const kib = (field: 'heapBytes' | 'residentBytes'): string => {
    const each = ((listening[field] - before[field]) / streams / 1024).toFixed(1);
    return `${[before, listening, read].map((one) => (one[field] / 2 ** 20).toFixed(1)).join(' → ')} MiB, ${each} KiB for each stream`;
  };
  const perStream = keyframe.map((us, round) => (us - (floor[round] ?? NaN)) / streams);
  const ratios = keyframe.map((us, round) => us / (floor[round] ?? NaN));
  console.log(`
One API and ${streams} streams of ${clusters} clusters: before → listening → after each cluster has read
heap after a collection    ${kib('heapBytes')}
resident memory            ${kib('residentBytes')}
sockets                    ${[before, listening, read].map(({ sockets }) => sockets).join(' → ')}
processor time of a change floor ${percentile(floor, 0.5).toFixed(0)} µs, with the streams ${percentile(keyframe, 0.5).toFixed(0)} µs, \
ratio ${percentile(ratios, 0.5).toFixed(2)}; ${percentile(perStream, 0.5).toFixed(1)} µs for each stream`);
}
