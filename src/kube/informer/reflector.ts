import type { Clock } from '../../lib/clock.ts';
import { type Logger, errorFields } from '../../observability/logger.ts';
import { type KubeClient, metadataOnly, metadataOnlyList } from '../client/client.ts';
import { Liveness, pause } from '../client/liveness.ts';
import { type KubeObject, objectKey, stripped } from '../client/objects.ts';
import { type RetryLimits, RetryPace } from './retry-pace.ts';
import { type FailureKind, SilenceError, WatchEndedError, failureKind } from './watch-failure.ts';
import { type WatchEvent, watchEvents } from './watch-stream.ts';

/** The collection that a reflector reads. */
export interface ReflectorSource {
  /** The path of the collection, such as `/api/v1/secrets`. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Whether only metadata is requested. */
  readonly metadataOnly?: boolean;
}

/** Called with each change, in order. A deletion followed by a creation always causes both calls. */
export interface ReflectorHandler<T extends KubeObject> {
  /** A new object, or a new version of one. */
  onUpsert(object: T): void;
  /** An object that was deleted or no longer matches the selector, in its last seen version. */
  onDelete(object: T): void;
  /**
   * A list is complete, and the handler has all its objects. An object that was created and deleted between two watches causes
   * no other call.
   */
  onListed?(): void;
}

export interface ReflectorLimits extends RetryLimits {
  readonly pageSize: number;
  /** The requested duration of a watch. Up to twice as long, so that watches do not all end at the same time. */
  readonly watchSeconds: number;
  /** A watch without data for this long is started again. The API server sends a bookmark every minute or two. */
  readonly silenceMs: number;
}

export interface ReflectorDeps<T extends KubeObject> {
  readonly client: Pick<KubeClient, 'request' | 'watch'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly source: ReflectorSource;
  readonly handler: ReflectorHandler<T>;
  readonly limits?: Partial<ReflectorLimits>;
  /** Called with the kind of failure of each list and watch that failed. */
  readonly onFailure?: (kind: FailureKind) => void;
  /** Called when a list or watch succeeds after a failure other than silence or an expired version. */
  readonly onRecovered?: () => void;
  /** Returns the part of an object to keep in memory. Default: everything that is neither large nor secret. */
  readonly keep?: (object: T) => T;
  readonly random?: () => number;
}

const defaultLimits: ReflectorLimits = {
  pageSize: 500,
  watchSeconds: 300,
  silenceMs: 180_000,
  backoffInitialMs: 500,
  backoffMaxMs: 30_000,
  missingRetryMaxMs: 5_000,
};

// A watch that ends earlier without an event counts as a failure. Otherwise there would be no pause between watches that the
// server ends at once.
const minWatchMs = 1000;

interface ListPage<T> {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  /** Absent in an empty metadata-only list. */
  readonly items?: readonly T[] | null;
}

/**
 * Keeps a copy of one collection: a paged list and then a watch, repeated until it is stopped. It survives expired versions
 * (410), throttling (429), server errors, resets, silence and a missing resource, and keeps its copy meanwhile. Only a
 * successful list or watch removes objects.
 */
export class Reflector<T extends KubeObject> {
  readonly #deps: ReflectorDeps<T>;
  readonly #limits: ReflectorLimits;
  readonly #random: () => number;
  readonly #keep: (object: T) => T;
  readonly #pace: RetryPace;
  readonly #objects = new Map<string, T>();
  readonly #stopping = new AbortController();
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;
  /** The version from which the next watch starts; undefined if a list must come first. */
  #resourceVersion: string | undefined;
  #error: unknown;
  #running: Promise<void> | undefined;

  constructor(deps: ReflectorDeps<T>) {
    this.#deps = deps;
    this.#limits = { ...defaultLimits, ...deps.limits };
    this.#random = deps.random ?? Math.random;
    this.#keep = deps.keep ?? stripped;
    this.#pace = new RetryPace({ limits: this.#limits, random: this.#random });
  }

  /** Resolves when the first list is complete and the handler has its objects. Stays pending after an earlier `stop`. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#isSynced;
  }

  /** Why the last list or watch failed; undefined since the next success. */
  get error(): unknown {
    return this.#error;
  }

  get(key: string): T | undefined {
    return this.#objects.get(key);
  }

  keys(): IterableIterator<string> {
    return this.#objects.keys();
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Ends the watch. The handler is not called after this resolves. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { clock } = this.#deps;
    while (!this.#stopping.signal.aborted) {
      let delayMs = 0;
      try {
        if (this.#resourceVersion === undefined) await this.#list();
        await this.#watch(this.#resourceVersion ?? '');
      } catch (error) {
        if (this.#stopping.signal.aborted) return;
        delayMs = this.#afterFailure(error);
      }
      if (delayMs > 0) await pause(clock, delayMs, this.#stopping.signal);
    }
  }

  async #list(): Promise<void> {
    const found = new Map<string, T>();
    let page = await this.#listPage({ limit: String(this.#limits.pageSize) });
    const { resourceVersion } = page.metadata;
    for (;;) {
      for (const object of page.items ?? []) found.set(objectKey(object.metadata), this.#keep(object));
      const next = page.metadata.continue ?? '';
      if (next === '') break;
      page = await this.#listPage({ limit: String(this.#limits.pageSize), continue: next });
    }
    this.#replaceAll(found);
    this.#resourceVersion = resourceVersion;
    // Before the call of the handler, which may read it.
    this.#isSynced = true;
    this.#contain({}, () => this.#deps.handler.onListed?.());
    this.#recovered();
    this.#synced.resolve();
  }

  async #listPage(query: Record<string, string>): Promise<ListPage<T>> {
    const { client, source } = this.#deps;
    return await client.request<ListPage<T>>({
      method: 'GET',
      path: source.path,
      query: { ...this.#selectors(), ...query },
      ...(source.metadataOnly === true ? { accept: metadataOnlyList } : {}),
      signal: this.#stopping.signal,
    });
  }

  /** Reads one watch to its end. Throws any other reason for its end. */
  async #watch(resourceVersion: string): Promise<void> {
    const { client, clock, source } = this.#deps;
    const liveness = new Liveness(clock, this.#limits.silenceMs);
    let beganAt = Infinity;
    try {
      const body = await client.watch({
        path: source.path,
        query: { ...this.#selectors(), ...this.#watchQuery(resourceVersion) },
        ...(source.metadataOnly === true ? { accept: metadataOnly } : {}),
        signal: AbortSignal.any([this.#stopping.signal, liveness.signal]),
      });
      beganAt = clock.now();
      this.#recovered();
      for await (const event of watchEvents<T>(body)) {
        liveness.renew();
        this.#take(event);
      }
      const wasUseful = this.#resourceVersion !== resourceVersion || clock.now() - beganAt >= minWatchMs;
      if (!wasUseful) throw new Error('the watch ended at once');
      this.#pace.progressed();
    } catch (error) {
      // After a watch that lasted, even in silence, the count of failures in a row starts again.
      if (clock.now() - beganAt >= minWatchMs) this.#pace.progressed();
      throw liveness.signal.aborted ? new SilenceError('the watch fell silent') : error;
    } finally {
      liveness.end();
    }
  }

  #watchQuery(resourceVersion: string): Record<string, string> {
    return {
      watch: 'true',
      allowWatchBookmarks: 'true',
      resourceVersion,
      timeoutSeconds: String(Math.ceil(this.#limits.watchSeconds * (1 + this.#random()))),
    };
  }

  #selectors(): Record<string, string> {
    const { labelSelector, fieldSelector } = this.#deps.source;
    return {
      ...(labelSelector === undefined ? {} : { labelSelector }),
      ...(fieldSelector === undefined ? {} : { fieldSelector }),
    };
  }

  #take(event: WatchEvent<T>): void {
    // Earlier events can still be in a buffer.
    if (this.#stopping.signal.aborted) return;
    if (event.type === 'ERROR') throw new WatchEndedError(event.status);
    this.#pace.progressed();
    this.#resourceVersion = event.object.metadata.resourceVersion;
    if (event.type === 'BOOKMARK') return;
    const object = this.#keep(event.object);
    const key = objectKey(object.metadata);
    if (event.type !== 'DELETED') return this.#upsert(key, object);
    this.#objects.delete(key);
    this.#notify('onDelete', object);
  }

  #replaceAll(found: ReadonlyMap<string, T>): void {
    for (const [key, object] of this.#objects) {
      if (found.has(key)) continue;
      this.#objects.delete(key);
      this.#notify('onDelete', object);
    }
    for (const [key, object] of found) {
      if (this.#objects.get(key)?.metadata.resourceVersion !== object.metadata.resourceVersion)
        this.#upsert(key, object);
    }
  }

  #upsert(key: string, object: T): void {
    const before = this.#objects.get(key);
    // Deleted and created again between two watches: the same name, but another object.
    if (before !== undefined && before.metadata.uid !== object.metadata.uid) {
      this.#objects.delete(key);
      this.#notify('onDelete', before);
    }
    this.#objects.set(key, object);
    this.#notify('onUpsert', object);
  }

  /** Calls the handler. If it throws, the reflector continues. */
  #notify(what: 'onUpsert' | 'onDelete', object: T): void {
    const { namespace, name } = object.metadata;
    this.#contain({ namespace, name }, () => this.#deps.handler[what](object));
  }

  #contain(about: Readonly<Record<string, string | undefined>>, call: () => void): void {
    try {
      call();
    } catch (error) {
      this.#deps.logger.error({ ...about, ...errorFields(error) }, 'a handler of watch events failed');
    }
  }

  #recovered(): void {
    if (this.#error === undefined) return;
    const kind = failureKind(this.#error);
    this.#error = undefined;
    // These two are normal, even without a problem of the API server.
    if (kind !== 'silent' && kind !== 'expired') this.#deps.onRecovered?.();
  }

  /** Records a failure and returns the delay until the next attempt in milliseconds. */
  #afterFailure(error: unknown): number {
    const { kind, delayMs, list, inARow } = this.#pace.failed(error);
    this.#error = error;
    if (list) this.#resourceVersion = undefined;
    this.#deps.onFailure?.(kind);
    // A single failure is not logged as a warning, and several in a row are logged once. The manager logs missing
    // definitions with advice.
    const level = inARow === 2 && kind !== 'missing' ? 'warn' : 'debug';
    const { path } = this.#deps.source;
    this.#deps.logger[level]({ path, kind, ...errorFields(error) }, 'a watch fails and is retried');
    return delayMs;
  }
}
