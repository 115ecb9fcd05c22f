import type { KeyObject } from 'node:crypto';

/** A data key ready for use. */
export interface DataKey {
  readonly id: string;
  readonly key: KeyObject;
}

/** Uses of one data key that this process has reserved in the store and not yet given out. */
export class Allotment {
  #key: DataKey | undefined;
  #uses = 0;
  #turn: Promise<unknown> = Promise.resolve();

  get key(): DataKey | undefined {
    return this.#key;
  }

  /** Gives out `count` uses at once, or none: no use is ever given out twice. */
  take(count: number): DataKey | undefined {
    if (this.#uses < count) return undefined;
    this.#uses -= count;
    return this.#key;
  }

  /** Adds reserved uses; those left of another key are dropped. */
  add(key: DataKey, uses: number): void {
    this.#uses = key.id === this.#key?.id ? this.#uses + uses : uses;
    this.#key = key;
  }

  /** Runs `work` after all that came before it, so that a crowd reserves one block and not one each. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(work);
    this.#turn = result.catch(() => undefined);
    return result;
  }
}
