import { type KubeObject, parseObjectKey } from './objects.ts';
import { Reflector, type ReflectorDeps, type ReflectorSource } from './reflector.ts';

export interface ReflectorGroupDeps<T extends KubeObject> extends Omit<ReflectorDeps<T>, 'source'> {
  /** Namespaces to watch, one reflector each; none means the whole cluster by one reflector. */
  readonly namespaces: readonly string[];
  /** The source for one namespace, or for the whole cluster. */
  readonly source: (namespace: string | undefined) => ReflectorSource;
}

/** The reflectors of one kind of object in all watched namespaces, as if they were one. */
export class ReflectorGroup<T extends KubeObject> {
  /** By namespace; the empty name stands for the whole cluster. */
  readonly #byNamespace: ReadonlyMap<string, Reflector<T>>;
  readonly #all: readonly Reflector<T>[];

  constructor({ namespaces, source, ...deps }: ReflectorGroupDeps<T>) {
    const scopes: readonly (string | undefined)[] = namespaces.length === 0 ? [undefined] : [...new Set(namespaces)];
    this.#byNamespace = new Map(
      scopes.map((scope) => [scope ?? '', new Reflector<T>({ ...deps, source: source(scope) })]),
    );
    this.#all = [...this.#byNamespace.values()];
  }

  /** Resolves when every reflector has its first list. */
  get synced(): Promise<void> {
    return Promise.all(this.#all.map((reflector) => reflector.synced)).then(() => undefined);
  }

  get isSynced(): boolean {
    return this.#all.every((reflector) => reflector.isSynced);
  }

  /** The first fault of a reflector whose last try failed. */
  get fault(): unknown {
    return this.#all.find((reflector) => reflector.fault !== undefined)?.fault;
  }

  get(key: string): T | undefined {
    const reflector = this.#byNamespace.get(parseObjectKey(key).namespace) ?? this.#byNamespace.get('');
    return reflector?.get(key);
  }

  keys(): string[] {
    return this.#all.flatMap((reflector) => [...reflector.keys()]);
  }

  start(): void {
    for (const reflector of this.#all) reflector.start();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((reflector) => reflector.stop()));
  }
}
