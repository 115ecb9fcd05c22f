import type { ObjectMeta } from '../../kube/client/objects.ts';

/** The kinds of subjects of dependencies and events. The id is unique within its kind. */
export type SubjectKind =
  /** The newest state of an environment, by the environment's id. Its version is the revision's id. */
  | 'environment'
  /** Whether the values of past states of an environment still exist, by the environment's id. */
  | 'environment history'
  /** Which environments exist. Its only id is the empty one. */
  | 'environments'
  /** Which slugs of environments are taken. Its only id is the empty one. */
  | 'slugs'
  /** A service token, by its id. The version of a keyless one is `live` or `refused`. */
  | 'service token'
  /** Whether a credential of a service token is valid, by the credential's id. */
  | 'credential'
  /** Which credentials exist. Its only id is the empty one. */
  | 'credentials'
  /** A snapshot or a revision that must be kept whole, by its id. */
  | 'kept state'
  /** The AccessGrants for a namespace, by the namespace's name. */
  | 'grants'
  /**
   * What an organization allows this cluster, by the organization's id; the empty id stands for all organizations. Its
   * version is the number of changes.
   */
  | 'cluster rules'
  /** Whether this cluster may do anything. Its only id is the empty one. Its version is the state. */
  | 'cluster'
  /** A Secret with the token of a SecretSync, or an unmanaged Secret with the target's name, by `namespace/name`. See `objectVersion`. */
  | 'Secret'
  /** The Secret that a ServiceToken writes, and SecretSyncs read, by `namespace/name`. See `objectVersion`. */
  | 'issued Secret'
  /** The Secret that a SecretSync writes, by `namespace/name`. Its version is the resource version. */
  | 'target'
  /** The resource that may create a Secret, by the Secret's `namespace/name`. */
  | 'Secret holder'
  /** The claim of a resource on a Secret, by the Secret and the resource. */
  | 'Secret claim'
  /** A SecretSnapshot, by `namespace/name`. */
  | 'SecretSnapshot'
  /** The SecretEnvironments that set the display name of an environment, by its slugs. Its version is these and their names. */
  | 'display names'
  /** The request of a ServiceToken, by `namespace/name`. */
  | 'ServiceToken spec'
  /** The state that a ServiceToken's status reports, by `namespace/name`. */
  | 'ServiceToken status';

export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** A subject that a result depends on, and the version that was seen. */
export interface Dependency extends Subject {
  /** The version that was seen; undefined if every event about the subject makes the result stale. */
  readonly saw: string | undefined;
  /** Judges events instead of the version, for an object that the controller itself writes. */
  readonly expectations?: EventFilter | undefined;
}

/** Filters the events of an object that the controller itself writes. */
export interface EventFilter {
  /** Call it once with each event, in order. Returns false for the echo of an own write. */
  take(event: ControllerEvent): boolean;
  /** Call it if events may have been missed. The next event then counts as a change. */
  reset(): void;
}

/** A change of a subject. */
export interface ControllerEvent extends Subject {
  /** The subject's new version; undefined if it has none, or if it is unknown. */
  readonly version?: string | undefined;
  /** The uid of an object, if the event is about one and the uid is known. */
  readonly uid?: string | undefined;
}

/** The dependencies of one result. */
export type DependencySet = ReadonlyMap<string, Dependency>;

/** Collects the dependencies of a reconcile. They can be noted before or after a read, in any order. */
export class Seen {
  #dependencies = new Map<string, Dependency>();
  /** What was noted before the first attempt. */
  #before: DependencySet | undefined;

  /** The result depends on this subject. If two versions of it are noted, every event makes the result stale. */
  note(kind: SubjectKind, id: string, saw?: string): void {
    const key = keyOf({ kind, id });
    const before = this.#dependencies.get(key);
    const isSame = before === undefined || before.saw === saw;
    this.#dependencies.set(key, { kind, id, saw: isSame ? saw : undefined });
  }

  /** The result depends on an object that the controller itself writes. */
  expect(kind: SubjectKind, id: string, expectations: EventFilter): void {
    this.#dependencies.set(keyOf({ kind, id }), { kind, id, saw: undefined, expectations });
  }

  /** The result depends on this version of the subject instead of the one that was noted before. */
  renote(kind: SubjectKind, id: string, saw: string): void {
    this.#dependencies.delete(keyOf({ kind, id }));
    this.note(kind, id, saw);
  }

  /** Begins an attempt: what the attempt before noted no longer counts. What was noted before the first one does. */
  restart(): void {
    this.#before ??= this.#dependencies;
    this.#dependencies = new Map(this.#before);
  }

  /** The result depends on nothing that was noted before. */
  forget(): void {
    this.#dependencies.clear();
  }

  /** Adds the dependencies that another object has collected. */
  add(other: Seen): void {
    this.addAll(other.dependencies);
  }

  addAll(dependencies: DependencySet): void {
    for (const { kind, id, saw, expectations } of dependencies.values()) {
      if (expectations === undefined) this.note(kind, id, saw);
      else this.expect(kind, id, expectations);
    }
  }

  get dependencies(): DependencySet {
    return this.#dependencies;
  }
}

/** The dependencies of all results, indexed by resource and by subject. */
export class Dependencies {
  readonly #bySubject = new Map<string, Map<string, Dependency>>();
  readonly #byResource = new Map<string, DependencySet>();

  /** The dependencies of a resource's result; undefined if it has no result. */
  of(resource: string): DependencySet | undefined {
    return this.#byResource.get(resource);
  }

  /** Replaces the dependencies of a resource's result. */
  set(resource: string, dependencies: DependencySet): void {
    this.delete(resource);
    this.#byResource.set(resource, dependencies);
    for (const [key, dependency] of dependencies) {
      const dependents = this.#bySubject.get(key) ?? new Map<string, Dependency>();
      this.#bySubject.set(key, dependents.set(resource, dependency));
    }
  }

  delete(resource: string): void {
    for (const key of this.#byResource.get(resource)?.keys() ?? []) {
      const dependents = this.#bySubject.get(key);
      dependents?.delete(resource);
      if (dependents?.size === 0) this.#bySubject.delete(key);
    }
    this.#byResource.delete(resource);
  }

  clear(): void {
    this.#bySubject.clear();
    this.#byResource.clear();
  }

  /** The dependencies on the subject of an event, by resource. */
  dependents(event: Subject): ReadonlyMap<string, Dependency> {
    return this.#bySubject.get(keyOf(event)) ?? none;
  }
}

const none: ReadonlyMap<string, Dependency> = new Map();

/** Identifies a version of an object, or its absence. */
export function objectVersion(metadata: ObjectMeta | undefined): string {
  return metadata === undefined ? 'absent' : `${metadata.uid}/${metadata.resourceVersion}`;
}

/** The dependencies of two results together. */
export function union(before: DependencySet | undefined, after: DependencySet): DependencySet {
  const both = new Seen();
  if (before !== undefined) both.addAll(before);
  both.addAll(after);
  return both.dependencies;
}

/**
 * The events that make a result stale, the oldest first. Only the newest event of a subject counts, because the reconcile
 * may have seen its version before the event came.
 */
export function staleEvents(dependencies: DependencySet, events: readonly ControllerEvent[]): ControllerEvent[] {
  const known = events.flatMap((event) => {
    const dependency = dependencies.get(keyOf(event));
    return dependency === undefined ? [] : [{ event, dependency }];
  });
  const newest = new Map(known.map(({ event, dependency }) => [dependency, event]));
  return known.flatMap(({ event, dependency }) => {
    const counts = dependency.expectations !== undefined || newest.get(dependency) === event;
    return counts && isStale(dependency, event) ? [event] : [];
  });
}

/** Whether an event makes a result stale that depends on its subject. */
export function isStale({ saw, expectations }: Dependency, event: ControllerEvent): boolean {
  if (expectations !== undefined) return expectations.take(event);
  return saw === undefined || event.version === undefined || saw !== event.version;
}

function keyOf({ kind, id }: Subject): string {
  return `${kind} ${id}`;
}
