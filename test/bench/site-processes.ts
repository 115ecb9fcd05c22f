import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../src/store/database.ts';
import { allowLease, controllerAccount } from '../../tools/devcluster/cluster/controller-account.ts';
import { remoteVariables } from '../../tools/start/remote-cluster.ts';
import { ApiClient } from '../support/api/api-client.ts';
import { ServerProcess, type ServerRole } from '../support/api/server-process.ts';
import { adminClient, sharedCluster } from '../support/cluster/cluster.ts';
import type { ControllerPort } from '../support/cluster/controller-port.ts';
import { newHomeToken } from '../support/database/cluster-credentials.ts';
import type { MemoryLimit } from '../support/faults/memory-limit.ts';
import type { SecretPlace } from './secret-contender.ts';

/** The processes of Keyframe in the benches that follow a change into a Secret. */

export interface ApiOptions {
  /** Further variables, as `ServerProcess` takes them. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** For node, before the program. */
  readonly nodeArgs?: readonly string[] | undefined;
}

/** The API, and its instance admin. */
export interface StartedApi {
  readonly api: ServerProcess;
  readonly client: ApiClient;
}

/** Starts the API as users run it. Another one can be started after it has ended: it knows the same admin. */
export async function startApi(
  resources: AsyncDisposableStack,
  { databaseUrl, rootKeyFile }: SecretPlace,
  { env = {}, nodeArgs }: ApiOptions = {},
): Promise<StartedApi> {
  const tokenFile = join(sharedCluster().runFolder, 'bench-admin-token');
  const api = await ServerProcess.start(resources, {
    role: 'api',
    nodeArgs,
    env: {
      DATABASE_URL: databaseUrl,
      ROOT_KEY_FILE: rootKeyFile,
      BOOTSTRAP_ADMIN_EMAIL: 'admin@example.com',
      BOOTSTRAP_TOKEN_FILE: tokenFile,
      ...env,
    },
  });
  return { api, client: new ApiClient({ url: api.url, token: readFileSync(tokenFile, 'utf8').trim() }) };
}

/** How a process that reconciles is started. */
export interface ReconcilingOptions {
  readonly role: ServerRole;
  /** The machine's if it is left out. */
  readonly memory?: MemoryLimit;
  /** Further variables, as `ServerProcess` takes them. */
  readonly env?: Readonly<Record<string, string>>;
  /** For node, before the program. */
  readonly nodeArgs?: readonly string[];
  /** As `ServerProcess` takes it. */
  readonly program?: string | undefined;
}

/** The API, and a process that reconciles. */
export interface Processes extends StartedApi {
  readonly reconciling: ServerProcess;
}

/** Starts both as users run them. */
export async function startProcesses(
  resources: AsyncDisposableStack,
  place: SecretPlace,
  options: ReconcilingOptions & { readonly api?: ApiOptions },
): Promise<Processes> {
  const started = await startApi(resources, place, options.api);
  return { ...started, reconciling: await startReconciling(resources, place, options) };
}

/** Starts one more process that reconciles, with connections of its own to the database. */
export async function startReconciling(
  resources: AsyncDisposableStack,
  { databaseUrl, rootKeyFile }: SecretPlace,
  { role, memory, env = {}, nodeArgs, program }: ReconcilingOptions,
): Promise<ServerProcess> {
  const variables = {
    DATABASE_URL: databaseUrl,
    ROOT_KEY_FILE: rootKeyFile,
    KUBECONFIG_FILE: sharedCluster().controllerKubeconfig,
    ...env,
  };
  return await ServerProcess.start(resources, { role, memory, nodeArgs, program, env: variables });
}

export interface AgentOptions {
  /** Of the API that it works through. */
  readonly port: ControllerPort;
  /** The file with the token that proves its cluster. */
  readonly tokenFile: string;
  readonly clusterName: string;
  /** That it watches; the first one has its Lease. */
  readonly namespaces: readonly string[];
}

/** Starts a controller that works through the API over HTTPS, and has no database. */
export async function startAgent(
  resources: AsyncDisposableStack,
  { port, tokenFile, clusterName, namespaces }: AgentOptions,
): Promise<ServerProcess> {
  const [leaseNamespace = ''] = namespaces;
  await allowLease(adminClient(), leaseNamespace, controllerAccount);
  return await ServerProcess.start(resources, {
    role: 'controller',
    name: `controller of ${clusterName}`,
    env: {
      ...remoteVariables({ url: `https://localhost:${port.port}`, caFile: port.caFile, tokenFile }),
      CLUSTER_NAME: clusterName,
      NAMESPACE: leaseNamespace,
      WATCH_NAMESPACES: namespaces.join(','),
      KUBECONFIG_FILE: sharedCluster().controllerKubeconfig,
    },
  });
}

/** Makes a home token and returns the file with it. */
export async function homeTokenFile({ databaseUrl }: SecretPlace): Promise<string> {
  const database = openDatabase({ url: databaseUrl, poolSize: 2 });
  const file = join(sharedCluster().runFolder, 'bench-home-token');
  writeFileSync(file, await newHomeToken(database.pool), { mode: 0o600 });
  await database.close();
  return file;
}
