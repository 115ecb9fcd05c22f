import { Expectations } from '../../frame/expectations.ts';
import type { SyncMemory } from './model.ts';

/** The memories of all SecretSyncs, by `namespace/name`. */
export class SyncMemories {
  readonly #memories = new Map<string, SyncMemory>();

  /** The memory of a SecretSync; created if there is none. */
  ensure(key: string): SyncMemory {
    const known = this.#memories.get(key);
    if (known !== undefined) return known;
    const fresh: SyncMemory = {
      target: new Expectations(),
      verified: undefined,
      expected: undefined,
      needed: undefined,
      deferrals: 0,
      isTooLarge: false,
      rolledBack: undefined,
      unsettledSince: undefined,
      isTargetFollowed: false,
    };
    this.#memories.set(key, fresh);
    return fresh;
  }

  entries(): Iterable<readonly [string, SyncMemory]> {
    return this.#memories;
  }

  drop(key: string): void {
    this.#memories.delete(key);
  }
}
