import { createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../domain/errors/domain-error.ts';
import { keyBytes } from './aead.ts';
import { Allotment, type DataKey } from './allotment.ts';
import type { DataKeyRecord, KeyStore } from './key-store.ts';
import type { RootKeys } from './root-keys.ts';

export interface DataKeyLimits {
  /** Encryptions under one data key before it is replaced. At most 2^32: beyond that, random nonces may collide. */
  readonly usesPerKey: number;
  /** Encryptions that a process reserves in the store at once, so that not every encryption writes there. */
  readonly usesPerBlock: number;
}

/** A sixteenth of what NIST SP 800-38D (8.3) allows, because a restored backup has older counts. */
export const defaultDataKeyLimits: DataKeyLimits = { usesPerKey: 2 ** 28, usesPerBlock: 1024 };

const cachedKeys = 4096;
const cachedAllotments = 4096;
// An attempt fails only if another replica used up or replaced the key meanwhile.
const maxReserveAttempts = 16;

type DataKeyStore = Pick<KeyStore, 'findActiveDataKey' | 'findDataKeys' | 'reserveUses' | 'replaceDataKey'>;

/** Creates, unwraps, caches, counts and replaces the data keys of projects. */
export class DataKeys {
  readonly #rootKeys: Pick<RootKeys, 'wrap' | 'unwrap'>;
  readonly #store: DataKeyStore;
  readonly #limits: DataKeyLimits;
  // Data keys are immutable, so the cache cannot be stale. An evicted key is not cleared here, because a sealer may still
  // use it (and would encrypt with zeros). Its key object clears it after the last reference is gone.
  readonly #cache = new LRUCache<string, DataKey>({ max: cachedKeys });
  // Evicting an allotment only wastes some reserved uses.
  readonly #allotments = new LRUCache<string, Allotment>({ max: cachedAllotments });

  constructor(deps: {
    readonly rootKeys: Pick<RootKeys, 'wrap' | 'unwrap'>;
    readonly store: DataKeyStore;
    readonly limits?: DataKeyLimits;
  }) {
    this.#rootKeys = deps.rootKeys;
    this.#store = deps.store;
    this.#limits = deps.limits ?? defaultDataKeyLimits;
    const { usesPerKey, usesPerBlock } = this.#limits;
    const areValid = [usesPerKey, usesPerBlock].every((uses) => Number.isSafeInteger(uses) && uses >= 1);
    if (!areValid || usesPerBlock > usesPerKey || usesPerKey > 2 ** 32) {
      throw new RangeError('data key limits: 1 ≤ usesPerBlock ≤ usesPerKey ≤ 2^32');
    }
  }

  /**
   * Returns the current data key of a project, with `count` uses reserved for the caller. Creates the first key of the
   * project, and the next key when the uses run out. Throws RangeError unless `count` is 1 to `usesPerKey`, and
   * DomainError key_unavailable.
   */
  async allot(projectId: string, count: number): Promise<DataKey> {
    if (!Number.isSafeInteger(count) || count < 1 || count > this.#limits.usesPerKey) {
      throw new RangeError(`uses of a data key: a whole number from 1 to ${this.#limits.usesPerKey}`);
    }
    const allotment = this.#allotmentOf(projectId);
    return allotment.take(count) ?? (await allotment.inTurn(() => this.#reserve(projectId, allotment, count)));
  }

  /** Returns the keys with these ids, including retired keys. Throws DomainError key_unavailable if one is missing. */
  async load(ids: Iterable<string>): Promise<Map<string, KeyObject>> {
    const keys = new Map<string, KeyObject>();
    const absent = new Set<string>();
    for (const id of new Set(ids)) {
      const cached = this.#cache.get(id);
      if (cached === undefined) absent.add(id);
      else keys.set(id, cached.key);
    }
    const records = absent.size === 0 ? [] : await this.#store.findDataKeys([...absent]);
    for (const record of records) {
      keys.set(record.id, this.#unwrap(record).key);
      absent.delete(record.id);
    }
    const [missing] = absent;
    if (missing === undefined) return keys;
    throw new DomainError(
      'key_unavailable',
      `Data key ${missing} is missing from the database, but stored values are encrypted under it. Restore the table data_key from a backup.`,
    );
  }

  #allotmentOf(projectId: string): Allotment {
    const known = this.#allotments.get(projectId);
    if (known !== undefined) return known;
    const fresh = new Allotment();
    this.#allotments.set(projectId, fresh);
    return fresh;
  }

  async #reserve(projectId: string, allotment: Allotment, count: number): Promise<DataKey> {
    // An earlier caller in the queue may have reserved enough uses.
    const taken = allotment.take(count);
    if (taken !== undefined) return taken;
    const block = Math.max(count, this.#limits.usesPerBlock);
    let key = allotment.key ?? (await this.#active(projectId));
    for (let attempt = 0; attempt < maxReserveAttempts; attempt += 1) {
      const total = await this.#store.reserveUses(key.id, block);
      // The store adds atomically: if the new total is within the limit, the block belongs to this process.
      if (total !== undefined && total <= BigInt(this.#limits.usesPerKey)) {
        allotment.add(key, block - count);
        return key;
      }
      key = total === undefined ? await this.#active(projectId) : await this.#replace(projectId, key.id);
    }
    throw new DomainError(
      'key_unavailable',
      'Other replicas replaced the data key of the project repeatedly. Try again.',
    );
  }

  async #active(projectId: string): Promise<DataKey> {
    const record = await this.#store.findActiveDataKey(projectId);
    return record === undefined ? this.#replace(projectId, undefined) : this.#unwrap(record);
  }

  async #replace(projectId: string, replaces: string | undefined): Promise<DataKey> {
    const id = randomUUID();
    const bytes = randomBytes(keyBytes);
    const wrapped = this.#rootKeys.wrap(bytes, purposeOf(projectId, id));
    bytes.fill(0);
    return this.#unwrap(await this.#store.replaceDataKey(projectId, { id, projectId, ...wrapped }, replaces));
  }

  #unwrap(record: DataKeyRecord): DataKey {
    const cached = this.#cache.get(record.id);
    if (cached !== undefined) return cached;
    const bytes = this.#rootKeys.unwrap(record, purposeOf(record.projectId, record.id));
    const key = { id: record.id, key: createSecretKey(bytes) };
    bytes.fill(0);
    this.#cache.set(key.id, key);
    return key;
  }
}

function purposeOf(projectId: string, keyId: string): string {
  return `data-key:${projectId}:${keyId}`;
}
