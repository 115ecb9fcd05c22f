import { createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../domain/errors/domain-error.ts';
import { keyBytes } from './aead.ts';
import { Allotment, type DataKey } from './allotment.ts';
import type { DataKeyRecord, KeyStore } from './key-store.ts';
import type { RootKeys } from './root-keys.ts';

export interface DataKeyLimits {
  /** Encryptions under one data key before another replaces it. At most 2^32, where random nonces begin to meet. */
  readonly usesPerKey: number;
  /** Encryptions reserved in the store at once, by one process, so that not each one writes there. */
  readonly usesPerBlock: number;
}

/** A sixteenth of what NIST SP 800-38D (8.3) allows: room for a restored backup, whose counts went back. */
export const defaultDataKeyLimits: DataKeyLimits = { usesPerKey: 2 ** 28, usesPerBlock: 1024 };

const cachedKeys = 4096;
const cachedAllotments = 4096;
// Each try is lost only to another replica that used up or replaced the key in between.
const reserveTries = 16;

type DataKeyStore = Pick<KeyStore, 'findActiveDataKey' | 'findDataKeys' | 'reserveUses' | 'replaceDataKey'>;

/** The data keys of the projects: made, unwrapped, cached, counted and replaced. */
export class DataKeys {
  readonly #rootKeys: Pick<RootKeys, 'wrap' | 'unwrap'>;
  readonly #store: DataKeyStore;
  readonly #limits: DataKeyLimits;
  // Data keys never change, so what is cached never grows stale. A key that is put out is not cleared by hand, as a
  // sealer may still hold it (and would go on with a key of zeros): its key object clears it when the last one lets go.
  readonly #cache = new LRUCache<string, DataKey>({ max: cachedKeys });
  // An allotment that is put out only counts too many uses.
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
    const sound = [usesPerKey, usesPerBlock].every((uses) => Number.isSafeInteger(uses) && uses >= 1);
    if (!sound || usesPerBlock > usesPerKey || usesPerKey > 2 ** 32) {
      throw new RangeError('data key limits: 1 ≤ usesPerBlock ≤ usesPerKey ≤ 2^32');
    }
  }

  /**
   * The key that encrypts for a project now, with `count` uses of it reserved for the caller alone. Makes the
   * project's first key, and the next one when the uses run out. `count` is 1 to `usesPerKey`, else a RangeError.
   * Throws DomainError key_unavailable.
   */
  async allot(projectId: string, count: number): Promise<DataKey> {
    if (!Number.isSafeInteger(count) || count < 1 || count > this.#limits.usesPerKey) {
      throw new RangeError(`uses of a data key: a whole number from 1 to ${this.#limits.usesPerKey}`);
    }
    const allotment = this.#allotmentOf(projectId);
    return allotment.take(count) ?? (await allotment.inTurn(() => this.#reserve(projectId, allotment, count)));
  }

  /** The keys with these ids, retired ones too. Throws DomainError key_unavailable if one is not there to be had. */
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
      `Data key ${missing} is not in the database, though values are stored under it. Restore the table data_key from a backup.`,
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
    // Whoever was before us in the queue may have reserved enough for us too.
    const taken = allotment.take(count);
    if (taken !== undefined) return taken;
    const block = Math.max(count, this.#limits.usesPerBlock);
    let key = allotment.key ?? (await this.#active(projectId));
    for (let tries = 0; tries < reserveTries; tries += 1) {
      const total = await this.#store.reserveUses(key.id, block);
      // The store adds atomically: the block that ends at a total within the limit is ours, whoever else reserves.
      if (total !== undefined && total <= BigInt(this.#limits.usesPerKey)) {
        allotment.add(key, block - count);
        return key;
      }
      key = total === undefined ? await this.#active(projectId) : await this.#replace(projectId, key.id);
    }
    throw new DomainError(
      'key_unavailable',
      'The data key of the project was replaced again and again meanwhile. Try again.',
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
