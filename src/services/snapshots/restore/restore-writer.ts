import { randomUUID } from 'node:crypto';
import { DomainError } from '../../../domain/errors/domain-error.ts';
import { limits } from '../../../domain/limits.ts';
import type { Actor } from '../../../domain/principal.ts';
import { countGrowth } from '../../../store/growth.ts';
import { notifyEnvironment } from '../../../store/notify.ts';
import { type RestoreRequest, type StoredPlan, writeRestore } from '../../../store/restore.ts';
import { insertSnapshot, readSnapshot } from '../../../store/snapshots.ts';
import type { Transaction } from '../../../store/transaction.ts';
import type { AuditTarget } from '../../audit/audit-log.ts';
import type { Locked } from '../../kernel/change.ts';
import { checkRevision } from '../../kernel/environment-lock.ts';
import type { GrowthBudget } from '../../kernel/growth-budget.ts';
import { checkQuota } from '../../kernel/quota.ts';
import { type HashedRequest, listsOf, type RestoreLists, sizesOf } from './restore-plan.ts';
import { absentSnapshot } from '../snapshots.ts';

/** What is demanded of a restore. */
export interface RestoreDemand {
  readonly request: HashedRequest;
  /** The id of the revision the environment must be at. */
  readonly expectedRevision?: string | undefined;
  /** The hash of the reported plan: only what that plan says is done. */
  readonly planHash?: string | undefined;
  /** Makes the hash of a plan for this caller. */
  readonly hashOf: (plan: StoredPlan) => string;
}

/** What was done, and the revision the environment is at now. */
export interface RestoreDone extends RestoreLists {
  /** The snapshot of what was before; null if none was asked for or nothing was changed. */
  readonly backupSnapshotId: string | null;
  readonly revision: number;
  readonly revisionId: string;
}

/**
 * Whose restore it is, and the comment of its versions and its revision; without one a line that names the snapshot.
 */
export interface RestoreAuthor {
  readonly actor: Actor;
  readonly comment?: string | undefined;
  /** What the restore and its backup count against. */
  readonly budget: RestoreBudget;
  /** Whether the answer is stored for a repetition of the request. */
  readonly keepsAnswer?: boolean;
}

export type RestoreBudget = Pick<GrowthBudget, 'charge' | 'chargeSnapshot' | 'environmentBytesPerDay'>;

// An audit row names this many keys restored and pruned; the revision it names has them all.
const auditedKeys = 100;

/**
 * Restores by a plan that was made under the environment's lock (`planLockedRestore`). If nothing is to be changed it
 * makes neither revision nor backup, and returns the revision that the environment stays at. Throws what `checkPlan`
 * and `GrowthBudget` throw.
 */
export async function restoreLocked(
  tx: Transaction,
  demand: RestoreDemand,
  { actor, comment, budget, keepsAnswer = false }: RestoreAuthor,
  { before, first: planned }: Locked<StoredPlan | undefined>,
): Promise<RestoreDone> {
  const { request } = demand;
  const { environmentId, snapshotId } = request;
  const lists = listsOf(checkPlan(planned, demand));
  const changes = lists.restored.length + lists.pruned.length;
  const budgetBytesPerDay = budget.environmentBytesPerDay;
  if (keepsAnswer) {
    // It names up to 10,000 keys, even if nothing is restored.
    const bytes = Buffer.byteLength(JSON.stringify(lists));
    budget.charge(actor.id, await countGrowth(tx, { environmentId, bytes, budgetBytesPerDay }));
  }
  if (changes === 0) return { ...lists, backupSnapshotId: null, ...before };
  const backupSnapshotId = request.backup ? randomUUID() : null;
  if (backupSnapshotId !== null) {
    const backup = { id: backupSnapshotId, environmentId, name: await nameOfBackup(tx, request), description: null };
    budget.chargeSnapshot(actor.id, await insertSnapshot(tx, { ...backup, creator: actor, budgetBytesPerDay }));
  }
  const revision = { id: randomUUID(), number: before.revision + 1, actor, budgetBytesPerDay };
  const [written] = await tx.pipeline([
    writeRestore(tx, request, { ...revision, comment: comment ?? `restored from snapshot ${snapshotId}` }),
    notifyEnvironment(tx, environmentId, revision.id),
  ]);
  if (written.changes !== changes) throw new Error('the restore was not written as it was planned');
  budget.charge(actor.id, written);
  return { ...lists, backupSnapshotId, revision: revision.number, revisionId: revision.id };
}

/**
 * Holds a plan against what is demanded of it. Throws DomainError not_found if the environment does not have the
 * snapshot, version_mismatch if it is not at the expected revision, plan_outdated if this is not the plan that was
 * reported, and quota_exceeded if the values would be too many bytes.
 */
export function checkPlan(plan: StoredPlan | undefined, demand: RestoreDemand): StoredPlan {
  const { request, expectedRevision, planHash, hashOf } = demand;
  if (plan === undefined) throw absentSnapshot(request.snapshotId);
  checkRevision(plan, expectedRevision);
  if (planHash !== undefined && planHash !== hashOf(plan)) {
    throw new DomainError(
      'plan_outdated',
      'the environment has changed since it was planned, or the options are others; plan again',
    );
  }
  const { size, growth } = sizesOf(plan);
  checkQuota(size, growth);
  return plan;
}

/** With the snapshot's name, or with its id if it has no name or one that is too long. */
async function nameOfBackup(tx: Transaction, { environmentId, snapshotId }: RestoreRequest): Promise<string> {
  const snapshot = await readSnapshot(tx, environmentId, snapshotId);
  const named = `before restore of ${snapshot?.name ?? snapshotId}`;
  return named.length <= limits.nameLength ? named : `before restore of ${snapshotId}`;
}

/** How many keys a plan has of each list, for its audit row. */
export function countsOf({ restored, unchanged, skipped, destroyed, pruned }: RestoreLists): AuditTarget {
  return {
    restored: restored.length,
    unchanged: unchanged.length,
    skipped: skipped.length,
    destroyed: destroyed.length,
    pruned: pruned.length,
  };
}

/** What the audit row of a restore records of it. */
export function summaryOf({ snapshotId }: RestoreRequest, done: RestoreDone): AuditTarget {
  const { restored, pruned, backupSnapshotId, revision, revisionId } = done;
  const isChange = restored.length + pruned.length > 0;
  return {
    snapshotId,
    restoredKeys: restored.slice(0, auditedKeys),
    prunedKeys: pruned.slice(0, auditedKeys),
    ...countsOf(done),
    ...(backupSnapshotId === null ? {} : { backupSnapshotId }),
    ...(isChange ? { revision, revisionId } : {}),
  };
}
