import { DomainError } from '../../domain/errors/domain-error.ts';
import type { KubeObject } from '../../kube/client/objects.ts';
import { ReflectorGroup, type ReflectorGroupDeps } from '../../kube/informer/reflector-group.ts';
import type { Next } from './work-queue.ts';
import type { NamedWatch } from './named-watch.ts';

/** A namespace that exists, as far as anybody here looks at it. */
export interface NamespaceState {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it is being deleted, which nothing can undo. */
  readonly isEnding: boolean;
}

/** Called for a namespace that appeared, changed or went; `after` is undefined if it is gone. */
export type NamespaceListener = (before: NamespaceState | undefined, after: NamespaceState | undefined) => void;

export type NamespacesDeps = Pick<ReflectorGroupDeps<KubeObject>, 'client' | 'clock' | 'logger' | 'onRecovered'>;

/**
 * When to look again at a resource for which nothing is done because its namespace ends: it goes too, and is forgotten
 * then. One that is still there belongs to another namespace of that name, which was made since.
 */
export const untilNamespaceEnded: Next = { kind: 'after', delayMs: 5000 };

const systemNamespace = 'kube-system';

/** All namespaces of the cluster, by their metadata, whatever namespaces' resources are watched. */
export class Namespaces {
  readonly #states = new Map<string, NamespaceState>();
  readonly #listeners: NamespaceListener[] = [];
  readonly #group: ReflectorGroup<KubeObject>;
  #clusterUid: string | undefined;

  constructor(deps: NamespacesDeps) {
    this.#group = new ReflectorGroup<KubeObject>({
      ...deps,
      namespaces: [],
      source: () => ({ path: '/api/v1/namespaces', metadataOnly: true }),
      handler: {
        onUpsert: ({ metadata: { name, uid, labels = {}, deletionTimestamp } }) => {
          if (name === systemNamespace) this.#clusterUid = uid;
          this.#changed(name, { name, labels, isEnding: deletionTimestamp !== undefined });
        },
        onDelete: ({ metadata: { name } }) => this.#changed(name, undefined),
      },
    });
  }

  /** A kind that looks at namespaces names it among its needs. */
  get watch(): NamedWatch {
    return { name: 'Namespaces', group: this.#group };
  }

  /**
   * What distinguishes this cluster from every other: the uid of its namespace kube-system. Throws DomainError
   * cluster_unavailable where no such namespace was listed.
   */
  clusterUid(): string {
    if (this.#clusterUid !== undefined) return this.#clusterUid;
    throw new DomainError(
      'cluster_unavailable',
      `The cluster has no namespace ${systemNamespace} to know it by. Set KEYFRAME_CLUSTER_NAME.`,
    );
  }

  /** One by its name; undefined where it is not known to exist. */
  find(name: string): NamespaceState | undefined {
    return this.#states.get(name);
  }

  /** All that exist. */
  all(): Iterable<NamespaceState> {
    return this.#states.values();
  }

  /** Whether one is being deleted; not so of one that is unknown, for it may be so new that its watch is behind. */
  isEnding(name: string): boolean {
    return this.#states.get(name)?.isEnding ?? false;
  }

  /** Whether one is known to be gone or going: not before all were listed. */
  isGone(name: string): boolean {
    if (!this.#group.isSynced) return false;
    return this.#states.get(name)?.isEnding ?? true;
  }

  onChange(listener: NamespaceListener): void {
    this.#listeners.push(listener);
  }

  /** Calls a listener with the name of each namespace that begins to end, or is ending when it is first seen. */
  onEnding(listener: (name: string) => void): void {
    this.onChange((before, after) => {
      if (after?.isEnding === true && before?.isEnding !== true) listener(after.name);
    });
  }

  #changed(name: string, after: NamespaceState | undefined): void {
    const before = this.#states.get(name);
    if (after === undefined) this.#states.delete(name);
    else this.#states.set(name, after);
    for (const listener of this.#listeners) listener(before, after);
  }
}
