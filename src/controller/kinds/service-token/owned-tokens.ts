/** Which ServiceTokens an object controls, by the object's uid, as the watch shows them. */
export class OwnedTokens {
  readonly #ownerOf = new Map<string, string>();
  readonly #keysOf = new Map<string, Set<string>>();

  /** Sets or removes the owner of a ServiceToken (`namespace/name`). Returns the owners that have other tokens now, or may. */
  set(key: string, owner: string | undefined): readonly string[] {
    const before = this.#ownerOf.get(key);
    if (before !== undefined && before !== owner) this.#remove(key, before);
    if (owner !== undefined) {
      this.#ownerOf.set(key, owner);
      this.#keysOf.set(owner, (this.#keysOf.get(owner) ?? new Set<string>()).add(key));
    }
    return [...new Set([before, owner])].filter((uid) => uid !== undefined);
  }

  /** The keys of the ServiceTokens that an object controls, in order. */
  keysOf(owner: string): readonly string[] {
    return [...(this.#keysOf.get(owner) ?? [])].toSorted((a, b) => (a < b ? -1 : 1));
  }

  #remove(key: string, owner: string): void {
    this.#ownerOf.delete(key);
    const keys = this.#keysOf.get(owner);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysOf.delete(owner);
  }
}
