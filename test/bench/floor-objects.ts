import type { SecretSyncStatus } from '../../src/controller/generated/secret-sync.ts';
import { adminClient } from '../support/cluster.ts';
import { concurrency, randomValues } from './fleet.ts';
import { throughput } from './rounds.ts';
import { createSync } from './secret-contender.ts';

const mergePatch = 'application/merge-patch+json';

/** The least that a controller must ask of the API server for many SecretSyncs, in loops that know nothing else. */
export class FloorObjects {
  readonly #namespace: string;
  readonly #status: SecretSyncStatus;
  #made = 0;

  /** `status` is what each SecretSync gets: one of Keyframe's. No controller watches the namespace. */
  constructor(namespace: string, status: SecretSyncStatus) {
    this.#namespace = namespace;
    this.#status = status;
  }

  /** Makes a Secret and patches a status, for each of so many SecretSyncs; returns how many a second. */
  async create(count: number): Promise<number> {
    const first = this.#made;
    this.#made += count;
    const environmentRef = { organization: 'none', project: 'none', name: 'none' };
    let named = first;
    await throughput(count, concurrency, () => createSync(this.#namespace, `floor-${named++}`, { environmentRef }));
    let next = first;
    return await throughput(count, concurrency, async () => {
      const name = `floor-${next++}`;
      const path = `${this.#syncPath(name)}/status`;
      await this.#write('POST', name);
      await adminClient().json({ method: 'PATCH', path, contentType: mergePatch, body: { status: this.#status } });
    });
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
    return await throughput(count, concurrency, () => this.#write('PUT', `floor-${next++}`));
  }

  /** Reads so many of the Secrets, in turn; returns how many a second. */
  async get(count: number): Promise<number> {
    let next = 0;
    return await throughput(count, concurrency, () =>
      adminClient().json({ path: this.#path(`floor-${next++ % this.#made}`) }),
    );
  }

  async #write(method: 'POST' | 'PUT', name: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: randomValues() };
    await adminClient().json({ method, path: method === 'POST' ? this.#path() : this.#path(name), body });
  }

  #syncPath(name: string): string {
    return `/apis/keyframe.dev/v1alpha1/namespaces/${this.#namespace}/secretsyncs/${name}`;
  }

  #path(name?: string): string {
    return `/api/v1/namespaces/${this.#namespace}/secrets${name === undefined ? '' : `/${name}`}`;
  }
}
