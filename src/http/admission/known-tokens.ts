import { LRUCache } from 'lru-cache';

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
  /** The owner by digest. */
  readonly #owners: LRUCache<string, string>;
  /** The digests by owner, the least recently used first. */
  readonly #digests = new Map<string, Set<string>>();

  constructor(options: KnownTokensOptions) {
    this.#options = options;
    this.#owners = new LRUCache({
      max: options.maxTokens,
      dispose: (owner, digest) => this.#forgetOf(owner, digest),
    });
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
    this.#owners.delete(digest);
    const [oldest] = this.#digests.get(owner) ?? [];
    const isFull = (this.#digests.get(owner)?.size ?? 0) >= this.#options.maxTokensPerOwner;
    if (isFull && oldest !== undefined) this.#owners.delete(oldest);
    this.#owners.set(digest, owner);
    const ofOwner = this.#digests.get(owner) ?? new Set();
    this.#digests.set(owner, ofOwner.add(digest));
  }

  delete(digest: string): void {
    this.#owners.delete(digest);
  }

  #forgetOf(owner: string, digest: string): void {
    const ofOwner = this.#digests.get(owner);
    ofOwner?.delete(digest);
    if (ofOwner?.size === 0) this.#digests.delete(owner);
  }
}
