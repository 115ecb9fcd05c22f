import { randomUUID } from 'node:crypto';
import { DomainError, invalidField } from '../domain/domain-error.ts';
import { limits } from '../domain/limits.ts';
import { inOrder } from '../lib/in-order.ts';
import type { Database } from '../store/database.ts';
import { notifyEnvironment } from '../store/notify.ts';
import { planLockedRestore, planRestore, type RestoreWish, type StoredPlan, writeRestore } from '../store/restore.ts';
import { insertSnapshot, readSnapshot } from '../store/snapshots.ts';
import type { Transaction } from '../store/transaction.ts';
import type { EnvironmentAccess } from './access.ts';
import type { AuditLog, AuditTarget } from './audit-log.ts';
import { auditedFailure, auditedRead, successRecord } from './audited.ts';
import { checkComment, checkUuid } from './checks.ts';
import { checkRevision, lockAtRevision } from './environment-lock.ts';
import type { EnvironmentQueue } from './environment-queue.ts';
import { type IdempotencyRequest, mutateOnce } from './mutate-once.ts';
import { checkQuota } from './quota.ts';
import { type HashedWish, listsOf, planHash, type RestoreLists, sizesOf } from './restore-plan.ts';
import { absentSnapshot } from './snapshots.ts';

export interface RestoreInput {
  readonly snapshotId: string;
  /** Also deletes keys that the snapshot does not have. */
  readonly prune?: boolean;
  /** Makes no version of a value that the key has already. */
  readonly skipUnchanged?: boolean;
  /** Keeps the present in a snapshot first, if there is anything to change. */
  readonly backup?: boolean;
  /** The id of the revision the environment must be at. */
  readonly expectedRevision?: string;
  /** `planHash` of a dry run: nothing but what it told is done. */
  readonly planHash?: string;
  /** Of the versions and the revision; without it a line that names the snapshot. */
  readonly comment?: string;
  readonly idempotency?: IdempotencyRequest | undefined;
}

/** What was done, and the revision the environment is at now. */
export interface RestoreAnswer extends RestoreLists {
  /** The snapshot of what was before; null where none was asked for or nothing was changed. */
  readonly backupSnapshotId: string | null;
  readonly revision: number;
  readonly revisionId: string;
  /** Set where an earlier request under the same Idempotency-Key did it. */
  readonly replayed?: true;
}

/** What would be done, and the revision the environment is at. */
export interface RestorePlan extends RestoreLists {
  readonly planHash: string;
  readonly revision: number;
  readonly revisionId: string;
}

export interface RestoresDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly queue: Pick<EnvironmentQueue, 'run'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

// An audit row names this many keys restored and pruned; the revision it names has them all.
const auditedKeys = 100;
const planHashForm = /^[A-Za-z0-9_-]{43}$/;

/** Restores of environments from their snapshots (docs/interface.md 4.3). */
export class Restores {
  readonly #deps: RestoresDeps;

  constructor(deps: RestoresDeps) {
    this.#deps = deps;
  }

  /**
   * Tells what a restore would do, with the errors it would have, and writes nothing but its audit row. Throws what
   * `restore` throws.
   */
  async plan(access: EnvironmentAccess<'snapshot.restore'>, input: RestoreInput): Promise<RestorePlan> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      const wish = wishOf(access, input);
      note({ snapshotId: wish.snapshotId, dryRun: true });
      const plan = checkedPlan(await planRestore(this.#deps.database.pool, wish), wish, input);
      const lists = listsOf(plan);
      note(countsOf(lists));
      const { revision, revisionId } = plan;
      return { ...lists, planHash: planHash(wish, plan), revision, revisionId };
    });
  }

  /**
   * Brings each key of the snapshot back to the value it had, in one revision, all or nothing. Where nothing is to be
   * changed it makes neither revision nor backup and answers the revision the environment stays at. Throws DomainError
   * not_found where the environment does not have the snapshot, version_mismatch where it is not at the expected
   * revision, plan_outdated where the plan is not the one of `planHash`, quota_exceeded where the values would be too
   * many bytes, and what `EnvironmentQueue.run` and `mutateOnce` throw.
   */
  async restore(access: EnvironmentAccess<'snapshot.restore'>, input: RestoreInput): Promise<RestoreAnswer> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      const wish = wishOf(access, input);
      note({ snapshotId: wish.snapshotId });
      const once = {
        request: input.idempotency,
        keep: (answer: RestoreAnswer) => answer,
        target: ({ revision, revisionId }: RestoreAnswer) => ({ snapshotId: wish.snapshotId, revision, revisionId }),
        // What was done then: what is there now may be another restore's.
        recall: (kept: RestoreAnswer) => Promise.resolve<RestoreAnswer>({ ...kept, replayed: true }),
      };
      const done = await this.#deps.queue.run(access.environmentId, () =>
        mutateOnce(this.#deps, access, once, async (tx) => {
          const result = await restoreLocked(tx, { access, wish, input });
          return { result, audit: successRecord(access, summaryOf(wish, result)) };
        }),
      );
      return done.result;
    });
  }
}

interface LockedRestore {
  readonly access: EnvironmentAccess<'snapshot.restore'>;
  readonly wish: HashedWish;
  readonly input: RestoreInput;
}

async function restoreLocked(tx: Transaction, { access, wish, input }: LockedRestore): Promise<RestoreAnswer> {
  const { environmentId, snapshotId } = wish;
  // Begun together; the transaction runs the second statement when the first one has the lock.
  const [before, planned] = await inOrder(lockAtRevision(tx, environmentId), planLockedRestore(tx, wish));
  const plan = checkedPlan(planned, wish, input);
  const lists = listsOf(plan);
  const changes = lists.restored.length + lists.pruned.length;
  if (changes === 0) return { ...lists, backupSnapshotId: null, ...before };
  const { type, id, name } = access.caller.principal;
  const actor = { type, id, name };
  const backupSnapshotId = wish.backup ? randomUUID() : null;
  if (backupSnapshotId !== null) {
    const backupName = await nameOfBackup(tx, wish);
    await insertSnapshot(tx, {
      id: backupSnapshotId,
      environmentId,
      name: backupName,
      description: null,
      creator: actor,
    });
  }
  const revision = { id: randomUUID(), number: before.revision + 1, actor };
  const comment = input.comment ?? `restored from snapshot ${snapshotId}`;
  const [written] = await inOrder(
    writeRestore(tx, wish, { ...revision, comment }),
    notifyEnvironment(tx, environmentId, revision.id),
  );
  if (written !== changes) throw new Error('the restore was not written as it was planned');
  return { ...lists, backupSnapshotId, revision: revision.number, revisionId: revision.id };
}

/** Holds a plan against what its restore demands. */
function checkedPlan(plan: StoredPlan | undefined, wish: HashedWish, input: RestoreInput): StoredPlan {
  if (plan === undefined) throw absentSnapshot(wish.snapshotId);
  checkRevision(plan, input.expectedRevision);
  if (input.planHash !== undefined && input.planHash !== planHash(wish, plan)) {
    throw new DomainError(
      'plan_outdated',
      'the environment has changed since it was planned, or the options are others; plan again',
    );
  }
  const { size, growth } = sizesOf(plan);
  checkQuota(size, growth);
  return plan;
}

function wishOf({ environmentId }: { readonly environmentId: string }, input: RestoreInput): HashedWish {
  const { snapshotId, prune = false, skipUnchanged = false, backup = false } = input;
  checkUuid('snapshotId', snapshotId);
  if (input.expectedRevision !== undefined) checkUuid('expectedRevision', input.expectedRevision);
  if (input.planHash !== undefined && !planHashForm.test(input.planHash)) {
    throw invalidField('planHash', 'must be the planHash of a dry run');
  }
  checkComment(input.comment);
  return { environmentId, snapshotId, prune, skipUnchanged, backup };
}

/** By the snapshot's name, or by its id where it has none or one that leaves no room. */
async function nameOfBackup(tx: Transaction, { environmentId, snapshotId }: RestoreWish): Promise<string> {
  const snapshot = await readSnapshot(tx, environmentId, snapshotId);
  const named = `before restore of ${snapshot?.name ?? snapshotId}`;
  return named.length <= limits.nameLength ? named : `before restore of ${snapshotId}`;
}

function countsOf({ restored, unchanged, skipped, pruned }: RestoreLists): AuditTarget {
  return {
    restored: restored.length,
    unchanged: unchanged.length,
    skipped: skipped.length,
    pruned: pruned.length,
  };
}

function summaryOf({ snapshotId }: RestoreWish, answer: RestoreAnswer): AuditTarget {
  const { restored, pruned, backupSnapshotId, revision, revisionId } = answer;
  const isChange = restored.length + pruned.length > 0;
  return {
    snapshotId,
    restoredKeys: restored.slice(0, auditedKeys),
    prunedKeys: pruned.slice(0, auditedKeys),
    ...countsOf(answer),
    ...(backupSnapshotId === null ? {} : { backupSnapshotId }),
    ...(isChange ? { revision, revisionId } : {}),
  };
}
