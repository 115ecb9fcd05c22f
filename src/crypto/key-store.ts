import type { WrappedKey } from './root-keys.ts';

/** A project's data key as it is stored. Immutable but for its count of uses and its retirement. */
export interface DataKeyRecord extends WrappedKey {
  readonly id: string;
  readonly projectId: string;
}

/** What the keyring needs of the store. */
export interface KeyStore {
  findInstanceKey(name: string): Promise<WrappedKey | undefined>;
  /** Inserts unless present; answers the row that is there afterwards (two replicas starting at once agree). */
  insertInstanceKey(name: string, key: WrappedKey): Promise<WrappedKey>;
  hasDataKeys(): Promise<boolean>;
  /** The newest data key of a project that is not retired. */
  findActiveDataKey(projectId: string): Promise<DataKeyRecord | undefined>;
  /** Those of the ids that exist, retired or not, in any order. */
  findDataKeys(ids: readonly string[]): Promise<DataKeyRecord[]>;
  /** Adds `count` to the reserved uses of an unretired key and answers the new total; undefined if it is retired or gone. */
  reserveUses(id: string, count: number): Promise<bigint | undefined>;
  /**
   * Under a lock on the project: retires `replaces` (if any) and inserts the new key, unless another replica already
   * did; answers the active one.
   */
  replaceDataKey(projectId: string, key: DataKeyRecord, replaces: string | undefined): Promise<DataKeyRecord>;
}
