import { LRUCache } from 'lru-cache';
import { DomainError } from '../../domain/errors/domain-error.ts';
import { systemClock } from '../../lib/clock.ts';
import { countGrowth, type StoredGrowth } from '../../store/growth.ts';
import type { WrittenSnapshot } from '../../store/snapshots.ts';
import type { Transaction } from '../../store/transaction.ts';

/** How much may be written. Writes stay until they are purged, and a full disk stops every read. 0 means no limit. */
export interface GrowthLimits {
  /** Bytes of versions and snapshots that an environment takes in a day, over all replicas. */
  readonly environmentBytesPerDay: number;
  /** Bytes that one person, service token or custom resource writes in a day, on this replica. */
  readonly callerBytesPerDay: number;
  readonly snapshotsPerEnvironment: number;
}

/** What taking a snapshot needs of a budget. */
export type SnapshotBudget = Pick<GrowthBudget, 'chargeSnapshot' | 'environmentBytesPerDay'>;

const mebibyte = 1024 * 1024;

const defaultGrowthLimits: GrowthLimits = {
  environmentBytesPerDay: 512 * mebibyte,
  callerBytesPerDay: 1024 * mebibyte,
  snapshotsPerEnvironment: 2000,
};

// The row of a claim with its index, and the entry in the audit.
const claimBytes = 1024;
const daySeconds = 24 * 60 * 60;
// Beyond this many the least recently used caller is dropped, so that callers cannot fill the memory.
const maxCallers = 10_000;

/**
 * Bounds how fast the database grows (docs/interface.md section 8). Each budget is a bucket of one day's bytes that
 * drains steadily. A write is refused while the bucket is full; one that begins before that may overfill it, so that no
 * write is too large for its budget. The buckets of environments are in the database, those of callers in this process.
 */
export class GrowthBudget {
  readonly #limits: GrowthLimits;
  readonly #nowMs: () => number;
  /** When the bucket of a caller will be empty, by the caller's id. */
  readonly #emptyAtMs = new LRUCache<string, number>({ max: maxCallers });

  constructor(limits: GrowthLimits = defaultGrowthLimits, nowMs: () => number = () => systemClock.now()) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  /** What the statements that write need to know. */
  get environmentBytesPerDay(): number {
    return this.#limits.environmentBytesPerDay;
  }

  /**
   * Judges what a statement has written for a caller, and counts it; call it in the transaction, so that a refusal
   * undoes the write. Throws DomainError limit_exceeded, saying how long the budget stays full.
   */
  charge(callerId: string, { bytes, filledSeconds }: StoredGrowth): void {
    if (bytes === 0) return;
    const { environmentBytesPerDay, callerBytesPerDay } = this.#limits;
    if (filledSeconds !== null) {
      const fullSeconds = filledSeconds - fillingSeconds(bytes, environmentBytesPerDay) - daySeconds;
      if (fullSeconds >= 0) throw exceeded('this environment', environmentBytesPerDay, fullSeconds);
    }
    if (callerBytesPerDay > 0) this.#chargeCaller(callerId, bytes, callerBytesPerDay);
  }

  /** Like `charge`, for a snapshot. Throws DomainError quota_exceeded as well, if the environment has too many. */
  chargeSnapshot(callerId: string, { snapshotsBefore, ...growth }: Omit<WrittenSnapshot, 'snapshot'>): void {
    const max = this.#limits.snapshotsPerEnvironment;
    if (max > 0 && snapshotsBefore >= max) {
      throw new DomainError(
        'quota_exceeded',
        `an environment has at most ${max} snapshots, and this one has ${snapshotsBefore}; delete some with ` +
          '`keyframe snapshot prune`, or set the retention of its SnapshotSchedules',
      );
    }
    this.charge(callerId, growth);
  }

  /**
   * Counts the end of a resource that made nothing. A cluster can name any number of resources, so that it is the caller. Call
   * it in the transaction. Throws DomainError limit_exceeded.
   */
  chargeEnd(cluster: string): void {
    const { callerBytesPerDay } = this.#limits;
    if (callerBytesPerDay > 0) this.#chargeCaller(`cluster ${cluster}`, claimBytes, callerBytesPerDay);
  }

  #chargeCaller(id: string, bytes: number, bytesPerDay: number): void {
    const nowMs = this.#nowMs();
    const emptyAtMs = Math.max(this.#emptyAtMs.get(id) ?? 0, nowMs);
    const fullSeconds = (emptyAtMs - nowMs) / 1000 - daySeconds;
    if (fullSeconds >= 0) throw exceeded('this caller', bytesPerDay, fullSeconds);
    this.#emptyAtMs.set(id, emptyAtMs + fillingSeconds(bytes, bytesPerDay) * 1000);
  }
}

/** An answer that is stored under an Idempotency-Key, for repetitions of the request. */
export interface StoredAnswer {
  readonly environmentId: string;
  readonly callerId: string;
  /** What grows with the number of keys. */
  readonly answer: object;
}

/**
 * Charges an answer that is stored: it names up to 10,000 keys, even if nothing is changed. Call it under the lock of the
 * environment. Throws what `GrowthBudget.charge` throws.
 */
export async function chargeAnswer(
  tx: Transaction,
  budget: Pick<GrowthBudget, 'charge' | 'environmentBytesPerDay'>,
  { environmentId, callerId, answer }: StoredAnswer,
): Promise<void> {
  const bytes = Buffer.byteLength(JSON.stringify(answer));
  const { environmentBytesPerDay: budgetBytesPerDay } = budget;
  budget.charge(callerId, await countGrowth(tx, { environmentId, bytes, budgetBytesPerDay }));
}

function fillingSeconds(bytes: number, bytesPerDay: number): number {
  return (bytes / bytesPerDay) * daySeconds;
}

function exceeded(what: string, bytesPerDay: number, fullSeconds: number): DomainError {
  const retryAfterSeconds = Math.floor(fullSeconds) + 1;
  return new DomainError(
    'limit_exceeded',
    `${what} has written ${Math.round(bytesPerDay / mebibyte)} MiB in a day, which is its limit; try again in ` +
      `${retryAfterSeconds} seconds, and write only values that have changed`,
    { retryAfterSeconds },
  );
}
