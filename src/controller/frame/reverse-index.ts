/** Keys by one value or more each, to be found by any of them. */
export class ReverseIndex {
  readonly #valuesOf = new Map<string, ReadonlySet<string>>();
  readonly #keysOf = new Map<string, Set<string>>();

  /** Gives a key its value, in place of those before; undefined takes the key out. */
  set(key: string, value: string | undefined): void {
    this.setAll(key, value === undefined ? [] : [value]);
  }

  /** Gives a key its values, in place of those before; none take the key out. */
  setAll(key: string, values: readonly string[]): void {
    const before: ReadonlySet<string> = this.#valuesOf.get(key) ?? new Set();
    const after: ReadonlySet<string> = new Set(values);
    for (const value of before) if (!after.has(value)) this.#remove(key, value);
    for (const value of after) if (!before.has(value)) this.#add(key, value);
    if (after.size === 0) this.#valuesOf.delete(key);
    else this.#valuesOf.set(key, after);
  }

  /** Whether a key has a value. */
  has(key: string, value: string): boolean {
    return this.#valuesOf.get(key)?.has(value) === true;
  }

  /** Whether a key has any value. */
  hasAny(key: string): boolean {
    return this.#valuesOf.has(key);
  }

  /** The keys that have a value. */
  keysOf(value: string): readonly string[] {
    return [...(this.#keysOf.get(value) ?? [])];
  }

  #add(key: string, value: string): void {
    const keys = this.#keysOf.get(value) ?? new Set<string>();
    this.#keysOf.set(value, keys.add(key));
  }

  #remove(key: string, value: string): void {
    const keys = this.#keysOf.get(value);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysOf.delete(value);
  }
}
