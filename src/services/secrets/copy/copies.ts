import type { Keyring } from '../../../crypto/keyring.ts';
import { invalidField } from '../../../domain/errors/domain-error.ts';
import { selectionTest } from '../../../domain/key-globs.ts';
import { limits } from '../../../domain/limits.ts';
import type { CopyAction } from '../../../domain/plans/copy.ts';
import { growthOf, hashedParts, keysWith } from '../../../domain/plans/plan.ts';
import { recordedActor } from '../../../domain/principal.ts';
import { appendAudit } from '../../../store/audit.ts';
import { readOneMoment } from '../../../store/copies.ts';
import type { Database } from '../../../store/database.ts';
import { listSizes } from '../../../store/secret-reads.ts';
import { measureEnvironment } from '../../../store/secrets.ts';
import { type Transaction, inTransaction } from '../../../store/transaction.ts';
import type { AuditLog, AuditTarget } from '../../audit/audit-log.ts';
import { auditedFailure, auditedRead, successRecord } from '../../audit/audited.ts';
import { changeEnvironmentOnce, type EnvironmentChange } from '../../change/change.ts';
import type { Changed } from '../../kernel/changed.ts';
import { checkComment, checkKeySelection, checkRevision as checkRevisionRef, checkUuid } from '../../kernel/checks.ts';
import { checkRevision, type PresentRevision } from '../../kernel/environment-lock.ts';
import type { EnvironmentQueue } from '../../kernel/environment-queue.ts';
import { chargeAnswer, type GrowthBudget } from '../../kernel/growth-budget.ts';
import type { IdempotencyRequest, Once } from '../../change/once.ts';
import { checkPlanHash, checkPlanIsPresent, digestOf } from '../../kernel/plan-hash.ts';
import { writePlan } from '../../kernel/plan-writer.ts';
import { checkQuota } from '../../kernel/quota.ts';
import type { ReadRoom } from '../read-sizes.ts';
import { absentRevision } from '../secret-selection.ts';
import { type CopyEnds, type CopySelection, NewSecretIds, type PlannedCopy, readCopyPlan } from './copy-facts.ts';
import { CopySealer } from './copy-sealer.ts';

export interface CopyInput extends CopySelection {
  /** The id of the revision that the destination must be at. */
  readonly expectedRevision?: string | undefined;
  /** `planHash` of a dry run: only what it returned is done. */
  readonly planHash?: string | undefined;
  /** Comment of the versions and the revision; by default a line that names the source or the revision. */
  readonly comment?: string | undefined;
  readonly idempotency?: IdempotencyRequest | undefined;
  readonly room?: ReadRoom;
}

/** What a copy does to each key, and the revision of the source. */
export interface CopyLists {
  readonly created: readonly string[];
  readonly updated: readonly string[];
  /** Equal already. */
  readonly unchanged: readonly string[];
  /** Left with another value, because the mode is `missing`. */
  readonly kept: readonly string[];
  readonly deleted: readonly string[];
  /** Left as they are, because the source's values were destroyed. */
  readonly destroyed: readonly string[];
  readonly from: PresentRevision;
}

/** What was done, and the revision that the destination is at now. */
export interface CopyAnswer extends CopyLists, PresentRevision {
  /** Set if an earlier request under the same Idempotency-Key did it. */
  readonly replayed?: true;
}

/** What would be done, and the revision that the destination is at. */
export interface CopyPlan extends CopyLists, PresentRevision {
  readonly planHash: string;
}

export interface CopiesDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly keyring: Pick<Keyring, 'sealer' | 'opener' | 'mac'>;
  readonly queue: Pick<EnvironmentQueue, 'run'>;
  readonly budget: Pick<GrowthBudget, 'charge' | 'environmentBytesPerDay'>;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

// An audit row names this many keys of each kind; the revision it names has them all.
const auditedKeys = 100;

/**
 * Copies of secrets from one environment of an organization to another, or from an earlier revision of the same one
 * (docs/interface.md 4.13).
 */
export class Copies {
  readonly #deps: CopiesDeps;

  constructor(deps: CopiesDeps) {
    this.#deps = deps;
  }

  /**
   * Returns what a copy would do, with the errors that it would have, and writes only its audit entries. It reads both
   * environments at one moment, without a lock. Throws what `copy` throws.
   */
  async plan(ends: CopyEnds, input: CopyInput): Promise<CopyPlan> {
    const { audit, database } = this.#deps;
    return auditedRead(audit, ends.destination, async (note) => {
      checkInput(ends, input);
      note({ ...sourceTarget(ends, input), dryRun: true });
      await this.#measure(ends, input);
      const planned = await inTransaction(database, async (tx) => {
        await readOneMoment(tx);
        return this.#checkedPlan(tx, { ends, input, newIds: new NewSecretIds() });
      });
      const lists = listsOf(planned);
      note(countsOf(lists));
      if (!isWithinOne(ends)) await audit.record(sourceRecord(ends, { ...countsOf(lists), dryRun: true }));
      const { revision, revisionId } = planned.plan;
      return { ...lists, revision, revisionId, planHash: hashOf(ends, input, planned) };
    });
  }

  /**
   * Copies values in one revision, all or nothing. The values are decrypted and sealed again in this process. If nothing is
   * to be changed, it makes no revision. Throws DomainError invalid_input for a copy of an environment to itself without a
   * revision, not_found for an unknown revision of the source, version_mismatch, plan_outdated, quota_exceeded,
   * key_unavailable, and what `changeEnvironmentOnce` throws.
   */
  async copy(ends: CopyEnds, input: CopyInput): Promise<CopyAnswer> {
    const { destination } = ends;
    return auditedFailure(this.#deps.audit, destination, async (note) => {
      checkInput(ends, input);
      note(sourceTarget(ends, input));
      const once: Once<CopyAnswer, CopyAnswer, CopyAnswer> = {
        request: input.idempotency,
        keep: (answer) => answer,
        target: ({ revision, revisionId }) => ({ ...sourceTarget(ends, input), revision, revisionId }),
        recall: (kept) => Promise.resolve({ ...kept, replayed: true }),
      };
      const { result } = await changeEnvironmentOnce(this.#deps, destination, once, () => this.#prepare(ends, input));
      return result;
    });
  }

  async #prepare(ends: CopyEnds, input: CopyInput): Promise<EnvironmentChange<void, CopyAnswer>> {
    const { keyring } = this.#deps;
    const { destination, source } = ends;
    const sealer = await CopySealer.prepare(keyring, destination, await this.#measure(ends, input));
    const newIds = new NewSecretIds();
    return {
      expectedRevision: input.expectedRevision,
      sharedEnvironmentId: source.environmentId,
      first: () => Promise.resolve(),
      work: (tx, { before }) => this.#write(tx, { ends, input, newIds, sealer, before }),
    };
  }

  async #write(tx: Transaction, { ends, input, newIds, sealer, before }: LockedCopy): Promise<Changed<CopyAnswer>> {
    const { destination, source } = ends;
    const { budget } = this.#deps;
    const planned = await this.#checkedPlan(tx, { ends, input, newIds });
    const sealed = await sealer.seal(planned);
    const actor = recordedActor(destination.caller);
    const lists = listsOf(planned);
    const { environmentId } = destination;
    if (input.idempotency !== undefined) {
      await chargeAnswer(tx, budget, { environmentId, callerId: actor.id, answer: lists });
    }
    const written = await writePlan(tx, {
      organizationId: destination.organizationId,
      environmentId,
      before,
      keys: planned.plan.keys,
      versionOf: ({ key, present }) => ({
        content: sealed(key),
        changeType: isWithinOne(ends) ? 'rolled_back' : present.live === null ? 'created' : 'updated',
      }),
      actor,
      comment: input.comment ?? defaultComment(ends, planned),
      budget,
    });
    const isChange = written.revisionId !== before.revisionId;
    const summary = { ...summaryOf(lists), ...(isChange ? written : {}) };
    if (!isWithinOne(ends)) await appendAudit(tx, sourceRecord(ends, summary));
    await source.confirm(tx);
    const audit = successRecord(destination, {
      ...sourceTarget(ends, input),
      fromRevisionId: lists.from.revisionId,
      ...summary,
    });
    return { result: { ...lists, ...written }, audit };
  }

  async #checkedPlan(
    tx: Transaction,
    { ends, input, newIds }: { readonly ends: CopyEnds; readonly input: CopyInput; readonly newIds: NewSecretIds },
  ): Promise<PlannedCopy> {
    const { keyring } = this.#deps;
    const planned = await readCopyPlan(tx, { keyring, newIds }, ends, input);
    checkRevision(planned.plan, input.expectedRevision);
    checkPlanIsPresent(input.planHash, hashOf(ends, input, planned));
    checkQuota(await measureEnvironment(tx, ends.destination.environmentId), growthOf(planned.plan));
    return planned;
  }

  /** Reserves memory for the values, and returns how many there are to copy. */
  async #measure({ source }: CopyEnds, { keys, revision, room }: CopyInput): Promise<number> {
    const found = await listSizes(this.#deps.database.pool, source.environmentId, {
      revision,
      maxKeys: limits.secretsPerEnvironment,
      maxInlineBytes: 0,
    });
    if (found === undefined) throw absentRevision(revision);
    const isSelected = selectionTest(keys);
    // The statement reads every value, whatever is selected of them.
    await room?.enter(found.secrets.reduce((sum, { valueBytes }) => sum + valueBytes, 0));
    return found.secrets.filter(({ key }) => isSelected(key)).length;
  }
}

interface LockedCopy {
  readonly ends: CopyEnds;
  readonly input: CopyInput;
  readonly newIds: NewSecretIds;
  readonly sealer: CopySealer;
  readonly before: PresentRevision;
}

/** Whether the environment goes back to an earlier revision of its own. */
function isWithinOne({ source, destination }: CopyEnds): boolean {
  return source.environmentId === destination.environmentId;
}

function checkInput(ends: CopyEnds, input: CopyInput): void {
  const { expectedRevision, planHash, comment, revision, keys } = input;
  if (isWithinOne(ends) && revision === undefined) {
    throw invalidField(
      'from.revision',
      'must be given to copy from the environment itself: the earlier revision to go back to',
    );
  }
  if (revision !== undefined) checkRevisionRef('from.revision', revision);
  if (expectedRevision !== undefined) checkUuid('expectedRevision', expectedRevision);
  if (keys !== undefined) checkKeySelection('keys', keys);
  checkPlanHash(planHash);
  checkComment(comment);
}

/** Covers both revisions, the mode, the selection, and each key's action and versions. */
function hashOf(
  { source, destination }: CopyEnds,
  { mode, keys = {} }: CopyInput,
  { plan, from }: PlannedCopy,
): string {
  const { include = ['*'], exclude = [] } = keys;
  const head = [
    destination.environmentId,
    plan.revisionId,
    source.environmentId,
    from.revisionId,
    mode,
    ...[include, exclude].flatMap((globs) => [String(globs.length), ...globs]),
  ];
  return digestOf(hashedParts('keyframe copy plan 1', head, plan));
}

function listsOf({ plan, from }: PlannedCopy): CopyLists {
  const of = (action: CopyAction): string[] => keysWith(plan, action);
  return {
    created: of('create'),
    updated: of('update'),
    unchanged: of('leave'),
    kept: of('keep'),
    deleted: of('delete'),
    destroyed: of('destroyed'),
    from,
  };
}

function countsOf({ created, updated, unchanged, kept, deleted, destroyed }: CopyLists): AuditTarget {
  return {
    created: created.length,
    updated: updated.length,
    unchanged: unchanged.length,
    kept: kept.length,
    deleted: deleted.length,
    destroyed: destroyed.length,
  };
}

function summaryOf(lists: CopyLists): AuditTarget {
  return {
    setKeys: [...lists.created, ...lists.updated].slice(0, auditedKeys),
    deletedKeys: lists.deleted.slice(0, auditedKeys),
    ...countsOf(lists),
  };
}

/** What the entry in the destination says of the source. */
function sourceTarget({ source }: CopyEnds, { mode, revision }: CopyInput): AuditTarget {
  const { project, environment } = source;
  return {
    fromProject: project,
    fromEnvironment: environment,
    mode,
    ...(revision === undefined ? {} : { fromRevision: revision }),
  };
}

/** The entry in the source, which says where its values went. */
function sourceRecord({ source, destination }: CopyEnds, summary: AuditTarget): ReturnType<typeof successRecord> {
  const { project, environment } = destination;
  const call = {
    caller: source.caller,
    organizationId: source.organizationId,
    action: destination.action,
    target: source.target,
  };
  return successRecord(call, { toProject: project, toEnvironment: environment, ...summary });
}

function defaultComment(ends: CopyEnds, { from }: PlannedCopy): string {
  const { source } = ends;
  if (isWithinOne(ends)) return `restored revision ${from.revision}`;
  return `copied from ${source.project}/${source.environment} at revision ${from.revision}`;
}
