import { expect } from '@jest/globals';
import type { Condition } from '../../../src/controller/generated/condition.ts';
import type { AccessGrant } from '../../../src/controller/generated/access-grant.ts';
import type { ServiceToken } from '../../../src/controller/generated/service-token.ts';
import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { ApiEnvironment } from '../api/api-client.ts';
import { deleteNamespace } from './cluster.ts';
import { type SecretObject, secretValues } from './secret-watch.ts';
import type { Stack } from './stack.ts';
import { type WaitOptions, waitFor } from '../fixtures/wait-for.ts';

/** A namespace, whose conditions say what a deletion waits for. */
export interface NamespaceObject extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

const api = '/apis/keyframe.dev/v1alpha1';
const contentType = 'application/merge-patch+json';

/** An environment on one side, a namespace with ServiceTokens and an AccessGrant for it on the other. */
export class TokenSite {
  readonly #stack: Stack;
  readonly environment: ApiEnvironment;
  readonly namespace: string;

  readonly #kinds: readonly string[];

  private constructor(stack: Stack, environment: ApiEnvironment, kinds: readonly string[]) {
    this.#stack = stack;
    this.environment = environment;
    this.#kinds = kinds;
    this.namespace = stack.takeNamespace();
  }

  /** Makes the environment, with one secret in it, in a new namespace; `granted` with the AccessGrant, for those kinds. */
  static async make(
    stack: Stack,
    {
      granted = true,
      kinds = ['ServiceToken'],
    }: { readonly granted?: boolean; readonly kinds?: readonly string[] } = {},
  ): Promise<TokenSite> {
    const environment = await stack.admin.makeEnvironment();
    await environment.change({ A: 'alpha' });
    const site = new TokenSite(stack, environment, kinds);
    if (granted) await site.grant();
    return site;
  }

  /** The AccessGrant of the site's namespace. */
  get grantName(): string {
    return `for-${this.namespace}`;
  }

  async grant(permission: 'Read' | 'ReadWrite' = 'ReadWrite'): Promise<void> {
    const { organization, project, name } = this.environment.ref;
    const rules = [{ organization, project, environments: [name], permission, kinds: this.#kinds }];
    const spec: Partial<AccessGrant['spec']> = {
      namespaces: [this.namespace],
      rules: rules as AccessGrant['spec']['rules'],
    };
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'AccessGrant', metadata: { name: this.grantName }, spec };
    await this.#stack.kube.json({ method: 'POST', path: `${api}/accessgrants`, body });
  }

  async withdraw(): Promise<void> {
    await this.#stack.kube.find({ method: 'DELETE', path: `${api}/accessgrants/${this.grantName}` });
  }

  /** Has the namespace deleted; answers when it is gone. */
  async deleteNamespace(options?: WaitOptions): Promise<void> {
    await deleteNamespace(this.namespace, this.#stack.kube);
    const isGone = async (): Promise<boolean> => {
      const found = await this.namespaceObject();
      // Its conditions say what it waits for.
      if (found !== undefined) throw new Error(JSON.stringify(found.status));
      return true;
    };
    await waitFor(`the namespace ${this.namespace} to be gone`, isGone, options);
  }

  namespaceObject(): Promise<NamespaceObject | undefined> {
    return this.#stack.kube.find<NamespaceObject>({ path: `/api/v1/namespaces/${this.namespace}` });
  }

  tokenPath(name = 'ci'): string {
    return `${api}/namespaces/${this.namespace}/servicetokens/${name}`;
  }

  secretPath(name = 'ci'): string {
    return `/api/v1/namespaces/${this.namespace}/secrets/${name}`;
  }

  /** Makes a ServiceToken for the environment. */
  async create(spec: object = {}, name = 'ci'): Promise<void> {
    const all = { scope: 'Environment', environmentRef: this.environment.ref, ...spec };
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'ServiceToken', metadata: { name }, spec: all };
    const path = `${api}/namespaces/${this.namespace}/servicetokens`;
    await this.#stack.kube.json({ method: 'POST', path, body });
  }

  resource(name?: string): Promise<ServiceToken> {
    return this.#stack.kube.json<ServiceToken>({ path: this.tokenPath(name) });
  }

  async patch(body: object, name?: string): Promise<void> {
    await this.#stack.kube.json({ method: 'PATCH', path: this.tokenPath(name), contentType, body });
  }

  async delete(name?: string): Promise<void> {
    await this.#stack.kube.json({ method: 'DELETE', path: this.tokenPath(name) });
  }

  async patchSecret(body: object, name?: string): Promise<void> {
    await this.#stack.kube.json({ method: 'PATCH', path: this.secretPath(name), contentType, body });
  }

  secret(name?: string): Promise<SecretObject | undefined> {
    return this.#stack.kube.find<SecretObject>({ path: this.secretPath(name) });
  }

  async deleteSecret(name?: string): Promise<void> {
    await this.#stack.kube.json({ method: 'DELETE', path: this.secretPath(name) });
  }

  /** The token that the Secret holds; empty where it holds none. */
  async value(name?: string): Promise<string> {
    const secret = await this.secret(name);
    return secret === undefined ? '' : (secretValues(secret).get('token') ?? '');
  }

  /** What the API answers to a read of the environment with a token. */
  async answer(token: string): Promise<number> {
    const { status } = await this.#stack.admin.as(token).send('GET', this.environment.path);
    return status;
  }

  async condition(type: string, name?: string): Promise<Condition | undefined> {
    const { status } = await this.resource(name);
    return status?.conditions?.find((condition) => condition.type === type);
  }

  /** Waits until the condition Ready has this reason for the present spec; returns it. */
  waitForReason(reason: string, name = 'ci'): Promise<Condition> {
    return waitFor(`ServiceToken ${this.namespace}/${name} to be ${reason}`, async () => {
      const { metadata, status } = await this.resource(name);
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      expect(ready).toMatchObject({ reason, observedGeneration: metadata.generation });
      return ready;
    });
  }

  /** Waits until the Secret holds the value of a serial that works, and the status says so; answers the value. */
  waitForSerial(serial: number, name = 'ci'): Promise<string> {
    return waitFor(`ServiceToken ${this.namespace}/${name} to be at serial ${serial}`, async () => {
      const { metadata, status } = await this.resource(name);
      expect(status?.serial).toBe(serial);
      const issued = { reason: 'Issued', observedGeneration: metadata.generation };
      expect(status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject(issued);
      const value = await this.value(name);
      expect(await this.answer(value)).toBe(200);
      return value;
    });
  }
}
