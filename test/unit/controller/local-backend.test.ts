import { expect, test } from '@jest/globals';
import { connectLocally } from '../../../src/compose/local-backend.ts';
import type { ReportedResource } from '../../../src/domain/fleet.ts';
import { reportedPageSize } from '../../../src/services/fleet/sync-states.ts';

/** Connects to services that have this many SecretSyncs on a page. */
function pagesOf(size: number): ReturnType<typeof connectLocally> {
  const page: ReportedResource[] = Array.from({ length: size }, (_, index) => ({
    uid: `uid-${index}`,
    namespace: 'ns',
  }));
  const services = { syncStates: { reported: () => Promise.resolve(page) }, waitingRestores: {} };
  return connectLocally(services as unknown as Parameters<typeof connectLocally>[0]);
}

test.each([
  [0, null],
  [reportedPageSize - 1, null],
  [reportedPageSize, `uid-${reportedPageSize - 1}`],
])('a page of %i reported SecretSyncs is followed by the one after %s', async (size, next) => {
  const { fleet } = pagesOf(size)(() => 'test');
  expect((await fleet.syncStates.reported(null)).next).toBe(next);
});
