import { randomUUID } from 'node:crypto';
import type { Keyring, Sealer } from '../../crypto/keyring.ts';
import { hashesEqual } from '../../crypto/token.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { type Caller, recordedActor } from '../../domain/principal.ts';
import type { Database } from '../../store/database.ts';
import { notifyEnvironment } from '../../store/notify.ts';
import * as store from '../../store/secrets.ts';
import type { Transaction } from '../../store/transaction.ts';
import type { EnvironmentAccess } from '../access/access.ts';
import type { AuditTarget } from '../audit/audit-log.ts';
import { successRecord } from '../audit/audited.ts';
import type { EnvironmentQueue } from '../kernel/environment-queue.ts';
import type { GrowthBudget } from '../kernel/growth-budget.ts';
import { changeEnvironment, changeEnvironmentOnce, type EnvironmentChange, type Locked } from '../change/change.ts';
import type { Once, OnceOutcome } from '../change/once.ts';
import { checkQuota, isGrowth } from '../kernel/quota.ts';
import { type Plan, type PlanInput, planWrite, type WantedChanges } from './secret-plan.ts';

type WriteAccess = EnvironmentAccess<'secret.write' | 'secret.delete' | 'version.rollback'>;

/** One write: all of it becomes one revision, or none of it is done. */
export interface WriteRequest {
  readonly wanted: WantedChanges;
  readonly comment: string | null;
  /** The id of the revision that the environment must be at. */
  readonly expectedRevision?: string;
  readonly skipUnchanged?: boolean;
  /** Whether it is of any number of keys, which its audit row shows; without it there is one change. */
  readonly batch?: boolean;
}

/** The environment after a write. */
export interface WrittenSecrets {
  readonly revision: number;
  readonly revisionId: string;
  /** The time of the write; null if there was nothing to change, which makes no revision. */
  readonly at: Date | null;
  readonly changes: readonly store.SecretChange[];
  readonly unchanged: readonly string[];
}

export interface SecretWriterDeps {
  readonly database: Pick<Database, 'transactionPool'>;
  readonly keyring: Pick<Keyring, 'sealer' | 'mac'>;
  readonly queue: Pick<EnvironmentQueue, 'run'>;
  readonly budget: Pick<GrowthBudget, 'charge' | 'environmentBytesPerDay'>;
}

// An audit row names this many keys set and deleted; the revision it names has them all.
const auditedKeys = 100;

/**
 * The only way in which secrets are set, deleted and rolled back one by one or in a batch. Restores and reverts write plans
 * (plan-writer.ts), with the same queue, lock and statement.
 */
export class SecretWriter {
  readonly #deps: SecretWriterDeps;

  constructor(deps: SecretWriterDeps) {
    this.#deps = deps;
  }

  /**
   * Does one write under the environment's lock, with its audit row, and notifies the listeners at the commit. A
   * request with nothing to change makes no revision. Throws DomainError version_mismatch if the environment or a key
   * is not as expected, quota_exceeded and limit_exceeded beyond the limits of docs/interface.md section 8, not_found
   * if the environment was deleted meanwhile, overloaded if its writers wait too long, and what `planWrite` and
   * `makeChange` throw.
   */
  async write(access: WriteAccess, request: WriteRequest): Promise<WrittenSecrets> {
    return changeEnvironment(this.#deps, access, access.environmentId, () => this.#prepare(access, request));
  }

  /** Like `write`, but a repetition of the request is not done again (`makeChangeOnce`). */
  async writeOnce<Kept extends object, Replay>(
    access: WriteAccess,
    request: WriteRequest,
    once: Once<WrittenSecrets, Kept, Replay>,
  ): Promise<OnceOutcome<WrittenSecrets, Replay>> {
    return changeEnvironmentOnce(this.#deps, access, once, () => this.#prepare(access, request));
  }

  /** Seals the values before the transaction. */
  async #prepare(
    access: WriteAccess,
    request: WriteRequest,
  ): Promise<EnvironmentChange<readonly store.StoredSecret[], WrittenSecrets>> {
    const sealing = await this.#sealEachOnce(access, request.wanted);
    return {
      expectedRevision: request.expectedRevision,
      first: (tx) => store.findStoredSecrets(tx, access.environmentId, [...request.wanted.keys()]),
      work: async (tx, locked) => {
        const result = await this.#writeLocked(tx, { access, request, sealing }, locked);
        return { result, audit: successRecord(access, summaryOf(result, request)) };
      },
    };
  }

  async #writeLocked(
    tx: Transaction,
    { access, request, sealing }: LockedWrite,
    { before, first: found }: Locked<readonly store.StoredSecret[]>,
  ): Promise<WrittenSecrets> {
    const { environmentId } = access;
    const { changes, unchanged, growth } = await this.#plan(tx, { access, request, sealing }, found);
    if (changes.length === 0) return { ...before, at: null, changes, unchanged };
    if (isGrowth(growth)) checkQuota(await store.measureEnvironment(tx, environmentId), growth);
    const revision = {
      id: randomUUID(),
      environmentId,
      number: before.revision + 1,
      ...authorship(access.caller, request),
    };
    const { budget } = this.#deps;
    const budgetBytesPerDay = budget.environmentBytesPerDay;
    const [{ at, ...written }] = await tx.pipeline([
      store.writeRevision(tx, { ...revision, changes, budgetBytesPerDay }),
      notifyEnvironment(tx, access, revision.id),
    ]);
    budget.charge(access.caller.principal.id, written);
    return { revision: revision.number, revisionId: revision.id, at, changes, unchanged };
  }

  async #plan(tx: Transaction, { request, sealing }: LockedWrite, found: readonly store.StoredSecret[]): Promise<Plan> {
    const { wanted, skipUnchanged = false } = request;
    const stored = new Map(found.map((secret) => [secret.key, secret]));
    return planWrite({
      wanted,
      stored,
      targets: await findTargets(tx, wanted, stored),
      skipUnchanged,
      isUnchanged: (secret, value) =>
        hashesEqual(secret.valueMac, this.#deps.keyring.mac(secret.secretId, value.reveal())),
      ...sealing,
      newVersionId: randomUUID,
    });
  }

  /**
   * Seals each value once, however often a deadlock repeats the transaction: a sealer is made for exactly that number.
   * A key that another write created between two tries has an id that its value was not sealed for.
   */
  async #sealEachOnce(access: WriteAccess, wanted: WantedChanges): Promise<Sealing> {
    const { organizationId, projectId, environmentId } = access;
    const values = [...wanted.values()].filter(({ kind }) => kind === 'set').length;
    const sealer: Sealer = await this.#deps.keyring.sealer(projectId, values);
    const secretIds = new Map<string, string>();
    const sealed = new Map<string, { readonly secretId: string; readonly content: store.SealedContent }>();
    const newSecretId: Sealing['newSecretId'] = (key) => {
      const secretId = secretIds.get(key) ?? randomUUID();
      secretIds.set(key, secretId);
      return secretId;
    };
    const seal: Sealing['seal'] = (key, secretId, value) => {
      const known = sealed.get(key);
      if (known?.secretId === secretId) return known.content;
      if (known !== undefined)
        throw new DomainError('conflict', `secret ${key} was created at the same time; try again`);
      const content = sealer.seal({ organizationId, projectId, environmentId, secretId }, value);
      sealed.set(key, { secretId, content });
      return content;
    };
    return { newSecretId, seal };
  }
}

/** Ids and ciphertexts that stay the same when a transaction is tried again. */
type Sealing = Pick<PlanInput, 'newSecretId' | 'seal'>;

interface LockedWrite {
  readonly access: WriteAccess;
  readonly request: WriteRequest;
  readonly sealing: Sealing;
}

function authorship(caller: Caller, { comment }: WriteRequest): Pick<store.NewRevision, 'actor' | 'comment'> {
  return { actor: recordedActor(caller), comment };
}

async function findTargets(
  tx: Transaction,
  wanted: WantedChanges,
  stored: ReadonlyMap<string, store.StoredSecret>,
): Promise<Map<string, store.StoredVersion>> {
  const targets: { key: string; secretId: string; version: number }[] = [];
  for (const [key, change] of wanted) {
    const secret = stored.get(key);
    if (change.kind === 'roll_back' && secret !== undefined) {
      targets.push({ key, secretId: secret.secretId, version: change.targetVersion });
    }
  }
  if (targets.length === 0) return new Map();
  const found = new Map((await store.findStoredVersions(tx, targets)).map((version) => [version.secretId, version]));
  return new Map(
    targets.flatMap(({ key, secretId }) => {
      const version = found.get(secretId);
      return version === undefined ? [] : [[key, version] as const];
    }),
  );
}

function summaryOf(written: WrittenSecrets, { wanted, batch = false }: WriteRequest): AuditTarget {
  const { revision, revisionId, at } = written;
  const revisionMade = at === null ? {} : { revision, revisionId };
  return { ...(batch ? batchSummary(written, wanted) : singleSummary(written, wanted)), ...revisionMade };
}

function batchSummary({ changes, unchanged }: WrittenSecrets, wanted: WantedChanges): AuditTarget {
  const keysOf = (of: store.SecretChange['kind']): string[] =>
    changes.filter(({ kind }) => kind === of).map(({ key }) => key);
  const [set, deleted] = [keysOf('version'), keysOf('deletion')];
  return {
    setKeys: set.slice(0, auditedKeys),
    set: set.length,
    deletedKeys: deleted.slice(0, auditedKeys),
    deleted: deleted.length,
    unchanged: unchanged.length,
    ...generatedSummary(wanted),
  };
}

/** Which of the keys that were set have generated values. */
function generatedSummary(wanted: WantedChanges): AuditTarget {
  const keys = [...wanted].flatMap(([key, change]) =>
    change.kind === 'set' && change.isGenerated === true ? [key] : [],
  );
  return keys.length === 0 ? {} : { generatedKeys: keys.slice(0, auditedKeys), generated: keys.length };
}

/** The key, the version that was made of it, and the one that it was rolled back to. */
function singleSummary({ changes }: WrittenSecrets, wanted: WantedChanges): AuditTarget {
  const [[key, asked] = []] = wanted;
  const [change] = changes;
  return {
    ...(key === undefined ? {} : { key }),
    ...(change?.kind === 'version' ? { version: change.version } : {}),
    ...(asked?.kind === 'roll_back' ? { targetVersion: asked.targetVersion } : {}),
    ...(asked?.kind === 'roll_back' && asked.undelete === true ? { undelete: true } : {}),
  };
}
