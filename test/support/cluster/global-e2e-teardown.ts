import { stopSharedCluster } from './global-cluster.ts';
import { stopTestServer } from '../api/test-server.ts';

/** Jest's globalTeardown of the end-to-end suite. */
export default async function stopEndToEnd(): Promise<void> {
  await Promise.all([stopSharedCluster(), stopTestServer()]);
}
