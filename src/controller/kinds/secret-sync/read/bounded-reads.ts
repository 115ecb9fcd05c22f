import { limits } from '../../../../domain/limits.ts';
import {
  type FoundState,
  type LargerState,
  smallStateBytes,
  smallStateKeys,
} from '../../../../domain/secret-states.ts';
import type { MemoryBudget, MemoryOwner } from '../../../../lib/memory-budget.ts';
import type { DeferredOutcome } from '../../../frame/outcome.ts';
import { type Allowance, type SyncContext, maxSecretBytes } from '../model.ts';
import { tooMuchToRead } from '../source-messages.ts';
import { targetOf } from '../spec/resource.ts';
import { sourcesOf } from '../spec/source.ts';

/** A reconcile needs more memory than it reserved. */
class AllowanceExceededError extends Error {
  override readonly name = 'AllowanceExceededError';
  readonly allowance: Allowance;

  constructor(allowance: Allowance) {
    super('a reconcile needs more memory than it reserved');
    this.allowance = allowance;
  }
}

const smallest: Allowance = { maxKeys: smallStateKeys, maxValueBytes: 128 * 1024 };
// A Secret holds a quarter of values in base64 at least, less what is rounded. Hidden values come to that, and all of it once
// more for a rollback.
const largest: Allowance = { maxKeys: limits.secretsPerEnvironment, maxValueBytes: 2 * 6 * maxSecretBytes };
// Sources grow: with a quarter on top, most changes fit.
const headroom = 5 / 4;
// After so many deferrals in a row, the next free memory is kept for the reconcile.
const maxDeferrals = 3;

// A key of 253 characters, its version's id, and what chooses and names it.
const bytesOfKey = 512;
// Ciphertext as PostgreSQL sends it and decoded, the value as text and as bytes, base64, the body of the request.
const copiesOfValue = 8;
// The target, the tokens, the status.
const otherBytes = 1024 * 1024;

export interface ReadMemoryDeps {
  /** Lets nothing overtake a reservation that waits: a reconcile waits only after its deferrals. */
  readonly budget: MemoryBudget;
}

/** Starts to count what reads take. */
export type BeginReads = () => BoundedReads;

/** The memory for concurrent reads of SecretSyncs; each namespace is an owner. */
export class ReadMemory {
  readonly #deps: ReadMemoryDeps;

  constructor(deps: ReadMemoryDeps) {
    this.#deps = deps;
  }

  /**
   * Runs work that reads environments, within the memory that the last reconcile of this SecretSync needed. If that is not
   * free, or the work needs more, the reconcile is deferred until what it needs is free. It holds nothing then. Throws what
   * the work throws.
   */
  async reserve<T>(context: SyncContext, work: (beginReads: BeginReads) => Promise<T>): Promise<T | DeferredOutcome> {
    const { memory } = context;
    const { deferrals, needed: allowance = smallest } = memory;
    const need = needOf(context, allowance);
    using holder = this.#deps.budget.holder(need.owner);
    if (deferrals >= maxDeferrals) await holder.reserve(need.bytes);
    else if (holder.tryReserve(need.bytes) !== undefined) return this.#deferred(context);
    memory.deferrals = 0;
    let reads: BoundedReads | undefined;
    try {
      const result = await work(() => (reads = new BoundedReads(allowance)));
      memory.needed = reads?.needed ?? memory.needed;
      return result;
    } catch (error) {
      if (!(error instanceof AllowanceExceededError)) throw error;
      memory.needed = error.allowance;
      memory.deferrals = deferrals;
      return this.#deferred(context);
    }
  }

  #deferred(context: SyncContext): DeferredOutcome {
    const { memory } = context;
    memory.deferrals += 1;
    const { owner, bytes } = needOf(context, memory.needed ?? smallest);
    return {
      isDeferred: true,
      next: { kind: 'when', wait: (ready) => this.#deps.budget.whenFree(owner, bytes, ready) },
    };
  }
}

/** What a reconcile reserves. */
function needOf(
  { resource: sync }: SyncContext,
  { maxKeys, maxValueBytes }: Allowance,
): { readonly owner: MemoryOwner; readonly bytes: number } {
  // For a rollback, the former state is read in addition to the one that the spec asks for.
  const states = sourcesOf(sync).length * (sync.spec.rollout?.onFailure === 'Rollback' ? 2 : 1);
  const bytes = otherBytes + states * (smallStateBytes + maxKeys * bytesOfKey) + maxValueBytes * copiesOfValue;
  return { owner: `namespace ${targetOf(sync).namespace}`, bytes };
}

function keysWithHeadroom(keys: number): number {
  return keys <= smallest.maxKeys ? smallest.maxKeys : Math.min(Math.ceil(keys * headroom), largest.maxKeys);
}

function bytesWithHeadroom(bytes: number): number {
  if (bytes <= smallest.maxValueBytes) return smallest.maxValueBytes;
  return Math.min(Math.ceil(bytes * headroom), largest.maxValueBytes);
}

/** What the reads of one observation take, within the allowance. */
export class BoundedReads {
  readonly #allowance: Allowance;
  #hasFound = false;
  #maxKeys = 0;
  #valueBytes = 0;

  constructor(allowance: Allowance) {
    this.#allowance = allowance;
  }

  /** What such reads need, with headroom; undefined if nothing was found. */
  get needed(): Allowance | undefined {
    if (!this.#hasFound) return undefined;
    return { maxKeys: keysWithHeadroom(this.#maxKeys), maxValueBytes: bytesWithHeadroom(this.#valueBytes) };
  }

  /** How many keys of each state may be read. */
  get maxKeys(): number {
    return this.#allowance.maxKeys;
  }

  /** How many bytes of values may still be read. */
  get maxValueBytes(): number {
    return Math.max(0, this.#allowance.maxValueBytes - this.#valueBytes);
  }

  /**
   * Returns a state that was asked for with `maxKeys`. Throws AllowanceExceededError if it has more, and DomainError
   * target_too_large for more than the largest state that an environment or a Secret can have.
   */
  take(found: FoundState | LargerState): FoundState {
    if (!('secrets' in found)) {
      if (found.keys > largest.maxKeys) throw tooMuchToRead(found.keys, 'keys of one environment', largest.maxKeys);
      throw new AllowanceExceededError({ ...this.#allowance, maxKeys: keysWithHeadroom(found.keys) });
    }
    this.#hasFound = true;
    this.#maxKeys = Math.max(this.#maxKeys, found.secrets.length);
    return found;
  }

  /** Announces values. Throws what `take` throws. */
  expectValues(bytes: number): void {
    this.#valueBytes += bytes;
    if (this.#valueBytes <= this.#allowance.maxValueBytes) return;
    if (this.#valueBytes > largest.maxValueBytes)
      throw tooMuchToRead(this.#valueBytes, 'bytes of values', largest.maxValueBytes);
    throw new AllowanceExceededError({
      ...this.#allowance,
      maxValueBytes: bytesWithHeadroom(this.#valueBytes),
    });
  }
}
