import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DataKeyRecord, KeyStore } from '../../../src/crypto/key-store.ts';
import type { WrappedKey } from '../../../src/crypto/root-keys.ts';

interface StoredDataKey {
  readonly record: DataKeyRecord;
  usesReserved: bigint;
  retired: boolean;
}

/**
 * A KeyStore in memory for tests without I/O, shared by as many keyrings ("replicas") as a test likes. Each call takes
 * a turn of the event loop before and after its one atomic step, as a database would. It obeys key-store-contract.ts.
 */
export class MemoryKeyStore implements KeyStore {
  readonly instanceKeys = new Map<string, WrappedKey>();
  /** In the order they were made. */
  readonly dataKeys: StoredDataKey[] = [];
  /** The name of every call, in order. */
  readonly calls: string[] = [];
  /** Runs after a call's step and before its answer. */
  afterCall: (() => Promise<void>) | undefined;

  findInstanceKey(name: string): Promise<WrappedKey | undefined> {
    return this.#step('findInstanceKey', () => this.instanceKeys.get(name));
  }

  insertInstanceKey(name: string, key: WrappedKey): Promise<WrappedKey> {
    return this.#step('insertInstanceKey', () => {
      const stored = this.instanceKeys.get(name) ?? key;
      this.instanceKeys.set(name, stored);
      return stored;
    });
  }

  hasDataKeys(): Promise<boolean> {
    return this.#step('hasDataKeys', () => this.dataKeys.length > 0);
  }

  findActiveDataKey(projectId: string): Promise<DataKeyRecord | undefined> {
    return this.#step('findActiveDataKey', () => this.#active(projectId)?.record);
  }

  findDataKeys(ids: readonly string[]): Promise<DataKeyRecord[]> {
    return this.#step('findDataKeys', () =>
      this.dataKeys.filter(({ record }) => ids.includes(record.id)).map(({ record }) => record),
    );
  }

  reserveUses(id: string, count: number): Promise<bigint | undefined> {
    return this.#step('reserveUses', () => {
      const key = this.dataKeys.find(({ record }) => record.id === id);
      if (key === undefined || key.retired) return undefined;
      key.usesReserved += BigInt(count);
      return key.usesReserved;
    });
  }

  replaceDataKey(projectId: string, key: DataKeyRecord, replaces: string | undefined): Promise<DataKeyRecord> {
    return this.#step('replaceDataKey', () => {
      const active = this.#active(projectId);
      if (active !== undefined && active.record.id !== replaces) return active.record;
      if (active !== undefined) active.retired = true;
      this.dataKeys.push({ record: key, usesReserved: 0n, retired: false });
      return key;
    });
  }

  /** How many calls wrote or could have written. */
  get writes(): number {
    return this.calls.filter((call) => /^(insert|reserve|replace)/.test(call)).length;
  }

  #active(projectId: string): StoredDataKey | undefined {
    return this.dataKeys.findLast(({ record, retired }) => record.projectId === projectId && !retired);
  }

  async #step<T>(name: string, atomic: () => T): Promise<T> {
    this.calls.push(name);
    await nextTurn();
    const answer = atomic();
    await nextTurn();
    await this.afterCall?.();
    return answer;
  }
}
