import { type KubeObject, parseObjectKey } from '../client/objects.ts';
import { Reflector, type ReflectorDeps, type ReflectorSource } from './reflector.ts';

export interface NamedWatchesDeps<T extends KubeObject = KubeObject> extends Omit<
  ReflectorDeps<T>,
  'source' | 'handler' | 'onFailure' | 'onRecovered'
> {
  /** The path of a namespace's collection. */
  readonly path: (namespace: string) => string;
  /** Returns the part of the object to keep. Without it, only the metadata is requested. */
  readonly keep?: (object: T) => T;
  /** Called when a followed object is created, changed or deleted; `object` is undefined if it is gone. */
  readonly onChange: (key: string, object: T | undefined) => void;
  /** Called when the list or watch of an object failed. */
  readonly onFailure?: (key: string) => void;
  /** Called when it succeeded again. */
  readonly onRecovered?: (key: string) => void;
}

interface NamedWatch<T extends KubeObject> {
  readonly reflector: Reflector<T>;
  readonly followers: Set<string>;
}

/**
 * Watches of single objects by `metadata.name`. Followers of the same object share a watch, which is closed when the last one
 * stops following. Each open watch uses one connection.
 */
export class NamedWatches<T extends KubeObject = KubeObject> {
  readonly #deps: NamedWatchesDeps<T>;
  readonly #watches = new Map<string, NamedWatch<T>>();
  readonly #followed = new Map<string, ReadonlySet<string>>();
  readonly #closing = new Set<Promise<void>>();

  constructor(deps: NamedWatchesDeps<T>) {
    this.#deps = deps;
  }

  /** Sets the objects that `follower` follows (keys `namespace/name`). Opens new watches and closes unused ones. */
  follow(follower: string, keys: ReadonlySet<string>): void {
    const before = this.#followed.get(follower) ?? new Set<string>();
    for (const key of keys) this.#open(key).followers.add(follower);
    for (const key of before) if (!keys.has(key)) this.#release(key, follower);
    if (keys.size === 0) this.#followed.delete(follower);
    else this.#followed.set(follower, keys);
  }

  followersOf(key: string): Iterable<string> {
    return this.#watches.get(key)?.followers ?? [];
  }

  isFollowed(key: string): boolean {
    return this.#watches.has(key);
  }

  /** The last seen version of an object; undefined if it is not followed, not seen yet or does not exist. */
  get(key: string): T | undefined {
    return this.#watches.get(key)?.reflector.get(key);
  }

  /** Whether it is known if a followed object exists. */
  isSeen(key: string): boolean {
    const reflector = this.#watches.get(key)?.reflector;
    // During the first list, its objects are already seen.
    return reflector !== undefined && (reflector.isSynced || reflector.get(key) !== undefined);
  }

  /** Why the last list or watch of an object failed; undefined since the next success. */
  errorOf(key: string): unknown {
    return this.#watches.get(key)?.reflector.error;
  }

  /** How many watches are open. */
  get size(): number {
    return this.#watches.size;
  }

  async stop(): Promise<void> {
    for (const key of this.#watches.keys()) this.#close(key);
    this.#followed.clear();
    await Promise.all(this.#closing);
  }

  #open(key: string): NamedWatch<T> {
    const known = this.#watches.get(key);
    if (known !== undefined) return known;
    const watch = { reflector: this.#createReflector(key), followers: new Set<string>() };
    this.#watches.set(key, watch);
    watch.reflector.start();
    return watch;
  }

  #createReflector(key: string): Reflector<T> {
    const { path, onChange, onFailure, onRecovered, ...deps } = this.#deps;
    const { namespace, name } = parseObjectKey(key);
    const source: ReflectorSource = {
      path: path(namespace),
      fieldSelector: `metadata.name=${name}`,
      metadataOnly: deps.keep === undefined,
    };
    const reflector: Reflector<T> = new Reflector<T>({
      ...deps,
      source,
      onFailure: () => onFailure?.(key),
      onRecovered: () => onRecovered?.(key),
      handler: {
        onUpsert: (object) => onChange(key, object),
        onDelete: () => onChange(key, undefined),
        // It may have been deleted between the read that caused this watch and the first list.
        onListed: () => {
          if (reflector.get(key) === undefined) onChange(key, undefined);
        },
      },
    });
    return reflector;
  }

  #release(key: string, follower: string): void {
    const watch = this.#watches.get(key);
    watch?.followers.delete(follower);
    if (watch?.followers.size === 0) this.#close(key);
  }

  #close(key: string): void {
    const watch = this.#watches.get(key);
    if (watch === undefined) return;
    this.#watches.delete(key);
    const closed: Promise<void> = watch.reflector.stop().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}
