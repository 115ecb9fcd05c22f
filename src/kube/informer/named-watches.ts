import { type KubeObject, parseObjectKey } from '../client/objects.ts';
import { Reflector, type ReflectorDeps, type ReflectorSource } from './reflector.ts';

export interface NamedWatchesDeps<T extends KubeObject = KubeObject> extends Omit<
  ReflectorDeps<T>,
  'source' | 'handler' | 'onFailure' | 'onRecovered'
> {
  /** The collection of a namespace. */
  readonly path: (namespace: string) => string;
  /** What to keep of the whole object; without it the metadata alone is asked for. */
  readonly keep?: (object: T) => T;
  /** Told when an object that someone follows appears, changes or goes; as it is kept, undefined once it is gone. */
  readonly onChange: (key: string, object: T | undefined) => void;
  /** Told when the list or watch of an object failed. */
  readonly onFailure?: (key: string) => void;
  /** Told when it succeeded again. */
  readonly onRecovered?: (key: string) => void;
}

interface NamedWatch<T extends KubeObject> {
  readonly reflector: Reflector<T>;
  readonly followers: Set<string>;
}

/**
 * Watches of single objects by `metadata.name`, shared by all who follow the same one and closed when
 * the last of them lets go. Each open one is one connection.
 */
export class NamedWatches<T extends KubeObject = KubeObject> {
  readonly #deps: NamedWatchesDeps<T>;
  readonly #watches = new Map<string, NamedWatch<T>>();
  readonly #followed = new Map<string, ReadonlySet<string>>();
  readonly #closing = new Set<Promise<void>>();

  constructor(deps: NamedWatchesDeps<T>) {
    this.#deps = deps;
  }

  /** Makes `follower` follow just these objects (keys `namespace/name`): opens what is new, closes what nobody wants any more. */
  follow(follower: string, keys: ReadonlySet<string>): void {
    const before = this.#followed.get(follower) ?? new Set<string>();
    for (const key of keys) this.#open(key).followers.add(follower);
    for (const key of before) if (!keys.has(key)) this.#letGo(key, follower);
    if (keys.size === 0) this.#followed.delete(follower);
    else this.#followed.set(follower, keys);
  }

  followersOf(key: string): Iterable<string> {
    return this.#watches.get(key)?.followers ?? [];
  }

  isFollowed(key: string): boolean {
    return this.#watches.has(key);
  }

  /** The object as last seen, by default its metadata; undefined where it is not followed, not seen yet or does not exist. */
  get(key: string): T | undefined {
    return this.#watches.get(key)?.reflector.get(key);
  }

  /** Whether it is known if an object that someone follows exists. */
  isSeen(key: string): boolean {
    const reflector = this.#watches.get(key)?.reflector;
    // One that the first list is just telling of is seen, though that list is not told to its end.
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
        // It may have gone between the look that made us follow it and the first list.
        onListed: () => {
          if (reflector.get(key) === undefined) onChange(key, undefined);
        },
      },
    });
    return reflector;
  }

  #letGo(key: string, follower: string): void {
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
