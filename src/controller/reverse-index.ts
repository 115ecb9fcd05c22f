/** Keys by one value each, to be found by the value. */
export class ReverseIndex {
  readonly #valueOf = new Map<string, string>();
  readonly #keysOf = new Map<string, Set<string>>();

  /** Gives a key its value, in place of the one before; undefined takes the key out. */
  set(key: string, value: string | undefined): void {
    const before = this.#valueOf.get(key);
    if (before === value) return;
    if (before !== undefined) this.#remove(key, before);
    if (value === undefined) return;
    this.#valueOf.set(key, value);
    const keys = this.#keysOf.get(value) ?? new Set<string>();
    this.#keysOf.set(value, keys.add(key));
  }

  get(key: string): string | undefined {
    return this.#valueOf.get(key);
  }

  /** The keys that have a value. */
  keysOf(value: string): readonly string[] {
    return [...(this.#keysOf.get(value) ?? [])];
  }

  #remove(key: string, value: string): void {
    this.#valueOf.delete(key);
    const keys = this.#keysOf.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysOf.delete(value);
  }
}
