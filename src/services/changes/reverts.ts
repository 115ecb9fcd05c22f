import { DomainError } from '../../domain/errors/domain-error.ts';
import { growthOf, keysWith } from '../../domain/plans/plan.ts';
import { planRevert, type RevertConflict, type RevertPlan, revertParts } from '../../domain/plans/revert.ts';
import { recordedActor } from '../../domain/principal.ts';
import type { Database } from '../../store/database.ts';
import {
  readLockedRevertFacts,
  readRevertFacts,
  type RevertPlace,
  type StoredRevertFacts,
} from '../../store/revert-facts.ts';
import type { RevisionIds, RevisionRef } from '../../store/revisions.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { EnvironmentAccess } from '../access/access.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure, auditedRead, successRecord } from '../audit/audited.ts';
import { changeEnvironmentOnce, type Locked } from '../change/change.ts';
import { checkComment, checkRevision as checkRevisionRef, checkUuid } from '../kernel/checks.ts';
import { checkRevision } from '../kernel/environment-lock.ts';
import type { EnvironmentQueue } from '../kernel/environment-queue.ts';
import { chargeAnswer, type GrowthBudget } from '../kernel/growth-budget.ts';
import type { IdempotencyRequest } from '../change/once.ts';
import { checkPlanHash, checkPlanIsPresent, digestOf } from '../kernel/plan-hash.ts';
import { writePlan } from '../kernel/plan-writer.ts';
import { checkQuota } from '../kernel/quota.ts';
import { absentRevision } from '../secrets/secret-selection.ts';

export interface RevertInput {
  /** The revision to revert: its number, or its id in lower case. */
  readonly reverted: RevisionRef;
  /** Also reverts the keys that were changed since. */
  readonly overwrite?: boolean;
  /** The id of the revision that the environment must be at. */
  readonly expectedRevision?: string;
  /** `planHash` of a dry run: only what it reported is done. */
  readonly planHash?: string;
  /** Comment of the versions and the revision; default: a line that names the reverted revision. */
  readonly comment?: string;
  readonly idempotency?: IdempotencyRequest | undefined;
}

/** A key that is not as the reverted revision left it. */
export interface ConflictingKey {
  readonly key: string;
  readonly reason: RevertConflict;
}

/** What a revert does to each key that the revision touched, by key. */
interface RevertLists {
  readonly reverted: RevisionIds;
  readonly restored: readonly string[];
  /** Deleted now, and restored. */
  readonly recreated: readonly string[];
  /** They did not exist before the revision. */
  readonly deleted: readonly string[];
  /** They are as before the revision already. */
  readonly unchanged: readonly string[];
  /** Left as they are, because their values of then were destroyed. */
  readonly destroyed: readonly string[];
  /** They refuse a revert that does not overwrite. */
  readonly conflicts: readonly ConflictingKey[];
}

/** What was done, and the revision that the environment is at now. */
export interface RevertAnswer extends RevertLists, RevisionIds {
  /** Set if an earlier request under the same Idempotency-Key did it. */
  readonly replayed?: true;
}

/** What would be done, and the revision that the environment is at. */
export interface PlannedRevertAnswer extends RevertLists, RevisionIds {
  readonly planHash: string;
}

export interface RevertsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly queue: Pick<EnvironmentQueue, 'run'>;
  readonly budget: Pick<GrowthBudget, 'charge' | 'environmentBytesPerDay'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

type Access = EnvironmentAccess<'change.revert'>;

// An audit row names this many keys of each list; the revision that it names has them all.
const auditedKeys = 100;
// An error names this many keys in its text, and this many as fields.
const shownKeys = 20;
const conflictFields = 100;

/** Reverts of single revisions (docs/interface.md 4.14). */
export class Reverts {
  readonly #deps: RevertsDeps;

  constructor(deps: RevertsDeps) {
    this.#deps = deps;
  }

  /**
   * Returns what a revert would do, with its conflicts, and writes only its audit row. Throws what `revert` throws, except
   * revert_conflict.
   */
  async plan(access: Access, input: RevertInput): Promise<PlannedRevertAnswer> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      const place = placeOf(access, input);
      note({ reverted: input.reverted, dryRun: true });
      const plan = checkedPlan(await readRevertFacts(this.#deps.database.pool, place), place, input);
      const lists = listsOf(plan);
      note({ ...countsOf(lists) });
      const { planHash, revision, revisionId } = plan;
      return { ...lists, planHash, revision, revisionId };
    });
  }

  /**
   * Returns every key that a revision touched to its state before the revision, in one revision, all or nothing. If nothing
   * is to be changed it makes no revision and returns the present one. Throws DomainError not_found for an unknown revision,
   * version_mismatch, plan_outdated, revert_conflict if a key was changed since and the request does not overwrite,
   * quota_exceeded, and what `GrowthBudget` and `changeEnvironmentOnce` throw.
   */
  async revert(access: Access, input: RevertInput): Promise<RevertAnswer> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      const place = placeOf(access, input);
      note({ reverted: input.reverted });
      const once = {
        request: input.idempotency,
        keep: (answer: RevertAnswer) => answer,
        target: ({ reverted, revision, revisionId }: RevertAnswer) => ({ ...namesOf(reverted), revision, revisionId }),
        // What was done then: the present state may come from another change.
        recall: (kept: RevertAnswer) => Promise.resolve<RevertAnswer>({ ...kept, replayed: true }),
      };
      const { result } = await changeEnvironmentOnce(this.#deps, access, once, {
        first: (tx) => readLockedRevertFacts(tx, place),
        work: async (tx, locked) => {
          const done = await this.#revertLocked(tx, { access, place, input }, locked);
          return { result: done, audit: successRecord(access, summaryOf(done, input)) };
        },
      });
      return result;
    });
  }

  async #revertLocked(
    tx: Transaction,
    { access, place, input }: RevertCall,
    { before, first: facts }: Locked<StoredRevertFacts | undefined>,
  ): Promise<RevertAnswer> {
    const plan = checkedPlan(facts, place, input);
    const lists = listsOf(plan);
    if (input.overwrite !== true) refuseConflicts(lists);
    const actor = recordedActor(access.caller);
    const { budget } = this.#deps;
    const { environmentId } = place;
    if (input.idempotency !== undefined) {
      await chargeAnswer(tx, budget, { environmentId, callerId: actor.id, answer: lists });
    }
    const written = await writePlan(tx, {
      organizationId: access.organizationId,
      environmentId,
      before,
      keys: plan.keys,
      actor,
      comment: input.comment ?? `reverted revision ${plan.reverted.revision}`,
      budget,
    });
    return { ...lists, ...written };
  }
}

interface RevertCall {
  readonly access: Access;
  readonly place: RevertPlace;
  readonly input: RevertInput;
}

function placeOf({ environmentId }: Access, input: RevertInput): RevertPlace {
  const { reverted, expectedRevision, planHash, comment } = input;
  checkRevisionRef('revision', reverted);
  if (expectedRevision !== undefined) checkUuid('expectedRevision', expectedRevision);
  checkPlanHash(planHash);
  checkComment(comment);
  return { environmentId, reverted };
}

function checkedPlan(
  facts: StoredRevertFacts | undefined,
  { environmentId, reverted }: RevertPlace,
  { overwrite = false, expectedRevision, planHash: demanded }: RevertInput,
): RevertPlan & { readonly planHash: string } {
  if (facts === undefined) throw absentRevision(reverted);
  if (facts.reverted.revision === 0) {
    throw new DomainError('not_found', 'revision 0 is the state before the first change; there is nothing to revert');
  }
  checkRevision(facts, expectedRevision);
  const { size, ...known } = facts;
  const plan = planRevert(known);
  const planHash = digestOf(revertParts({ environmentId, overwrite }, plan));
  checkPlanIsPresent(demanded, planHash);
  checkQuota(size, growthOf(plan));
  return { ...plan, planHash };
}

function listsOf(plan: RevertPlan): RevertLists {
  return {
    reverted: plan.reverted,
    restored: keysWith(plan, 'restore'),
    recreated: keysWith(plan, 'recreate'),
    deleted: keysWith(plan, 'delete'),
    unchanged: keysWith(plan, 'leave'),
    destroyed: keysWith(plan, 'destroyed'),
    conflicts: plan.keys.flatMap(({ key, conflict }) => (conflict === null ? [] : [{ key, reason: conflict }])),
  };
}

const conflictMessages: Readonly<Record<RevertConflict, string>> = {
  changed: 'was changed after the revision',
  destroyed: 'a value before or after the revision was destroyed',
};

/** Throws DomainError revert_conflict that names the keys. */
function refuseConflicts({ reverted, conflicts }: RevertLists): void {
  if (conflicts.length === 0) return;
  const keys = conflicts.map(({ key }) => key);
  const more = keys.length > shownKeys ? ` and ${keys.length - shownKeys} more` : '';
  throw new DomainError(
    'revert_conflict',
    `revision ${reverted.revision} cannot be reverted alone, because other changes followed or values were destroyed: ` +
      `${keys.slice(0, shownKeys).join(', ')}${more}. Send overwrite to revert these keys too`,
    {
      fields: conflicts
        .slice(0, conflictFields)
        .map(({ key, reason }) => ({ field: key, message: conflictMessages[reason] })),
    },
  );
}

function namesOf({ revision, revisionId }: RevisionIds): AuditTarget {
  return { revertedRevision: revision, revertedRevisionId: revisionId };
}

function countsOf({ reverted, ...lists }: RevertLists): AuditTarget {
  const counts = Object.entries(lists).map(([what, keys]) => [what, keys.length] as const);
  return { ...namesOf(reverted), ...Object.fromEntries(counts) };
}

/** What the audit row of a revert records of it. */
function summaryOf({ revision, revisionId, ...done }: RevertAnswer, { overwrite = false }: RevertInput): AuditTarget {
  const { reverted, restored, recreated, deleted, unchanged, destroyed, conflicts } = done;
  const changed = [...restored, ...recreated];
  return {
    ...countsOf({ reverted, restored, recreated, deleted, unchanged, destroyed, conflicts }),
    restoredKeys: changed.slice(0, auditedKeys),
    deletedKeys: deleted.slice(0, auditedKeys),
    ...(overwrite ? { overwrite } : {}),
    ...(changed.length + deleted.length > 0 ? { revision, revisionId } : {}),
  };
}
