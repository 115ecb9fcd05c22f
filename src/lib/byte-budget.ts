export interface ByteBudgetOptions {
  /** What all owners may hold together. */
  readonly maxBytes: number;
  /** What one owner may hold; default half of `maxBytes`. */
  readonly maxBytesOfOwner?: number;
}

interface Reservation {
  readonly owner: string;
  readonly bytes: number;
}

interface Waiting extends Reservation {
  readonly start: () => void;
  /** How many that came later were given bytes first. */
  overtaken: number;
}

// Those that ask for little need not wait behind one that asks for much, but it waits no longer than for so many.
const maxOvertaken = 32;

/**
 * A budget of memory: work reserves bytes before it takes them. No owner can hold all of it, so each owner finds some
 * free, whatever the others do. A reservation that exceeds a limit on its own is admitted while nothing else is held
 * that the limit counts; it would otherwise never be.
 */
export class ByteBudget {
  readonly #maxBytes: number;
  readonly #maxBytesOfOwner: number;
  #held = 0;
  readonly #heldByOwner = new Map<string, number>();
  /** In the order in which they came. */
  readonly #waiting = new Set<Waiting>();

  constructor({ maxBytes, maxBytesOfOwner = maxBytes / 2 }: ByteBudgetOptions) {
    this.#maxBytes = maxBytes;
    this.#maxBytesOfOwner = maxBytesOfOwner;
  }

  /** Bytes that are held. */
  get held(): number {
    return this.#held;
  }

  /** How many reservations wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Runs `work` once the bytes are free, and releases them when it ends. Returns what it returns and throws what it throws. */
  async run<T>(owner: string, bytes: number, work: () => Promise<T>): Promise<T> {
    const reservation = { owner, bytes };
    // What fits begins without a pause, unless it would overtake.
    if (this.#waiting.size === 0 && this.#fits(reservation)) this.#count(owner, bytes);
    else await this.#turn(reservation);
    try {
      return await work();
    } finally {
      this.#count(owner, -bytes);
      this.#admit();
    }
  }

  /** Waits until the bytes are counted for this reservation. */
  async #turn({ owner, bytes }: Reservation): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add({ owner, bytes, start: resolve, overtaken: 0 });
    this.#admit();
    await promise;
  }

  /** Starts what fits, in the order of arrival. */
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

  /** Whether one may start before another one that came earlier. */
  #mayPass(waiting: Waiting, earlier: Waiting): boolean {
    return earlier.overtaken < maxOvertaken || !this.#isHindered(earlier, waiting);
  }

  /** Whether bytes that `other` holds are bytes that a waiting reservation lacks. */
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
