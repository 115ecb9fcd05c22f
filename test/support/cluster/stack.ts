import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  allowClusterEvents,
  allowClusterReads,
  allowLease,
  allowRollouts,
} from '../../../tools/devcluster/cluster/controller-account.ts';
import { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import { writeKubeconfigFor } from '../../../tools/devcluster/cluster/kubeconfig.ts';
import { openDatabase } from '../../../src/store/database.ts';
import type { AccessGrant } from '../../../src/controller/generated/access-grant.ts';
import type { PortAdapter } from '../api/adapters.ts';
import { ApiClient } from '../api/api-client.ts';
import type { CapturedProcess } from '../faults/captured-process.ts';
import { createAccount, createNamespace, discardNamespace, sharedCluster } from './cluster.ts';
import type { MemoryLimit } from '../faults/memory-limit.ts';
import type { MovedClock } from '../faults/moved-clock.ts';
import { newHomeToken } from '../database/cluster-credentials.ts';
import { createTestDatabase } from '../database/postgres.ts';
import { ServerProcess } from '../api/server-process.ts';
import { type SiteOptions, SyncSite, passWitness } from './sync-site.ts';

export interface StackOptions {
  /** How many namespaces there are for tests, or their names; the controllers watch these alone. */
  readonly namespaces: number | readonly string[];
  /** A cluster of the caller's own instead of the shared one. */
  readonly adminKubeconfig?: string;
  /** A database of the caller's own, migrated, instead of a new one on the shared server. */
  readonly databaseUrl?: string;
  /** What is known of that database, where it holds an administrator already. */
  readonly known?: KnownDatabase;
  /** What its API runs; this checkout's build if it is left out. */
  readonly program?: string | undefined;
  /** Further variables of its API, without the prefix. */
  readonly apiEnv?: Readonly<Record<string, string>>;
  /** Of its API; the machine's if it is left out. */
  readonly clock?: MovedClock | undefined;
}

/** A database that was served before. */
export interface KnownDatabase {
  /** Base64. */
  readonly rootKey: string;
  /** The administrator's. */
  readonly token: string;
}

export interface ControllerOptions {
  readonly name?: string;
  /** The way to the database, such as a proxy's URL. */
  readonly databaseUrl?: string;
  /** How it reaches Keyframe; what the run says if it is left out. */
  readonly adapter?: PortAdapter;
  /** The way to the server, such as a proxy, for a controller that works over HTTPS. The default token is the stack's. */
  readonly server?: { readonly url: string; readonly caFile?: string; readonly tokenFile?: string };
  /** The way to the API server, such as a proxy's kubeconfig. */
  readonly kubeconfigFile?: string;
  /** Further variables, without the prefix. */
  readonly env?: Readonly<Record<string, string>>;
  /** The machine's if it is left out. */
  readonly clock?: MovedClock;
  /** `all` serves the API as well; default `controller`. */
  readonly role?: 'all' | 'controller';
  /** The machine's if it is left out. */
  readonly memory?: MemoryLimit;
  /** This checkout's build if it is left out. */
  readonly program?: string;
  /** Whether it watches all namespaces, which needs another account than the stack's; default false. */
  readonly isClusterWide?: boolean;
}

const account = 'controller';
/** How the controllers reach Keyframe: `https`, or with their own connections to the database. */
const adapterVariable = 'KEYFRAME_TEST_ADAPTER';

/**
 * Keyframe as it runs in production, for one test file: API and controllers as processes of their own on one database. The
 * controllers have a ServiceAccount with the rights that the chart gives, in the stack's namespaces alone, so that the
 * stacks of several test files do not meet in one cluster.
 */
export class Stack {
  readonly kube: KubeHttp;
  readonly databaseUrl: string;
  /** Of the controllers' account. */
  readonly kubeconfigFile: string;
  /** What the audit log calls that account. */
  readonly controllerUser: string;
  readonly namespaces: readonly string[];
  readonly processes: CapturedProcess[] = [];
  /** Base64. */
  readonly rootKey: string;
  readonly #resources: AsyncDisposableStack;
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  #api: ServerProcess | undefined;
  #admin: ApiClient | undefined;
  #adminToken = '';
  #takenNamespaces = 0;

  private constructor(resources: AsyncDisposableStack, given: Given) {
    this.#resources = resources;
    this.#folder = given.folder;
    this.kube = given.kube;
    this.databaseUrl = given.databaseUrl;
    this.namespaces = given.namespaces;
    this.kubeconfigFile = given.kubeconfigFile;
    this.rootKey = given.known?.rootKey ?? randomBytes(32).toString('base64');
    this.controllerUser = `system:serviceaccount:${given.namespaces[0]}:${account}`;
    this.#env = { ROOT_KEY: `test:${this.rootKey}`, LOG_LEVEL: 'debug' };
  }

  /** Starts the API and makes the namespaces; controllers are started by the tests. All goes with `resources`. */
  static async start(resources: AsyncDisposableStack, options: StackOptions): Promise<Stack> {
    const folder = await mkdtemp(join(tmpdir(), 'keyframe-stack-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    const adminKubeconfig = options.adminKubeconfig ?? sharedCluster().kubeconfig;
    const kube = new KubeHttp(adminKubeconfig);
    resources.defer(() => kube.close());
    const databaseUrl = options.databaseUrl ?? (await makeDatabase(resources));
    const namespaces = await makeNamespaces(resources, kube, options.namespaces);
    resources.defer(() => deleteGrants(kube, namespaces));
    const kubeconfigFile = join(folder, 'controller.kubeconfig');
    const token = await createAccount(namespaces[0] ?? '', account, kube);
    writeKubeconfigFor(kubeconfigFile, adminKubeconfig, { name: account, token });
    const stack = new Stack(resources, { ...options, folder, kube, databaseUrl, namespaces, kubeconfigFile });
    await stack.#startApi(options);
    return stack;
  }

  get api(): ServerProcess {
    if (this.#api === undefined) throw new Error('The API has not been started.');
    return this.#api;
  }

  /** Speaks to the API as the instance's administrator. */
  get admin(): ApiClient {
    if (this.#admin === undefined) throw new Error('The API has not been started.');
    return this.#admin;
  }

  get adminToken(): string {
    return this.#adminToken;
  }

  /** Starts an API server more; `databaseUrl` is its way to the database, `program` another one than this checkout's. */
  async startApi(
    databaseUrl: string = this.databaseUrl,
    env: Readonly<Record<string, string>> = {},
    program?: string,
  ): Promise<ServerProcess> {
    return await this.#serve({ DATABASE_URL: databaseUrl, ...env }, { program });
  }

  /** Starts a controller and waits until it is ready: to work, or to stand by while another one works. */
  async startController(options: ControllerOptions = {}): Promise<ServerProcess> {
    const controller = await this.spawnController(options);
    await controller.ready();
    return controller;
  }

  /** Starts a controller and does not wait for it. */
  async spawnController(options: ControllerOptions = {}): Promise<ServerProcess> {
    const { name = 'controller', kubeconfigFile = this.kubeconfigFile } = options;
    const { env, clock, memory, role = 'controller', isClusterWide = false, program } = options;
    const all = {
      ...(await this.#wayOf(options)),
      KUBECONFIG_FILE: kubeconfigFile,
      ...(isClusterWide ? {} : { WATCH_NAMESPACES: this.namespaces.join(',') }),
      NAMESPACE: this.namespaces[0] ?? '',
      ...env,
    };
    return this.#kept(await ServerProcess.spawn(this.#resources, { role, env: all, name, clock, memory, program }));
  }

  async #wayOf(options: ControllerOptions): Promise<Record<string, string>> {
    const { databaseUrl, server, clock } = options;
    if (adapterOf(options) === 'over HTTPS') {
      const { LOG_LEVEL = 'debug' } = this.#env;
      const { url = this.api.url, caFile, tokenFile = await this.#homeTokenFile() } = server ?? {};
      const address = { SERVER_URL: url, CLUSTER_TOKEN_FILE: tokenFile };
      return { LOG_LEVEL, ...address, ...(caFile === undefined ? {} : { SERVER_CA_FILE: caFile }) };
    }
    return { ...this.#env, DATABASE_URL: await this.#databaseUrlBy(clock, databaseUrl) };
  }

  /** A way to the database, for sessions with this clock. */
  async #databaseUrlBy(clock: MovedClock | undefined, url = this.databaseUrl): Promise<string> {
    return clock === undefined ? url : await clock.databaseUrl(this.databaseUrl, url);
  }

  /** The file with the home token of this stack. */
  async #homeTokenFile(): Promise<string> {
    const file = join(this.#folder, 'home-token');
    if (!existsSync(file)) {
      const database = openDatabase({ url: this.databaseUrl, poolSize: 2 });
      await writeFile(file, await newHomeToken(database.pool));
      await database.close();
    }
    return file;
  }

  /**
   * Kills a controller as a crash does, and takes its Lease away, so that the next one need not wait until it runs out.
   * Who tests the Lease itself kills the process.
   */
  async killController(controller: ServerProcess): Promise<void> {
    await controller.kill();
    const path = `/apis/coordination.k8s.io/v1/namespaces/${this.namespaces[0]}/leases/keyframe-controller`;
    await this.kube.find({ method: 'DELETE', path });
  }

  /** A namespace that no test of the stack has had yet. */
  takeNamespace(): string {
    const namespace = this.namespaces[this.#takenNamespaces];
    if (namespace === undefined) throw new Error('The stack has too few namespaces for its tests.');
    this.#takenNamespaces += 1;
    return namespace;
  }

  /** Gives the controllers the chart's rights to restart the workloads of a namespace. */
  async allowRollouts(namespace: string): Promise<void> {
    await allowRollouts(this.kube, namespace, { namespace: this.namespaces[0] ?? '', name: account });
  }

  /** An environment with its token, and a SecretSync that takes it to a Secret; in a new namespace unless one is given. */
  makeSite(options: SiteOptions = {}): Promise<SyncSite> {
    const { namespace = this.takeNamespace() } = options;
    return SyncSite.make({ kube: this.kube, admin: this.admin }, { ...options, namespace });
  }

  /** Resolves when the controller has processed what happened in a namespace before the call. */
  passWitness(namespace: string): Promise<void> {
    return passWitness({ kube: this.kube, admin: this.admin }, namespace);
  }

  async #serve(
    env: Readonly<Record<string, string>>,
    { program, clock }: Pick<StackOptions, 'program' | 'clock'> = {},
  ): Promise<ServerProcess> {
    const all = { ...this.#env, ...env };
    return this.#kept(await ServerProcess.start(this.#resources, { role: 'api', env: all, program, clock }));
  }

  #kept(server: ServerProcess): ServerProcess {
    this.processes.push(server.captured);
    return server;
  }

  async #startApi({ known, apiEnv, ...options }: StackOptions): Promise<void> {
    const tokenFile = join(this.#folder, 'admin-token');
    const bootstrap = { BOOTSTRAP_ADMIN_EMAIL: 'admin@example.com', BOOTSTRAP_TOKEN_FILE: tokenFile };
    const url = await this.#databaseUrlBy(options.clock);
    this.#api = await this.#serve({ DATABASE_URL: url, ...bootstrap, ...apiEnv }, options);
    this.#adminToken = known?.token ?? (await readFile(tokenFile, 'utf8')).trim();
    this.#admin = new ApiClient({ url: this.#api.url, token: this.#adminToken });
  }
}

/** As the test says, or the run unless the test needs what only a controller with its own connections has. */
function adapterOf({ adapter, server, databaseUrl, clock, role, program }: ControllerOptions): PortAdapter {
  if (adapter !== undefined) return adapter;
  if (server !== undefined) return 'over HTTPS';
  const isPlain = [databaseUrl, clock, program].every((given) => given === undefined) && role !== 'all';
  return process.env[adapterVariable] === 'https' && isPlain ? 'over HTTPS' : 'in process';
}

interface Given {
  readonly folder: string;
  readonly kube: KubeHttp;
  readonly databaseUrl: string;
  readonly namespaces: readonly string[];
  readonly kubeconfigFile: string;
  readonly known?: KnownDatabase;
}

async function makeDatabase(resources: AsyncDisposableStack): Promise<string> {
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  return database.url;
}

async function makeNamespaces(
  resources: AsyncDisposableStack,
  kube: KubeHttp,
  wanted: StackOptions['namespaces'],
): Promise<string[]> {
  const names = typeof wanted === 'number' ? Array.from({ length: wanted }, () => undefined) : wanted;
  const make = async (name: string | undefined): Promise<string> => {
    const namespace = await createNamespace(kube, name);
    resources.defer(() => discardNamespace(namespace, kube));
    return namespace;
  };
  const namespaces = await Promise.all(names.map(make));
  const [accountNamespace = ''] = namespaces;
  const subject = { namespace: accountNamespace, name: account };
  const allow = async (namespace: string): Promise<void> => {
    await allowController(kube, namespace, accountNamespace);
    await allowLease(kube, namespace, subject);
  };
  await Promise.all(namespaces.map(allow));
  const bindings = [
    await allowClusterReads(kube, subject, accountNamespace),
    ...(await allowClusterEvents(kube, subject)),
  ];
  for (const path of bindings) resources.defer(async () => void (await kube.find({ method: 'DELETE', path })));
  return namespaces;
}

/** Deletes the AccessGrants that name these namespaces: they do not go with them, and other files share the cluster. */
async function deleteGrants(kube: KubeHttp, namespaces: readonly string[]): Promise<void> {
  const path = '/apis/keyframe.dev/v1alpha1/accessgrants';
  const grants = await kube.find<{ items: readonly AccessGrant[] }>({ path });
  const own = grants?.items.filter(({ spec }) => spec.namespaces?.some((name) => namespaces.includes(name)));
  for (const { metadata } of own ?? []) await kube.find({ method: 'DELETE', path: `${path}/${metadata.name}` });
}

/** Binds the rules that the chart ships, which the global setup made a ClusterRole of, to the account. */
async function allowController(kube: KubeHttp, namespace: string, accountNamespace: string): Promise<void> {
  const group = 'rbac.authorization.k8s.io';
  await kube.json({
    method: 'POST',
    path: `/apis/${group}/v1/namespaces/${namespace}/rolebindings`,
    body: {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata: { name: account },
      roleRef: { apiGroup: group, kind: 'ClusterRole', name: controllerRole },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: accountNamespace }],
    },
  });
}

const controllerRole = 'keyframe-controller';
