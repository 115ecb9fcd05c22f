import type { ApiEnvironment } from '../support/api/api-client.ts';
import { BareSnapshots } from './bare-snapshots.ts';
import { type BenchApi, benchEnvironment, benchSecrets, startBenchApi } from './bench-api.ts';
import { HttpLoad } from './http-load.ts';
import { type Comparison, type Contestant, compare, timed } from './rounds.ts';

const rounds = 9;
const largest = 10_000;
/** How often each does its work in a round, by the number of secrets. */
const sizes: readonly (readonly [secrets: number, times: number])[] = [
  [100, 20],
  [1000, 5],
  [largest, 1],
];

/**
 * Making a snapshot of an environment and restoring it from one, one request after the other, beside the bare
 * statements that write the same rows (bare-snapshots.ts). A restore writes every key again, whether its value differs
 * or not: so each finds what the one before it found, an environment with a newer version of each key.
 */
export async function snapshotRestore(): Promise<void> {
  await using resources = new AsyncDisposableStack();
  const api = await startBenchApi(resources);
  const load = new HttpLoad();
  resources.defer(() => load.close());
  console.log(`\nSnapshots and restores (milliseconds each, ${rounds} interleaved rounds)`);
  for (const [secrets, times] of sizes) {
    const floor = await BareSnapshots.open(resources, api.databaseUrl, await benchEnvironment(api.admin, secrets));
    const keyframe = new ServedSnapshots(api, load, await benchEnvironment(api.admin, secrets));
    const each = (work: () => Promise<unknown>): Contestant => {
      return async () => {
        const totalMs = await timed(async () => {
          for (let index = 0; index < times; index += 1) await work();
        });
        return totalMs / times;
      };
    };
    const same = { rounds, unit: 'ms', aim: 1.5 } as const;
    await compare({
      ...same,
      title: `${secrets} secrets, snapshot`,
      floor: each(() => floor.create()),
      keyframe: each(() => keyframe.create()),
    });
    const snapshots = { floor: await floor.create(), keyframe: await keyframe.makeToRestore() };
    await compare({
      ...same,
      title: `${secrets} secrets, restore`,
      floor: each(() => floor.restore(snapshots.floor)),
      keyframe: each(() => keyframe.restore(snapshots.keyframe)),
    });
    if (secrets === largest) await compareDeleted({ api, load, secrets, same });
  }
}

interface DeletedComparison {
  readonly api: BenchApi;
  readonly load: HttpLoad;
  readonly secrets: number;
  readonly same: Pick<Comparison, 'rounds' | 'unit' | 'aim'>;
}

/** Restores that recreate every key, selected by pattern, beside plain restores of as many keys: both are Keyframe. */
async function compareDeleted({ api, load, secrets, same }: DeletedComparison): Promise<void> {
  const plain = new ServedSnapshots(api, load, await benchEnvironment(api.admin, secrets));
  const environment = await api.admin.makeEnvironment();
  const deleted = new ServedSnapshots(api, load, environment);
  const empty = await deleted.makeToRestore();
  await environment.change(benchSecrets(secrets));
  const snapshots = { plain: await plain.makeToRestore(), deleted: await deleted.makeToRestore() };
  await compare({
    ...same,
    title: `${secrets} secrets, deleted / plain restore`,
    floor: () => timed(() => plain.restore(snapshots.plain)),
    keyframe: async () => {
      await deleted.restore(empty, { prune: true });
      return timed(() => deleted.restore(snapshots.deleted, { includeDeleted: true, keys: { include: ['KEY_*'] } }));
    },
  });
}

/** The same by Keyframe, over HTTP. */
class ServedSnapshots {
  readonly #api: BenchApi;
  readonly #load: HttpLoad;
  readonly #path: string;
  readonly #url: string;

  constructor(api: BenchApi, load: HttpLoad, environment: ApiEnvironment) {
    this.#api = api;
    this.#load = load;
    const { organization, project, name } = environment.ref;
    this.#path = `/snapshots/${organization}/${project}/${name}`;
    this.#url = `${api.url}/api/v1${this.#path}`;
  }

  /** Makes a snapshot and answers its id, for restores; not measured. */
  async makeToRestore(): Promise<string> {
    return (await this.#api.admin.call<{ id: string }>('POST', this.#path)).id;
  }

  async create(): Promise<void> {
    await this.#post(this.#url, {}, 201);
  }

  async restore(snapshotId: string, options: object = {}): Promise<void> {
    await this.#post(`${this.#url}/restore`, { snapshotId, ...options }, 200);
  }

  async #post(url: string, body: object, expected: number): Promise<void> {
    const headers = { authorization: `Bearer ${this.#api.adminToken}`, 'content-type': 'application/json' };
    await this.#load.send({ url, method: 'POST', headers, body: JSON.stringify(body), expected });
  }
}
