import type { KubeObject } from '../../kube/client/objects.ts';
import { ReflectorGroup, type ReflectorGroupDeps } from '../../kube/informer/reflector-group.ts';
import type { Next } from './work-queue.ts';
import { clusterUnidentified } from './messages.ts';
import type { NamedWatch } from './named-watch.ts';

/** The relevant parts of an existing namespace. */
export interface NamespaceState {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Whether it is being deleted, which cannot be undone. */
  readonly isEnding: boolean;
}

/** Called for a namespace that was created, changed or deleted; `after` is undefined if it is gone. */
export type NamespaceListener = (before: NamespaceState | undefined, after: NamespaceState | undefined) => void;

export type NamespacesDeps = Pick<ReflectorGroupDeps<KubeObject>, 'client' | 'clock' | 'logger' | 'onRecovered'>;

/**
 * When to check a resource again that is ignored because its namespace is being deleted. If it still exists then, a new
 * namespace may have that name.
 */
export const untilNamespaceEnded: Next = { kind: 'after', delayMs: 5000 };

const systemNamespace = 'kube-system';

/** All namespaces of the cluster, also if the resources of only some are watched. Only their metadata is watched. */
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

  /** A kind that depends on namespaces must name it in its needs. */
  get watch(): NamedWatch {
    return { name: 'Namespaces', group: this.#group };
  }

  /**
   * The identity of this cluster: the uid of its namespace kube-system. Throws DomainError cluster_unavailable if that is
   * not listed.
   */
  clusterUid(): string {
    if (this.#clusterUid !== undefined) return this.#clusterUid;
    throw clusterUnidentified(systemNamespace);
  }

  /** A namespace by its name; undefined if it is not known to exist. */
  find(name: string): NamespaceState | undefined {
    return this.#states.get(name);
  }

  /** All existing namespaces. */
  all(): Iterable<NamespaceState> {
    return this.#states.values();
  }

  /** Whether a namespace is being deleted. An unknown one counts as new, because the watch may be behind. */
  isEnding(name: string): boolean {
    return this.#states.get(name)?.isEnding ?? false;
  }

  /** Whether a namespace is known to be deleted, or to be being deleted. Returns false before all are listed. */
  isGone(name: string): boolean {
    if (!this.#group.isSynced) return false;
    return this.#states.get(name)?.isEnding ?? true;
  }

  onChange(listener: NamespaceListener): void {
    this.#listeners.push(listener);
  }

  /** Adds a listener for the name of each namespace whose deletion starts, or is in progress when it is first seen. */
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
