import { ReverseIndex } from './reverse-index.ts';

/**
 * Which keys depend on which thing in the database, so that a commit that names the thing wakes them. A key that looks for
 * its thing at this moment depends on anything: what is committed during its look may be what it looks for.
 */
export class FollowedIds {
  readonly #ids = new ReverseIndex();
  readonly #looking = new Set<string>();

  /** Runs a key's look for its thing; call `set` before it ends. Throws what the look throws. */
  async look<T>(key: string, look: () => Promise<T>): Promise<T> {
    // What is followed already is found by its id.
    if (!this.#ids.hasAny(key)) this.#looking.add(key);
    try {
      return await look();
    } finally {
      this.#looking.delete(key);
    }
  }

  /** Has a key follow a thing instead of the one before; undefined: none. */
  set(key: string, id: string | undefined): void {
    this.#ids.set(key, id);
  }

  /** The keys that a commit about a thing may concern. */
  keysOf(id: string): Iterable<string> {
    return new Set([...this.#ids.keysOf(id), ...this.#looking]);
  }
}
