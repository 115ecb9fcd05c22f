import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cluster, describePassedOver, startCluster } from './cluster.ts';
import { ClusterError, runProgram } from './cluster-error.ts';
import { developmentFolder, findPublished } from './published-cluster.ts';

const usage = `Usage: npm run cluster

Starts a local Kubernetes (etcd, kube-apiserver, kube-controller-manager) and keeps it until Ctrl-C.
The first time it is compiled, which takes about 9 minutes on two cores and needs Go.`;

/** Starts a cluster for the person at the terminal, and ends it with this process. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
  if (values.help === true) return console.log(usage);
  const present = findPublished();
  if (present !== undefined) {
    const { launcher, kubeconfig } = present;
    throw new ClusterError(
      `A cluster of this checkout runs already (process ${launcher.pid}): use ${shown(kubeconfig)}, or stop it with Ctrl-C there.`,
    );
  }
  let cluster: Cluster | undefined;
  // Before the cluster is there, exiting is enough: what has been started ends with this process.
  const end = (): void => {
    console.log('\nStopping the cluster.');
    void (cluster?.stop() ?? Promise.resolve()).then(() => process.exit(0));
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  const startedAtMs = Date.now();
  cluster = await startCluster({
    publishTo: developmentFolder,
    endOnSignals: false,
    onUnexpectedEnd: (message) => {
      console.error(message);
      process.exit(1);
    },
  });
  console.log(greeting(cluster, Date.now() - startedAtMs));
  // Keeps the process alive; a signal ends it.
  setInterval(() => undefined, 2 ** 30);
}

function greeting(cluster: Cluster, elapsedMs: number): string {
  const kubeconfig = shown(cluster.published ?? cluster.kubeconfig);
  const kinds = cluster.how === 'explicit' ? '' : ` after ${(elapsedMs / 1000).toFixed(1)} s`;
  return `Kubernetes serves at ${cluster.url}${kinds} (${cluster.how}). ${describePassedOver(cluster.passedOver)}

  kubeconfig   ${kubeconfig}
  logs         ${cluster.runFolder}
  audit log    ${cluster.auditLog ?? '(the cluster keeps its own)'}

Try in another terminal:
  npm run kubectl -- get namespaces
  kubectl --kubeconfig ${kubeconfig} get namespaces

Ctrl-C stops it and removes its data.`;
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

await runProgram(main, usage);
