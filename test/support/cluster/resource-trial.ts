import { expect } from '@jest/globals';
import type { KubeAnswer } from '../../../tools/devcluster/cluster/kube-http.ts';
import { adminClient } from './cluster.ts';

export interface TrialKind {
  readonly kind: string;
  readonly plural: string;
  /** Absent for a kind of the cluster's. */
  readonly namespace?: string;
}

const group = '/apis/keyframe.dev/v1alpha1';
let made = 0;

/** Offers resources of one kind to the shared cluster, to see what its API server makes of them. */
export class ResourceTrial {
  readonly #kind: TrialKind;

  constructor(kind: TrialKind) {
    this.#kind = kind;
  }

  get path(): string {
    const { namespace, plural } = this.#kind;
    return namespace === undefined ? `${group}/${plural}` : `${group}/namespaces/${namespace}/${plural}`;
  }

  /** Has the API server judge a resource, by default under a name of its own, and makes nothing. */
  async offer(spec: unknown, name = `trial-${++made}`): Promise<KubeAnswer> {
    return await this.#post(spec, { name, query: '?dryRun=All' });
  }

  /** The spec of an accepted resource, with its defaults. */
  async accepted(spec: unknown, name?: string): Promise<unknown> {
    const answer = await this.offer(spec, name);
    expect(answer).toMatchObject({ status: 201 });
    return (answer.body as { spec: unknown }).spec;
  }

  /** Expects a refusal whose message has all these parts. */
  async refused(spec: unknown, ...parts: readonly string[]): Promise<void> {
    expectRefused(await this.offer(spec), ...parts);
  }

  /** Makes a resource for `change`; answers its name. */
  async made(spec: unknown): Promise<string> {
    const name = `made-${++made}-${process.pid}`;
    expect(await this.#post(spec, { name })).toMatchObject({ status: 201 });
    return name;
  }

  /** Has the API server judge a merge patch of a spec, and changes nothing. */
  async change(name: string, spec: object): Promise<KubeAnswer> {
    return await adminClient().send({
      method: 'PATCH',
      path: `${this.path}/${name}?dryRun=All`,
      contentType: 'application/merge-patch+json',
      body: { spec },
    });
  }

  async remove(name: string): Promise<void> {
    await adminClient().json({ method: 'DELETE', path: `${this.path}/${name}` });
  }

  /** Short names and categories, as kubectl asks for them. */
  async appearance(): Promise<Required<Discovered>> {
    const { body } = await adminClient().send({ path: group });
    const { resources } = body as { resources: (Discovered & { name: string })[] };
    const found = resources.find(({ name }) => name === this.#kind.plural);
    const { shortNames = [], categories = [], namespaced = false } = found ?? {};
    return { shortNames, categories, namespaced };
  }

  async #post(spec: unknown, { name, query = '' }: { name: string; query?: string }): Promise<KubeAnswer> {
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: this.#kind.kind, metadata: { name }, spec };
    return await adminClient().send({ method: 'POST', path: `${this.path}${query}`, body });
  }
}

interface Discovered {
  readonly shortNames?: string[];
  readonly categories?: string[];
  readonly namespaced?: boolean;
}

/** Expects that the API server judged a resource invalid, in words that have all these parts. */
export function expectRefused({ status, body }: KubeAnswer, ...parts: readonly string[]): void {
  expect({ status, body }).toMatchObject({ status: 422 });
  for (const part of parts) expect((body as { message: string }).message).toContain(part);
}
