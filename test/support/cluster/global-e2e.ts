import { buildDashboard } from '../../../tools/build/dashboard.ts';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
import { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import { prepareChromium } from '../browser/chromium.ts';
import { sharedCluster } from './cluster.ts';
import { startSharedCluster } from './global-cluster.ts';
import { startTestServer } from '../api/test-server.ts';

/** Jest's globalSetup of the end-to-end suite. */
export default async function startEndToEnd(): Promise<void> {
  await startTestServer();
  await Promise.all([buildDashboard(), prepareChromium()]);
  await startSharedCluster();
  // Not first in the test that needs them: a build would slow down the test file beside it.
  await ensureBinaries(['kubectl', 'helm', 'health'], { env: process.env, output: process.stderr });
  requireSource(process.env['KEYFRAME_TEST_CLUSTER_SOURCE']);
  await requireVersion(process.env['KEYFRAME_TEST_KUBERNETES']);
}

// A suite that is there to try one kind of cluster must not pass on another.
function requireSource(wanted: string | undefined): void {
  const { how } = sharedCluster();
  if (wanted !== undefined && wanted !== how)
    throw new Error(`The cluster was to come from ${wanted} and came from ${how}.`);
}

// Nor one for another version of Kubernetes.
async function requireVersion(wanted: string | undefined): Promise<void> {
  if (wanted === undefined || wanted === '') return;
  const client = new KubeHttp(sharedCluster().kubeconfig);
  try {
    const { gitVersion } = await client.json<{ gitVersion: string }>({ path: '/version' });
    if (!gitVersion.startsWith(`v${wanted}.`)) throw new Error(`Kubernetes was to be ${wanted} and is ${gitVersion}.`);
  } finally {
    client.close();
  }
}
