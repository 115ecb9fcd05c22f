import type { KubeObject, ObjectMeta } from '../../../kube/client/objects.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { WatchedObjects } from '../../frame/named-watch.ts';
import { Expectations } from '../../frame/expectations.ts';
import type { ClusterSecretSync } from '../../generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../generated/secret-sync.ts';

/** An own write that the watch has not shown yet. */
interface PendingWrite {
  readonly object: Expectations<SecretSync>;
  /** The uid that was deleted, if the write was a deletion. */
  readonly deletedUid: string | undefined;
  readonly atMs: number;
}

// A watch that is further behind missed the event: no list shows what was created and deleted between two lists.
const maxPendingMs = 30_000;

/** All SecretSyncs as the watch shows them, or as the controller's own writes left them if the watch is behind. */
export class Children {
  readonly #watched: Pick<WatchedObjects, 'get'>;
  readonly #clock: Clock;
  readonly #pending = new Map<string, PendingWrite>();

  constructor(watched: WatchedObjects, clock: Clock) {
    this.#watched = watched;
    this.#clock = clock;
    watched.onChange((key, object) => this.#shown(key, object));
  }

  /** A SecretSync by `namespace/name`. */
  find(key: string): SecretSync | undefined {
    const watched = this.#watched.get(key) as SecretSync | undefined;
    const pending = this.#pending.get(key);
    if (pending === undefined) return watched;
    if (this.#clock.now() - pending.atMs >= maxPendingMs) {
      this.#pending.delete(key);
      return watched;
    }
    return pending.deletedUid === undefined ? pending.object.current(watched) : unless(pending.deletedUid, watched);
  }

  /** Notes that a SecretSync was created. */
  created(key: string, parent: ClusterSecretSync, metadata: ObjectMeta): void {
    this.#note(key, undefined, asMade(parent, metadata));
  }

  /** Notes that a SecretSync was corrected; `base` is the version that was replaced. */
  changed(key: string, parent: ClusterSecretSync, base: SecretSync, metadata: ObjectMeta): void {
    this.#note(key, base.metadata.resourceVersion, { ...base, ...asMade(parent, metadata) });
  }

  /** Notes that a SecretSync was deleted. */
  removed(key: string, { metadata }: SecretSync): void {
    this.#expect(key, new Expectations(), metadata.uid);
  }

  /** Time until the first expectation is dropped; undefined if there is none. */
  untilExpiry(): number | undefined {
    // In the order of the writes.
    const [first] = this.#pending.values();
    return first === undefined ? undefined : Math.max(0, first.atMs + maxPendingMs - this.#clock.now());
  }

  /** Drops what is expected in a namespace that was deleted. */
  forget(key: string): void {
    this.#pending.delete(key);
  }

  #note(key: string, base: string | undefined, made: SecretSync): void {
    const object = new Expectations<SecretSync>();
    object.record(base, made);
    if (object.isAhead) this.#expect(key, object, undefined);
  }

  #expect(key: string, object: Expectations<SecretSync>, deletedUid: string | undefined): void {
    this.#pending.delete(key);
    this.#pending.set(key, { object, deletedUid, atMs: this.#clock.now() });
  }

  #shown(key: string, shown: KubeObject | undefined): void {
    const pending = this.#pending.get(key);
    if (pending === undefined) return;
    const { object, deletedUid } = pending;
    if (deletedUid !== undefined) {
      if (unless(deletedUid, shown) === shown) this.#pending.delete(key);
      return;
    }
    if (shown === undefined) object.observeGone(undefined);
    else object.observe(shown.metadata.resourceVersion);
    if (!object.isAhead) this.#pending.delete(key);
  }
}

function asMade(parent: ClusterSecretSync, metadata: ObjectMeta): SecretSync {
  return { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata, spec: parent.spec.template.spec };
}

/** The object, unless it is the one that was deleted and the watch does not show the deletion yet. */
function unless<T extends KubeObject>(deletedUid: string, object: T | undefined): T | undefined {
  const isSame = object?.metadata.uid === deletedUid && object.metadata.deletionTimestamp === undefined;
  return isSame ? undefined : object;
}
