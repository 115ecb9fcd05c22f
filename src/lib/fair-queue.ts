/**
 * What waits, in round robin by owner: an owner with much delays what another adds by at most one turn. What one owner adds
 * keeps its order.
 */
export class FairQueue<Owner, T> {
  /** In the order of the turns. Each owner has at least one. */
  readonly #waiting = new Map<Owner, T[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** How many of this owner wait. */
  sizeOf(owner: Owner): number {
    return this.#waiting.get(owner)?.length ?? 0;
  }

  add(owner: Owner, item: T): void {
    const own = this.#waiting.get(owner) ?? [];
    own.push(item);
    this.#waiting.set(owner, own);
    this.#size += 1;
  }

  /** Removes what no longer waits. */
  remove(owner: Owner, item: T): void {
    const own = this.#waiting.get(owner) ?? [];
    const index = own.indexOf(item);
    if (index === -1) return;
    own.splice(index, 1);
    this.#size -= 1;
    if (own.length === 0) this.#waiting.delete(owner);
  }

  /** Removes and returns the next ones, at most `max`. */
  take(max: number): T[] {
    const taken: T[] = [];
    // A Map also visits what is added behind the present entry.
    for (const [owner, own] of this.#waiting) {
      if (taken.length === max) break;
      taken.push(...own.splice(0, 1));
      this.#waiting.delete(owner);
      // The next turn of this owner comes after those of all others.
      if (own.length > 0) this.#waiting.set(owner, own);
    }
    this.#size -= taken.length;
    return taken;
  }
}
