import type { KeyObject } from 'node:crypto';

/** A data key ready for use. */
export interface DataKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Uses of one data key that this process has reserved in the store and not used yet. */
export class Allotment {
  #key: DataKey | undefined;
  #uses = 0;
  #turn: Promise<unknown> = Promise.resolve();

  get key(): DataKey | undefined {
    return this.#key;
  }

  /** Takes `count` uses, or none if fewer are left. No use is taken twice. */
  take(count: number): DataKey | undefined {
    if (this.#uses < count) return undefined;
    this.#uses -= count;
    return this.#key;
  }

  /** Adds reserved uses. Drops the remaining uses of another key. */
  add(key: DataKey, uses: number): void {
    this.#uses = key.id === this.#key?.id ? this.#uses + uses : uses;
    this.#key = key;
  }

  /** Runs `work` after all earlier calls, so that concurrent callers reserve one block together. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
