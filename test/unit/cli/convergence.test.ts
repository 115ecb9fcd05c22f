import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { convergenceOf, missingText, staleClusters } from '../../../src/cli/commands/consumer/convergence.ts';
import type { ConsumerView } from '../../../src/wire/consumers.ts';

const rollingOut = {
  converged: false,
  stalled: false,
  reason: 'RollingOut',
  convergedRevision: 1,
  convergedRevisionId: randomUUID(),
  workloads: [],
} satisfies ConsumerView['rollout'];
const converged = { ...rollingOut, converged: true, reason: 'Converged', convergedRevision: 2 };

/** One that is in step at revision 2. */
function consumer(given: Partial<ConsumerView> = {}): ConsumerView {
  return {
    cluster: 'prod',
    clusterSeenAt: '2027-01-01T00:00:00.000Z',
    stale: false,
    uid: randomUUID(),
    namespace: 'team-a',
    name: 'app',
    source: null,
    pinned: false,
    health: 'healthy',
    ready: true,
    stalled: false,
    reason: 'Synced',
    wantedRevision: 2,
    wantedRevisionId: randomUUID(),
    syncedRevision: 2,
    syncedRevisionId: randomUUID(),
    syncedAt: null,
    secretName: 'app',
    rollout: null,
    changedAt: '2027-01-01T00:00:00.000Z',
    ...given,
  };
}

const stalled = { stalled: true, ready: false, health: 'stalled', syncedRevision: 1 } as const;

describe('of revision 2, a consumer', () => {
  test.each<[string, Partial<ConsumerView>, readonly string[]]>([
    ['in step has reached it', {}, ['reached']],
    ['with a later one has reached it', { syncedRevision: 3 }, ['reached']],
    ['whose workloads converged has reached it', { rollout: converged }, ['reached']],
    ['with an earlier one is missing', { syncedRevision: 1 }, ['missing']],
    ['without any is missing', { syncedRevision: null, syncedRevisionId: null }, ['missing']],
    ['with one that was lost is missing', { syncedRevision: null }, ['missing']],
    ['whose workloads roll out is missing', { rollout: rollingOut }, ['missing']],
    ['whose workloads converged before is missing', { rollout: { ...converged, convergedRevision: 1 } }, ['missing']],
    ['whose workloads left it again is missing', { rollout: { ...converged, converged: false } }, ['missing']],
    ['that is stalled since it saw it is stuck', stalled, ['missing', 'stuck']],
    ['that cannot read is stuck', { ...stalled, wantedRevision: null, wantedRevisionId: null }, ['missing', 'stuck']],
    ['that is stalled with an earlier one may go on', { ...stalled, wantedRevision: 1 }, ['missing']],
    ['whose workloads are stuck with it is stuck', { rollout: { ...rollingOut, stalled: true } }, ['missing', 'stuck']],
    [
      'whose workloads are stuck with an earlier one may go on',
      { syncedRevision: 1, rollout: { ...rollingOut, stalled: true } },
      ['missing'],
    ],
    ['of a stale cluster proves nothing', { ...stalled, stale: true }, ['missing']],
    ['that is stalled although it has it has reached it', { ...stalled, syncedRevision: 2 }, ['reached']],
    ['that is pinned is exempt', { ...stalled, pinned: true }, ['exempt']],
    ['that is suspended is exempt', { syncedRevision: 1, health: 'suspended' }, ['exempt']],
  ])('%s', (_name, given, places) => {
    const found = convergenceOf([consumer(given)], 2);
    const filled = Object.entries(found).flatMap(([place, consumers]) => (consumers.length > 0 ? [place] : []));
    expect(filled.toSorted()).toEqual(places.toSorted());
  });
});

test('a missing consumer is named with its place, what it holds, and why', () => {
  const denied = consumer({ ...stalled, reason: 'AccessDenied', source: 'db' });
  expect(missingText(denied)).toBe(
    'SecretSync team-a/app (source db) in cluster prod: the Secret holds revision 1 (AccessDenied)',
  );
  expect(missingText(consumer({ namespace: null, rollout: rollingOut, stale: true }))).toBe(
    'SecretSync app in cluster prod: the Secret holds revision 2 (Synced, rollout RollingOut, stale)',
  );
  expect(missingText(consumer({ syncedRevision: null }))).toContain('holds an unknown revision');
  expect(missingText(consumer({ syncedRevision: null, syncedRevisionId: null }))).toContain('holds no revision');
});

test('each cluster that does not report is named once', () => {
  const stale = { stale: true, cluster: 'eu' };
  expect(staleClusters([consumer(), consumer(stale), consumer(stale)])).toEqual([
    expect.stringMatching(/^Cluster eu has not reported since 2027-01-01/),
  ]);
  expect(staleClusters([consumer({ ...stale, clusterSeenAt: null })])).toEqual([
    expect.stringContaining('has never reported'),
  ]);
});
