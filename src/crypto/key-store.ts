import type { WrappedKey } from './root-keys.ts';

/** The stored data key of a project. Immutable, except for its count of uses and its retirement. */
export interface DataKeyRecord extends WrappedKey {
  readonly id: string;
  readonly projectId: string;
}

/** The store of the keyring. */
export interface KeyStore {
  findInstanceKey(name: string): Promise<WrappedKey | undefined>;
  /** Inserts the key unless it exists, and returns the stored key. Two replicas that start together get the same key. */
  insertInstanceKey(name: string, key: WrappedKey): Promise<WrappedKey>;
  hasDataKeys(): Promise<boolean>;
  /** The newest data key of a project that is not retired. */
  findActiveDataKey(projectId: string): Promise<DataKeyRecord | undefined>;
  /** The existing keys with these ids, retired or not, in any order. */
  findDataKeys(ids: readonly string[]): Promise<DataKeyRecord[]>;
  /** Adds `count` to the reserved uses of a key and returns the new total; undefined if it is retired or missing. */
  reserveUses(id: string, count: number): Promise<bigint | undefined>;
  /**
   * Under a lock on the project: retires `replaces` (if any) and inserts the new key, unless another replica already
   * did. Returns the active key.
   */
  replaceDataKey(projectId: string, key: DataKeyRecord, replaces: string | undefined): Promise<DataKeyRecord>;
}
