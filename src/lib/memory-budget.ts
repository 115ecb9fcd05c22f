export interface MemoryBudgetOptions {
  /** Maximum for all owners together. */
  readonly maxBytes: number;
  /** Maximum for one owner; half of `maxBytes` by default. */
  readonly maxBytesOfOwner?: number;
  /** How long a reservation may wait, and the error after that; without it, for as long as it takes. */
  readonly wait?: { readonly waitMs: number; readonly makeError: () => Error };
}

interface Reservation {
  readonly owner: string;
  readonly bytes: number;
}

interface Waiting extends Reservation {
  readonly start: () => void;
  /** Number of later reservations that started first. */
  overtaken: number;
}

// Small reservations may overtake a large one, but only this many, so that the large one starts eventually.
const maxOvertaken = 32;

/**
 * A memory budget: work reserves bytes before it uses them. One owner cannot hold all of it, so that each owner can make
 * progress. A reservation that alone exceeds a limit is admitted if nothing else counts towards that limit. Otherwise it
 * would never start.
 */
export class MemoryBudget {
  readonly #maxBytes: number;
  readonly #maxBytesOfOwner: number;
  readonly #wait: MemoryBudgetOptions['wait'];
  #held = 0;
  readonly #heldByOwner = new Map<string, number>();
  /** In the order of arrival. */
  readonly #waiting = new Set<Waiting>();

  constructor({ maxBytes, maxBytesOfOwner = maxBytes / 2, wait }: MemoryBudgetOptions) {
    this.#maxBytes = maxBytes;
    this.#maxBytesOfOwner = maxBytesOfOwner;
    this.#wait = wait;
  }

  /** Reserved bytes. */
  get held(): number {
    return this.#held;
  }

  /** How many reservations wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * Runs `work` once the bytes are free, and releases them when it ends. Returns or throws what `work` does. Throws the error
   * of `wait` if that takes too long.
   */
  async run<T>(owner: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const reservation = { owner, bytes };
    // A reservation that fits starts at once, unless others wait.
    if (this.#waiting.size === 0 && this.#fits(reservation)) this.#count(owner, bytes);
    else await this.#turn(reservation);
    try {
      return await work();
    } finally {
      this.#count(owner, -bytes);
      this.#admit();
    }
  }

  /** Waits until the bytes of this reservation are counted. */
  async #turn({ owner, bytes }: Reservation): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { owner, bytes, start: resolve, overtaken: 0 };
    this.#waiting.add(waiting);
    this.#admit();
    const { waitMs = 0, makeError } = this.#wait ?? {};
    const giveUp = (error: Error): void => {
      if (!this.#waiting.delete(waiting)) return;
      reject(error);
      // Others may have waited only behind this one.
      this.#admit();
    };
    const timer = makeError === undefined ? undefined : setTimeout(() => giveUp(makeError()), waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Starts the reservations that fit, in the order of arrival. */
  #admit(): void {
    const passed: Waiting[] = [];
    for (const waiting of this.#waiting) {
      if (this.#fits(waiting) && passed.every((earlier) => this.#mayPass(waiting, earlier)))
        this.#start(waiting, passed);
      else passed.push(waiting);
    }
  }

  #start(waiting: Waiting, passed: readonly Waiting[]): void {
    this.#waiting.delete(waiting);
    for (const earlier of passed) if (this.#isHindered(earlier, waiting)) earlier.overtaken += 1;
    this.#count(waiting.owner, waiting.bytes);
    waiting.start();
  }

  /** Whether a reservation may start before an earlier one. */
  #mayPass(waiting: Waiting, earlier: Waiting): boolean {
    return earlier.overtaken < maxOvertaken || !this.#isHindered(earlier, waiting);
  }

  /** Whether bytes of `other` delay a waiting reservation. */
  #isHindered(waiting: Waiting, other: Waiting): boolean {
    return waiting.owner === other.owner || this.#fitsOwner(waiting);
  }

  #fits(reservation: Reservation): boolean {
    return isWithin(this.#held, reservation.bytes, this.#maxBytes) && this.#fitsOwner(reservation);
  }

  #fitsOwner({ owner, bytes }: Reservation): boolean {
    return isWithin(this.#heldByOwner.get(owner) ?? 0, bytes, this.#maxBytesOfOwner);
  }

  #count(owner: string, bytes: number): void {
    this.#held += bytes;
    const held = (this.#heldByOwner.get(owner) ?? 0) + bytes;
    if (held === 0) this.#heldByOwner.delete(owner);
    else this.#heldByOwner.set(owner, held);
  }
}

function isWithin(held: number, bytes: number, limit: number): boolean {
  return held === 0 || held + bytes <= limit;
}
