import type { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ClaimedRestore, ResourcePlan, ToldLists } from '../../../services/managed/restores.ts';
import { type ConditionClaim, type ReadyClaim, kubeTime } from '../../frame/conditions.ts';
import type { SnapshotRestore, SnapshotRestoreStatus } from '../../generated/snapshot-restore.ts';
import { type Outcome, type StatusFields, failureOutcome } from '../../frame/outcome.ts';

/** What the status tells of a plan, and of a restore that was carried out. Pure. */

type RestoreOutcome = Outcome<SnapshotRestore>;
type RestoreMetadata = Pick<SnapshotRestore['metadata'], 'namespace' | 'name'>;

/** A plan that waits for its approval. */
export function judgePlanned(metadata: RestoreMetadata, plan: ResourcePlan): RestoreOutcome {
  const message = `${planText(plan)} Nothing is done before it is approved: ${approval(metadata, plan)}`;
  return planOutcome(plan, { progress: 'done', reason: 'Planned', message }, 'NotApproved');
}

/** What was approved does not hold any more; here is what would. */
export function judgeOutdated(metadata: RestoreMetadata, plan: ResourcePlan): RestoreOutcome {
  const message =
    'spec.planHash is not the hash of the plan as it is now: the environment, or the snapshot, has changed since that plan was ' +
    'made, or the hash is mistyped or of something else, such as another SnapshotRestore. Nothing was restored. ' +
    `The plan now: ${planText(plan)} To approve it: ${approval(metadata, plan)}`;
  return planOutcome(plan, { progress: 'stalled', reason: 'PlanOutdated', message }, 'PlanOutdated');
}

/** A restore that was carried out; it stays so whatever comes after it. */
export function judgeComplete(done: ClaimedRestore): RestoreOutcome {
  const { backupSnapshotId, revision, environment, snapshotId } = done;
  const backup = backupSnapshotId === null ? '' : ` Snapshot ${backupSnapshotId} holds what was before.`;
  const what = isChange(done) ? `which made revision ${revision}.` : `so nothing was changed at revision ${revision}.`;
  const message = `${environment} was restored from snapshot ${snapshotId}: ${countsText(done)}, ${what}${backup}`;
  return {
    claim: { progress: 'done', reason: 'Complete', message },
    fields: { ...completeFields(done), plan: { ...done.from, ...listsOf(done) } },
    conditions: [
      done.planHash === null ? condition('Planned', 'False', 'Unplanned') : condition('Planned', 'True', 'Planned'),
      condition('Complete', 'True', 'Complete', message),
      condition('Failed', 'False', 'Complete'),
    ],
  };
}

/**
 * What hinders a plan or a restore. A plan that cannot be made any more is taken away, so that nobody approves it; what
 * is tried again by itself lets it stand.
 */
export function judgeFailure(error: DomainError): RestoreOutcome {
  const { effect } = error.description;
  const isOver = effect === 'stall';
  const keepsPlan = effect === 'retry' || error.code === 'restore_forgotten';
  const outcome = failureOutcome<SnapshotRestore>(error, keepsPlan ? {} : { plan: undefined, planHash: undefined });
  const { reason, message } = outcome.claim;
  return {
    ...outcome,
    conditions: [
      ...(keepsPlan ? [] : [condition('Planned', 'False', reason, message)]),
      condition('Complete', 'False', reason),
      isOver ? condition('Failed', 'True', reason, message) : condition('Failed', 'False', reason),
    ],
  };
}

function planOutcome(plan: ResourcePlan, claim: ReadyClaim, whyIncomplete: string): RestoreOutcome {
  const { snapshotId, environmentId, environment, planHash, revision, revisionId } = plan;
  return {
    claim,
    fields: {
      snapshotId,
      environmentId,
      environment,
      planHash,
      plan: { revision, revisionId, ...listsOf(plan) },
    },
    conditions: [
      condition('Planned', 'True', 'Planned', planText(plan)),
      condition('Complete', 'False', whyIncomplete),
      condition('Failed', 'False', whyIncomplete),
    ],
  };
}

function completeFields(done: ClaimedRestore): StatusFields<SnapshotRestore> {
  const { snapshotId, environmentId, environment, planHash, backupSnapshotId, startedAt, completedAt } = done;
  const { restored, unchanged, skipped, destroyed, pruned, revision, revisionId } = done;
  return {
    snapshotId,
    environmentId,
    environment,
    planHash: planHash ?? undefined,
    result: {
      restored: restored.count,
      unchanged: unchanged.count,
      skipped: skipped.count,
      destroyed: destroyed.count,
      pruned: pruned.count,
      revision,
      revisionId,
    },
    backupSnapshotId: backupSnapshotId ?? undefined,
    startTime: kubeTime(startedAt.getTime()),
    completionTime: kubeTime(completedAt.getTime()),
  };
}

type PlanStatus = NonNullable<SnapshotRestoreStatus['plan']>;

function listsOf(lists: ToldLists): Omit<PlanStatus, 'revision' | 'revisionId'> {
  const { restored, unchanged, skipped, destroyed, pruned } = lists;
  const listOf = ({ count, keys }: ToldLists['restored']): PlanStatus['restored'] => ({ count, keys: [...keys] });
  return {
    restored: listOf(restored),
    unchanged: listOf(unchanged),
    skipped: listOf(skipped),
    destroyed: listOf(destroyed),
    pruned: listOf(pruned),
  };
}

function planText(plan: ResourcePlan): string {
  const { environment, revision, snapshotId } = plan;
  return `Restoring ${environment}, which is at revision ${revision}, from snapshot ${snapshotId}: ${countsText(plan)}.`;
}

function countsText({ restored, unchanged, skipped, destroyed, pruned }: ToldLists): string {
  const counts = { restored, unchanged, skipped, destroyed, pruned };
  return Object.entries(counts)
    .map(([what, { count }]) => `${count} ${what}`)
    .join(', ');
}

function isChange({ restored, pruned }: ToldLists): boolean {
  return restored.count + pruned.count > 0;
}

function approval({ namespace = '', name }: RestoreMetadata, { planHash }: ResourcePlan): string {
  const patch = JSON.stringify({ spec: { mode: 'Apply', planHash } });
  return `kubectl patch snapshotrestore ${name} -n ${namespace} --type merge -p '${patch}'`;
}

function condition(
  type: 'Planned' | 'Complete' | 'Failed',
  status: ConditionClaim['status'],
  reason: string,
  message = '',
): ConditionClaim {
  return { type, status, reason, message };
}
