export interface KnownTokensOptions {
  /** Tokens in all. */
  readonly maxTokens: number;
  /** Tokens of one owner. */
  readonly maxTokensPerOwner: number;
}

/**
 * Remembers a bounded number of tokens by their digests. The least recently used one is forgotten first. One owner
 * displaces the tokens of that owner before those of others.
 */
export class KnownTokens {
  readonly #options: KnownTokensOptions;
  /** Digest → owner. A Map keeps the order of insertion, so the least recently used token is the first. */
  readonly #owners = new Map<string, string>();
  readonly #digests = new Map<string, Set<string>>();

  constructor(options: KnownTokensOptions) {
    this.#options = options;
  }

  /** How many tokens are remembered. */
  get size(): number {
    return this.#owners.size;
  }

  has(digest: string): boolean {
    return this.#owners.has(digest);
  }

  /** Remembers a token, or marks it as just used. */
  add(digest: string, owner: string): void {
    this.delete(digest);
    const ofOwner = this.#digests.get(owner) ?? new Set();
    this.#owners.set(digest, owner);
    this.#digests.set(owner, ofOwner.add(digest));
    const { maxTokens, maxTokensPerOwner } = this.#options;
    const [oldestOfOwner = digest] = ofOwner;
    const [oldest = digest] = this.#owners.keys();
    if (ofOwner.size > maxTokensPerOwner) this.delete(oldestOfOwner);
    else if (this.#owners.size > maxTokens) this.delete(oldest);
  }

  delete(digest: string): void {
    const owner = this.#owners.get(digest);
    if (owner === undefined) return;
    this.#owners.delete(digest);
    const ofOwner = this.#digests.get(owner);
    ofOwner?.delete(digest);
    if (ofOwner?.size === 0) this.#digests.delete(owner);
  }
}
