import { describe, expect, test } from '@jest/globals';
import { clustersOf, shownRevision } from '../../../src/dashboard/text/consumers.ts';
import { isBehind } from '../../../src/dashboard/text/newest.ts';
import type { ConsumerView } from '../../../src/wire/consumers.ts';

const head = { revision: 7, revisionId: 'r7' };

function consumer(given: Partial<ConsumerView> = {}): ConsumerView {
  return {
    cluster: 'prod',
    clusterSeenAt: null,
    stale: false,
    uid: 'u',
    namespace: 'shop',
    name: 'web',
    source: null,
    pinned: false,
    health: 'healthy',
    ready: true,
    stalled: false,
    reason: 'Synced',
    wantedRevision: 7,
    wantedRevisionId: 'r7',
    syncedRevision: 7,
    syncedRevisionId: 'r7',
    syncedAt: null,
    secretName: 'web',
    rollout: null,
    changedAt: '',
    ...given,
  };
}

test('consumers are grouped by cluster, first what a person must mend', () => {
  const clusters = clustersOf([
    consumer({ cluster: 'b', name: 'one' }),
    consumer({ cluster: 'a', name: 'two', stale: true }),
    consumer({ cluster: 'b', name: 'three', health: 'stalled' }),
    consumer({ cluster: 'b', name: 'four', health: 'progressing' }),
  ]);
  expect(clusters.map(({ name, isStale, consumers }) => [name, isStale, consumers.map((one) => one.name)])).toEqual([
    ['a', true, ['two']],
    ['b', false, ['three', 'four', 'one']],
  ]);
});

describe('the revision of a Secret', () => {
  test.each([
    [{}, 'revision 7', false],
    [{ syncedRevision: 5, syncedRevisionId: 'r5' }, 'revision 5, 2 behind', true],
    [{ syncedRevision: 5, syncedRevisionId: 'r5', pinned: true }, 'revision 5', false],
    [{ syncedRevision: null, syncedRevisionId: null }, 'nothing yet', true],
    [{ syncedRevision: null, syncedRevisionId: 'lost' }, 'a revision that the environment lost', true],
    // Of the same number, but of a history that was replaced by a recovery.
    [{ syncedRevisionId: 'other' }, 'revision 7', true],
  ] as const)('%j', (given, text, behind) => {
    expect([shownRevision(consumer(given), head), isBehind(consumer(given), head)]).toEqual([text, behind]);
  });
});
