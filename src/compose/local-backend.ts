import type { ConnectBackend } from '../controller/backend/backend.ts';
import { portProtocol } from '../domain/clusters.ts';
import { fingerprintOfCluster } from '../lib/set-fingerprint.ts';
import { ownRelease } from '../lib/release.ts';
import type { Services } from './services.ts';

/** Connects a controller to the services of its own process. */
export function connectLocally({ clusterPorts }: Pick<Services, 'clusterPorts'>): ConnectBackend {
  const program = { release: ownRelease(), protocol: portProtocol };
  return (cluster) => {
    const port = clusterPorts.ofOwn(cluster);
    return {
      ...port,
      cluster: { hello: async (hello) => await port.cluster.hello({ ...hello, ...program }) },
      fingerprint: fingerprintOfCluster(() => port.fingerprintKey(), cluster),
    };
  };
}
