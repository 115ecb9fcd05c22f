import { join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { type Cluster, describePassedOver, startCluster } from '../../../tools/devcluster/cluster/cluster.ts';
import { createControllerAccount } from '../../../tools/devcluster/cluster/controller-account.ts';
import { clusterVariable, type SharedCluster } from './cluster.ts';

const tokenSeconds = 12 * 3600;

let running: Cluster | undefined;

/**
 * Starts the one cluster of a jest run, with our CustomResourceDefinitions and the controller's ServiceAccount in it, and
 * makes it known to the tests. It goes with this process, however that ends.
 */
export async function startSharedCluster(): Promise<void> {
  const hasVersion = (process.env['KEYFRAME_TEST_KUBERNETES'] ?? '') !== '';
  const cluster = await startCluster({
    // Only one that is built here can have the version that is asked for.
    ...(hasVersion ? { sources: ['built'] as const } : {}),
    customResources: join(checkoutDirectory, 'crds'),
    onUnexpectedEnd: (message) => console.error(message),
  });
  running = cluster;
  const controllerKubeconfig = join(cluster.runFolder, 'controller.kubeconfig');
  await createControllerAccount({
    adminKubeconfig: cluster.kubeconfig,
    kubeconfigFile: controllerKubeconfig,
    tokenSeconds,
  });
  const { how, kubeconfig, url, caFile, auditLog, runFolder, passedOver } = cluster;
  const shared: SharedCluster = { how, kubeconfig, url, caFile, auditLog, runFolder, passedOver, controllerKubeconfig };
  process.env[clusterVariable] = JSON.stringify(shared);
  console.log(`Kubernetes for these tests: ${how}, ${url}. ${describePassedOver(passedOver)}`);
}

/** Stops it; does nothing if it did not start. */
export async function stopSharedCluster(): Promise<void> {
  await running?.stop();
  running = undefined;
}
