import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import { type Cluster, startCluster } from '../../../tools/devcluster/cluster/cluster.ts';
import { missingPackages, nodeFault } from '../../../tools/devcluster/cluster/node/node-fault.ts';
import { apply } from '../../../tools/devcluster/cluster/apply.ts';
import { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import { installPackages } from '../../../tools/devcluster/image/make-image.ts';
import { Tools } from '../../../tools/devcluster/image/tools.ts';
import { removeBuiltImage } from './built-image.ts';
import { makeNodeImages } from './node-images.ts';
import { shareNode } from './shared-node.ts';

let running: Cluster | undefined;

/**
 * Starts the one cluster with a node of a jest run, with the images that its pods need, and makes it known to the tests. It
 * goes with this process, however that ends. Throws a sentence where no node can be had here.
 */
export async function startSharedNode(): Promise<void> {
  const fault = nodeFault();
  if (fault !== undefined) throw new Error(`There can be no node here: ${fault}.`);
  const missing = missingPackages();
  if (missing.length > 0) await installPackages(new Tools(), missing);
  await ensureBinaries(['kubectl', 'helm'], { env: process.env, output: process.stderr });
  const { images, files, release } = await makeNodeImages();
  const cluster = await startCluster({ withNode: true, onUnexpectedEnd: (message) => console.error(message) });
  running = cluster;
  for (const file of files) await cluster.node?.importImages(file);
  await makeDefaultStorageClass(cluster.kubeconfig);
  const { kubeconfig, runFolder, url } = cluster;
  shareNode({ kubeconfig, runFolder, url, images, release });
}

/** Stops it; does nothing if it did not start. */
export async function stopSharedNode(): Promise<void> {
  await running?.stop();
  running = undefined;
  removeBuiltImage();
}

/** Of the volumes that `NodeSite` makes. */
export const storageClass = 'local';

async function makeDefaultStorageClass(kubeconfig: string): Promise<void> {
  const kube = new KubeHttp(kubeconfig);
  try {
    await apply(kube, `/apis/storage.k8s.io/v1/storageclasses/${storageClass}`, {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: storageClass, annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
      provisioner: 'kubernetes.io/no-provisioner',
      volumeBindingMode: 'WaitForFirstConsumer',
    });
  } finally {
    kube.close();
  }
}
