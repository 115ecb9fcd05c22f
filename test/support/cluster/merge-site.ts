import { expect } from '@jest/globals';
import { type SecretObject, secretValues } from './secret-watch.ts';
import type { Stack } from './stack.ts';
import { type SiteOptions, type SyncSite, parentOf } from './sync-site.ts';
import { waitFor } from '../fixtures/wait-for.ts';

const applyType = 'application/apply-patch+yaml';
/** Of the annotation by which a Secret allows to be merged into. */
export const consent = 'keyframe.dev/allow-merge';

/** What another client wants of a Secret. */
export interface ForeignApply {
  readonly manager: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A SecretSync that merges into the Secret `shared`, unless the options say otherwise; its Secret is not made. */
export function makeMergeSite(stack: Stack, options: SiteOptions = {}): Promise<SyncSite> {
  const target = { name: 'shared', creationPolicy: 'Merge', ...options.target };
  return stack.makeSite({ ...options, target });
}

/** The Secret `shared` of a site's namespace, as those who own it and others handle it. */
export class SharedSecret {
  readonly #site: Pick<SyncSite, 'kube' | 'secretPath' | 'sync'>;

  constructor(site: Pick<SyncSite, 'kube' | 'secretPath' | 'sync'>) {
    this.#site = site;
  }

  get path(): string {
    return this.#site.secretPath('shared');
  }

  /** Makes it with these values, for these SecretSyncs to merge into. */
  create(values: Readonly<Record<string, string>>, allowed = '', more: object = {}): Promise<SecretObject> {
    const annotations = allowed === '' ? {} : { [consent]: allowed };
    const metadata = { name: 'shared', annotations };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: values, ...more };
    return this.#site.kube.json<SecretObject>({ method: 'POST', path: parentOf(this.path), body });
  }

  get(): Promise<SecretObject> {
    return this.#site.kube.json<SecretObject>({ path: this.path });
  }

  async values(): Promise<Record<string, string>> {
    return Object.fromEntries(secretValues(await this.get()));
  }

  /** Changes it by a merge patch, as `kubectl edit` does. */
  patch(body: object): Promise<SecretObject> {
    const contentType = 'application/merge-patch+json';
    return this.#site.kube.json<SecretObject>({ method: 'PATCH', path: this.path, contentType, body });
  }

  /** Allows these SecretSyncs, or none where undefined. */
  async allow(names: string | undefined): Promise<void> {
    await this.patch({ metadata: { annotations: { [consent]: names ?? null } } });
  }

  /** Reads it, changes it and replaces all of it, as an operator does; once more if another client came between. */
  async replace(change: (data: Record<string, string>) => void): Promise<void> {
    await waitFor('the other operator to have its write through', async () => {
      const secret = await this.get();
      const data = { ...secret.data };
      change(data);
      const { status } = await this.#site.kube.send({ method: 'PUT', path: this.path, body: { ...secret, data } });
      return status === 200;
    });
  }

  /** Applies as `kubectl apply --server-side` does; answers the status and the body. */
  apply({ manager, values = {}, annotations = {} }: ForeignApply): Promise<{ status: number; body: unknown }> {
    const metadata = { name: 'shared', annotations };
    const body = { apiVersion: 'v1', kind: 'Secret', metadata, data: encoded(values) };
    const path = `${this.path}?fieldManager=${manager}&force=false`;
    return this.#site.kube.send({ method: 'PATCH', path, contentType: applyType, body });
  }

  async delete(): Promise<void> {
    await this.#site.kube.json({ method: 'DELETE', path: this.path });
  }

  /** Waits until it holds exactly these values and the site's status agrees, with the count of its own keys. */
  async waitUntilMerged(values: Readonly<Record<string, string>>, count: number): Promise<SecretObject> {
    return await waitFor(`Secret shared to hold ${Object.keys(values).join(', ')}`, async () => {
      const secret = await this.get();
      expect(Object.fromEntries(secretValues(secret))).toEqual(values);
      const { metadata, status } = await this.#site.sync();
      const { uid, resourceVersion } = secret.metadata;
      const target = { name: 'shared', uid, resourceVersion };
      expect(status).toMatchObject({ target, secretCount: count, observedGeneration: metadata.generation });
      expect(status?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe('Synced');
      return secret;
    });
  }
}

/** Values as a Secret has them. */
export function encoded(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));
}
