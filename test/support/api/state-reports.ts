import { randomUUID } from 'node:crypto';
import type { RolloutReport, SyncStateReport } from '../../../src/domain/fleet.ts';

/** What a controller reports of a SecretSync that is in step, unless something else is given. */
export function stateReport(given: Partial<SyncStateReport> = {}): SyncStateReport {
  return {
    uid: randomUUID(),
    source: '',
    namespace: 'team-a',
    name: 'app',
    environmentId: null,
    isPinned: false,
    state: 'ready',
    reason: 'Synced',
    wanted: null,
    synced: null,
    syncedAt: null,
    secretName: 'app',
    rollout: null,
    ...given,
  };
}

/** The same of workloads that converged. */
export function rolloutReport(given: Partial<RolloutReport> = {}): RolloutReport {
  const workloads = [{ kind: 'Deployment', name: 'web', revision: 1, replicas: 2, updatedReplicas: 2 }];
  return { state: 'converged', reason: 'Converged', converged: null, workloads, ...given };
}
