/** A map of at most `capacity` entries: a new one beyond that puts out the one that was not asked for the longest. */
export class LruCache<Key, Value extends object> {
  readonly #capacity: number;
  // A Map keeps the order of insertion: what is asked for is inserted anew, so the first is the least recently used.
  readonly #entries = new Map<Key, Value>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, value);
    }
    return value;
  }

  set(key: Key, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#capacity) return;
    const oldest = this.#entries.keys().next();
    if (!oldest.done) this.#entries.delete(oldest.value);
  }
}
