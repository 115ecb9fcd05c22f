import type { Plaintext } from '../../../../domain/plaintext.ts';
import { MemoryBudget } from '../../../../lib/memory-budget.ts';
import { divideMemory } from '../../../../lib/process-memory.ts';
import type { Allowance } from '../model.ts';
import type { ReadingAccess } from '../../../../services/access/access.ts';
import {
  type FindOptions,
  type FoundState,
  type SecretReader,
  smallStateBytes,
  smallStateKeys,
} from '../../../../services/secrets/secret-reader.ts';

/** A reconcile needs more memory than it reserved: it starts again with this allowance. */
class AllowanceExceededError extends Error {
  override readonly name = 'AllowanceExceededError';
  readonly allowance: Allowance;

  constructor(allowance: Allowance) {
    super('a reconcile needs more memory than it reserved');
    this.allowance = allowance;
  }
}

const smallAllowance: Allowance = { maxKeys: smallStateKeys, maxValueBytes: 128 * 1024 };

// A key of 253 characters, its version's id, and what chooses and names it.
const bytesOfKey = 512;
// Ciphertext as PostgreSQL sends it and decoded, the value as text and as bytes, base64, the body of the request.
const copiesOfValue = 8;
// The target, the tokens, the status.
const otherBytes = 1024 * 1024;

/** The memory for concurrent reads of SecretSyncs; each namespace is an owner. */
export function createReadBudget(): MemoryBudget {
  return new MemoryBudget({ maxBytes: divideMemory(true).reconcileBytes });
}

/** The bytes to reserve for a reconcile that reads so many states. */
function bytesFor({ maxKeys, maxValueBytes }: Allowance, states: number): number {
  return otherBytes + states * (smallStateBytes + maxKeys * bytesOfKey) + maxValueBytes * copiesOfValue;
}

export interface BoundedWork {
  readonly budget: MemoryBudget;
  readonly reader: Pick<SecretReader, 'find' | 'read'>;
  readonly namespace: string;
  /** The maximum number of states that are read. */
  readonly states: number;
  /** What the same work needed last time. */
  readonly needed: Allowance | undefined;
}

/**
 * Runs work that reads environments, once the memory that it needs is free. Work that turns out to need more releases all
 * of it and runs again with more. `beginReads` starts reads without a cache of earlier ones, so that a later observation is
 * never judged by an older state. `onNeeded` gets what the work needed. Throws what the work throws.
 */
export async function runBounded<T>(
  { budget, reader, namespace, states, needed = smallAllowance }: BoundedWork,
  work: (beginReads: () => BoundedReads) => Promise<T>,
  onNeeded: (allowance: Allowance) => void,
): Promise<T> {
  let allowance = needed;
  for (;;) {
    const reserved = allowance;
    let reads: BoundedReads | undefined;
    try {
      using memory = budget.holder(`namespace ${namespace}`);
      await memory.reserve(bytesFor(reserved, states));
      const result = await work(() => (reads = new BoundedReads(reader, reserved)));
      onNeeded(reads?.needed ?? reserved);
      return result;
    } catch (error) {
      if (!(error instanceof AllowanceExceededError)) throw error;
      ({ allowance } = error);
      onNeeded(allowance);
    }
  }
}

/** The reads of one observation: each state is read once, within the allowance. */
export class BoundedReads {
  readonly #reader: BoundedWork['reader'];
  readonly #allowance: Allowance;
  readonly #found = new Map<string, FoundState>();
  #needed = smallAllowance;
  #valueBytes = 0;

  constructor(reader: BoundedWork['reader'], allowance: Allowance) {
    this.#reader = reader;
    this.#allowance = allowance;
  }

  /** What the reads so far needed. */
  get needed(): Allowance {
    return this.#needed;
  }

  /** Like `SecretReader.find`, with a cache of the states found so far. Also throws AllowanceExceededError. */
  async find(access: ReadingAccess, options: Omit<FindOptions, 'maxKeys'> = {}): Promise<FoundState> {
    const id = JSON.stringify([access.environmentId, options.revision, options.deletedSince]);
    const known = this.#found.get(id);
    if (known !== undefined) return known;
    const found = await this.#reader.find(access, { ...options, maxKeys: this.#allowance.maxKeys });
    const keys = 'secrets' in found ? found.secrets.length : found.keys;
    this.#needed = { ...this.#needed, maxKeys: Math.max(this.#needed.maxKeys, keys) };
    if (!('secrets' in found)) throw new AllowanceExceededError({ ...this.#allowance, maxKeys: keys });
    this.#found.set(id, found);
    return found;
  }

  /** Reserves memory for values. Throws AllowanceExceededError. */
  expectValues(bytes: number): void {
    this.#valueBytes += bytes;
    this.#needed = { ...this.#needed, maxValueBytes: Math.max(this.#needed.maxValueBytes, this.#valueBytes) };
    if (this.#valueBytes > this.#allowance.maxValueBytes)
      throw new AllowanceExceededError({ ...this.#allowance, maxValueBytes: this.#valueBytes });
  }

  /** See `SecretReader.read`. Call `expectValues` first. */
  async read(
    access: ReadingAccess,
    found: FoundState,
    keys: readonly string[],
  ): Promise<ReadonlyMap<string, Plaintext>> {
    return await this.#reader.read(access, found, keys);
  }
}
