import { parseObjectKey } from '../../kube/client/objects.ts';

/**
 * Waiting keys (`namespace/name`), in round robin by namespace: a namespace with many keys delays the keys of other
 * namespaces by at most one turn. Within a namespace, the keys keep the order in which they were added.
 */
export class NamespaceTurns {
  /** The keys of each namespace, in the order of the turns. Each namespace has at least one key. */
  readonly #waiting = new Map<string, Set<string>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(key: string): boolean {
    return this.#waiting.get(parseObjectKey(key).namespace)?.has(key) === true;
  }

  /** Adds a key behind the others of its namespace, unless it waits already. */
  add(key: string): void {
    const { namespace } = parseObjectKey(key);
    const keys = this.#waiting.get(namespace) ?? new Set<string>();
    this.#waiting.set(namespace, keys);
    if (keys.has(key)) return;
    keys.add(key);
    this.#size += 1;
  }

  delete(key: string): void {
    const { namespace } = parseObjectKey(key);
    const keys = this.#waiting.get(namespace);
    if (keys?.delete(key) !== true) return;
    this.#size -= 1;
    if (keys.size === 0) this.#waiting.delete(namespace);
  }

  clear(): void {
    this.#waiting.clear();
    this.#size = 0;
  }

  /**
   * Removes and returns the key whose turn it is, among the namespaces that `mayStart` allows. Returns undefined if no
   * such key waits.
   */
  take(mayStart: (namespace: string) => boolean): string | undefined {
    for (const [namespace, keys] of this.#waiting) {
      if (!mayStart(namespace)) continue;
      const [key] = keys;
      if (key === undefined) continue;
      this.#waiting.delete(namespace);
      keys.delete(key);
      this.#size -= 1;
      // The next turn of this namespace comes after those of all others.
      if (keys.size > 0) this.#waiting.set(namespace, keys);
      return key;
    }
    return undefined;
  }
}
