import { expect, test } from '@jest/globals';
import { type ClusterPort, ClusterPorts } from '../../../src/services/cluster/cluster-port.ts';
import type { ReportedResource } from '../../../src/domain/fleet.ts';
import { reportedPageSize } from '../../../src/services/fleet/sync-states.ts';

/** The port of services that have this many SecretSyncs on a page. */
function portWith(size: number): ClusterPort {
  const page: ReportedResource[] = Array.from({ length: size }, (_, index) => ({
    uid: `uid-${index}`,
    namespace: 'ns',
  }));
  const services = { syncStates: { reported: () => Promise.resolve(page) }, waitingRestores: {} };
  return new ClusterPorts(services as unknown as ConstructorParameters<typeof ClusterPorts>[0]).of('test');
}

test.each([
  [0, null],
  [reportedPageSize - 1, null],
  [reportedPageSize, `uid-${reportedPageSize - 1}`],
])('a page of %i reported SecretSyncs is followed by the one after %s', async (size, next) => {
  const { fleet } = portWith(size);
  expect((await fleet.syncStates.reported(null)).next).toBe(next);
});
