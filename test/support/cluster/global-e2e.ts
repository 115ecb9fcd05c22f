import { buildDashboard } from '../../../tools/build/dashboard.ts';
import { ensureBinaries } from '../../../tools/devcluster/cluster/build.ts';
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
}

// A suite that is there to try one kind of cluster must not pass on another.
function requireSource(wanted: string | undefined): void {
  const { how } = sharedCluster();
  if (wanted !== undefined && wanted !== how)
    throw new Error(`The cluster was to come from ${wanted} and came from ${how}.`);
}
