import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';
import { ApiProxy } from '../faults/api-proxy.ts';
import { MortalPostgres } from '../database/mortal-postgres.ts';
import { startOwnCluster } from './own-cluster.ts';
import { PostgresProxy } from '../faults/postgres-proxy.ts';
import { query } from './resource-rows.ts';
import { ServerProcess } from '../api/server-process.ts';
import { Stack } from './stack.ts';
import { parentOf } from './sync-site.ts';
import { syncsOnly, TokenSync } from './token-sync.ts';
import { waitFor } from '../fixtures/wait-for.ts';

interface Parts {
  readonly cluster: Cluster;
  readonly postgres: MortalPostgres;
  readonly stack: Stack;
  readonly database: PostgresProxy;
  readonly api: ApiProxy;
}

/**
 * Keyframe on a cluster and a PostgreSQL that can be killed, with a controller that reaches both through proxies, and
 * SecretSyncs that name no token.
 */
export class KeylessFaultSite {
  readonly cluster: Cluster;
  readonly postgres: MortalPostgres;
  readonly stack: Stack;
  /** The controller's way to the database. */
  readonly database: PostgresProxy;
  /** The controller's way to the API server. */
  readonly api: ApiProxy;
  readonly #resources: AsyncDisposableStack;
  #controller: ServerProcess | undefined;

  private constructor(resources: AsyncDisposableStack, { cluster, postgres, stack, database, api }: Parts) {
    this.#resources = resources;
    this.cluster = cluster;
    this.postgres = postgres;
    this.stack = stack;
    this.database = database;
    this.api = api;
  }

  /** Starts it all, with the controller; it goes with `resources`. */
  static async start(resources: AsyncDisposableStack, namespaces: number): Promise<KeylessFaultSite> {
    const cluster = await startOwnCluster(resources);
    const postgres = await MortalPostgres.start();
    resources.defer(() => postgres.stop());
    const { kubeconfig: adminKubeconfig, runFolder } = cluster;
    const stack = await Stack.start(resources, { namespaces, adminKubeconfig, databaseUrl: postgres.url });
    const database = await PostgresProxy.start(postgres.url);
    resources.defer(() => database.close());
    const api = await ApiProxy.start(join(runFolder, 'controller.kubeconfig'));
    resources.defer(() => api.close());
    const site = new KeylessFaultSite(resources, { cluster, postgres, stack, database, api });
    await site.startController();
    return site;
  }

  /** Starts a controller with rights in all namespaces: those that a Role gives in one go with it. */
  async startController(): Promise<void> {
    this.#controller = await ServerProcess.start(this.#resources, {
      role: 'controller',
      env: {
        DATABASE_URL: this.database.url,
        ROOT_KEY: `test:${this.stack.rootKey}`,
        KUBECONFIG_FILE: this.api.kubeconfigFile,
        NAMESPACE: 'keyframe',
        LOG_LEVEL: 'debug',
      },
    });
  }

  /** Ends the controller in order. */
  async stopController(): Promise<void> {
    await this.#controller?.stop();
  }

  /** Kills the controller, and takes its Lease away, so that the next one need not wait. */
  async killController(): Promise<void> {
    await this.#controller?.kill();
    const path = '/apis/coordination.k8s.io/v1/namespaces/keyframe/leases/keyframe-controller';
    await this.stack.kube.find({ method: 'DELETE', path });
  }

  /** Ends the freezes of both proxies. */
  thaw(): void {
    this.database.thaw();
    this.api.thaw();
  }

  /** A namespace that may sync an environment with the secret A=alpha, and mint nothing; no SecretSync yet. */
  make(): Promise<TokenSync> {
    return TokenSync.make(this.stack, syncsOnly);
  }

  /** The same with a SecretSync `app` that is in step. */
  makeSynced(spec: object = {}): Promise<TokenSync> {
    return TokenSync.makeSynced(this.stack, syncsOnly, spec);
  }

  /** Waits until the Secret holds these values and expects that it stays so, with no other Secret or ServiceToken, and one token in the database. */
  async expectClean(sync: TokenSync, values: Readonly<Record<string, string>>): Promise<void> {
    await sync.waitForValues(values);
    await sync.expectStays(async () => expect(await sync.values()).toEqual(values));
    expect(await this.#namesOf(parentOf(sync.site.secretPath()))).toEqual(['app']);
    expect(await this.#namesOf(parentOf(sync.site.tokenPath()))).toEqual([]);
    const sql = 'SELECT FROM service_token WHERE namespace = $1';
    expect(await query(this.stack.databaseUrl, sql, [sync.site.namespace])).toHaveLength(1);
  }

  /** Waits until the API serves again. */
  async apiIsBack({ site: { environment } }: TokenSync): Promise<void> {
    const isBack = async (): Promise<boolean> =>
      (await this.stack.admin.send('GET', environment.path).catch(() => undefined))?.status === 200;
    await waitFor('the API to be back', isBack);
  }

  /** The names of a collection's objects, except for those of a witness. */
  async #namesOf(path: string): Promise<string[]> {
    const { items } = await this.stack.kube.json<{ items: { metadata: { name: string } }[] }>({ path });
    return items.map(({ metadata }) => metadata.name).filter((name) => !name.startsWith('witness-'));
  }
}
