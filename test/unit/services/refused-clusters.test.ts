import { expect, test } from '@jest/globals';
import { RefusedClusters } from '../../../src/services/access/refused-clusters.ts';

test('a refused cluster is reported for two minutes after its last refusal, once for each reason', () => {
  let nowMs = 0;
  const refused = new RefusedClusters(() => nowMs);
  refused.note({ cluster: 'one', reason: 'uid' });
  refused.note({ cluster: 'two', reason: 'credential' });
  nowMs = 60_000;
  refused.note({ cluster: 'one', reason: 'uid' });
  nowMs = 130_000;
  expect(refused.recent()).toEqual([{ cluster: 'one', reason: 'uid' }]);
  nowMs = 190_000;
  expect(refused.recent()).toEqual([]);
});
