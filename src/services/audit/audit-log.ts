import { isClusterRefusal } from '../../domain/cluster-refusal.ts';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { shownTokenCreator } from '../../domain/impersonation.ts';
import { type AnyCaller, type Principal, recordedActor } from '../../domain/principal.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import {
  appendAuditBatch,
  type AuditedCredential,
  type AuditOutcome,
  type AuditRecord,
  type AuditTarget,
} from '../../store/audit.ts';
import type { Database } from '../../store/database.ts';
import { workFor } from '../../store/pool-shares.ts';
import { groupReads } from './grouped-reads.ts';

export type { AuditOutcome, AuditRecord, AuditTarget } from '../../store/audit.ts';

/** What a record says besides its caller. */
export interface AuditSubject {
  /** The chain: the organization acted in, or null for none. */
  readonly organizationId: string | null;
  /** What was done, such as `secret.list`. */
  readonly action: string;
  readonly target: AuditTarget;
  readonly outcome?: AuditOutcome;
}

export interface AuditLogDeps {
  readonly database: Pick<Database, 'pool'>;
  /** Records of one cluster that may wait, and records of all others; default 1,000. */
  readonly queueLimit?: number;
  /** Records that one statement writes at most; default 250. */
  readonly groupLimit?: number;
}

interface Pending {
  readonly record: AuditRecord;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Whether an error says that a caller may not do something, rather than that it failed. */
export function isDenial(error: DomainError): boolean {
  return error.code === 'forbidden' || error.code === 'recent_sign_in_required' || isClusterRefusal(error);
}

/** The audit record of what a caller did; `success` by default, labelled if a service token is concerned. */
export function auditRecord(caller: AnyCaller, subject: AuditSubject): AuditRecord {
  const { organizationId, action, target, outcome = 'success' } = subject;
  const { cluster, ...actor } = recordedActor(caller);
  return {
    organizationId,
    actor,
    action,
    target,
    outcome,
    requestId: caller.requestId,
    sourceAddress: caller.sourceAddress,
    label: actor.type === 'service_token' || action.startsWith('service_token.') ? '[Service Token]' : null,
    credential: credentialOf(caller.principal),
    cluster,
  };
}

function credentialOf(principal: Principal): AuditedCredential | null {
  if (!('credentialId' in principal)) return null;
  const creator = principal.type === 'user' ? principal.tokenCreator : null;
  return { id: principal.credentialId, createdBy: shownTokenCreator(creator) };
}

/**
 * The audit of everything but changes (docs/interface.md 6.2): each call returns when its entry is committed. Records are
 * committed in groups: one is written at once when none is under way, and those that come meanwhile follow together.
 * Reads of SecretSyncs in such a group share entries. Clusters take turns, and all records without a cluster are as one.
 */
export class AuditLog {
  readonly #pool: Database['pool'];
  readonly #queueLimit: number;
  readonly #groupLimit: number;
  readonly #queue = new FairQueue<string | null, Pending>();
  #writing: Promise<void> | undefined;
  readonly #audited = new WeakSet<object>();

  constructor({ database, queueLimit = 1_000, groupLimit = 250 }: AuditLogDeps) {
    this.#pool = database.pool;
    this.#queueLimit = queueLimit;
    this.#groupLimit = groupLimit;
  }

  /** Records that wait to be written, for the metrics. */
  get queueLength(): number {
    return this.#queue.size;
  }

  /**
   * Writes a record durably. The caller must get no answer when this throws: DomainError overloaded while too many
   * records of its cluster wait, store_unavailable if the database does not accept it, another error if this one row is
   * refused.
   */
  record(record: AuditRecord): Promise<void> {
    const { cluster } = record;
    if (this.#queue.sizeOf(cluster) >= this.#queueLimit) {
      return Promise.reject(new DomainError('overloaded', 'too many requests wait to be audited; try again'));
    }
    return new Promise((resolve, reject) => {
      this.#queue.add(cluster, { record, resolve, reject });
      // Its group may have records of others.
      this.#writing ??= workFor(undefined, () => this.#writeQueue());
    });
  }

  /**
   * Audits that a caller was refused: in the chain `target.organizationId` if that is given (because the caller may see
   * the target, and its owners must see what was tried), else in the caller's own: what they must not see gets no entry
   * from them. Pass the error that reports them, and `recordFailure` will not audit it again. Throws as `record` does.
   */
  async recordDenial(caller: AnyCaller, action: string, target: AuditTarget, error?: Error): Promise<void> {
    if (error !== undefined) this.#audited.add(error);
    const { organizationId: chain, ...named } = target;
    const organizationId = typeof chain === 'string' ? chain : chainOf(caller);
    await this.record(auditRecord(caller, { organizationId, action, target: named, outcome: 'denied' }));
  }

  /**
   * Audits that something failed, with the error's code in the target; once for each error, however many layers
   * report it. The chain is `target.organizationId` if that is given (because the caller was let into it), else the
   * caller's own. Throws as `record` does.
   */
  async recordFailure(caller: AnyCaller, action: string, target: AuditTarget, error: unknown): Promise<void> {
    if (typeof error === 'object' && error !== null) {
      if (this.#audited.has(error)) return;
      this.#audited.add(error);
    }
    const chain = target['organizationId'];
    const code = error instanceof DomainError ? error.code : 'internal';
    const failed: AuditSubject = {
      organizationId: typeof chain === 'string' ? chain : chainOf(caller),
      action,
      target: { ...target, error: code },
      // A later refusal of a service, such as whom a role may remove, is a denial like one at the door.
      outcome: error instanceof DomainError && isDenial(error) ? 'denied' : 'failed',
    };
    await this.record(auditRecord(caller, failed));
  }

  /** Returns when no record waits any more. */
  async drain(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #writeQueue(): Promise<void> {
    while (this.#queue.size > 0) await this.#writeGroup(this.#queue.take(this.#groupLimit));
    this.#writing = undefined;
  }

  /** Writes a group. A group that is refused is halved until only the invalid records fail. Never throws. */
  async #writeGroup(group: readonly Pending[]): Promise<void> {
    try {
      await appendAuditBatch(this.#pool, groupReads(group.map(({ record }) => record)));
      for (const { resolve } of group) resolve();
    } catch (error) {
      if (group.length === 1 || isUnavailable(error)) {
        for (const { reject } of group) reject(error);
        return;
      }
      const half = Math.ceil(group.length / 2);
      await this.#writeGroup(group.slice(0, half));
      await this.#writeGroup(group.slice(half));
    }
  }
}

function chainOf({ principal }: AnyCaller): string | null {
  return principal.type === 'service_token' ? principal.organizationId : null;
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.description.isOutage === true;
}
