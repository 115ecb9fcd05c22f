import type { ObjectMeta } from '../../kube/client/objects.ts';

/** What a dependency is on, and what events are about. The id is unique within its kind. */
export type SubjectKind =
  /** The newest state of an environment, by the environment's id. Its version is the revision's id. */
  | 'environment'
  /** The past states of an environment, by the environment's id: whether their values still exist. */
  | 'environment history'
  /** Which environments exist. It has one id, the empty one. */
  | 'environments'
  /** Which slugs of environments are taken. It has one id, the empty one. */
  | 'slugs'
  /** A service token, by its id. Of a keyless one it is noted whether it is `live` or was `refused`. */
  | 'service token'
  /** Whether a credential of a service token opens anything, by the credential's id. */
  | 'credential'
  /** Which credentials exist. It has one id, the empty one. */
  | 'credentials'
  /** A snapshot or a revision that must be kept whole, by its id. */
  | 'kept state'
  /** The AccessGrants for a namespace, by the namespace's name. */
  | 'grants'
  /** A Secret that a SecretSync reads its token from, or that is in its way, by `namespace/name`. See `objectVersion`. */
  | 'Secret'
  /** The Secret that a ServiceToken writes, and SecretSyncs read, by `namespace/name`. See `objectVersion`. */
  | 'issued Secret'
  /** The Secret that a SecretSync writes, by `namespace/name`. Its version is the resource version. */
  | 'target'
  /** A SecretSnapshot, by `namespace/name`. */
  | 'SecretSnapshot'
  /** What a ServiceToken asks for, by `namespace/name`. */
  | 'ServiceToken spec'
  /** What a ServiceToken's status reports, by `namespace/name`. */
  | 'ServiceToken status';

export interface Subject {
  readonly kind: SubjectKind;
  readonly id: string;
}

/** Something that a result rests on, as it was seen. */
export interface Dependency extends Subject {
  /** The version that was seen; undefined if every event about the subject makes the result stale. */
  readonly saw: string | undefined;
  /** Judges events instead of the version, for an object that the controller itself writes. */
  readonly expectations?: EventFilter | undefined;
}

/** What is expected of the watch of an object that the controller itself writes. */
export interface EventFilter {
  /** Takes each event once, in order. Returns whether it is anything else than the echo of an own write. */
  take(event: ControllerEvent): boolean;
  /** Expects nothing: events may have been missed. What the watch shows counts from now on. */
  reset(): void;
}

/** Something that happened to a subject. */
export interface ControllerEvent extends Subject {
  /** The subject's version since then; undefined if it has none, or if it is not known. */
  readonly version?: string | undefined;
  /** The uid of an object, if the event is about one and the uid is known. */
  readonly uid?: string | undefined;
}

/** What one result rests on. */
export type DependencySet = ReadonlyMap<string, Dependency>;

/** Collects what a reconcile sees. Notes may come before a read or after it, in any order. */
export class Seen {
  readonly #dependencies = new Map<string, Dependency>();

  /** The result rests on this subject. Two different versions of it count as outdated already. */
  note(kind: SubjectKind, id: string, saw?: string): void {
    const key = keyOf({ kind, id });
    const before = this.#dependencies.get(key);
    const isSame = before === undefined || before.saw === saw;
    this.#dependencies.set(key, { kind, id, saw: isSame ? saw : undefined });
  }

  /** The result rests on an object that the controller itself writes. */
  expect(kind: SubjectKind, id: string, expectations: EventFilter): void {
    this.#dependencies.set(keyOf({ kind, id }), { kind, id, saw: undefined, expectations });
  }

  /** The result rests on this version of the subject, and no longer on the one that was noted before. */
  renote(kind: SubjectKind, id: string, saw: string): void {
    this.#dependencies.delete(keyOf({ kind, id }));
    this.note(kind, id, saw);
  }

  /** The result rests on nothing of what was noted. */
  forget(): void {
    this.#dependencies.clear();
  }

  /** Adds what another one has collected. */
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

/** What the results of all resources rest on, found by the resource and by the subject. */
export class Dependencies {
  readonly #bySubject = new Map<string, Map<string, Dependency>>();
  readonly #byResource = new Map<string, DependencySet>();

  /** What a resource's result rests on; undefined if it has no result. */
  of(resource: string): DependencySet | undefined {
    return this.#byResource.get(resource);
  }

  /** Stores what a resource's result rests on, in place of what the result before rested on. */
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

  /** What results rest on the subject of an event, by the resource. */
  dependents(event: Subject): ReadonlyMap<string, Dependency> {
    return this.#bySubject.get(keyOf(event)) ?? none;
  }
}

const none: ReadonlyMap<string, Dependency> = new Map();

/** Distinguishes one version of an object from another, and from its absence. */
export function objectVersion(metadata: ObjectMeta | undefined): string {
  return metadata === undefined ? 'absent' : `${metadata.uid}/${metadata.resourceVersion}`;
}

/** What either result rests on. */
export function union(before: DependencySet | undefined, after: DependencySet): DependencySet {
  const both = new Seen();
  if (before !== undefined) both.addAll(before);
  both.addAll(after);
  return both.dependencies;
}

/**
 * Those of the events, the oldest first, that make a result stale. Of each subject the newest event counts: what it reports
 * may have been seen before the event came.
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

/** Whether an event makes a result stale that rests on its subject. */
export function isStale({ saw, expectations }: Dependency, event: ControllerEvent): boolean {
  if (expectations !== undefined) return expectations.take(event);
  return saw === undefined || event.version === undefined || saw !== event.version;
}

function keyOf({ kind, id }: Subject): string {
  return `${kind} ${id}`;
}
