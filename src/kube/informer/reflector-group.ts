import { isApiStatus } from '../client/api-error.ts';
import { type KubeObject, objectKey, parseObjectKey } from '../client/objects.ts';
import { Reflector, type ReflectorDeps, type ReflectorHandler, type ReflectorSource } from './reflector.ts';

export interface ReflectorGroupDeps<T extends KubeObject> extends Omit<ReflectorDeps<T>, 'source'> {
  /** The namespaces to watch, each with one reflector. If it is empty, one reflector watches the whole cluster. */
  readonly namespaces: readonly string[];
  /** The source for one namespace, or for the whole cluster. */
  readonly source: (namespace: string | undefined) => ReflectorSource;
  /** Whether a namespace is known to be deleted or being deleted. Its rights are deleted with it, so a refused list is ignored. */
  readonly isGone?: (namespace: string) => boolean;
}

/** The reflectors of one kind of object in all watched namespaces, as if they were one. */
export class ReflectorGroup<T extends KubeObject> {
  /** By namespace; the empty name means the whole cluster. */
  readonly #byNamespace: ReadonlyMap<string, Reflector<T>>;
  readonly #all: readonly Reflector<T>[];
  readonly #isGone: (namespace: string) => boolean;
  readonly #listeners: ((key: string, object: T | undefined) => void)[] = [];
  readonly #synced = Promise.withResolvers<void>();
  #isSynced = false;

  constructor({ namespaces, source, isGone = () => false, onFailure, handler, ...rest }: ReflectorGroupDeps<T>) {
    this.#isGone = isGone;
    const deps: Omit<ReflectorDeps<T>, 'source'> = {
      ...rest,
      handler: this.#withListeners(handler),
      onFailure: (kind) => {
        this.#checkSynced();
        onFailure?.(kind);
      },
    };
    const scopes: readonly (string | undefined)[] = namespaces.length === 0 ? [undefined] : [...new Set(namespaces)];
    this.#byNamespace = new Map(
      scopes.map((scope) => [scope ?? '', new Reflector<T>({ ...deps, source: source(scope) })]),
    );
    this.#all = [...this.#byNamespace.values()];
    for (const reflector of this.#all) void reflector.synced.then(() => this.#checkSynced());
  }

  /** Resolves when every reflector has its first list, except those of deleted namespaces. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    this.#checkSynced();
    return this.#isSynced;
  }

  /** Whether the objects of a namespace have been listed. Returns false for one that is not watched. */
  hasListed(namespace: string): boolean {
    return (this.#byNamespace.get(namespace) ?? this.#byNamespace.get(''))?.isSynced ?? false;
  }

  /** The first error of a reflector whose last attempt failed. */
  get error(): unknown {
    return this.#all.find((reflector) => reflector.error !== undefined)?.error;
  }

  get(key: string): T | undefined {
    const reflector = this.#byNamespace.get(parseObjectKey(key).namespace) ?? this.#byNamespace.get('');
    return reflector?.get(key);
  }

  keys(): string[] {
    return this.#all.flatMap((reflector) => [...reflector.keys()]);
  }

  /** Adds a listener for every change, called after the handler; `object` is undefined for a deleted one. Call it before `start`. */
  onChange(listener: (key: string, object: T | undefined) => void): void {
    this.#listeners.push(listener);
  }

  start(): void {
    for (const reflector of this.#all) reflector.start();
  }

  #withListeners(handler: ReflectorHandler<T>): ReflectorHandler<T> {
    const report = (key: string, object: T | undefined): void => {
      for (const listener of this.#listeners) listener(key, object);
    };
    return {
      onUpsert: (object) => {
        handler.onUpsert(object);
        report(objectKey(object.metadata), object);
      },
      onDelete: (object) => {
        handler.onDelete(object);
        report(objectKey(object.metadata), undefined);
      },
      onListed: () => handler.onListed?.(),
    };
  }

  // Never reset: a namespace that is created again is seen when it can be listed.
  #checkSynced(): void {
    this.#isSynced ||= [...this.#byNamespace].every(
      ([namespace, { isSynced, error }]) => isSynced || (isApiStatus(error, 403) && this.#mayBeGone(namespace)),
    );
    if (this.#isSynced) this.#synced.resolve();
  }

  #mayBeGone(namespace: string): boolean {
    return namespace !== '' && this.#isGone(namespace);
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((reflector) => reflector.stop()));
  }
}
