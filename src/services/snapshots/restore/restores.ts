import type { KeySelection } from '../../../domain/key-globs.ts';
import { recordedActor } from '../../../domain/principal.ts';
import type { Database } from '../../../store/database.ts';
import { readLockedRestoreFacts, readRestoreFacts } from '../../../store/restore-facts.ts';
import type { EnvironmentAccess } from '../../access/access.ts';
import type { AuditLog } from '../../audit/audit-log.ts';
import { auditedFailure, auditedRead, successRecord } from '../../audit/audited.ts';
import { checkComment, checkKeySelection, checkUuid } from '../../kernel/checks.ts';
import type { EnvironmentQueue } from '../../kernel/environment-queue.ts';
import { changeEnvironmentOnce } from '../../change/change.ts';
import type { IdempotencyRequest } from '../../change/once.ts';
import { checkPlanHash } from '../../kernel/plan-hash.ts';
import { listsOf, type RestoreLists } from './restore-plan.ts';
import {
  checkedPlan,
  countsOf,
  type RestoreBudget,
  type RestoreDemand,
  type RestoreDone,
  restoreLocked,
  summaryOf,
} from './restore-writer.ts';

export interface RestoreInput {
  readonly snapshotId: string;
  /** Also deletes keys that the snapshot does not have. */
  readonly prune?: boolean;
  /** Makes no version if the key has the value already. */
  readonly skipUnchanged?: boolean;
  /** Takes a snapshot of the present state first, if there is anything to change. */
  readonly backup?: boolean;
  /** Also restores keys that were deleted since the snapshot. */
  readonly includeDeleted?: boolean;
  /** Only these keys are restored and pruned. The backup keeps all. */
  readonly keys?: KeySelection;
  /** The id of the revision the environment must be at. */
  readonly expectedRevision?: string;
  /** `planHash` of a dry run: only what it reported is done. */
  readonly planHash?: string;
  /** Comment of the versions and the revision; default: a line that names the snapshot. */
  readonly comment?: string;
  readonly idempotency?: IdempotencyRequest | undefined;
}

/** What was done, and the revision the environment is at now. */
export interface RestoreAnswer extends RestoreDone {
  /** Set if an earlier request under the same Idempotency-Key did it. */
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
  readonly budget: RestoreBudget;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

/** Restores of environments from their snapshots (docs/interface.md 4.3). */
export class Restores {
  readonly #deps: RestoresDeps;

  constructor(deps: RestoresDeps) {
    this.#deps = deps;
  }

  /**
   * Returns what a restore would do, with the errors it would have, and writes only its audit row. Throws what
   * `restore` throws.
   */
  async plan(access: EnvironmentAccess<'snapshot.restore'>, input: RestoreInput): Promise<RestorePlan> {
    return auditedRead(this.#deps.audit, access, async (note) => {
      const demand = demandOf(access, input);
      const { request } = demand;
      note({ snapshotId: request.snapshotId, dryRun: true });
      const plan = checkedPlan(await readRestoreFacts(this.#deps.database.pool, request), demand);
      const lists = listsOf(plan);
      note(countsOf(lists));
      const { planHash, revision, revisionId } = plan;
      return { ...lists, planHash, revision, revisionId };
    });
  }

  /**
   * Brings each key of the snapshot back to the value it had, in one revision, all or nothing. If nothing is to be
   * changed it makes neither revision nor backup and returns the revision the environment stays at. Throws what
   * `restoreLocked` and `changeEnvironmentOnce` throw.
   */
  async restore(access: EnvironmentAccess<'snapshot.restore'>, input: RestoreInput): Promise<RestoreAnswer> {
    return auditedFailure(this.#deps.audit, access, async (note) => {
      const demand = demandOf(access, input);
      const { request } = demand;
      note({ snapshotId: request.snapshotId });
      const once = {
        request: input.idempotency,
        keep: (answer: RestoreAnswer) => answer,
        target: ({ revision, revisionId }: RestoreAnswer) => ({ snapshotId: request.snapshotId, revision, revisionId }),
        // What was done then: the present state may come from another restore.
        recall: (kept: RestoreAnswer) => Promise.resolve<RestoreAnswer>({ ...kept, replayed: true }),
      };
      const done = await changeEnvironmentOnce(this.#deps, access, once, {
        first: (tx) => readLockedRestoreFacts(tx, request),
        work: async (tx, locked) => {
          const { budget } = this.#deps;
          const keepsAnswer = input.idempotency !== undefined;
          const author = { actor: recordedActor(access.caller), comment: input.comment, budget, keepsAnswer };
          const result = await restoreLocked(tx, demand, author, locked);
          return { result, audit: successRecord(access, summaryOf(request, result)) };
        },
      });
      return done.result;
    });
  }
}

function demandOf(access: EnvironmentAccess<'snapshot.restore'>, input: RestoreInput): RestoreDemand {
  const { snapshotId, prune = false, skipUnchanged = false, backup = false, includeDeleted = false, keys } = input;
  const { expectedRevision, planHash } = input;
  checkUuid('snapshotId', snapshotId);
  if (expectedRevision !== undefined) checkUuid('expectedRevision', expectedRevision);
  checkPlanHash(planHash);
  if (keys !== undefined) checkKeySelection('keys', keys);
  checkComment(input.comment);
  const { organizationId, environmentId } = access;
  const request = { environmentId, snapshotId, prune, skipUnchanged, backup, includeDeleted, keys };
  return { organizationId, request, expectedRevision, planHash };
}
