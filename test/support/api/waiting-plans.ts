import { randomUUID } from 'node:crypto';
import type { ReportedPlan } from '../../../src/domain/fleet.ts';

const none = { count: 0, keys: [] };

/** What a controller reports of a SnapshotRestore that waits, unless something else is given. */
export function waitingPlan(given: Partial<ReportedPlan> & Pick<ReportedPlan, 'environmentId'>): ReportedPlan {
  const keys = { restored: { count: 1, keys: ['A'] }, recreated: none, unchanged: none, skipped: none };
  return {
    uid: randomUUID(),
    namespace: 'team-a',
    name: 'back',
    snapshotId: randomUUID(),
    planHash: randomUUID(),
    revision: 3,
    revisionId: randomUUID(),
    keys: { ...keys, destroyed: none, pruned: { count: 1, keys: ['B'] } },
    ...given,
  };
}
