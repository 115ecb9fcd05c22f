import { randomBytes } from 'node:crypto';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import type { SecretSyncStatus } from '../../src/controller/generated/secret-sync.ts';
import type { ApiClient, ApiEnvironment } from '../support/api/api-client.ts';
import { adminClient, createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import { ObjectWatch } from './object-watch.ts';
import { throughput } from './rounds.ts';
import { createSync } from './secret-contender.ts';

export interface SyncObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly generation?: number };
  readonly status?: SecretSyncStatus;
}

/** How many SecretSyncs one environment has. */
export const syncsPerEnvironment = 100;
/** How many requests the fleet and the floors send at once: as many as the controller has workers. */
export const concurrency = 24;

const usualNamespaces = 10;

/** Makes the namespaces of a fleet, to be ended with `resources`. */
export async function fleetNamespaces(
  resources: AsyncDisposableStack,
  count: number = usualNamespaces,
): Promise<readonly string[]> {
  const names: string[] = [];
  for (let made = 0; made < count; made += 1) {
    const name = await createNamespace();
    resources.defer(() => discardNamespace(name));
    names.push(name);
  }
  return names;
}

/** A new environment with these values, which SecretSyncs of these namespaces may read without a token. */
export async function grantedEnvironment(
  client: ApiClient,
  namespaces: readonly string[],
  values: Readonly<Record<string, string>>,
): Promise<ApiEnvironment> {
  const environment = await client.makeEnvironment();
  if (Object.keys(values).length > 0) await environment.change(values);
  const { organization, project, name } = environment.ref;
  const rules = [{ organization, project, environments: [name], permission: 'Read' }];
  await adminClient().json({
    method: 'POST',
    path: '/apis/keyframe.dev/v1alpha1/accessgrants',
    body: {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'AccessGrant',
      metadata: { name: `fleet-${environment.id}` },
      spec: { namespaces, rules },
    },
  });
  return environment;
}

/** Many SecretSyncs as most users write them: each names an environment and no token, and AccessGrants let them read it. */
export class Fleet {
  readonly namespaces: readonly string[];
  readonly syncs: ObjectWatch<SyncObject>;
  readonly secrets: ObjectWatch<SecretObject>;
  readonly environments: ApiEnvironment[] = [];
  readonly #client: ApiClient;
  readonly #clusters: readonly string[];
  #size = 0;

  private constructor(
    client: ApiClient,
    clusters: readonly string[],
    parts: Pick<Fleet, 'namespaces' | 'syncs' | 'secrets'>,
  ) {
    this.#client = client;
    this.#clusters = clusters;
    this.namespaces = parts.namespaces;
    this.syncs = parts.syncs;
    this.secrets = parts.secrets;
  }

  /** Begins to watch the namespaces; no SecretSync yet. `clusters`: remote ones, which need rules of each organization. */
  static async open(
    resources: AsyncDisposableStack,
    client: ApiClient,
    namespaces: readonly string[],
    clusters: readonly string[] = [],
  ): Promise<Fleet> {
    const kube = adminClient();
    const syncPaths = namespaces.map((name) => `/apis/keyframe.dev/v1alpha1/namespaces/${name}/secretsyncs`);
    const secretPaths = namespaces.map((name) => `/api/v1/namespaces/${name}/secrets`);
    const syncs = await ObjectWatch.open<SyncObject>(resources, kube, syncPaths);
    const secrets = await ObjectWatch.open<SecretObject>(resources, kube, secretPaths);
    return new Fleet(client, clusters, { namespaces, syncs, secrets });
  }

  get size(): number {
    return this.#size;
  }

  /** A new environment with these values, which the fleet's namespaces may read. */
  async makeEnvironment(values: Readonly<Record<string, string>>): Promise<ApiEnvironment> {
    const environment = await grantedEnvironment(this.#client, this.namespaces, values);
    const { organization, project, name } = environment.ref;
    const rules = [{ project, environments: [name], permission: 'read', kinds: ['SecretSync'] }];
    for (const cluster of this.#clusters)
      await this.#client.call('PUT', `/organizations/${organization}/clusters/${cluster}`, { rules });
    return environment;
  }

  /** Adds so many SecretSyncs, whose environments are there before, and waits until they are Ready; returns how many a second. */
  async add(count: number): Promise<number> {
    const first = this.#size;
    this.#size += count;
    while (this.environments.length * syncsPerEnvironment < this.#size)
      this.environments.push(await this.makeEnvironment(randomValues()));
    const added = Array.from({ length: count }, (_, index) => first + index);
    const startedAtMs = performance.timeOrigin + performance.now();
    let next = first;
    const created = throughput(count, concurrency, async () => {
      const index = next++;
      const { namespace, name, environment } = this.#place(index);
      await createSync(namespace, name, { environmentRef: environment.ref });
    });
    const readyAtMs = await this.syncs.all(
      'be Ready',
      added.map((index) => this.#keyOf(index)),
      isReady,
    );
    await created;
    return (count * 1000) / (readyAtMs - startedAtMs);
  }

  /** The keys `namespace/name` of the Secrets of an environment. */
  secretsOf(environment: ApiEnvironment): readonly string[] {
    const at = this.environments.indexOf(environment) * syncsPerEnvironment;
    const end = Math.min(at + syncsPerEnvironment, this.#size);
    return Array.from({ length: end - at }, (_, index) => this.#keyOf(at + index));
  }

  /** The keys `namespace/name` of all SecretSyncs, and of their Secrets. */
  keys(): readonly string[] {
    return Array.from({ length: this.#size }, (_, index) => this.#keyOf(index));
  }

  #keyOf(index: number): string {
    const { namespace, name } = this.#place(index);
    return `${namespace}/${name}`;
  }

  #place(index: number): { readonly namespace: string; readonly name: string; readonly environment: ApiEnvironment } {
    const namespace = this.namespaces[index % this.namespaces.length];
    const environment = this.environments[Math.floor(index / syncsPerEnvironment)];
    if (namespace === undefined || environment === undefined) throw new Error(`the fleet has no place ${index}`);
    return { namespace, name: `sync-${index}`, environment };
  }
}

/** Ten values as random as passwords. */
export function randomValues(): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: 10 }, (_, index) => [`KEY_${index}`, randomBytes(16).toString('hex')]),
  );
}

/** Whether a SecretSync is Ready as its spec is now. */
export function isReady({ metadata, status }: SyncObject): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}
