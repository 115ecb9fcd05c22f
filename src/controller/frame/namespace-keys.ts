import { parseObjectKey } from '../../kube/client/objects.ts';

/** Keys (`namespace/name`), indexed by namespace. */
export class NamespaceKeys {
  /** Each namespace has at least one key. */
  readonly #keys = new Map<string, Set<string>>();

  add(key: string): void {
    const { namespace } = parseObjectKey(key);
    const keys = this.#keys.get(namespace);
    if (keys === undefined) this.#keys.set(namespace, new Set([key]));
    else keys.add(key);
  }

  delete(key: string): void {
    const { namespace } = parseObjectKey(key);
    const keys = this.#keys.get(namespace);
    keys?.delete(key);
    if (keys?.size === 0) this.#keys.delete(namespace);
  }

  in(namespace: string): Iterable<string> {
    return this.#keys.get(namespace) ?? [];
  }
}
