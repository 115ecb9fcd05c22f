import { expect } from '@jest/globals';
import type { SecretSync, SecretSyncSpec } from '../../src/controller/generated/secret-sync.ts';
import { ApiEnvironment } from '../support/api/api-client.ts';
import { keylessTokensOf, readersOf } from '../support/cluster/keyless-tokens.ts';
import type { Stack } from '../support/cluster/stack.ts';
import type { ResourceSite } from '../support/cluster/resource-site.ts';
import { parentOf } from '../support/cluster/sync-site.ts';
import { TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

export type SpecSource = NonNullable<SecretSyncSpec['sources']>[number];

/** What the two environments hold at first, and what they give together. */
const sharedValues = { A: 'shared a', B: 'shared b' };
const ownValues = { B: 'own b', C: 'own c' };
export const united = { A: 'shared a', B: 'own b', C: 'own c' };

/** Two environments, and a namespace whose AccessGrant lets it read both; no SecretSync yet. */
export class SourceSite {
  readonly sync: TokenSync;
  readonly shared: ApiEnvironment;
  readonly #stack: Stack;

  private constructor(stack: Stack, sync: TokenSync, shared: ApiEnvironment) {
    this.#stack = stack;
    this.sync = sync;
    this.shared = shared;
  }

  static async make(stack: Stack): Promise<SourceSite> {
    const [sync, shared] = [await TokenSync.make(stack), await stack.admin.makeEnvironment()];
    await sync.site.environment.change(ownValues, ['A']);
    await shared.change(sharedValues);
    const site = new SourceSite(stack, sync, shared);
    await site.grant([site.own, shared]);
    return site;
  }

  get own(): ApiEnvironment {
    return this.sync.site.environment;
  }

  get syncs(): ResourceSite<SecretSync> {
    return this.sync.syncs;
  }

  /** Lets the namespace read these environments and no others. */
  async grant(environments: readonly ApiEnvironment[]): Promise<void> {
    const kinds = ['ServiceToken', 'SecretSnapshot'];
    const rules = environments.map(({ ref: { organization, project, name } }) => {
      return { organization, project, environments: [name], permission: 'ReadWrite', kinds };
    });
    await this.sync.patchGrant(rules);
  }

  /** The shared environment and its own one as sources, each with more fields if given. */
  sources(shared: Partial<SpecSource> = {}, own: Partial<SpecSource> = {}): SpecSource[] {
    return [
      { name: 'shared', environmentRef: this.shared.ref, ...shared },
      { name: 'own', environmentRef: this.own.ref, ...own },
    ];
  }

  /** Makes the SecretSync `app` with these sources. */
  async create(sources: readonly SpecSource[] = this.sources(), spec: object = {}): Promise<void> {
    await this.syncs.create({ ...spec, sources }, 'app');
  }

  /** Makes it, and waits until the Secret holds what the two give together. */
  async createInStep(sources?: readonly SpecSource[], spec?: object): Promise<void> {
    await this.create(sources, spec);
    await this.sync.waitForValues(united);
  }

  /** Makes a token for an environment over the API, and puts it into a Secret; answers its id. */
  async putToken(environment: ApiEnvironment, name: string): Promise<string> {
    const { id, token } = await environment.createToken();
    const path = this.sync.site.secretPath(name);
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { token } };
    const isThere = (await this.#stack.kube.find({ path })) !== undefined;
    await this.#stack.kube.json(
      isThere ? { method: 'PUT', path, body } : { method: 'POST', path: parentOf(path), body },
    );
    return id;
  }

  /** Has its own environment purged and another one made in its place, with these values; answers that one. */
  async replaceOwn(values: Readonly<Record<string, string>>): Promise<ApiEnvironment> {
    const { admin } = this.#stack;
    const { organization, project, name } = this.own.ref;
    const path = `/environments/${organization}/${project}`;
    await admin.call('DELETE', `${path}/${name}`);
    await admin.call('POST', `${path}/${name}/purge`);
    const { id } = await admin.call<{ id: string }>('POST', path, { slug: name });
    const again = new ApiEnvironment(admin, this.own.ref, id);
    await again.change(values);
    return again;
  }

  /** Waits until Ready has this reason and its message contains this; returns the message. */
  async waitForWord(reason: string, word: string): Promise<string> {
    return await waitFor(`the condition to contain: ${word}`, async () => {
      const message = await this.sync.waitForReason(reason);
      expect(message).toContain(word);
      return message;
    });
  }

  /** The names of the namespace's ServiceTokens. */
  async tokenNames(): Promise<string[]> {
    const path = parentOf(this.sync.site.tokenPath());
    const { items } = await this.#stack.kube.json<{ items: { metadata: { name: string } }[] }>({ path });
    return items.map(({ metadata }) => metadata.name).sort();
  }

  /** The ids of the service tokens that have read an environment's values. */
  async readersOf(environment: ApiEnvironment): Promise<string[]> {
    return await readersOf(this.#stack.admin, environment);
  }

  /** The ids of the namespace's keyless tokens for an environment. */
  async keylessOf(environment: ApiEnvironment): Promise<string[]> {
    const tokens = await keylessTokensOf(this.#stack.admin, { environment, namespace: this.sync.site.namespace });
    return tokens.map(({ id }) => id);
  }

  /** The annotations of the Secret. */
  async annotations(): Promise<Record<string, string>> {
    const secret = await this.#stack.kube.json<{ metadata: { annotations?: Record<string, string> } }>({
      path: this.sync.site.secretPath('app'),
    });
    return secret.metadata.annotations ?? {};
  }

  /** The versions of the Secret and of the SecretSync: who writes one changes it. */
  async versions(): Promise<string[]> {
    const { metadata } = await this.syncs.get('app');
    const secret = await this.sync.site.secret('app');
    return [metadata.resourceVersion, secret?.metadata.resourceVersion ?? '', secret?.metadata.uid ?? ''];
  }
}
