import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { type Cluster, describePassedOver, startCluster } from './cluster.ts';
import { ClusterError, runProgram } from './cluster-error.ts';
import { missingPackages, nodeFault } from './node/node-fault.ts';
import { developmentFolder, findPublished } from './published-cluster.ts';

const usage = `Usage: npm run cluster [-- OPTIONS]

Starts a local Kubernetes (etcd, kube-apiserver, kube-controller-manager) and keeps it until Ctrl-C.
The first time it is compiled, which takes about 9 minutes on two cores and needs Go.

  --with-node   a node that runs pods, with the Kubernetes that is compiled here; needs Linux and root
  --image FILE  an image for its pods, as npm run image writes it; can be repeated, implies --with-node`;

/** Starts a cluster for the person at the terminal, and ends it with this process. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      'with-node': { type: 'boolean', default: false },
      image: { type: 'string', multiple: true, default: [] },
    },
  });
  if (values.help === true) return console.log(usage);
  const { image: images } = values;
  const withNode = values['with-node'] || images.length > 0;
  expectNode(withNode, images);
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
    withNode,
    endOnSignals: false,
    onUnexpectedEnd: (message) => {
      console.error(message);
      process.exit(1);
    },
  });
  for (const image of images) await cluster.node?.importImages(image);
  console.log(greeting(cluster, Date.now() - startedAtMs));
  // Keeps the process alive; a signal ends it.
  setInterval(() => undefined, 2 ** 30);
}

/** Throws ClusterError before anything is started, if the node cannot be had or an image cannot be read. */
function expectNode(withNode: boolean, images: readonly string[]): void {
  if (!withNode) return;
  const fault = nodeFault();
  if (fault !== undefined) throw new ClusterError(`There can be no node here: ${fault}.`);
  const missing = missingPackages();
  if (missing.length > 0) throw new ClusterError(`A node needs more packages: apt-get install ${missing.join(' ')}`);
  const unread = images.find((image) => !existsSync(image));
  if (unread !== undefined)
    throw new ClusterError(`The image ${unread} does not exist. To make one, run \`npm run image\`.`);
}

function greeting(cluster: Cluster, elapsedMs: number): string {
  const kubeconfig = shown(cluster.published ?? cluster.kubeconfig);
  const passedOver = cluster.passedOver.length === 0 ? '' : ` ${describePassedOver(cluster.passedOver)}`;
  const kinds = cluster.how === 'explicit' ? '' : ` after ${(elapsedMs / 1000).toFixed(1)} s`;
  return `Kubernetes serves at ${cluster.url}${kinds} (${cluster.how}).${passedOver}

  kubeconfig   ${kubeconfig}
  logs         ${cluster.runFolder}
  audit log    ${cluster.auditLog ?? '(the cluster keeps its own)'}${nodeText(cluster)}

Try in another terminal:
  npm run kubectl -- get namespaces
  kubectl --kubeconfig ${kubeconfig} get namespaces

Ctrl-C stops it and removes its data.`;
}

function nodeText({ node }: Cluster): string {
  return node === undefined
    ? ''
    : `\n  pods reach   ${node.network.machineAddress}, an address of this machine, such as that of a PostgreSQL`;
}

function shown(path: string): string {
  const short = relative(process.cwd(), path);
  return short.startsWith('..') ? path : short;
}

await runProgram(main, usage);
