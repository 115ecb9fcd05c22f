import type { ReportedRevision, RolloutReport, SyncStateReport } from '../../../../domain/fleet.ts';
import { isReportableTime, isReportableWorkload } from '../../../../domain/report-forms.ts';
import type { RolloutState, SyncState } from '../../../../domain/sync-health.ts';
import type { Progress } from '../../../frame/conditions.ts';
import type { SecretSync, SecretSyncStatus } from '../../../generated/secret-sync.ts';
import type { RolloutOutcome } from '../../rollout/model.ts';
import type { RolloutReason } from '../../rollout/plan.ts';
import type { SourceRevision, SyncOutcome } from '../model.ts';
import { pinOf } from '../spec/pin.ts';
import { targetOf } from '../spec/resource.ts';
import { sourcesOf } from '../spec/source.ts';

/** An outcome as the status reports it. */
export interface ReportedSync {
  readonly sync: SecretSync;
  readonly outcome: SyncOutcome;
  /** The status with that outcome. */
  readonly status: SecretSyncStatus;
  readonly rollout: RolloutOutcome;
}

interface NamedSource {
  readonly name?: string | undefined;
}

const stateOf: Readonly<Record<Progress, SyncState>> = {
  done: 'ready',
  stalled: 'stalled',
  waiting: 'progressing',
  reconciling: 'progressing',
  suspended: 'suspended',
};

const rolloutStates: Readonly<
  Record<RolloutReason | 'RolloutsDisabled' | 'Suspended' | 'SecretNotSynced', RolloutState>
> = {
  Converged: 'converged',
  RollingOut: 'progressing',
  RolloutPending: 'progressing',
  // What it waits for is restarted first, or is stuck itself.
  RolloutBlocked: 'progressing',
  SecretNotSynced: 'progressing',
  RolloutHeld: 'stalled',
  RolloutStuck: 'stalled',
  RollbackImpossible: 'stalled',
  RolloutUndone: 'stalled',
  WorkloadNotFound: 'stalled',
  RolloutsForbidden: 'stalled',
  RolloutsDisabled: 'stalled',
  Suspended: 'suspended',
};

/**
 * What an outcome means for each source of a SecretSync. The environments are those that the controller was admitted to, never
 * those of the status, which others can write. It has reasons and no messages: a message may name what belongs to another
 * source. Pure.
 */
export function reportsOf({ sync, outcome, status, rollout }: ReportedSync): SyncStateReport[] {
  const { uid, namespace = '', name } = sync.metadata;
  const { claim, sources: read, synced } = outcome;
  return sourcesOf(sync).map((source) => {
    const isSame = (state: NamedSource): boolean => state.name === source.name;
    const wanted = read?.find(isSame);
    const held = synced?.sources.find(isSame);
    return {
      uid,
      source: source.name ?? '',
      namespace,
      name,
      environmentId: (wanted ?? held)?.environmentId ?? null,
      isPinned: pinOf(source) !== undefined,
      state: stateOf[claim.progress],
      reason: claim.reason,
      wanted: revisionOf(wanted),
      synced: revisionOf(held),
      syncedAt: held === undefined ? null : timeOf(status.lastSyncTime),
      secretName: targetOf(sync).name,
      rollout: rolloutReport(rollout, rollout.converged?.sources.find(isSame)),
    };
  });
}

function rolloutReport(
  { claim, workloads = [] }: RolloutOutcome,
  converged: SourceRevision | undefined,
): RolloutReport | null {
  if (claim === undefined) return null;
  const states: Readonly<Record<string, RolloutState>> = rolloutStates;
  return {
    state: states[claim.reason] ?? 'progressing',
    reason: claim.reason,
    converged: revisionOf(converged),
    workloads: workloads.filter(isReportableWorkload).map(({ kind, name, revision, replicas, updatedReplicas }) => ({
      kind,
      name,
      ...(revision === undefined ? {} : { revision }),
      ...(replicas === undefined ? {} : { replicas }),
      ...(updatedReplicas === undefined ? {} : { updatedReplicas }),
    })),
  };
}

function revisionOf(state: ReportedRevision | undefined): ReportedRevision | null {
  return state === undefined ? null : { revision: state.revision, revisionId: state.revisionId };
}

function timeOf(text: string | undefined): Date | null {
  const time = new Date(text ?? '');
  return isReportableTime(time) ? time : null;
}
