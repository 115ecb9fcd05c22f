import { randomUUID } from 'node:crypto';
import { limits } from '../../../domain/limits.ts';
import { growthOf, isChange, sizeOf } from '../../../domain/plans/plan.ts';
import {
  type HashedRestore,
  planRestore,
  type RestoreFacts,
  type RestorePlan,
  restoreParts,
} from '../../../domain/plans/restore.ts';
import type { RecordedActor } from '../../../domain/principal.ts';
import type { RestorePlace } from '../../../store/restore-facts.ts';
import { insertSnapshot, readSnapshot } from '../../../store/snapshots.ts';
import type { Transaction } from '../../../store/transaction.ts';
import type { AuditTarget } from '../../audit/audit-log.ts';
import type { Locked } from '../../change/change.ts';
import { checkRevision } from '../../kernel/environment-lock.ts';
import { chargeAnswer, type GrowthBudget } from '../../kernel/growth-budget.ts';
import { checkPlanIsPresent, digestOf } from '../../kernel/plan-hash.ts';
import { writePlan } from '../../kernel/plan-writer.ts';
import { checkQuota } from '../../kernel/quota.ts';
import { listsOf, type RestoreLists } from './restore-plan.ts';
import { absentSnapshot } from '../snapshots.ts';

/** What is demanded of a restore. */
export interface RestoreDemand {
  /** The organization of the environment. */
  readonly organizationId: string;
  readonly request: HashedRestore;
  /** The id of the revision the environment must be at. */
  readonly expectedRevision?: string | undefined;
  /** The hash of the reported plan: only what that plan says is done. */
  readonly planHash?: string | undefined;
  /** Makes the hash for this caller from the hash of a plan; the same hash by default. */
  readonly hashFor?: (hash: string) => string;
}

/** A plan that fits what is demanded. */
export interface CheckedPlan extends RestorePlan {
  /** For this caller. */
  readonly planHash: string;
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
  readonly actor: RecordedActor;
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
 * Restores by facts that were read under the environment's lock (`readLockedRestoreFacts`). If nothing is to be changed it
 * makes neither revision nor backup, and returns the revision that the environment stays at. Throws what `checkedPlan` and
 * `GrowthBudget` throw.
 */
export async function restoreLocked(
  tx: Transaction,
  demand: RestoreDemand,
  { actor, comment, budget, keepsAnswer = false }: RestoreAuthor,
  { before, first: facts }: Locked<RestoreFacts | undefined>,
): Promise<RestoreDone> {
  const { organizationId, request } = demand;
  const { environmentId, snapshotId } = request;
  const plan = checkedPlan(facts, demand);
  const lists = listsOf(plan);
  if (keepsAnswer) await chargeAnswer(tx, budget, { environmentId, callerId: actor.id, answer: lists });
  if (!isChange(plan)) return { ...lists, backupSnapshotId: null, ...before };
  const backupSnapshotId = request.backup ? randomUUID() : null;
  if (backupSnapshotId !== null) {
    const backup = { id: backupSnapshotId, environmentId, name: await nameOfBackup(tx, request), description: null };
    const { environmentBytesPerDay: budgetBytesPerDay } = budget;
    budget.chargeSnapshot(actor.id, await insertSnapshot(tx, { ...backup, creator: actor, budgetBytesPerDay }));
  }
  const written = await writePlan(tx, {
    organizationId,
    environmentId,
    before,
    keys: plan.keys,
    actor,
    comment: comment ?? `restored from snapshot ${snapshotId}`,
    budget,
  });
  return { ...lists, backupSnapshotId, ...written };
}

/**
 * Plans a restore and compares the plan with what is demanded of it. Throws DomainError not_found if the environment does
 * not have the snapshot, version_mismatch if it is not at the expected revision, plan_outdated if this is not the plan
 * that was reported, and quota_exceeded if there would be too many secrets or bytes.
 */
export function checkedPlan(facts: RestoreFacts | undefined, demand: RestoreDemand): CheckedPlan {
  const { request, expectedRevision, planHash: demanded, hashFor = (hash) => hash } = demand;
  if (facts === undefined) throw absentSnapshot(request.snapshotId);
  checkRevision(facts, expectedRevision);
  const plan = planRestore(facts, request);
  const planHash = hashFor(digestOf(restoreParts(request, plan)));
  checkPlanIsPresent(demanded, planHash);
  checkQuota(sizeOf(plan), growthOf(plan));
  return { ...plan, planHash };
}

/** With the snapshot's name, or with its id if it has no name or one that is too long. */
async function nameOfBackup(tx: Transaction, { environmentId, snapshotId }: RestorePlace): Promise<string> {
  const snapshot = await readSnapshot(tx, environmentId, snapshotId);
  const named = `before restore of ${snapshot?.name ?? snapshotId}`;
  return named.length <= limits.nameLength ? named : `before restore of ${snapshotId}`;
}

/** How many keys a plan has of each list, for its audit row. */
export function countsOf({ restored, recreated, unchanged, skipped, destroyed, pruned }: RestoreLists): AuditTarget {
  return {
    restored: restored.length,
    recreated: recreated.length,
    unchanged: unchanged.length,
    skipped: skipped.length,
    destroyed: destroyed.length,
    pruned: pruned.length,
  };
}

/** What the audit row of a restore records of it. */
export function summaryOf({ snapshotId }: RestorePlace, done: RestoreDone): AuditTarget {
  const { restored, recreated, pruned, backupSnapshotId, revision, revisionId } = done;
  const isChanged = restored.length + recreated.length + pruned.length > 0;
  return {
    snapshotId,
    restoredKeys: restored.slice(0, auditedKeys),
    ...(recreated.length === 0 ? {} : { recreatedKeys: recreated.slice(0, auditedKeys) }),
    prunedKeys: pruned.slice(0, auditedKeys),
    ...countsOf(done),
    ...(backupSnapshotId === null ? {} : { backupSnapshotId }),
    ...(isChanged ? { revision, revisionId } : {}),
  };
}
