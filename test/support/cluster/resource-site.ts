import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { Resource } from '../../../src/controller/frame/resource.ts';
import { type WaitOptions, waitFor } from '../fixtures/wait-for.ts';

export interface ResourceSiteOptions {
  readonly kube: KubeHttp;
  readonly kind: string;
  readonly plural: string;
  /** Absent for a kind of the cluster's. */
  readonly namespace?: string;
}

/** Custom resources of one kind in one place, as their users handle them. */
export class ResourceSite<T extends Resource> {
  readonly #options: ResourceSiteOptions;

  constructor(options: ResourceSiteOptions) {
    this.#options = options;
  }

  /** The collection, or one resource of it. */
  path(name?: string): string {
    const { plural, namespace } = this.#options;
    const scope = namespace === undefined ? '' : `namespaces/${namespace}/`;
    return `/apis/keyframe.dev/v1alpha1/${scope}${plural}${name === undefined ? '' : `/${name}`}`;
  }

  /** Makes a resource under a name of its own unless one is given; answers the name. */
  async create(spec: object, name = `of-a-test-${randomBytes(4).toString('hex')}`): Promise<string> {
    const { kube, kind } = this.#options;
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind, metadata: { name }, spec };
    await kube.json({ method: 'POST', path: this.path(), body });
    return name;
  }

  get(name: string): Promise<T> {
    return this.#options.kube.json<T>({ path: this.path(name) });
  }

  /** Changes spec or metadata by a merge patch. */
  async patch(name: string, body: object): Promise<void> {
    await this.#options.kube.json({
      method: 'PATCH',
      path: this.path(name),
      contentType: 'application/merge-patch+json',
      body,
    });
  }

  /** Has the controller reconcile a resource once more. */
  async requestReconcile(name: string): Promise<void> {
    await this.patch(name, { metadata: { annotations: { 'keyframe.dev/reconcile-at': randomUUID() } } });
  }

  async delete(name: string): Promise<void> {
    await this.#options.kube.json({ method: 'DELETE', path: this.path(name) });
  }

  /** Waits until the condition Ready has this reason for the present spec; answers the resource. */
  waitForReason(name: string, reason: string, options?: WaitOptions): Promise<T> {
    return waitFor(
      `${this.#options.kind} ${name} to be ${reason}`,
      async () => {
        const resource = await this.get(name);
        expect(readyOf(resource)).toMatchObject({ reason, observedGeneration: resource.metadata.generation });
        return resource;
      },
      options,
    );
  }

  /** Waits until the resource is gone. */
  async waitUntilGone(name: string, options?: WaitOptions): Promise<void> {
    const isGone = async (): Promise<boolean> =>
      (await this.#options.kube.find({ path: this.path(name) })) === undefined;
    await waitFor(`${this.#options.kind} ${name} to be gone`, isGone, options);
  }
}

/** The condition Ready of a resource. */
export function readyOf({
  status,
}: Resource): NonNullable<NonNullable<Resource['status']>['conditions']>[number] | undefined {
  return status?.conditions?.find(({ type }) => type === 'Ready');
}

/** `Ready True` and the like, of all conditions. */
export function conditionsOf({ status }: Resource): string[] {
  return (status?.conditions ?? []).map(({ type, status: holds }) => `${type} ${holds}`);
}
