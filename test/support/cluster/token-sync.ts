import { expect } from '@jest/globals';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import { readersOf } from './keyless-tokens.ts';
import { ResourceSite, readyOf } from './resource-site.ts';
import { type SecretObject, secretValues } from './secret-watch.ts';
import type { Stack } from './stack.ts';
import { TokenSite } from './token-site.ts';
import { waitFor } from '../fixtures/wait-for.ts';

export interface TokenSyncOptions {
  /** Whether there is no AccessGrant at first. */
  readonly withoutGrant?: boolean;
  /** What the AccessGrant is for; ServiceTokens if absent. */
  readonly kinds?: readonly string[];
}

/** For SecretSyncs alone: nothing may be minted. */
export const syncsOnly: TokenSyncOptions = { kinds: ['SecretSync'] };

/** What the environment holds at first. */
export const alpha = { A: 'alpha' };

/** The SecretSync `app` of an environment with one secret, in a namespace with ServiceTokens. */
export class TokenSync {
  readonly site: TokenSite;
  readonly syncs: ResourceSite<SecretSync>;
  readonly #stack: Stack;

  private constructor(stack: Stack, site: TokenSite) {
    this.#stack = stack;
    this.site = site;
    const { namespace } = site;
    this.syncs = new ResourceSite<SecretSync>({
      kube: stack.kube,
      kind: 'SecretSync',
      plural: 'secretsyncs',
      namespace,
    });
  }

  /** Makes the environment and the namespace, granted by default; no SecretSync yet. */
  static async make(stack: Stack, { withoutGrant = false, kinds }: TokenSyncOptions = {}): Promise<TokenSync> {
    const granted = !withoutGrant;
    return new TokenSync(stack, await TokenSite.make(stack, kinds === undefined ? { granted } : { granted, kinds }));
  }

  /** The same with a SecretSync that is in step. */
  static async makeSynced(stack: Stack, options: TokenSyncOptions = {}, spec: object = {}): Promise<TokenSync> {
    const sync = await TokenSync.make(stack, options);
    await sync.create(spec);
    await sync.waitForValues(alpha);
    return sync;
  }

  /** Makes the SecretSync; without a reference it reads with the keyless token of its namespace. */
  async create(spec: object = {}): Promise<void> {
    await this.syncs.create({ environmentRef: this.site.environment.ref, ...spec }, 'app');
  }

  async patch(spec: object): Promise<void> {
    await this.syncs.patch('app', { spec });
  }

  /** Waits until Ready has this reason for the present spec; answers its message. */
  async waitForReason(reason: string): Promise<string> {
    const { status } = await this.syncs.waitForReason('app', reason);
    return status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
  }

  /** Waits until the Secret holds these values and the status reports that very state of it. */
  async waitForValues(values: Readonly<Record<string, string>>): Promise<void> {
    const isThere = async (): Promise<boolean> => JSON.stringify(await this.values()) === JSON.stringify(values);
    await waitFor(`Secret ${this.site.namespace}/app to hold ${Object.keys(values).join(', ')}`, isThere);
    await waitFor(`SecretSync ${this.site.namespace}/app to report its Secret`, async () => {
      const [secret, sync] = [await this.site.secret('app'), await this.syncs.get('app')];
      expect(readyOf(sync)).toMatchObject({ reason: 'Synced', observedGeneration: sync.metadata.generation });
      const { uid, resourceVersion } = secret?.metadata ?? {};
      expect(sync.status?.target).toEqual({ name: 'app', uid, resourceVersion });
      return true;
    });
  }

  /**
   * Expects that nothing changes what a look sees: it must not throw now, nor after the controller has processed all that
   * happened before this call. The SecretSync is reconciled once more on the way.
   */
  async expectStays(look: () => unknown): Promise<void> {
    await look();
    await this.syncs.requestReconcile('app');
    await this.#stack.passWitness(this.site.namespace);
    await look();
  }

  /** Gives the AccessGrant other rules. */
  async patchGrant(rules: readonly object[]): Promise<void> {
    await this.#stack.kube.json({
      method: 'PATCH',
      path: `/apis/keyframe.dev/v1alpha1/accessgrants/${this.site.grantName}`,
      contentType: 'application/merge-patch+json',
      body: { spec: { rules } },
    });
  }

  /** What the Secret holds; undefined where there is none. */
  async values(): Promise<Record<string, string> | undefined> {
    const secret = await this.#stack.kube.find<SecretObject>({ path: this.site.secretPath('app') });
    return secret === undefined ? undefined : Object.fromEntries(secretValues(secret));
  }

  /** The ids of the service tokens that have read the environment's values. */
  async readers(): Promise<string[]> {
    return await readersOf(this.#stack.admin, this.site.environment);
  }

  /** The ServiceToken of a name; undefined where there is none. */
  find(name = 'app-token'): Promise<ServiceToken | undefined> {
    return this.#stack.kube.find<ServiceToken>({ path: this.site.tokenPath(name) });
  }

  async waitUntilGone(name = 'app-token'): Promise<void> {
    await waitFor(`ServiceToken ${name} to be gone`, async () => (await this.find(name)) === undefined);
  }

  async uid(name?: string): Promise<string> {
    return (await this.find(name))?.metadata.uid ?? '';
  }
}
