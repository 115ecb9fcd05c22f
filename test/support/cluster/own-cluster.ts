import { join } from 'node:path';
import { checkoutDirectory } from '../../../tools/checkout.ts';
import { type Cluster, startCluster } from '../../../tools/devcluster/cluster/cluster.ts';
import { createControllerAccount } from '../../../tools/devcluster/cluster/controller-account.ts';

/** Where our CustomResourceDefinitions are. */
export const definitionsFolder = join(checkoutDirectory, 'crds');

/**
 * A cluster for one test file, for what would disturb the others: ours whatever cluster the run has, so that its API
 * server can be killed and its etcd be read; without our CustomResourceDefinitions, or in a network of its own, if asked.
 * It goes with `resources`.
 */
export async function startOwnCluster(
  resources: AsyncDisposableStack,
  {
    withoutDefinitions = false,
    isApart = false,
  }: { readonly withoutDefinitions?: boolean; readonly isApart?: boolean } = {},
): Promise<Cluster> {
  const cluster = await startCluster({
    sources: ['built'],
    output: { write: () => true },
    isApart,
    ...(withoutDefinitions ? {} : { customResources: definitionsFolder }),
  });
  resources.defer(() => cluster.stop());
  await createControllerAccount({
    adminKubeconfig: cluster.kubeconfig,
    kubeconfigFile: join(cluster.runFolder, 'controller.kubeconfig'),
    tokenSeconds: 3600,
  });
  return cluster;
}
