import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import type { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import type { ApiClient, ApiEnvironment, ServiceToken, TokenOptions } from '../api/api-client.ts';
import { type SecretObject, secretValues } from './secret-watch.ts';
import { type WaitOptions, waitFor } from '../fixtures/wait-for.ts';

export interface SiteOptions {
  readonly namespace?: string;
  /** What the environment holds at first; nothing if absent. */
  readonly values?: Readonly<Record<string, string>>;
  readonly token?: TokenOptions;
  /** Fields of `spec.target`. */
  readonly target?: Readonly<Record<string, unknown>>;
  /** Further fields of `spec`. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Name of the SecretSync and, unless the target says otherwise, of its Secret. */
  readonly name?: string;
  /** Default: the SecretSync's name with `-token`. */
  readonly tokenSecretName?: string;
  /** Whether the SecretSync is not made yet. */
  readonly withoutSync?: boolean;
}

export type Condition = NonNullable<NonNullable<SecretSync['status']>['conditions']>[number];

/** Where sites are made, and by whom. */
export interface SiteWorld {
  readonly kube: KubeHttp;
  readonly admin: ApiClient;
}

/** An environment on one side, a SecretSync and its Secret on the other. */
export class SyncSite {
  readonly kube: KubeHttp;
  readonly namespace: string;
  readonly name: string;
  readonly environment: ApiEnvironment;
  readonly token: ServiceToken;
  readonly tokenSecretName: string;
  readonly #world: SiteWorld;
  readonly #target: Readonly<Record<string, unknown>>;
  readonly #spec: Readonly<Record<string, unknown>>;

  private constructor(world: SiteWorld, environment: ApiEnvironment, token: ServiceToken, options: SiteOptions) {
    this.#world = world;
    this.kube = world.kube;
    this.environment = environment;
    this.token = token;
    this.namespace = options.namespace ?? 'default';
    this.name = options.name ?? 'app';
    this.tokenSecretName = options.tokenSecretName ?? `${this.name}-token`;
    this.#target = options.target ?? {};
    this.#spec = options.spec ?? {};
  }

  /** Makes the environment, its token, the token's Secret and the SecretSync; does not wait for the Secret. */
  static async make(world: SiteWorld, options: SiteOptions): Promise<SyncSite> {
    const environment = await world.admin.makeEnvironment();
    if (options.values !== undefined) await environment.change(options.values);
    const site = new SyncSite(world, environment, await environment.createToken(options.token), options);
    await site.putToken(site.token.token);
    if (options.withoutSync !== true) await site.createSync();
    return site;
  }

  /** Another SecretSync beside this one, for the same environment and with the same token. */
  async sibling(name: string, spec: Readonly<Record<string, unknown>> = {}): Promise<SyncSite> {
    const { namespace, tokenSecretName } = this;
    const site = new SyncSite(this.#world, this.environment, this.token, { name, namespace, tokenSecretName, spec });
    await site.createSync();
    return site;
  }

  /** Path of a Secret of the namespace; of the synced one by default. */
  secretPath(name: string = this.name): string {
    return `/api/v1/namespaces/${this.namespace}/secrets/${name}`;
  }

  get syncPath(): string {
    return `/apis/keyframe.dev/v1alpha1/namespaces/${this.namespace}/secretsyncs/${this.name}`;
  }

  async createSync(): Promise<void> {
    const spec = {
      environmentRef: this.environment.ref,
      tokenSecretRef: { name: this.tokenSecretName },
      target: this.#target,
      ...this.#spec,
    };
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name: this.name }, spec };
    await this.kube.json({ method: 'POST', path: parentOf(this.syncPath), body });
  }

  async deleteSync(): Promise<void> {
    await this.kube.json({ method: 'DELETE', path: this.syncPath });
  }

  /** Writes the Secret that holds the service token. */
  async putToken(token: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: this.tokenSecretName }, stringData: { token } };
    const path = this.secretPath(this.tokenSecretName);
    const isThere = (await this.kube.find({ path })) !== undefined;
    await this.kube.json(isThere ? { method: 'PUT', path, body } : { method: 'POST', path: parentOf(path), body });
  }

  /** The synced Secret; undefined where there is none. */
  secret(): Promise<SecretObject | undefined> {
    return this.kube.find<SecretObject>({ path: this.secretPath() });
  }

  /** The synced Secret, which must be there. */
  existingSecret(): Promise<SecretObject> {
    return this.kube.json<SecretObject>({ path: this.secretPath() });
  }

  /** Makes a Secret of the target's name that belongs to another client. */
  createForeignSecret(values: Readonly<Record<string, string>>): Promise<SecretObject> {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: this.name }, stringData: values };
    return this.kube.json<SecretObject>({ method: 'POST', path: parentOf(this.secretPath()), body });
  }

  /** Changes the synced Secret as its users can, by a merge patch. */
  patchSecret(patch: unknown): Promise<SecretObject> {
    const contentType = 'application/merge-patch+json';
    return this.kube.json<SecretObject>({ method: 'PATCH', path: this.secretPath(), contentType, body: patch });
  }

  async deleteSecret(): Promise<void> {
    await this.kube.json({ method: 'DELETE', path: this.secretPath() });
  }

  sync(): Promise<SecretSync> {
    return this.kube.json<SecretSync>({ path: this.syncPath });
  }

  /** Changes the SecretSync's spec or metadata by a merge patch. */
  async patchSync(patch: unknown): Promise<void> {
    await this.kube.json({
      method: 'PATCH',
      path: this.syncPath,
      contentType: 'application/merge-patch+json',
      body: patch,
    });
  }

  async condition(
    type: 'Ready' | 'Reconciling' | 'Stalled' | 'Converged' | 'RolledBack',
  ): Promise<Condition | undefined> {
    const { status } = await this.sync();
    return status?.conditions?.find((condition) => condition.type === type);
  }

  /** Waits until the Secret holds exactly these values; answers it. */
  waitForValues(values: Readonly<Record<string, string>>, options?: WaitOptions): Promise<SecretObject> {
    const what = `Secret ${this.namespace}/${this.name} to hold the keys ${Object.keys(values).join(', ')} as they should be`;
    return waitFor(
      what,
      async () => {
        const secret = await this.secret();
        expect(secret === undefined ? undefined : Object.fromEntries(secretValues(secret))).toEqual(values);
        return secret;
      },
      options,
    );
  }

  /** Has the controller reconcile the SecretSync once more, if it is there. */
  async requestReconcile(): Promise<void> {
    const body = { metadata: { annotations: { 'keyframe.dev/reconcile-at': randomUUID() } } };
    const contentType = 'application/merge-patch+json';
    await this.kube.find({ method: 'PATCH', path: this.syncPath, contentType, body });
  }

  /**
   * Expects that nothing changes what a look sees: it must not throw now, nor after the controller has processed all that
   * happened before this call. The SecretSync is reconciled once more on the way.
   */
  async expectStays(look: () => unknown): Promise<void> {
    await look();
    await this.requestReconcile();
    await passWitness(this.#world, this.namespace);
    await look();
  }

  /** Waits until the condition Ready has this reason for the present spec; returns it. */
  waitForReason(reason: string, options?: WaitOptions): Promise<Condition> {
    return this.#waitForCondition('Ready', reason, options);
  }

  /** Waits until the condition Converged has this reason for the present spec; returns it. */
  waitForConverged(reason: string, options?: WaitOptions): Promise<Condition> {
    return this.#waitForCondition('Converged', reason, options);
  }

  #waitForCondition(type: 'Ready' | 'Converged', reason: string, options?: WaitOptions): Promise<Condition> {
    return waitFor(
      `${type} of SecretSync ${this.namespace}/${this.name} to be ${reason}`,
      async () => {
        const { metadata, status } = await this.sync();
        const condition = status?.conditions?.find((candidate) => candidate.type === type);
        const { reason: seen, observedGeneration } = condition ?? {};
        expect({ reason: seen, observedGeneration }).toEqual({ reason, observedGeneration: metadata.generation });
        return condition;
      },
      options,
    );
  }

  /** Waits until the Secret holds exactly these values and the status says so; answers the Secret. */
  waitUntilSynced(values: Readonly<Record<string, string>>, options?: WaitOptions): Promise<SecretObject> {
    return waitFor(
      `Secret ${this.namespace}/${this.name} and its status to agree on the keys ${Object.keys(values).join(', ')}`,
      async () => {
        const secret = await this.existingSecret();
        expect(Object.fromEntries(secretValues(secret))).toEqual(values);
        const { metadata, status } = await this.sync();
        // Of a spec that was changed just now, the status may still show the one before.
        expect(status?.observedGeneration).toBe(metadata.generation);
        const { uid, resourceVersion } = secret.metadata;
        expect(status?.target).toEqual({ name: this.name, uid, resourceVersion });
        expect(status?.syncedRevisionId).toBe(status?.wantedRevisionId);
        expect(status?.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
        return secret;
      },
      options,
    );
  }
}

/**
 * Resolves when the controller has processed what happened in a namespace before the call. A SecretSync that is made
 * afterwards shows that: its Secret gets what its environment holds, and then what is committed to it. So the watch of
 * SecretSyncs and the notifications of commits have been read past everything earlier, and the queue serves in order.
 */
export async function passWitness(world: SiteWorld, namespace: string): Promise<void> {
  const name = `witness-${randomUUID()}`;
  const witness = await SyncSite.make(world, { namespace, name, values: { COUNT: '0' } });
  await witness.waitUntilSynced({ COUNT: '0' });
  await witness.environment.change({ COUNT: '1' });
  await witness.waitUntilSynced({ COUNT: '1' });
  await witness.deleteSync();
}

/** The collection that an object's path is in. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
