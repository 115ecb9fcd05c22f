import type { KubeHttp, KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { Target } from '../../../src/controller/kinds/rollout/targets.ts';
import { waitFor } from '../fixtures/wait-for.ts';

export interface WorkloadObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly generation: number };
  readonly spec: {
    readonly template: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };
  };
}

interface Pod extends KubeObject {
  readonly metadata: KubeObject['metadata'] & {
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status?: { readonly phase?: string };
}

/**
 * The workloads of a namespace. kube-controller-manager makes their pods, which no node runs: instead of a kubelet, the
 * test says when they are ready.
 */
export class Workloads {
  readonly #kube: KubeHttp;
  readonly #namespace: string;

  constructor(kube: KubeHttp, namespace: string) {
    this.#kube = kube;
    this.#namespace = namespace;
  }

  /** Makes a workload whose pods carry the label `app`, and answers it; does not wait for its pods. */
  async create({ kind, name }: Target, spec: object = {}): Promise<WorkloadObject> {
    const labels = { app: name };
    const body = {
      apiVersion: 'apps/v1',
      kind,
      metadata: { name },
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'none' }] } },
        ...spec,
      },
    };
    return await this.#kube.json<WorkloadObject>({ method: 'POST', path: this.#collection(kind), body });
  }

  async get({ kind, name }: Target): Promise<WorkloadObject> {
    return await this.#kube.json<WorkloadObject>({ path: `${this.#collection(kind)}/${name}` });
  }

  /** What the pod template says about its restarts. */
  async marks(target: Target): Promise<Readonly<Record<string, string>>> {
    return (await this.get(target)).spec.template.metadata.annotations ?? {};
  }

  async patch({ kind, name }: Target, patch: object): Promise<void> {
    const contentType = 'application/merge-patch+json';
    await this.#kube.json({ method: 'PATCH', path: `${this.#collection(kind)}/${name}`, contentType, body: patch });
  }

  /** The pods of a workload that are there to stay. */
  async pods(name: string): Promise<Pod[]> {
    const path = `${this.#podsPath}?labelSelector=app%3D${name}`;
    const { items } = await this.#kube.json<{ items: Pod[] }>({ path });
    return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** Lets the pods run and be ready that wait for it; answers how many. */
  async runPods(name: string): Promise<number> {
    const waiting = (await this.pods(name)).filter(({ status }) => status?.phase !== 'Running');
    for (const { metadata } of waiting) await this.#runPod(metadata.name);
    return waiting.length;
  }

  /** Lets pods run as they come, until the look answers something. */
  async runPodsUntil<T>(name: string, what: string, look: () => Promise<T | undefined | false>): Promise<T> {
    const timeoutMs = 90_000;
    return await waitFor(
      what,
      async () => {
        await this.runPods(name);
        return await look();
      },
      { timeoutMs },
    );
  }

  /**
   * Lets the pods that wait for it fail as a kubelet reports it, so that their one container waits for this reason; answers
   * how many there are. One that runs already goes on.
   */
  async failPods(name: string, reason: string): Promise<number> {
    const waiting = (await this.pods(name)).filter(({ status }) => status?.phase !== 'Running');
    const state = { waiting: { reason } };
    const main = { name: 'main', ready: false, restartCount: 0, image: 'none', imageID: '', state };
    const status = { phase: 'Pending', containerStatuses: [main] };
    for (const { metadata } of waiting) await this.#putStatus(metadata.name, status);
    return waiting.length;
  }

  async deletePod(name: string): Promise<void> {
    await this.#kube.find({ method: 'DELETE', path: `${this.#podsPath}/${name}` });
  }

  async #runPod(name: string): Promise<void> {
    const at = new Date().toISOString();
    const condition = (type: string): object => ({ type, status: 'True', lastTransitionTime: at });
    const conditions = [condition('Ready'), condition('ContainersReady')];
    await this.#putStatus(name, { phase: 'Running', conditions, containerStatuses: null });
  }

  async #putStatus(name: string, status: object): Promise<void> {
    // It may be gone by now.
    await this.#kube.find({
      method: 'PATCH',
      path: `${this.#podsPath}/${name}/status`,
      contentType: 'application/merge-patch+json',
      body: { status },
    });
  }

  get #podsPath(): string {
    return `/api/v1/namespaces/${this.#namespace}/pods`;
  }

  #collection(kind: Target['kind']): string {
    return `/apis/apps/v1/namespaces/${this.#namespace}/${kind.toLowerCase()}s`;
  }
}

/** A node on which nothing runs, for a DaemonSet makes its pods for nodes alone; it goes with `resources`. */
export async function makeNode(resources: AsyncDisposableStack, kube: KubeHttp, name: string): Promise<void> {
  const path = `/api/v1/nodes/${name}`;
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name } };
  await kube.json({ method: 'POST', path: '/api/v1/nodes', body });
  resources.defer(async () => void (await kube.find({ method: 'DELETE', path })));
  // A node is made with the taint of one that is not ready yet.
  const contentType = 'application/merge-patch+json';
  await kube.json({ method: 'PATCH', path, contentType, body: { spec: { taints: null } } });
}
