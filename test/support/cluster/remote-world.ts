import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { requestToken } from '../../../tools/devcluster/cluster/controller-account.ts';
import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import { ApiClient, type ApiEnvironment } from '../api/api-client.ts';
import type { ServerProcess } from '../api/server-process.ts';
import { copyTestDatabase } from '../database/postgres.ts';
import { recoverDatabase } from '../database/recovered-database.ts';
import { ApiProxy } from '../faults/api-proxy.ts';
import { HttpProxy } from '../faults/http-proxy.ts';
import { waitFor } from '../fixtures/wait-for.ts';
import { type KillPoint, KillSwitch } from './kill-switch.ts';
import { type SecretObject, secretValues } from './secret-watch.ts';
import { Stack } from './stack.ts';

type Values = Readonly<Record<string, string>>;

/** An environment, and the SecretSyncs that take it to Secrets of the same names. */
interface Place {
  readonly environment: ApiEnvironment;
  readonly syncs: readonly string[];
}

interface Ways {
  /** From the controller to the server. */
  readonly way: HttpProxy;
  /** From the controller to the API server. */
  readonly kube: ApiProxy;
  readonly tokenFile: string;
}

const group = '/apis/keyframe.dev/v1alpha1';
const clusterName = 'fra-1';
const tokenName = 'ci';
const kinds = ['SecretSync', 'ServiceToken'];
const environments = 3;
const tokenSeconds = 3_600;
// An outage, and the longest pause of a work queue after it.
const settleLimitMs = 150_000;

/**
 * Keyframe with a remote cluster: its controller reaches the server through a proxy, with a token of its ServiceAccount.
 * In the cluster are SecretSyncs of three environments. One of them reads with a ServiceToken, the others without a token.
 */
export class RemoteWorld {
  readonly stack: Stack;
  readonly way: HttpProxy;
  server: ServerProcess;
  controller: ServerProcess | undefined;
  readonly #kube: ApiProxy;
  readonly #switch: KillSwitch;
  readonly #tokenFile: string;
  readonly #namespace: string;
  readonly #resources: AsyncDisposableStack;
  readonly #places: Place[] = [];
  #databaseUrl: string;
  #adminToken: string;
  #audience = '';

  private constructor(resources: AsyncDisposableStack, stack: Stack, { way, kube, tokenFile }: Ways) {
    this.#resources = resources;
    this.stack = stack;
    this.way = way;
    this.#kube = kube;
    this.#tokenFile = tokenFile;
    this.server = stack.api;
    this.#databaseUrl = stack.databaseUrl;
    this.#adminToken = stack.adminToken;
    this.#namespace = stack.takeNamespace();
    this.#switch = new KillSwitch({ api: kube, server: way });
  }

  /** Starts it all, with each Secret in step. */
  static async start(resources: AsyncDisposableStack): Promise<RemoteWorld> {
    const stack = await Stack.start(resources, { namespaces: 1 });
    const way = await HttpProxy.before({ server: new URL(stack.api.url) });
    resources.defer(() => way.close());
    const kube = await ApiProxy.start(stack.kubeconfigFile);
    resources.defer(() => kube.close());
    const folder = mkdtempSync(join(tmpdir(), 'keyframe-remote-'));
    resources.defer(() => rmSync(folder, { recursive: true }));
    const world = new RemoteWorld(resources, stack, { way, kube, tokenFile: join(folder, 'token') });
    await world.register();
    for (let index = 0; index < environments; index += 1) await world.#makePlace(index);
    for (const index of world.#places.keys()) await world.allow(index);
    await world.#makeResources();
    await world.startController();
    await world.settle();
    return world;
  }

  get admin(): ApiClient {
    return new ApiClient({ url: this.server.url, token: this.#adminToken });
  }

  // ------------------------------------------------------------------------------------------------------- the processes

  /** Starts the controller, and waits until it is ready unless it cannot be. */
  async startController({ isRefused = false } = {}): Promise<void> {
    const options = {
      kubeconfigFile: this.#kube.kubeconfigFile,
      server: this.way,
      env: { CLUSTER_NAME: clusterName, CLUSTER_TOKEN_FILE: this.#tokenFile },
    };
    const { stack } = this;
    // A long series lasts longer than a token.
    await this.#renewToken();
    this.controller = isRefused ? await stack.spawnController(options) : await stack.startController(options);
  }

  async killController(): Promise<void> {
    if (this.controller !== undefined) await this.stack.killController(this.controller);
  }

  /** Starts a server in place of the one that has ended. */
  async startServer(program?: string): Promise<void> {
    this.server = await this.stack.startApi(this.#databaseUrl, {}, program);
    this.way.leadTo({ server: new URL(this.server.url) });
  }

  /** A copy of the database, while no server runs. */
  async backUp(): Promise<string> {
    const backup = await copyTestDatabase({ url: this.#databaseUrl });
    this.#resources.defer(() => backup.drop());
    return backup.url;
  }

  /** Starts a server on a backup, after `recovered`. */
  async startRecovered(backupUrl: string): Promise<void> {
    ({ token: this.#adminToken } = await recoverDatabase(backupUrl));
    this.#databaseUrl = backupUrl;
    await this.startServer();
  }

  /**
   * Changes the environments, and kills a process at a message that follows. Starts it again, and waits until all is at rest.
   * Returns whether the message came.
   */
  async kill(victim: 'controller' | 'server', point: KillPoint): Promise<boolean> {
    await this.#switch.quiet();
    const process = victim === 'server' ? this.server : this.controller;
    if (process === undefined) throw new Error('There is no controller.');
    this.#switch.arm(process.captured, point);
    await this.change();
    await waitFor('the message, or rest', async () => this.#switch.isStruck || (await this.#isSettled()));
    const { isStruck } = this.#switch;
    this.#switch.disarm();
    if (isStruck) {
      await process.captured.ended;
      if (victim === 'server') await this.startServer();
      else {
        await this.killController();
        await this.startController();
      }
    }
    await this.settle();
    return isStruck;
  }

  // ------------------------------------------------------------------------------------------------- what admins decide

  /** Registers the cluster, and gives the controller a token for it. */
  async register(): Promise<void> {
    const { kube } = this.stack;
    const { issuer } = await kube.json<KubeObject & { issuer: string }>({ path: '/.well-known/openid-configuration' });
    const keySet = { path: '/openid/v1/jwks', accept: 'application/jwk-set+json' };
    const { keys } = await kube.json<KubeObject & { keys: readonly object[] }>(keySet);
    const { metadata } = await kube.json({ path: '/api/v1/namespaces/kube-system' });
    const body = { iss: issuer, keys, subject: this.stack.controllerUser, uid: metadata.uid };
    const path = `/clusters/${clusterName}`;
    type Registered = { readonly registration: { readonly audience: string } };
    this.#audience = (await this.admin.call<Registered>('PUT', path, body)).registration.audience;
    await this.#renewToken();
  }

  async #renewToken(): Promise<void> {
    const [, , namespace = '', name = ''] = this.stack.controllerUser.split(':');
    const account = { namespace, name, seconds: tokenSeconds, audience: this.#audience };
    writeFileSync(this.#tokenFile, await requestToken(this.stack.kube, account));
  }

  async decide(what: 'disable' | 'enable'): Promise<void> {
    await this.admin.call('POST', `/clusters/${clusterName}/${what}`);
  }

  /** Allows the cluster an environment, and no other one of its organization. */
  async allow(index: number): Promise<void> {
    const { project, name } = this.#place(index).environment.ref;
    await this.#setRules(index, [{ project, environments: [name], permission: 'read', kinds }]);
  }

  /** Allows the cluster nothing in the organization of an environment. */
  async deny(index: number): Promise<void> {
    await this.#setRules(index, []);
  }

  // ---------------------------------------------------------------------------------------------- changes, and what follows

  /** Changes each environment. A server that dies may have done that or not. */
  async change(): Promise<void> {
    for (const index of this.#places.keys()) await this.#changeOne(index).catch(this.#unlessServerDied);
  }

  /** What each Secret holds now. */
  async held(): Promise<readonly (Values | undefined)[]> {
    return await Promise.all(this.#places.flatMap(({ syncs }) => syncs.map((name) => this.#valuesOf(name))));
  }

  /** Waits until each Secret equals its environment and stays so, and the token works. Then no Secret was written in vain. */
  async settle(): Promise<void> {
    const timeoutMs = settleLimitMs;
    await waitFor('each Secret to equal its environment', () => this.#isSettledOrThrows(), { timeoutMs });
    await this.#switch.quiet();
    await this.#isSettledOrThrows();
    this.#expectNoVainWrite();
  }

  /** Has the controller reconcile each SecretSync once more. */
  async requestReconciles(): Promise<void> {
    const body = { metadata: { annotations: { 'keyframe.dev/reconcile-at': randomUUID() } } };
    const contentType = 'application/merge-patch+json';
    for (const name of this.#places.flatMap(({ syncs }) => syncs))
      await this.stack.kube.json({ method: 'PATCH', path: this.#path('secretsyncs', name), contentType, body });
  }

  /** Waits for the reason of a SecretSync without a token. */
  async waitForReason(index: number, reason: string): Promise<void> {
    const path = this.#path('secretsyncs', this.#place(index).syncs.at(-1));
    await waitFor(`${path} to be ${reason}`, async () => {
      const { status } = await this.stack.kube.json<Synced>({ path });
      expect(status?.conditions?.find(({ type }) => type === 'Ready')?.reason).toBe(reason);
      return true;
    });
  }

  #unlessServerDied = (error: unknown): void => {
    if (this.server.captured.isRunning && !this.#switch.isStruck) throw error;
  };

  #place(index: number): Place {
    const place = this.#places[index];
    if (place === undefined) throw new Error(`There is no environment ${index}.`);
    return place;
  }

  async #makePlace(index: number): Promise<void> {
    const environment = await this.admin.makeEnvironment();
    await environment.change({ A: randomUUID() });
    this.#places.push({ environment, syncs: [`first-${index}`, `second-${index}`] });
  }

  /** The SecretSyncs, a ServiceToken for the first environment, and the AccessGrant for all. */
  async #makeResources(): Promise<void> {
    const rules = this.#places.map(({ environment: { ref } }) => {
      const { organization, project, name } = ref;
      return { organization, project, environments: [name], kinds };
    });
    const { kube } = this.stack;
    const grant = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'AccessGrant', metadata: { name: this.#namespace } };
    const body = { ...grant, spec: { namespaces: [this.#namespace], rules } };
    await kube.json({ method: 'POST', path: `${group}/accessgrants`, body });
    const { ref: environmentRef } = this.#place(0).environment;
    await this.#create('ServiceToken', tokenName, { scope: 'Environment', environmentRef });
    for (const [index, { environment, syncs }] of this.#places.entries()) {
      for (const [turn, name] of syncs.entries()) {
        const reference = index === 0 && turn === 0 ? { tokenRef: { name: tokenName } } : {};
        await this.#create('SecretSync', name, { environmentRef: environment.ref, ...reference });
      }
    }
  }

  async #create(kind: string, name: string, spec: object): Promise<void> {
    const path = this.#path(`${kind.toLowerCase()}s`);
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind, metadata: { name }, spec };
    await this.stack.kube.json({ method: 'POST', path, body });
  }

  #path(plural: string, name?: string): string {
    return `${group}/namespaces/${this.#namespace}/${plural}${name === undefined ? '' : `/${name}`}`;
  }

  async #setRules(index: number, rules: readonly object[]): Promise<void> {
    const { organization } = this.#place(index).environment.ref;
    await this.admin.call('PUT', `/organizations/${organization}/clusters/${clusterName}`, { rules });
  }

  async #changeOne(index: number): Promise<void> {
    const { environment } = this.#place(index);
    const { secrets } = await this.#listed(environment);
    const isThere = secrets.some(({ key }) => key === 'B');
    await environment
      .at(this.admin)
      .change({ A: randomUUID(), ...(isThere ? {} : { B: 'beta' }) }, isThere ? ['B'] : []);
  }

  #listed({ path }: ApiEnvironment): Promise<Listed> {
    return this.admin.call<Listed>('GET', `${path}?values=true`);
  }

  async #valuesOf(name: string): Promise<Values | undefined> {
    const path = `/api/v1/namespaces/${this.#namespace}/secrets/${name}`;
    const secret = await this.stack.kube.find<SecretObject>({ path });
    return secret === undefined ? undefined : Object.fromEntries(secretValues(secret));
  }

  async #isSettled(): Promise<boolean> {
    try {
      return await this.#isSettledOrThrows();
    } catch {
      return false;
    }
  }

  async #isSettledOrThrows(): Promise<true> {
    for (const { environment, syncs } of this.#places) {
      const { secrets } = await this.#listed(environment);
      const values = Object.fromEntries(secrets.map(({ key, value }) => [key, value]));
      for (const name of syncs) expect([name, await this.#valuesOf(name)]).toEqual([name, values]);
    }
    await this.#expectOneToken();
    return true;
  }

  /** The value in the Secret of the ServiceToken works, and none that was ever sent to it besides. */
  async #expectOneToken(): Promise<void> {
    const { token = '' } = (await this.#valuesOf(tokenName)) ?? {};
    const sent = this.#writes().get(tokenName) ?? [];
    const others = new Set(sent.map((secret) => secretValues(secret).get('token') ?? ''));
    others.delete(token);
    const { path } = this.#place(0).environment;
    const statusOf = async (value: string): Promise<number> => (await this.admin.as(value).send('GET', path)).status;
    expect(await statusOf(token)).toBe(200);
    for (const other of others) expect(await statusOf(other)).toBe(401);
  }

  /** What the controllers wrote into each Secret, in order, as far as the API server took it. */
  #writes(): Map<string, SecretObject[]> {
    const path = `/api/v1/namespaces/${this.#namespace}/secrets`;
    const passages = this.#kube.passages((request) => isWriteBelow(path, request));
    const taken = passages.filter(({ status = 0 }) => status === 200 || status === 201);
    const secrets = taken.map(({ request }) => JSON.parse(request.body.toString()) as SecretObject);
    return Map.groupBy(secrets, ({ metadata }) => metadata.name);
  }

  /** Expects that each write of a Secret changed it. */
  #expectNoVainWrite(): void {
    for (const [name, secrets] of this.#writes()) {
      const contents = secrets.map(({ data, metadata: { annotations } }) => JSON.stringify({ data, annotations }));
      const vain = contents.filter((content, index) => content === contents[index - 1]);
      expect([name, vain.length]).toEqual([name, 0]);
    }
  }
}

interface Listed {
  readonly secrets: readonly { readonly key: string; readonly value: string }[];
}

interface Synced extends KubeObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly reason: string }[] };
}

function isWriteBelow(
  collection: string,
  { method, path }: { readonly method: string; readonly path: string },
): boolean {
  return ['POST', 'PUT'].includes(method) && path.startsWith(collection);
}
