import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline/promises';
import type { KubeHttp, KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';

interface ContainerState {
  readonly waiting?: { readonly reason?: string };
  readonly terminated?: { readonly reason?: string };
}

export interface WatchedPod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly deletionTimestamp?: string };
  readonly status?: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly state?: ContainerState }[];
  };
}

interface PodList {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly WatchedPod[];
}

/** Follows the pods with one label `app`, change by change: what a look now and then would miss, it has seen. */
export class PodWatch {
  readonly #pods = new Map<string, WatchedPod>();
  readonly #stop = new AbortController();
  #fewestReady = Infinity;
  #reasons = new Set<string>();
  #failure: unknown;

  private constructor() {}

  /** Begins to follow them, until `resources` go. */
  static async open(
    resources: AsyncDisposableStack,
    kube: KubeHttp,
    { namespace, app }: { readonly namespace: string; readonly app: string },
  ): Promise<PodWatch> {
    const watch = new PodWatch();
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3D${app}`;
    const { metadata, items } = await kube.json<PodList>({ path });
    for (const pod of items) watch.#take('ADDED', pod);
    watch.forget();
    const stream = await kube.stream(
      `${path}&watch=true&resourceVersion=${metadata.resourceVersion}`,
      watch.#stop.signal,
    );
    resources.defer(() => watch.#stop.abort());
    void watch.#follow(stream);
    return watch;
  }

  /** Those that are ready and there to stay. Throws where the watch has ended. */
  get ready(): readonly WatchedPod[] {
    if (this.#failure !== undefined) throw new Error('The watch of the pods ended.', { cause: this.#failure });
    return this.#readyNow;
  }

  /** How many were ready when the fewest were, since it last forgot. */
  get fewestReady(): number {
    return Math.min(this.#fewestReady, this.ready.length);
  }

  /** Why containers waited or ended since then. */
  get reasons(): ReadonlySet<string> {
    return this.#reasons;
  }

  /** Forgets what was before. */
  forget(): void {
    this.#fewestReady = this.#readyNow.length;
    this.#reasons = new Set();
  }

  get #readyNow(): readonly WatchedPod[] {
    return [...this.#pods.values()].filter(isReady);
  }

  async #follow(stream: IncomingMessage): Promise<void> {
    try {
      for await (const line of createInterface({ input: stream })) {
        const { type, object } = JSON.parse(line) as { type: string; object: WatchedPod };
        if (type === 'ERROR') throw new Error(line);
        this.#take(type, object);
      }
      throw new Error('The API server closed it.');
    } catch (error) {
      this.#failure = error;
    }
  }

  #take(type: string, pod: WatchedPod): void {
    if (type === 'DELETED') this.#pods.delete(pod.metadata.uid);
    else this.#pods.set(pod.metadata.uid, pod);
    this.#fewestReady = Math.min(this.#fewestReady, this.#readyNow.length);
    for (const reason of reasonsOf(pod)) this.#reasons.add(reason);
  }
}

function reasonsOf({ status }: WatchedPod): string[] {
  const states = status?.containerStatuses ?? [];
  return states.flatMap(({ state }) => state?.waiting?.reason ?? state?.terminated?.reason ?? []);
}

function isReady({ metadata, status }: WatchedPod): boolean {
  if (metadata.deletionTimestamp !== undefined) return false;
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
}
