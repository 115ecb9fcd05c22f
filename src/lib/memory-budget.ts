/** Who has a share of a budget. Requests without a token belong to their network. */
export type MemoryOwner = `namespace ${string}` | `caller ${string}` | `network ${string}`;

/** What is used up: the memory of all owners together, or the share of the owner. */
export type Shortage = 'all' | 'owner';

export interface MemoryBudgetOptions {
  /** Maximum for all owners together. */
  readonly maxBytes: number;
  /** Maximum for one owner; half of `maxBytes` by default. */
  readonly maxBytesOfOwner?: number;
  /** How many later reservations may start before a large one that waits. Default: 32. */
  readonly maxOvertaken?: number;
}

/** How long a reservation may wait, and the error after that. */
export interface WaitLimit {
  readonly waitMs: number;
  readonly makeError: () => Error;
}

/** What one piece of work holds. It is released when the work ends, however it ends. */
export interface MemoryHolder extends Disposable {
  /** Bytes that it holds. */
  readonly bytes: number;
  /** Holds more bytes if they are free. Returns what is used up otherwise. */
  tryReserve(bytes: number): Shortage | undefined;
  /**
   * Waits until the bytes are free, and holds them. Throws the error of the limit if that takes too long. Work that holds
   * bytes must not wait for more: two of them could wait for each other forever.
   */
  reserve(bytes: number, limit?: WaitLimit): Promise<void>;
  /** Holds more bytes, even if they are not free. */
  force(bytes: number): void;
  /** Gives back some of the bytes; all by default. */
  release(bytes?: number): void;
  /** From now on, the bytes belong to this owner. */
  moveTo(owner: MemoryOwner): void;
}

/** Bytes of an owner. Without one, they count only towards the maximum for all. */
interface Held {
  owner: MemoryOwner | undefined;
  bytes: number;
}

/** A reservation that waits, or a signal. */
interface Waiting extends Readonly<Held> {
  readonly start: () => void;
  /** Number of later reservations that started first. */
  overtaken: number;
}

/**
 * The one class that bounds memory: work reserves bytes before it uses them (docs/internals/limits.md). One owner cannot
 * hold all of it, so that each owner can make progress. A reservation that alone exceeds a limit is admitted if nothing else
 * counts towards that limit. Otherwise it would never start.
 */
export class MemoryBudget {
  readonly #maxBytes: number;
  readonly #maxBytesOfOwner: number;
  readonly #maxOvertaken: number;
  #held = 0;
  readonly #heldByOwner = new Map<MemoryOwner, number>();
  /** Reservations, in the order of arrival. */
  readonly #waiting = new Set<Waiting>();
  /** Signals, in the order of arrival. Nothing waits for them. */
  readonly #signals = new Set<Waiting>();

  constructor({ maxBytes, maxBytesOfOwner = maxBytes / 2, maxOvertaken = 32 }: MemoryBudgetOptions) {
    this.#maxBytes = maxBytes;
    this.#maxBytesOfOwner = maxBytesOfOwner;
    this.#maxOvertaken = maxOvertaken;
  }

  /** Reserved bytes. */
  get held(): number {
    return this.#held;
  }

  /** How many reservations and signals wait. */
  get waiting(): number {
    return this.#waiting.size + this.#signals.size;
  }

  /** Something that can hold bytes, and holds none yet. */
  holder(owner?: MemoryOwner): MemoryHolder {
    const held: Held = { owner, bytes: 0 };
    const release = (bytes: number): void => {
      if (bytes === 0) return;
      this.#hold(held, -bytes);
      this.#admit();
    };
    return {
      get bytes() {
        return held.bytes;
      },
      tryReserve: (bytes) => this.#tryReserve(held, bytes),
      reserve: async (bytes, limit) => {
        if (held.bytes > 0) throw new Error('work that holds memory must not wait for more');
        if (this.#tryReserve(held, bytes) !== undefined) await this.#turn(held, bytes, limit);
      },
      force: (bytes) => this.#hold(held, bytes),
      release: (bytes = held.bytes) => release(Math.min(bytes, held.bytes)),
      moveTo: (next) => {
        const { bytes } = held;
        this.#hold(held, -bytes);
        held.owner = next;
        this.#hold(held, bytes);
      },
      [Symbol.dispose]: () => release(held.bytes),
    };
  }

  /**
   * Calls `ready` once, as soon as the bytes are free for this owner. They are not reserved: others may be faster. Signals of
   * the same moment together name no more than is free. Returns a function that cancels it.
   */
  whenFree(owner: MemoryOwner, bytes: number, ready: () => void): () => void {
    let isCancelled = false;
    const start = (): void => queueMicrotask(() => void (isCancelled || ready()));
    const signal: Waiting = { owner, bytes, start, overtaken: 0 };
    this.#signals.add(signal);
    this.#admit();
    return () => {
      isCancelled = true;
      this.#signals.delete(signal);
    };
  }

  #tryReserve(held: Held, bytes: number): Shortage | undefined {
    const asked = { owner: held.owner, bytes };
    const earlier = [...this.#waiting];
    if (!this.#fitsAll(held, bytes) || !this.#mayPass(asked, earlier)) return 'all';
    if (!this.#fitsOwner(held, bytes)) return 'owner';
    this.#pass(asked, earlier);
    this.#hold(held, bytes);
    return undefined;
  }

  /** Waits until the bytes are held. */
  async #turn(held: Held, bytes: number, limit: WaitLimit | undefined): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = (): void => {
      this.#hold(held, bytes);
      resolve();
    };
    const waiting: Waiting = { owner: held.owner, bytes, start, overtaken: 0 };
    this.#waiting.add(waiting);
    const giveUp = ({ makeError }: WaitLimit): void => {
      if (!this.#waiting.delete(waiting)) return;
      reject(makeError());
      // Others may have waited only behind this one.
      this.#admit();
    };
    const timer = limit === undefined ? undefined : setTimeout(() => giveUp(limit), limit.waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts the reservations that fit, in the order of arrival. What is free then is signalled. */
  #admit(): void {
    const passed: Waiting[] = [];
    const mayStart = (waiting: Waiting): boolean => this.#fits(waiting) && this.#mayPass(waiting, passed);
    for (const waiting of this.#waiting) {
      if (mayStart(waiting)) {
        this.#waiting.delete(waiting);
        this.#pass(waiting, passed);
        waiting.start();
      } else passed.push(waiting);
    }
    // What is free for one signal is not free for the next one.
    const signalled: Held[] = [];
    for (const signal of this.#signals) {
      if (!mayStart(signal)) continue;
      this.#signals.delete(signal);
      const held: Held = { owner: signal.owner, bytes: 0 };
      this.#hold(held, signal.bytes);
      signalled.push(held);
      signal.start();
    }
    for (const held of signalled) this.#hold(held, -held.bytes);
  }

  /** Whether a reservation may start before these, which came earlier. */
  #mayPass(starting: Readonly<Held>, earlier: readonly Waiting[]): boolean {
    return earlier.every((one) => one.overtaken < this.#maxOvertaken || !this.#isHindered(one, starting));
  }

  #pass(starting: Readonly<Held>, earlier: readonly Waiting[]): void {
    for (const one of earlier) if (this.#isHindered(one, starting)) one.overtaken += 1;
  }

  /** Whether bytes of `other` delay a waiting reservation. */
  #isHindered({ owner, bytes }: Waiting, other: Readonly<Held>): boolean {
    return owner === other.owner || this.#fitsOwner({ owner, bytes: 0 }, bytes);
  }

  #fits({ owner, bytes }: Waiting): boolean {
    const held = { owner, bytes: 0 };
    return this.#fitsAll(held, bytes) && this.#fitsOwner(held, bytes);
  }

  #fitsAll({ bytes: own }: Readonly<Held>, more: number): boolean {
    return isWithin(this.#held - own, own + more, this.#maxBytes);
  }

  #fitsOwner({ owner, bytes: own }: Readonly<Held>, more: number): boolean {
    if (owner === undefined) return true;
    return isWithin((this.#heldByOwner.get(owner) ?? 0) - own, own + more, this.#maxBytesOfOwner);
  }

  #hold(held: Held, bytes: number): void {
    held.bytes += bytes;
    this.#held += bytes;
    const { owner } = held;
    if (owner === undefined) return;
    const ofOwner = (this.#heldByOwner.get(owner) ?? 0) + bytes;
    if (ofOwner === 0) this.#heldByOwner.delete(owner);
    else this.#heldByOwner.set(owner, ofOwner);
  }
}

function isWithin(others: number, bytes: number, limit: number): boolean {
  return others === 0 || others + bytes <= limit;
}
