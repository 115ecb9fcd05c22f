import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { recordedActor } from '../../domain/principal.ts';
import type { Database } from '../../store/database.ts';
import {
  compareSnapshot,
  deleteSnapshots,
  findSnapshot,
  insertSnapshot,
  type KeyDifference,
  listSnapshots,
  readHeldSnapshots,
  readSnapshot,
  type SnapshotRecord,
} from '../../store/snapshots.ts';
import type { EnvironmentAccess } from '../access/access.ts';
import { shownActors } from '../access/shown-actors.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure, auditedTokenRead, successRecord } from '../audit/audited.ts';
import { checkDescription, checkName, checkUuid } from '../kernel/checks.ts';
import type { EnvironmentQueue } from '../kernel/environment-queue.ts';
import type { SnapshotBudget } from '../kernel/growth-budget.ts';
import { changeEnvironment, changeEnvironmentOnce } from '../change/change.ts';
import { goneReplay, type IdempotencyRequest } from '../change/once.ts';
import { checkLimit, decodeTimeCursor, encodeTimeCursor, type PageRequest } from '../kernel/page.ts';
import { checkPruning, planPruning, type PruneSnapshotsInput, type SnapshotPruning } from './snapshot-pruning.ts';

export type { SnapshotRecord } from '../../store/snapshots.ts';

export interface CreateSnapshotInput {
  readonly name?: string;
  readonly description?: string;
  readonly idempotency?: IdempotencyRequest | undefined;
}

/** The snapshot that was made; `replayed` if an earlier request under the same Idempotency-Key made it. */
export interface CreatedSnapshot extends SnapshotRecord {
  readonly replayed?: true;
}

export interface SnapshotList {
  /** Newest first. */
  readonly snapshots: readonly SnapshotRecord[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** The difference between a snapshot and another state of its environment: keys and version numbers, no values. */
export interface SnapshotDiff {
  readonly snapshotId: string;
  /** `current`, or the id of the other snapshot. */
  readonly against: string;
  /** The revision of the other state. */
  readonly revision: number;
  /** Null for a snapshot of an environment that had no change yet. */
  readonly revisionId: string | null;
  /** Keys of the other state that the snapshot does not have. */
  readonly added: readonly { readonly key: string; readonly version: number }[];
  /** Keys of the snapshot that the other state does not have. */
  readonly removed: readonly { readonly key: string; readonly version: number }[];
  /** Keys of both at different versions: the snapshot's and the other's, and whether the values differ. */
  readonly changed: readonly {
    readonly key: string;
    readonly from: number;
    readonly to: number;
    readonly valueChanged: boolean;
  }[];
  /** How many keys are at the same version in both. */
  readonly unchanged: number;
  /**
   * What the snapshot names but no longer exists, because its value was destroyed: a restore leaves these keys alone.
   */
  readonly destroyed: readonly { readonly key: string; readonly version: number }[];
}

export interface SnapshotsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly queue: Pick<EnvironmentQueue, 'run'>;
  readonly budget: SnapshotBudget;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

// The audit row of a change of many snapshots names the first ones and counts all.
const maxAudited = 100;

/** Snapshots of environments (docs/interface.md 2.1, 4.1 and 4.2); restores are in restores.ts. */
export class Snapshots {
  readonly #deps: SnapshotsDeps;

  constructor(deps: SnapshotsDeps) {
    this.#deps = deps;
  }

  /**
   * Keeps which version each key is at, under the environment's lock. Throws DomainError invalid_input for a bad name
   * or description, and what `EnvironmentQueue.run`, `GrowthBudget` and `changeEnvironment` throw.
   */
  async create(
    access: EnvironmentAccess<'snapshot.create'>,
    { name, description, idempotency }: CreateSnapshotInput = {},
  ): Promise<CreatedSnapshot> {
    return auditedFailure(this.#deps.audit, access, async () => {
      if (name !== undefined) checkName('name', name);
      checkDescription(description);
      const { environmentId } = access;
      const creator = recordedActor(access.caller);
      const once = {
        request: idempotency,
        keep: (snapshot: SnapshotRecord) => ({ id: snapshot.id }),
        target: (kept: { readonly id: string }) => ({ snapshotId: kept.id }),
        recall: (kept: { readonly id: string }) => this.#recall(environmentId, kept.id),
      };
      const { budget } = this.#deps;
      const made = await changeEnvironmentOnce(this.#deps, access, once, {
        first: (tx) =>
          insertSnapshot(tx, {
            id: randomUUID(),
            environmentId,
            name: name ?? null,
            description: description ?? null,
            creator,
            budgetBytesPerDay: budget.environmentBytesPerDay,
          }),
        async work(_tx, { first: { snapshot, ...growth } }) {
          budget.chargeSnapshot(creator.id, growth);
          return { result: snapshot, audit: successRecord(access, auditedFields(snapshot)) };
        },
      });
      return made.result;
    });
  }

  /** The environment's snapshots. Throws DomainError invalid_input for a bad limit or cursor. */
  async list(access: EnvironmentAccess<'snapshot.list'>, page: PageRequest = {}): Promise<SnapshotList> {
    return auditedTokenRead(this.#deps.audit, access, async (note) => {
      const limit = checkLimit(page);
      const after = page.cursor === undefined ? null : decodeTimeCursor('snapshots', page.cursor);
      // One more than asked for shows whether there is a next page.
      const wanted = { after, limit: limit === null ? null : limit + 1 };
      const found = await listSnapshots(this.#deps.database.pool, access.environmentId, wanted);
      const snapshots = limit === null ? found : found.slice(0, limit);
      note({ snapshots: snapshots.length });
      const last = snapshots.at(-1);
      const hasMore = last !== undefined && found.length > snapshots.length;
      const shown = await shownActors(this.#deps.database.pool, access, snapshots);
      return { snapshots: shown, nextCursor: hasMore ? encodeTimeCursor('snapshots', last) : null };
    });
  }

  /** One snapshot of the environment. Throws DomainError not_found. */
  async get(access: EnvironmentAccess<'snapshot.read'>, id: string): Promise<SnapshotRecord> {
    return auditedTokenRead(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ snapshotId: id });
      const snapshot = await findSnapshot(this.#deps.database.pool, access.environmentId, id);
      if (snapshot === undefined) throw absentSnapshot(id);
      const [shown = snapshot] = await shownActors(this.#deps.database.pool, access, [snapshot]);
      return shown;
    });
  }

  /**
   * Compares a snapshot with the present (`current`) or with another snapshot of the environment, by its id.
   * Throws DomainError not_found if the environment does not have either.
   */
  async diff(access: EnvironmentAccess<'snapshot.read'>, id: string, against = 'current'): Promise<SnapshotDiff> {
    return auditedTokenRead(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      const otherId = against === 'current' ? null : against;
      if (otherId !== null) checkUuid('against', otherId);
      note({ snapshotId: id, against });
      const found = await compareSnapshot(this.#deps.database.pool, access.environmentId, { id, otherId });
      if (found === 'no-snapshot') throw absentSnapshot(id);
      if (found === 'no-other') throw absentSnapshot(against);
      const { differences, ...head } = found;
      return { snapshotId: id, against, ...head, ...byKind(differences) };
    });
  }

  /** Deletes a snapshot; the versions it named stay. Throws DomainError not_found. */
  async delete(access: EnvironmentAccess<'snapshot.delete'>, id: string): Promise<void> {
    await auditedFailure(this.#deps.audit, access, async (note) => {
      checkUuid('id', id);
      note({ snapshotId: id });
      const { environmentId } = access;
      // Under the lock: no restore from it is half done.
      await changeEnvironment(this.#deps, access, environmentId, {
        first: (tx) => readSnapshot(tx, environmentId, id),
        async work(tx, { first: snapshot }) {
          if (snapshot === undefined) throw absentSnapshot(id);
          await deleteSnapshots(tx, access.organizationId, [id]);
          return { result: undefined, audit: successRecord(access, auditedFields(snapshot)) };
        },
      });
    });
  }

  /**
   * Deletes the snapshots that a retention does not keep, in one change, or returns which it would. Throws DomainError
   * invalid_input for a retention that keeps nothing, and plan_outdated as `planPruning`.
   */
  async prune(access: EnvironmentAccess<'snapshot.delete'>, input: PruneSnapshotsInput): Promise<SnapshotPruning> {
    const dryRun = input.dryRun === true ? { dryRun: true } : {};
    return auditedFailure(this.#deps.audit, access, async (note) => {
      checkPruning(input);
      note(dryRun);
      const { environmentId } = access;
      // Under the lock: no restore from one of them is half done, and none was added since they were judged.
      return changeEnvironment(this.#deps, access, environmentId, {
        first: (tx) => readHeldSnapshots(tx, environmentId),
        async work(tx, { first: held }) {
          const pruning = planPruning(held, input);
          const ids = pruning.pruned.map(({ id }) => id);
          if (input.dryRun !== true && ids.length > 0) await deleteSnapshots(tx, access.organizationId, ids);
          const target = { pruned: ids.length, kept: pruning.kept.length, snapshotIds: ids.slice(0, maxAudited) };
          return { result: pruning, audit: successRecord(access, { ...target, ...dryRun }) };
        },
      });
    });
  }

  async #recall(environmentId: string, id: string): Promise<CreatedSnapshot> {
    const snapshot = await findSnapshot(this.#deps.database.pool, environmentId, id);
    if (snapshot === undefined) throw goneReplay('snapshot');
    return { ...snapshot, replayed: true };
  }
}

/** DomainError not_found for a snapshot of an environment. */
export function absentSnapshot(id: string): DomainError {
  return new DomainError('not_found', `snapshot ${id} does not exist in this environment`);
}

function auditedFields({ id, name, secretCount, revision, revisionId }: SnapshotRecord): AuditTarget {
  return { snapshotId: id, name, secrets: secretCount, revision, revisionId };
}

function byKind(differences: readonly KeyDifference[]): Pick<SnapshotDiff, 'added' | 'removed' | 'changed'> {
  const kinds: {
    readonly [Kind in 'added' | 'removed' | 'changed']: SnapshotDiff[Kind][number][];
  } = { added: [], removed: [], changed: [] };
  for (const { key, from, to, valueChanged } of differences) {
    if (from !== null && to !== null) kinds.changed.push({ key, from, to, valueChanged });
    else if (from !== null) kinds.removed.push({ key, version: from });
    else if (to !== null) kinds.added.push({ key, version: to });
  }
  return kinds;
}
