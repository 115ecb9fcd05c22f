import type { IncomingMessage } from 'node:http';
import type { KubeHttp, KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { linesOf } from '../support/cluster/stream-lines.ts';

interface Waiter<T> {
  /** The keys that have not met the condition yet. */
  readonly missing: Set<string>;
  readonly isMet: (object: T) => boolean;
  readonly resolve: (receivedAtMs: number) => void;
}

/** Follows all objects of some collections, and reports when many of them are as wanted. */
export class ObjectWatch<T extends KubeObject> {
  /** The objects as they are, by `namespace/name`. */
  readonly objects = new Map<string, T>();
  readonly #client: KubeHttp;
  readonly #stop = new AbortController();
  readonly #waiters = new Set<Waiter<T>>();
  readonly #failure = Promise.withResolvers<never>();

  private constructor(client: KubeHttp) {
    this.#client = client;
    this.#failure.promise.catch(() => undefined);
  }

  /** Begins to follow; every change after it has resolved will be seen. It goes with `resources`. */
  static async open<T extends KubeObject>(
    resources: AsyncDisposableStack,
    client: KubeHttp,
    paths: readonly string[],
  ): Promise<ObjectWatch<T>> {
    const watch = new ObjectWatch<T>(client);
    resources.defer(() => watch.#stop.abort());
    await Promise.all(paths.map((path) => watch.#begin(path)));
    return watch;
  }

  /**
   * Resolves when all these objects have met a condition, each at some moment: with the time at which the last one did, in
   * milliseconds since the epoch. Rejects after ten minutes.
   */
  async all(what: string, keys: Iterable<string>, isMet: (object: T) => boolean): Promise<number> {
    const missing = new Set(keys);
    for (const key of missing) {
      const object = this.objects.get(key);
      if (object !== undefined && isMet(object)) missing.delete(key);
    }
    if (missing.size === 0) return now();
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const waiter = { missing, isMet, resolve };
    this.#waiters.add(waiter);
    const late = (): void => reject(new Error(`${missing.size} objects still wait to ${what}: ${[...missing][0]}, …`));
    const timer = setTimeout(late, 600_000);
    try {
      return await Promise.race([promise, this.#failure.promise]);
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  async #begin(path: string): Promise<void> {
    const list = await this.#client.json<{ metadata: { resourceVersion: string }; items: T[] }>({ path });
    for (const object of list.items) this.#take(object);
    const stream = await this.#watch(path, list.metadata.resourceVersion);
    void this.#follow(path, list.metadata.resourceVersion, stream).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) this.#failure.reject(new Error(`the watch of ${path} failed`, { cause: error }));
    });
  }

  async #watch(path: string, resourceVersion: string): Promise<IncomingMessage> {
    const query = new URLSearchParams({ watch: 'true', allowWatchBookmarks: 'true', resourceVersion });
    return await this.#client.stream(`${path}?${query.toString()}`, this.#stop.signal);
  }

  /** The API server ends a watch after some minutes: another one goes on from the last version. */
  async #follow(path: string, from: string, first: IncomingMessage): Promise<void> {
    let resourceVersion = from;
    for (let stream = first; ; stream = await this.#watch(path, resourceVersion)) {
      for await (const line of linesOf(stream)) resourceVersion = this.#read(line);
    }
  }

  /** Takes one event and returns the version after it. */
  #read(line: string): string {
    const { type, object } = JSON.parse(line) as { type: string; object: T };
    if (type === 'ERROR') throw new Error(line);
    if (type === 'DELETED') this.objects.delete(keyOf(object));
    else if (type !== 'BOOKMARK') this.#take(object);
    return object.metadata.resourceVersion;
  }

  #take(object: T): void {
    const key = keyOf(object);
    this.objects.set(key, object);
    for (const { missing, isMet, resolve } of this.#waiters) {
      if (!missing.has(key) || !isMet(object)) continue;
      missing.delete(key);
      if (missing.size === 0) resolve(now());
    }
  }
}

function keyOf({ metadata: { namespace = '', name } }: KubeObject): string {
  return `${namespace}/${name}`;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
