import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { AgentFleet } from './agent-fleet.ts';
import { readSize } from './bench-size.ts';
import { databaseTime, processorTime } from './database-time.ts';
import { syncsPerEnvironment } from './fleet.ts';
import { sumOfSeries } from './reconciles.ts';
import { throughput } from './rounds.ts';
import { percentile } from './statistics.ts';

const clusters = 10;
const defaultSize = 1_000;
const rounds = 5;
/** Reads that one cluster sends one after the other, of which none shares anything. */
const aloneReads = 200;
/** As many connections as the API has for reads. */
const floorConnections = 10;
const aimMicroseconds = 60;
// PostgreSQL keeps the figures of an idle session for ten seconds before it adds them to those of the database.
const figuresMs = 11_000;

/** What one piece of work cost, in microseconds. */
interface Cost {
  /** Of the processors, for all processes of PostgreSQL. */
  readonly database: number;
  /** Of the processors, for the API. */
  readonly api: number;
  readonly elapsed: number;
}

/**
 * What reads of SecretSyncs with their values cost the database, sent by ten clusters over HTTPS at the same time, without
 * Kubernetes. KEYFRAME_BENCH_SIZE says how many SecretSyncs each cluster has. The floor reads one row for each by its key.
 */
export async function clusterReads(): Promise<void> {
  const syncsPerCluster = readSize({ usual: defaultSize, min: syncsPerEnvironment });
  await using resources = new AsyncDisposableStack();
  const fleet = await AgentFleet.start(resources, { clusters, syncsPerCluster });
  const meter = await Meter.open(resources, fleet);
  const floor = await openFloor(resources, fleet);
  const all = clusters * syncsPerCluster;
  const batched = async (): Promise<void> => void (await Promise.all(fleet.clusters.map((one) => one.readAll())));
  const alone = async (): Promise<void> => {
    for (let index = 0; index < aloneReads; index += 1) await fleet.clusters[0]?.read(index % syncsPerCluster);
  };
  const works = {
    floor: () => meter.during(all, () => floor(all)),
    batched: () => meter.during(all, batched),
    alone: () => meter.during(aloneReads, alone),
  };
  // The first reads create the keyless tokens.
  for (const work of Object.values(works)) await work();
  const before = await meter.totals();
  const samples = { floor: [] as Cost[], batched: [] as Cost[], alone: [] as Cost[] };
  for (let round = 0; round < rounds; round += 1) {
    for (const name of ['floor', 'batched', 'alone'] as const) samples[name].push(await works[name]());
  }
  const after = await meter.totals();
  console.log(
    `\nReads of SecretSyncs over HTTPS, ${clusters} clusters × ${syncsPerCluster} (${rounds} interleaved rounds)`,
  );
  report('one row by its key (the floor)', samples.floor, samples.floor);
  report(`batched, aim ≤ ${aimMicroseconds} µs of the database`, samples.batched, samples.floor);
  report('one at a time', samples.alone, samples.floor);
  const reads = rounds * (all + aloneReads);
  for (const [name, unit] of [
    ['activeMs', 'µs inside PostgreSQL, with waits'],
    ['transactions', 'transactions'],
    ['requests', 'requests'],
  ] as const) {
    const each = ((after[name] - before[name]) * (name === 'activeMs' ? 1_000 : 1)) / reads;
    console.log(`${`  each read of both, ${unit}`.padEnd(56)}${each.toFixed(2)}`);
  }
}

/** Measures what the processes of a fleet use. */
class Meter {
  readonly #fleet: AgentFleet;
  readonly #database: pg.Client;

  private constructor(fleet: AgentFleet, database: pg.Client) {
    this.#fleet = fleet;
    this.#database = database;
  }

  static async open(resources: AsyncDisposableStack, fleet: AgentFleet): Promise<Meter> {
    const database = new pg.Client({ connectionString: fleet.api.databaseUrl });
    await database.connect();
    resources.defer(() => database.end());
    return new Meter(fleet, database);
  }

  /** The cost of each of `count` pieces of work. */
  async during(count: number, work: () => Promise<unknown>): Promise<Cost> {
    const { postgres, server } = this.#fleet.api;
    const now = async (): Promise<Cost> => ({
      database: (await databaseTime(postgres.pid, this.#database)).processorMs,
      api: processorTime(server.captured.pid),
      elapsed: performance.now(),
    });
    const before = await now();
    await work();
    const after = await now();
    const each = (name: keyof Cost): number => ((after[name] - before[name]) * 1_000) / count;
    return { database: each('database'), api: each('api'), elapsed: each('elapsed') };
  }

  /** Waits until PostgreSQL has counted everything. */
  async totals(): Promise<Readonly<Record<'activeMs' | 'transactions' | 'requests', number>>> {
    await pause(figuresMs);
    const { postgres, server } = this.#fleet.api;
    const { activeMs, transactions } = await databaseTime(postgres.pid, this.#database);
    const route = /^keyframe_http_request_duration_seconds_count\{.*route="\/api\/v1\/cluster[^"]*".*\} (\d+)$/gm;
    return { activeMs, transactions, requests: sumOfSeries(route, await server.metrics()) };
  }
}

/** Reads rows of a table in a database beside that of Keyframe. */
async function openFloor(
  resources: AsyncDisposableStack,
  fleet: AgentFleet,
): Promise<(count: number) => Promise<unknown>> {
  const admin = new pg.Client({ connectionString: fleet.api.databaseUrl });
  await admin.connect();
  await admin.query('CREATE DATABASE floor');
  await admin.end();
  const pool = new pg.Pool({ connectionString: fleet.api.postgres.urlOf('floor'), max: floorConnections });
  resources.defer(() => pool.end());
  await pool.query('CREATE TABLE floor (id integer PRIMARY KEY, value text NOT NULL)');
  await pool.query(`INSERT INTO floor SELECT id, repeat('x', 32) FROM generate_series(1, 1000) AS id`);
  const one = async (): Promise<unknown> =>
    await pool.query({
      name: 'floor',
      text: 'SELECT value FROM floor WHERE id = $1',
      values: [1 + Math.floor(Math.random() * 1_000)],
    });
  return async (count) => await throughput(count, floorConnections, one);
}

function report(title: string, samples: readonly Cost[], floor: readonly Cost[]): void {
  const median = (name: keyof Cost): string =>
    percentile(
      samples.map((one) => one[name]),
      0.5,
    ).toFixed(0);
  const ratios = samples.map(({ database }, round) => database / (floor[round]?.database ?? NaN));
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  console.log(
    `${title.padEnd(56)}database ${median('database').padStart(5)} µs, ratio ${percentile(ratios, 0.5).toFixed(2)} (${spread}); ` +
      `API ${median('api').padStart(5)} µs; elapsed ${median('elapsed').padStart(5)} µs`,
  );
}
