import { DomainError } from '../../domain/errors/domain-error.ts';
import type { ReportedKeys, ReportedLists } from '../../domain/fleet.ts';
import type {
  ClaimedRestore,
  ResourcePlan,
  ResourceRestoreOptions,
  RestorePlace,
} from '../../domain/resources/restores.ts';
import { recordedActor } from '../../domain/principal.ts';
import type { Database } from '../../store/database.ts';
import { claimOnce } from '../../store/resource-claims.ts';
import {
  findClaimedRestore,
  noteRestore,
  readClaimedRestore,
  wasRestoredUnderName,
} from '../../store/resource-restores.ts';
import { readLockedRestoreFacts, readRestoreFacts } from '../../store/restore-facts.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { AuditLog, AuditTarget } from '../audit/audit-log.ts';
import { type AuditedCall, auditedFailure, successRecord } from '../audit/audited.ts';
import { checkKeySelection, checkUuid } from '../kernel/checks.ts';
import type { PresentRevision } from '../kernel/environment-lock.ts';
import type { EnvironmentQueue } from '../kernel/environment-queue.ts';
import { changeEnvironment } from '../change/change.ts';
import { checkPlanHash } from '../kernel/plan-hash.ts';
import type { EnvironmentPlaceAccess, OwnAccess } from './access.ts';
import { listsOf, resourcePlanHash, type RestoreLists } from '../snapshots/restore/restore-plan.ts';
import {
  checkedPlan,
  countsOf,
  type RestoreBudget,
  type RestoreDemand,
  restoreLocked,
  summaryOf,
} from '../snapshots/restore/restore-writer.ts';

/** What is to be restored, and how. */
export interface ResourceRestoreInput extends ResourceRestoreOptions {
  readonly snapshotId: string;
}

export interface ResourceRestoresDeps {
  readonly database: Pick<Database, 'transactionPool' | 'pool'>;
  readonly queue: Pick<EnvironmentQueue, 'run'>;
  readonly budget: RestoreBudget;
  readonly audit: Pick<AuditLog, 'record' | 'recordFailure'>;
}

type Access = EnvironmentPlaceAccess<'snapshot.restore'>;

// The most keys of each list that are named. All are counted.
const maxReportedKeys = 100;

/**
 * The restores of SnapshotRestores (docs/interface.md 4.3). A resource, known by its cluster and uid, restores once in
 * its life, whatever crashes in between: its claim, with what was done, is written in the transaction of the restore.
 */
export class ResourceRestores {
  readonly #deps: ResourceRestoresDeps;

  constructor(deps: ResourceRestoresDeps) {
    this.#deps = deps;
  }

  /**
   * Returns what the restore would do now, and writes only its audit row; not even that if the plan is the one of
   * the hash `known`, which was reported to the resource before. Throws what `checkedPlan` throws.
   */
  async plan(access: Access, input: ResourceRestoreInput, known?: string): Promise<ResourcePlan> {
    const call = callOf(access, input, { dryRun: true });
    return auditedFailure(this.#deps.audit, call, async () => {
      const demand = demandOf(access, input);
      const plan = checkedPlan(await readRestoreFacts(this.#deps.database.pool, demand.request), demand);
      const lists = listsOf(plan);
      const { planHash } = plan;
      if (planHash !== known) await this.#deps.audit.record(successRecord(call, countsOf(lists)));
      const { revision, revisionId } = plan;
      return { ...placeIn(access, input), ...reportedOf(lists), planHash, revision, revisionId };
    });
  }

  /**
   * Restores exactly as the plan of `planHash` says or, with null, without a plan, and returns what was done;
   * or returns what this resource did before, in any environment. Without a plan, a resource with the name of one that
   * restored the environment is refused with DomainError already_restored. Throws what `checkedPlan` and
   * `changeEnvironment` throw.
   */
  async restore(access: Access, input: ResourceRestoreInput, planHash: string | null): Promise<ClaimedRestore> {
    const call = callOf(access, input);
    return auditedFailure(this.#deps.audit, call, async () => {
      const demand = demandOf(access, input, planHash);
      const { principal } = access.caller;
      const claim = { operation: 'restore', serial: 1, organizationId: access.organizationId } as const;
      const { budget } = this.#deps;
      return changeEnvironment(this.#deps, access, access.environmentId, {
        first: (tx) => claimOnce(tx, principal, claim),
        async work(tx, { before, first: isFirst }) {
          const more = isFirst ? await restoreFirst(tx, access, { input, demand, before, budget }) : { replayed: true };
          const result = await readClaimedRestore(tx, principal);
          if (result === undefined) throw new Error('the restore that was just claimed does not exist');
          return { result, audit: successRecord(call, more) };
        },
      });
    });
  }

  /** What the resource restored; undefined if it did not. */
  async find(access: OwnAccess<'restore.find'>): Promise<ClaimedRestore | undefined> {
    return findClaimedRestore(this.#deps.database.pool, access.caller.principal);
  }
}

interface FirstRestore {
  readonly input: ResourceRestoreInput;
  readonly demand: RestoreDemand;
  readonly before: PresentRevision;
  readonly budget: RestoreBudget;
}

/** Restores and notes it in the claim, which exists already; returns what the audit records of it. */
async function restoreFirst(
  tx: Transaction,
  access: Access,
  { input, demand, before, budget }: FirstRestore,
): Promise<AuditTarget> {
  const { principal } = access.caller;
  const { planHash = null } = demand;
  if (planHash === null && (await wasRestoredUnderName(tx, principal, access.environmentId))) {
    throw alreadyRestored(principal.name);
  }
  const actor = recordedActor(access.caller);
  const comment = `restored from snapshot ${input.snapshotId} by ${actor.name}`;
  const author = { actor, comment, budget };
  const first = await readLockedRestoreFacts(tx, demand.request);
  const done = await restoreLocked(tx, demand, author, { before, first });
  const { backupSnapshotId, revision, revisionId } = done;
  const made = { backupSnapshotId, revision, revisionId };
  await noteRestore(tx, principal, { ...placeIn(access, input), ...reportedOf(done), planHash, from: before, ...made });
  return summaryOf(demand.request, done);
}

function alreadyRestored(name: string): DomainError {
  return new DomainError(
    'already_restored',
    `a ${name} restored this environment before, here or in an earlier cluster, and without a plan it is not known ` +
      'whether to restore again; create one with another name, or plan it',
  );
}

function demandOf(access: Access, input: ResourceRestoreInput, planHash: string | null = null): RestoreDemand {
  checkUuid('snapshotId', input.snapshotId);
  checkPlanHash(planHash ?? undefined);
  if (input.keys !== undefined) checkKeySelection('keys', input.keys);
  const { organizationId, environmentId } = access;
  const request = { ...input, environmentId };
  const hashFor = (hash: string): string => resourcePlanHash(hash, access.owner);
  return { organizationId, request, hashFor, ...(planHash === null ? {} : { planHash }) };
}

function callOf(access: Access, { snapshotId }: ResourceRestoreInput, more: AuditTarget = {}): AuditedCall {
  const { caller, organizationId, action, target } = access;
  return { caller, organizationId, action, target: { ...target, snapshotId, ...more } };
}

function placeIn({ asked, environmentId }: Access, { snapshotId }: ResourceRestoreInput): RestorePlace {
  const { organization, project, environment } = asked;
  return { snapshotId, environmentId, environment: [organization, project, environment].join('/') };
}

function reportedOf({ restored, recreated, unchanged, skipped, destroyed, pruned }: RestoreLists): ReportedLists {
  const listed = (keys: readonly string[]): ReportedKeys => ({
    count: keys.length,
    keys: keys.slice(0, maxReportedKeys),
  });
  return {
    restored: listed(restored),
    recreated: listed(recreated),
    unchanged: listed(unchanged),
    skipped: listed(skipped),
    destroyed: listed(destroyed),
    pruned: listed(pruned),
  };
}
