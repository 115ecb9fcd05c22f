import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { recordedActor } from '../../domain/principal.ts';
import type { TakeSnapshotInput } from '../../domain/resources/snapshots.ts';
import type { Database } from '../../store/database.ts';
import { type Claim, claimOnce, noteClaimed } from '../../store/resource-claims.ts';
import {
  type ClaimedSnapshotRecord,
  findClaimedSnapshot,
  readClaimedSnapshot,
} from '../../store/resource-snapshots.ts';
import { deleteSnapshots, insertSnapshot, readSnapshot } from '../../store/snapshots.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { auditedFailure, successRecord } from '../audit/audited.ts';
import { checkDescription, checkName, checkUuid } from '../kernel/checks.ts';
import type { EnvironmentQueue } from '../kernel/environment-queue.ts';
import type { GrowthBudget, SnapshotBudget } from '../kernel/growth-budget.ts';
import { changeEnvironment, makeChange } from '../change/change.ts';
import type { EnvironmentPlaceAccess, OwnAccess } from './access.ts';

/** `gone`: it was deleted, or its environment purged, and there will be no other for this resource. */
export type RecordOrGone = ClaimedSnapshotRecord | 'gone';

export interface ResourceSnapshotsDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly queue: Pick<EnvironmentQueue, 'run'>;
  readonly budget: SnapshotBudget & Pick<GrowthBudget, 'chargeEnd'>;
  readonly audit: Pick<AuditLog, 'recordFailure'>;
}

/** What a resource asks for. */
interface Wanted {
  readonly check: () => void;
  /** Takes or finds the snapshot, and returns its id. The environment's lock is held. */
  readonly obtain: (tx: Transaction) => Promise<string>;
  /** Refuses what was claimed before, if it does not match what is asked for now. */
  readonly accept: (claimed: ClaimedSnapshotRecord) => void;
}

/**
 * The snapshots of SecretSnapshots (docs/interface.md 2.1). A resource, known by its cluster and uid, takes or adopts
 * one in its life, whatever crashes in between: its claim is written in the transaction of what it claims.
 */
export class ResourceSnapshots {
  readonly #deps: ResourceSnapshotsDeps;

  constructor(deps: ResourceSnapshotsDeps) {
    this.#deps = deps;
  }

  /**
   * Takes the resource's snapshot under the environment's lock, or returns the one that it has already, of any
   * environment. Throws DomainError invalid_input for a bad name or description, and what
   * `GrowthBudget` and `changeEnvironment` throw.
   */
  async take(
    access: EnvironmentPlaceAccess<'snapshot.create'>,
    { name, description }: TakeSnapshotInput = {},
  ): Promise<RecordOrGone> {
    return this.#once(access, {
      check() {
        if (name !== undefined) checkName('name', name);
        checkDescription(description);
      },
      obtain: async (tx) => {
        const { budget } = this.#deps;
        const creator = recordedActor(access.caller);
        const { snapshot, ...growth } = await insertSnapshot(tx, {
          id: randomUUID(),
          environmentId: access.environmentId,
          name: name ?? null,
          description: description ?? null,
          creator,
          budgetBytesPerDay: budget.environmentBytesPerDay,
        });
        budget.chargeSnapshot(creator.id, growth);
        return snapshot.id;
      },
      accept: () => undefined,
    });
  }

  /**
   * Adopts an existing snapshot, and records which. This resource never deletes it. Throws DomainError
   * not_found if it was deleted meanwhile, conflict if the resource has another one already, and what `take` does.
   */
  async adopt(access: EnvironmentPlaceAccess<'snapshot.read'>, snapshotId: string): Promise<RecordOrGone> {
    return this.#once(access, {
      check: () => checkUuid('snapshotId', snapshotId),
      async obtain(tx) {
        const snapshot = await readSnapshot(tx, access.environmentId, snapshotId);
        if (snapshot === undefined) throw new DomainError('not_found', `snapshot ${snapshotId} does not exist`);
        return snapshot.id;
      },
      accept({ id }) {
        if (id === snapshotId) return;
        throw new DomainError('conflict', `this resource stands for snapshot ${id} already; make another resource`);
      },
    });
  }

  /** The snapshot that the resource took or adopted; undefined if it did neither. */
  async find(access: OwnAccess<'snapshot.find'>): Promise<RecordOrGone | undefined> {
    return findClaimedSnapshot(this.#deps.database.pool, access.caller.principal);
  }

  /**
   * Deletes what the resource took, and returns whether there was anything to delete: nothing if it took none or
   * adopted one, or if that is gone or in a deleted environment, with which it is purged. Needs no grant. From here on
   * the resource takes none: a `take` that was delayed is too late.
   */
  async delete(access: OwnAccess<'snapshot.delete'>): Promise<boolean> {
    const { caller, action } = access;
    const found = (await findClaimedSnapshot(this.#deps.database.pool, caller.principal)) ?? (await this.#end(access));
    if (!isDeletable(found)) return false;
    const { id, environmentId, organizationId, organization, project, environment } = found;
    const call = { caller, action, organizationId, target: { organization, project, environment, snapshotId: id } };
    await auditedFailure(this.#deps.audit, call, () =>
      // Under the lock, as each deletion of a snapshot: no restore from it is half done.
      changeEnvironment(this.#deps, access, environmentId, {
        first: (tx) => deleteSnapshots(tx, organizationId, [id]),
        work: async () => ({ result: undefined, audit: successRecord(call, auditedFields(found)) }),
      }),
    );
    return true;
  }

  /** Claims that there is no snapshot; returns the one that came first, if there is one. */
  async #end(access: OwnAccess<'snapshot.delete'>): Promise<RecordOrGone> {
    const { caller, action } = access;
    const call = { caller, action, organizationId: null, target: { snapshotId: null } };
    return auditedFailure(this.#deps.audit, call, () =>
      makeChange(this.#deps, access, async (tx) => {
        const claim: Claim = { operation: 'snapshot', serial: 1, organizationId: null };
        if (await claimOnce(tx, caller.principal, claim)) this.#deps.budget.chargeEnd(access.owner.cluster);
        const result = (await readClaimedSnapshot(tx, caller.principal)) ?? 'gone';
        return { result, audit: successRecord(call) };
      }),
    );
  }

  async #once(
    access: EnvironmentPlaceAccess<'snapshot.create' | 'snapshot.read'>,
    { check, obtain, accept }: Wanted,
  ): Promise<RecordOrGone> {
    return auditedFailure(this.#deps.audit, access, async () => {
      check();
      const { environmentId, organizationId, caller } = access;
      const claim: Claim = { operation: 'snapshot', serial: 1, organizationId };
      return changeEnvironment(this.#deps, access, environmentId, {
        first: (tx) => claimOnce(tx, caller.principal, claim),
        async work(tx, { first: isFirst }) {
          if (isFirst) await noteClaimed(tx, caller.principal, claim, { snapshotId: await obtain(tx) });
          const result = await readClaimedSnapshot(tx, caller.principal);
          if (result === undefined) throw new Error('the snapshot that was just claimed does not exist');
          if (result !== 'gone') accept(result);
          const fields = result === 'gone' ? { gone: true } : auditedFields(result);
          const replayed = isFirst ? {} : { replayed: true };
          return { result, audit: successRecord(access, { ...fields, ...replayed }) };
        },
      });
    });
  }
}

function isDeletable(found: RecordOrGone): found is ClaimedSnapshotRecord {
  return found !== 'gone' && !found.adopted && !found.environmentDeleted;
}

function auditedFields({ id, name, secretCount, revision, revisionId, digest }: ClaimedSnapshotRecord): AuditTarget {
  return { snapshotId: id, name, secrets: secretCount, revision, revisionId, digest };
}
