/** `npm start`: the main job on this machine, from nothing to a native Secret (README.md). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeAuthority } from '../../src/crypto/authority.ts';
import { checkoutDirectory } from '../checkout.ts';
import { buildCli } from '../build/cli.ts';
import { buildDashboard } from '../build/dashboard.ts';
import { buildServer } from '../build/server.ts';
import { requireApprovals } from '../devcluster/cluster/approvals.ts';
import { type Cluster, startCluster } from '../devcluster/cluster/cluster.ts';
import { createControllerAccount } from '../devcluster/cluster/controller-account.ts';
import { KubeHttp } from '../devcluster/cluster/kube-http.ts';
import { machineName, spaceFault } from '../devcluster/cluster/network-space.ts';
import { developmentFolder } from '../devcluster/cluster/published-cluster.ts';
import { startPostgres } from '../devcluster/postgres/server.ts';
import { Api } from './api.ts';
import { clusterName, takeClusterName } from './cluster-name.ts';
import { prepareFiles, removeForeignData, type StartFiles } from './files.ts';
import { KeyframeServer } from './keyframe-server.ts';
import { help, parseStartOptions, type StartOptions } from './options.ts';
import { requireFreePorts, type WantedPort } from './ports.ts';
import { applyQuickstart, awaitSecret } from './quickstart.ts';
import { startRelay } from './relay.ts';
import { allowSample, ControllerToken, registerCluster, remoteVariables } from './remote-cluster.ts';
import {
  apiCommands,
  apiReport,
  clusterCommands,
  type Commands,
  type RemoteReport,
  remoteReport,
  secretReport,
} from './report.ts';
import { RunFile } from './run-file.ts';
import { makeSample } from './sample.ts';
import { applyStaging, makeStaging } from './staging.ts';

const port = process.env['KEYFRAME_PORT'] ?? '8700';
const metricsPort = process.env['KEYFRAME_METRICS_PORT'] ?? '8701';
const privateIssuers = process.env['KEYFRAME_TRUSTED_ISSUER_PRIVATE_ADDRESSES'] ?? 'false';
// Beside the API's; the controller serves nothing else.
const controllerMetricsPort = String(Number(metricsPort) + 1);
const controllerPort: WantedPort = { port: controllerMetricsPort, variable: 'KEYFRAME_METRICS_PORT' };
// On which the controllers of further clusters find the server; their own ports follow.
const clusterPort = process.env['KEYFRAME_CLUSTER_PORT'] ?? '8703';
const yearSeconds = 365 * 24 * 3600;

/** What runs, in the order in which it was started; stopped in the opposite order. */
const running: { stop(): Promise<void> }[] = [];
let stopping: Promise<void> | undefined;

function stopAll(): Promise<void> {
  stopping ??= (async () => {
    for (const part of running.toReversed()) await part.stop();
  })();
  return stopping;
}

async function startServer(run: RunFile, server: KeyframeServer, readyPort: string): Promise<void> {
  run.add(server.pid);
  running.push(server);
  await server.ready(Number(readyPort));
  server.onExit(() => {
    if (stopping !== undefined) return;
    console.error(`keyframe-server ${server.role} ended unexpectedly; its log is in .dev/logs.`);
    void stopAll().then(() => process.exit(1));
  });
}

interface Served {
  readonly api: Api;
  /** What every server of this run gets. */
  readonly env: Readonly<Record<string, string>> & { readonly KEYFRAME_DATABASE_URL: string };
}

/** PostgreSQL and the API: within seconds. */
async function startApi(files: StartFiles, run: RunFile, { clusters }: StartOptions): Promise<Served> {
  removeForeignData(files);
  const postgres = await startPostgres({ name: files.database });
  running.push(postgres);
  const env = {
    KEYFRAME_DATABASE_URL: postgres.urlOf('postgres'),
    KEYFRAME_ROOT_KEY_FILE: files.rootKey,
    KEYFRAME_HOST: '127.0.0.1',
  };
  await new KeyframeServer({
    role: 'migrate',
    env: { KEYFRAME_DATABASE_URL: env.KEYFRAME_DATABASE_URL },
    logFile: files.log('migrate'),
  }).finished();
  const server = new KeyframeServer({
    role: 'api',
    env: {
      ...env,
      KEYFRAME_PORT: port,
      // Passkeys need a name: browsers have none for an IP address.
      KEYFRAME_PUBLIC_URL: `http://localhost:${port}`,
      KEYFRAME_METRICS_PORT: metricsPort,
      KEYFRAME_BOOTSTRAP_ADMIN_EMAIL: 'admin@localhost',
      KEYFRAME_BOOTSTRAP_TOKEN_FILE: files.adminToken,
      KEYFRAME_TRUSTED_ISSUER_PRIVATE_ADDRESSES: privateIssuers,
      ...(clusters > 1 ? await clusterListener(files) : {}),
    },
    logFile: files.log('api'),
  });
  await startServer(run, server, metricsPort);
  const api = new Api(`http://127.0.0.1:${port}`, readFileSync(files.adminToken, 'utf8').trim());
  await makeSample(api);
  await makeStaging(api);
  return { api, env };
}

/** The port of controllers, with a CA of this run. */
async function clusterListener(files: StartFiles): Promise<Record<string, string>> {
  const names = ['localhost', machineName];
  const { certificate, key } = await makeAuthority(names, Date.now());
  writeFileSync(files.authority, certificate, { mode: 0o600 });
  writeFileSync(files.authorityKey, key.reveal(), { mode: 0o600 });
  return {
    KEYFRAME_CLUSTER_PORT: clusterPort,
    KEYFRAME_CLUSTER_CA_FILE: files.authority,
    KEYFRAME_CLUSTER_CA_KEY_FILE: files.authorityKey,
    KEYFRAME_CLUSTER_TLS_NAMES: names.join(','),
  };
}

async function startKubernetes(publishTo = developmentFolder, isApart = false): Promise<Cluster> {
  const cluster = await startCluster({
    sources: ['kind', 'assets', 'built'],
    customResources: join(checkoutDirectory, 'crds'),
    publishTo,
    isApart,
    endOnSignals: false,
    onUnexpectedEnd: (message) => console.error(message),
  });
  running.push(cluster);
  return cluster;
}

/** The controller under the chart's rights, and the quickstart; answers when the native Secret is there. */
async function startSync(
  cluster: Cluster,
  { api, env }: Served,
  files: StartFiles,
  run: RunFile,
): Promise<Omit<Commands, 'remotes'>> {
  await takeClusterName(env.KEYFRAME_DATABASE_URL);
  await startController(cluster, env, files, run);
  const kube = new KubeHttp(cluster.kubeconfig);
  try {
    await requireApprovals(kube);
    await applyQuickstart(kube);
    console.log(secretReport(await awaitSecret(kube)));
    await applyStaging(kube, api);
    return { url: api.url, adminTokenFile: files.adminToken, cluster };
  } finally {
    kube.close();
  }
}

async function startController(cluster: Cluster, env: Served['env'], files: StartFiles, run: RunFile): Promise<void> {
  await createControllerAccount({
    adminKubeconfig: cluster.kubeconfig,
    kubeconfigFile: files.controllerKubeconfig,
    tokenSeconds: yearSeconds,
  });
  // Once more: the cluster may have taken minutes.
  await requireFreePorts([controllerPort]);
  const server = new KeyframeServer({
    role: 'controller',
    env: {
      ...env,
      KEYFRAME_METRICS_PORT: controllerMetricsPort,
      KEYFRAME_CLUSTER_NAME: clusterName,
      KEYFRAME_KUBECONFIG_FILE: files.controllerKubeconfig,
    },
    logFile: files.log('controller'),
  });
  await startServer(run, server, controllerMetricsPort);
}

/** A further cluster, whose controller works over HTTPS; answers when the native Secret is there. */
async function startRemote(number: number, { api }: Served, files: StartFiles, run: RunFile): Promise<RemoteReport> {
  const name = `${clusterName}-${number}`;
  const own = files.cluster(number);
  const fault = spaceFault();
  const cluster = await startKubernetes(own.folder, fault === undefined);
  const { network } = cluster;
  const url = `https://${network === undefined ? 'localhost' : machineName}:${clusterPort}`;
  if (network !== undefined) running.push(await startRelay(network.machineAddress, Number(clusterPort)));
  const { kubeconfig: adminKubeconfig } = cluster;
  await createControllerAccount({
    adminKubeconfig,
    kubeconfigFile: own.controllerKubeconfig,
    tokenSeconds: yearSeconds,
  });
  const kube = new KubeHttp(adminKubeconfig);
  running.push({ stop: () => Promise.resolve(kube.close()) });
  const audience = await registerCluster(api, kube, name);
  running.push(await ControllerToken.keep(kube, { audience, file: own.controllerToken }));
  await allowSample(api, name);
  const variables = remoteVariables({ url, caFile: files.authority, tokenFile: own.controllerToken });
  const readyPort = remoteMetricsPort(number);
  const server = new KeyframeServer({
    role: 'controller',
    env: {
      ...Object.fromEntries(Object.entries(variables).map(([key, value]) => [`KEYFRAME_${key}`, value])),
      KEYFRAME_HOST: network?.address ?? '127.0.0.1',
      KEYFRAME_METRICS_PORT: readyPort,
      KEYFRAME_CLUSTER_NAME: name,
      KEYFRAME_KUBECONFIG_FILE: own.controllerKubeconfig,
    },
    logFile: files.log(`controller-${number}`),
    network,
  });
  await startServer(run, server, readyPort);
  await applyQuickstart(kube, { isRemote: true });
  const report = { name, cluster, url, spaceFault: fault };
  console.log(`${remoteReport(report)}\n${secretReport(await awaitSecret(kube), name)}`);
  return report;
}

/** They follow the port of controllers. */
function remoteMetricsPort(number: number): string {
  return String(Number(clusterPort) + number - 1);
}

async function start(options: StartOptions): Promise<void> {
  const files = prepareFiles();
  const run = new RunFile(files.run);
  await run.take();
  running.push({ stop: async () => run.release() });
  await requireFreePorts(wantedPorts(options));
  // The server serves the command and the dashboard.
  await Promise.all([buildServer(), buildCli(), buildDashboard()]);
  const served = await startApi(files, run, options);
  const { api } = served;
  console.log(apiReport(api.url, files.adminToken));
  if (!options.cluster) return console.log(apiCommands(api.url, files.adminToken));
  let cluster: Cluster | undefined;
  try {
    cluster = await startKubernetes();
    const commands = await startSync(cluster, served, files, run);
    const remotes: RemoteReport[] = [];
    for (let number = 2; number <= options.clusters; number += 1) {
      remotes.push(await startRemote(number, served, files, run));
    }
    // With --once all of it is gone in a moment.
    if (!options.once) console.log(clusterCommands({ ...commands, remotes }));
  } catch (error) {
    if (options.once || stopping !== undefined) throw error;
    const fault = cluster === undefined ? 'There is no cluster' : 'The cluster runs, but its sync could not be set up';
    console.error(`\n${fault}: ${messageOf(error)}\nThe API stays up without it.`);
    console.log(apiCommands(api.url, files.adminToken));
  }
}

function wantedPorts({ cluster, clusters }: StartOptions): WantedPort[] {
  const api = [
    { port, variable: 'KEYFRAME_PORT' },
    { port: metricsPort, variable: 'KEYFRAME_METRICS_PORT' },
  ];
  const further = Array.from({ length: clusters > 1 ? clusters : 0 }, (_, index) => remoteMetricsPort(index + 1));
  const variable = 'KEYFRAME_CLUSTER_PORT';
  return [...api, ...(cluster ? [controllerPort] : []), ...further.map((wanted) => ({ port: wanted, variable }))];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function main(): Promise<void> {
  const options = parseStartOptions(process.argv.slice(2));
  if (options === undefined) return console.log(help);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void stopAll().then(() => process.exit(options.once ? 1 : 0)));
  }
  await start(options);
  if (options.once) {
    await stopAll();
    process.exit(0);
  }
  // Keeps the process alive; a signal ends it.
  setInterval(() => undefined, 2 ** 30);
}

try {
  await main();
} catch (error) {
  if (stopping === undefined) console.error(messageOf(error));
  await stopAll();
  process.exit(1);
}
