import { isApiStatus } from '../../../kube/client/api-error.ts';
import { NamedWatches, type NamedWatchesDeps } from '../../../kube/informer/named-watches.ts';
import { objectKey } from '../../../kube/client/objects.ts';
import { Expectations } from '../../frame/expectations.ts';
import type { Fingerprint } from '../../backend/fingerprint.ts';
import {
  type Target,
  type Workload,
  type WorkloadKind,
  trimmedWorkload,
  workloadKinds,
  workloadsPath,
} from './targets.ts';
import { templateDigest } from './template-digest.ts';

export interface WorkloadWatchesDeps extends Pick<NamedWatchesDeps, 'client' | 'clock' | 'logger'> {
  readonly fingerprint: Fingerprint;
  /** Called with each follower of a workload that changed. */
  readonly enqueue: (follower: string) => void;
}

/** What is known of a workload. */
export interface WorkloadObservation {
  /** Undefined if there is none, or if that is not known yet. */
  readonly workload: Workload | undefined;
  /** Whether the first list has arrived. */
  readonly isSeen: boolean;
  /** Whether the API server denies access. */
  readonly isForbidden: boolean;
}

/** Watches of the followed workloads. Of each workload, only the needed part is kept. */
export class WorkloadWatches {
  readonly #deps: WorkloadWatchesDeps;
  readonly #watches: ReadonlyMap<WorkloadKind, NamedWatches<Workload>>;
  /** Own writes that a watch may not show yet. */
  readonly #own: ReadonlyMap<WorkloadKind, Map<string, Expectations<Workload>>>;

  constructor(deps: WorkloadWatchesDeps) {
    this.#deps = deps;
    this.#own = new Map(workloadKinds.map((kind) => [kind, new Map<string, Expectations<Workload>>()]));
    this.#watches = new Map(workloadKinds.map((kind) => [kind, this.#watchKind(kind)]));
  }

  /** Makes a follower follow exactly these workloads of a namespace. */
  follow(follower: string, namespace: string, targets: readonly Target[]): void {
    for (const [kind, watches] of this.#watches) {
      const names = targets.filter((target) => target.kind === kind).map(({ name }) => objectKey({ namespace, name }));
      watches.follow(follower, new Set(names));
      const own = this.#own.get(kind);
      for (const key of own?.keys() ?? []) if (!watches.isFollowed(key)) own?.delete(key);
    }
  }

  observe(namespace: string, target: Target): WorkloadObservation {
    const watches = this.#watches.get(target.kind);
    const key = objectKey({ namespace, name: target.name });
    const watched = watches?.get(key);
    const workload = this.#own.get(target.kind)?.get(key)?.current(watched) ?? watched;
    const isForbidden = isApiStatus(watches?.errorOf(key), 401, 403);
    return { workload, isSeen: watches?.isSeen(key) === true, isForbidden };
  }

  /** Notes an own write, until the watch shows it; `written` is the whole workload afterwards. */
  record(kind: WorkloadKind, before: Workload, written: Workload): void {
    const after = this.#trimmed(kind, written);
    const key = objectKey(after.metadata);
    if (this.#watches.get(kind)?.isFollowed(key) !== true) return;
    const own = this.#own.get(kind)?.get(key) ?? new Expectations<Workload>();
    own.record(before.metadata.resourceVersion, after);
    this.#own.get(kind)?.set(key, own);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#watches.values()].map((watches) => watches.stop()));
  }

  #watchKind(kind: WorkloadKind): NamedWatches<Workload> {
    const { client, clock, logger, enqueue } = this.#deps;
    const enqueueAll = (key: string): void => {
      for (const follower of watches.followersOf(key)) enqueue(follower);
    };
    const watches: NamedWatches<Workload> = new NamedWatches<Workload>({
      client,
      clock,
      logger,
      path: (namespace) => workloadsPath(kind, namespace),
      keep: (workload) => this.#trimmed(kind, workload),
      onChange: (key, workload) => {
        this.#observe(kind, key, workload);
        enqueueAll(key);
      },
      onFailure: enqueueAll,
      onRecovered: enqueueAll,
    });
    return watches;
  }

  #trimmed(kind: WorkloadKind, workload: Workload): Workload {
    const place = `${kind} ${objectKey(workload.metadata)}`;
    return trimmedWorkload(workload, templateDigest(this.#deps.fingerprint, place, workload.spec?.template));
  }

  #observe(kind: WorkloadKind, key: string, workload: Workload | undefined): void {
    const own = this.#own.get(kind)?.get(key);
    if (workload === undefined) own?.observeGone(undefined);
    else own?.observe(workload.metadata.resourceVersion);
    // Once the watch shows the write, it need not be remembered.
    if (own?.isAhead === false) this.#own.get(kind)?.delete(key);
  }
}
