import { expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { syncs } from './controller-harness.ts';
import { TokenHarness, serviceTokensPath } from './token-harness.ts';

/** Before all AccessGrants are listed, one that is not seen yet looks like one that was withdrawn. */

function suspend({ cluster }: TokenHarness, collection: string, name: string): void {
  cluster.put(collection, name, (object) => {
    object['spec'] = { ...(object['spec'] as object), suspend: true };
  });
}

test.each([
  ['AccessGrants', 'accessgrants', 'Issued'],
  ['namespaces', 'namespaces', 'Issued'],
  ['AccessGrants, if it is suspended', 'accessgrants', 'Suspended'],
])('a ServiceToken keeps its token while there is no list of %s', async (_name, collection, reason) => {
  const before = new TokenHarness();
  await before.issued();
  if (reason === 'Suspended') {
    suspend(before, syncs, 'app');
    suspend(before, serviceTokensPath, 'app-token');
    await before.clock.advance(1000);
  }
  await before.controller.stop();
  const { tokenUid } = before;

  const harness = new TokenHarness(before);
  for (let call = 0; call < 100; call += 1) {
    harness.cluster.before(new RegExp(`^GET [^ ]*/${collection}$`), () => {
      throw new ApiError('GET', 403, 'Forbidden');
    });
  }
  await harness.start();
  await harness.clock.advance(60_000);
  expect(harness.tokenReason).toBe('ClusterUnavailable');
  expect(harness.serviceTokens.worksFor(tokenUid)).toBe(true);
  harness.cluster.mend();
  await harness.clock.advance(600_000);
  expect(harness.tokenReason).toBe(reason);
  expect(harness.serviceTokens.worksFor(tokenUid)).toBe(true);
  harness.withdraw();
  await harness.clock.advance(10_000);
  expect(harness.serviceTokens.worksFor(tokenUid)).toBe(false);
  await harness.controller.stop();
});
