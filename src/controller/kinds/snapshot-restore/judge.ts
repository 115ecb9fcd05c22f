import type { DomainError } from '../../../domain/errors/domain-error.ts';
import type { ReportedLists } from '../../../domain/fleet.ts';
import type { ClaimedRestore, ResourcePlan } from '../../../domain/resources/restores.ts';
import { type ConditionClaim, type ReadyClaim, kubeTime } from '../../frame/conditions.ts';
import type { SnapshotRestore, SnapshotRestoreStatus } from '../../generated/snapshot-restore.ts';
import { type Outcome, type StatusFields, failureOutcome } from '../../frame/outcome.ts';
import * as messages from './messages.ts';
import type { ApprovalFacts, KeyCounts, PlanFacts } from './messages.ts';

/** The outcomes of plans and of completed restores. Pure functions. */

type RestoreOutcome = Outcome<SnapshotRestore>;
type RestoreMetadata = Pick<SnapshotRestore['metadata'], 'namespace' | 'name'>;

/** A plan that waits for its approval. */
export function judgePlanned(metadata: RestoreMetadata, plan: ResourcePlan): RestoreOutcome {
  const message = messages.planned(planFacts(plan), approvalFacts(metadata, plan));
  return planOutcome(plan, { progress: 'done', reason: 'Planned', message }, 'NotApproved');
}

/** The approved plan is outdated. The status reports the current one. */
export function judgeOutdated(metadata: RestoreMetadata, plan: ResourcePlan): RestoreOutcome {
  const message = messages.outdated(planFacts(plan), approvalFacts(metadata, plan));
  return planOutcome(plan, { progress: 'stalled', reason: 'PlanOutdated', message }, 'PlanOutdated');
}

/** A completed restore. This outcome is final. */
export function judgeComplete(done: ClaimedRestore): RestoreOutcome {
  const message = messages.complete({ ...done, counts: countsOf(done) });
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
 * An error of a plan or a restore. A plan that cannot be made any more is removed from the status, so that it cannot be
 * approved. An error that is retried keeps it.
 */
export function judgeFailure(error: DomainError): RestoreOutcome {
  const { effect } = error.description;
  const isOver = effect === 'stall';
  const isKept = keepsPlan(error);
  const outcome = failureOutcome<SnapshotRestore>(error, isKept ? {} : { plan: undefined, planHash: undefined });
  const { reason, message } = outcome.claim;
  return {
    ...outcome,
    conditions: [
      ...(isKept ? [] : [condition('Planned', 'False', reason, message)]),
      condition('Complete', 'False', reason),
      isOver ? condition('Failed', 'True', reason, message) : condition('Failed', 'False', reason),
    ],
  };
}

/** Whether a plan can still be approved after an error. */
export function keepsPlan({ code, description: { effect } }: DomainError): boolean {
  return effect === 'retry' || code === 'restore_forgotten';
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
      condition('Planned', 'True', 'Planned', messages.plan(planFacts(plan))),
      condition('Complete', 'False', whyIncomplete),
      condition('Failed', 'False', whyIncomplete),
    ],
  };
}

function completeFields(done: ClaimedRestore): StatusFields<SnapshotRestore> {
  const { snapshotId, environmentId, environment, planHash, backupSnapshotId, startedAt, completedAt } = done;
  const { revision, revisionId } = done;
  return {
    snapshotId,
    environmentId,
    environment,
    planHash: planHash ?? undefined,
    result: { ...countsOf(done), revision, revisionId },
    backupSnapshotId: backupSnapshotId ?? undefined,
    startTime: kubeTime(startedAt.getTime()),
    completionTime: kubeTime(completedAt.getTime()),
  };
}

type PlanStatus = NonNullable<SnapshotRestoreStatus['plan']>;

/** The lists of keys, without anything else. */
function listsOf(lists: ReportedLists): Required<Omit<PlanStatus, 'revision' | 'revisionId'>> {
  const { restored, recreated, unchanged, skipped, destroyed, pruned } = lists;
  const listOf = ({ count, keys }: ReportedLists['restored']): PlanStatus['restored'] => ({ count, keys: [...keys] });
  return {
    restored: listOf(restored),
    recreated: listOf(recreated),
    unchanged: listOf(unchanged),
    skipped: listOf(skipped),
    destroyed: listOf(destroyed),
    pruned: listOf(pruned),
  };
}

function planFacts(plan: ResourcePlan): PlanFacts {
  return { ...plan, counts: countsOf(plan) };
}

function approvalFacts({ namespace = '', name }: RestoreMetadata, { planHash }: ResourcePlan): ApprovalFacts {
  return { namespace, name, planHash };
}

function countsOf({ restored, recreated, unchanged, skipped, destroyed, pruned }: ReportedLists): KeyCounts {
  return {
    restored: restored.count,
    recreated: recreated.count,
    unchanged: unchanged.count,
    skipped: skipped.count,
    destroyed: destroyed.count,
    pruned: pruned.count,
  };
}

function condition(
  type: 'Planned' | 'Complete' | 'Failed',
  status: ConditionClaim['status'],
  reason: string,
  message = '',
): ConditionClaim {
  return { type, status, reason, message };
}
