import { randomBytes } from 'node:crypto';
import type { SecretSyncStatus } from '../../src/controller/generated/secret-sync.ts';
import { adminClient } from '../support/cluster/cluster.ts';
import type { SecretObject } from '../support/cluster/secret-watch.ts';
import { type SyncObject, concurrency, isReady, randomValues } from './fleet.ts';
import { ObjectWatch } from './object-watch.ts';
import { throughput } from './rounds.ts';
import { createSync } from './secret-contender.ts';

const mergePatch = 'application/merge-patch+json';

/**
 * The least that a controller must ask of the API server for many SecretSyncs, in loops that know nothing else. As for a
 * fleet, the bench watches all objects, and a time ends when it has seen the last of them.
 */
export class FloorObjects {
  readonly #namespace: string;
  readonly #status: SecretSyncStatus;
  readonly #syncs: ObjectWatch<SyncObject>;
  readonly #secrets: ObjectWatch<SecretObject>;
  #made = 0;

  private constructor(
    namespace: string,
    status: SecretSyncStatus,
    watches: { readonly syncs: ObjectWatch<SyncObject>; readonly secrets: ObjectWatch<SecretObject> },
  ) {
    this.#namespace = namespace;
    this.#status = status;
    this.#syncs = watches.syncs;
    this.#secrets = watches.secrets;
  }

  /** `status` is what each SecretSync gets: one of Keyframe's. No controller watches the namespace. */
  static async open(
    resources: AsyncDisposableStack,
    namespace: string,
    status: SecretSyncStatus,
  ): Promise<FloorObjects> {
    const kube = adminClient();
    const syncPath = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`;
    const syncs = await ObjectWatch.open<SyncObject>(resources, kube, [syncPath]);
    const secrets = await ObjectWatch.open<SecretObject>(resources, kube, [`/api/v1/namespaces/${namespace}/secrets`]);
    return new FloorObjects(namespace, status, { syncs, secrets });
  }

  /** Makes so many SecretSyncs, as the fleet does, and for each its Secret and its status; returns how many a second. */
  async create(count: number): Promise<number> {
    const first = this.#made;
    this.#made += count;
    const environmentRef = { organization: 'none', project: 'none', name: 'none' };
    let next = first;
    const startedAtMs = performance.timeOrigin + performance.now();
    const written = throughput(count, concurrency, async () => {
      const name = `floor-${next++}`;
      const path = `${this.#syncPath(name)}/status`;
      await createSync(this.#namespace, name, { environmentRef });
      await this.#write('POST', name, randomValues());
      await adminClient().json({ method: 'PATCH', path, contentType: mergePatch, body: { status: this.#status } });
    });
    const lastAtMs = await this.#syncs.all('be Ready', this.#keys(first, count), isReady);
    await written;
    return (count * 1000) / (lastAtMs - startedAtMs);
  }

  /** Deletes as many of the last ones. */
  async remove(count: number): Promise<void> {
    await throughput(count, concurrency, async () => {
      this.#made -= 1;
      const name = `floor-${this.#made}`;
      await adminClient().json({ method: 'DELETE', path: this.#path(name) });
      await adminClient().json({ method: 'DELETE', path: this.#syncPath(name) });
    });
  }

  /** Writes a value into each of so many of the Secrets; returns how many a second. */
  async put(count: number): Promise<number> {
    let next = 0;
    const values = { ...randomValues(), KEY_0: randomBytes(12).toString('hex') };
    const wanted = Buffer.from(values.KEY_0).toString('base64');
    const startedAtMs = performance.timeOrigin + performance.now();
    const seen = this.#secrets.all('hold the value', this.#keys(0, count), ({ data }) => data?.['KEY_0'] === wanted);
    await throughput(count, concurrency, () => this.#write('PUT', `floor-${next++}`, values));
    return (count * 1000) / ((await seen) - startedAtMs);
  }

  /** Reads so many of the Secrets, in turn; returns how many a second. */
  async get(count: number): Promise<number> {
    let next = 0;
    return await throughput(count, concurrency, () =>
      adminClient().json({ path: this.#path(`floor-${next++ % this.#made}`) }),
    );
  }

  #keys(first: number, count: number): readonly string[] {
    return Array.from({ length: count }, (_, index) => `${this.#namespace}/floor-${first + index}`);
  }

  async #write(method: 'POST' | 'PUT', name: string, values: Readonly<Record<string, string>>): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: values };
    await adminClient().json({ method, path: method === 'POST' ? this.#path() : this.#path(name), body });
  }

  #syncPath(name: string): string {
    return `/apis/keyframe.dev/v1alpha1/namespaces/${this.#namespace}/secretsyncs/${name}`;
  }

  #path(name?: string): string {
    return `/api/v1/namespaces/${this.#namespace}/secrets${name === undefined ? '' : `/${name}`}`;
  }
}
