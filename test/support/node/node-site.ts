import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { KubeHttp, type KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import { nodeName } from '../../../tools/devcluster/cluster/node/node-users.ts';
import { createNamespace, deleteNamespace } from '../cluster/cluster.ts';
import { runKubectl, waitByKubectl } from '../cluster/kubectl.ts';
import type { NodeImages } from './node-images.ts';
import { type PodOptions, podTemplate } from './pod.ts';
import { storageClass } from './running-node.ts';
import { type SecretObject, secretValues } from '../cluster/secret-watch.ts';
import { type SharedNode, sharedNode } from './shared-node.ts';
import { waitFor } from '../fixtures/wait-for.ts';

/** What Pod Security is to enforce in a namespace. */
export type PodSecurityLevel = 'restricted' | 'baseline' | 'privileged';

export type AppOptions = Omit<PodOptions, 'image'>;

export interface DeployOptions extends AppOptions {
  readonly replicas: number;
  /** By what name on the node; that of Debian and Node.js if absent. */
  readonly image?: string;
  /** Further fields of the Deployment's spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The node, as the administrator of its cluster uses it. Pods and Services can be reached from the test itself. */
export class NodeSite {
  readonly node: SharedNode = sharedNode();
  readonly kube = new KubeHttp(this.node.kubeconfig);
  readonly images: NodeImages = this.node.images;
  readonly #resources: AsyncDisposableStack;

  /** What it makes goes with `resources`. */
  constructor(resources: AsyncDisposableStack) {
    this.#resources = resources;
    resources.defer(() => this.kube.close());
  }

  /** Makes a namespace and answers its name. It is deleted in the end, without waiting for it. */
  async makeNamespace(level: PodSecurityLevel = 'restricted'): Promise<string> {
    const name = await createNamespace(this.kube);
    this.#resources.defer(() => deleteNamespace(name, this.kube));
    await this.kube.json({
      method: 'PATCH',
      path: `/api/v1/namespaces/${name}`,
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { 'pod-security.kubernetes.io/enforce': level } } },
    });
    return name;
  }

  /** Makes a pod and waits until it is ready. */
  async runPod(namespace: string, options: AppOptions): Promise<void> {
    const { metadata, spec } = podTemplate({ ...options, image: this.images.app });
    await this.kube.json({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/pods`,
      body: { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name: options.name }, spec },
    });
    await this.waitReady(namespace, `pod/${options.name}`);
  }

  /** Makes a Deployment and waits until all its pods are ready. */
  async deploy(
    namespace: string,
    { replicas, image = this.images.app, spec = {}, ...options }: DeployOptions,
  ): Promise<void> {
    await this.kube.json({
      method: 'POST',
      path: `/apis/apps/v1/namespaces/${namespace}/deployments`,
      body: {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: options.name },
        spec: {
          replicas,
          selector: { matchLabels: { app: options.name } },
          template: podTemplate({ ...options, image }),
          ...spec,
        },
      },
    });
    await this.awaitRollout(namespace, `deployment/${options.name}`);
  }

  /** Makes a Service on port 80 of the pods with the label `app`, and answers its address once it leads to one of them. */
  async expose(namespace: string, app: string): Promise<string> {
    await this.kube.json({
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/services`,
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: app },
        spec: { selector: { app }, ports: [{ port: 80, targetPort: 'http' }] },
      },
    });
    const url = await this.serviceUrl(namespace, app);
    await this.waitForHttp(url);
    return url;
  }

  /** Waits until an address answers: kube-proxy learns of a ready pod a moment after the API server. */
  async waitForHttp(url: string): Promise<void> {
    await waitFor(`an answer from ${url}`, async () => {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
      await response.arrayBuffer();
      return true;
    });
  }

  /** Where a Service answers, from this machine as from pods. */
  async serviceUrl(namespace: string, name: string): Promise<string> {
    const path = `/api/v1/namespaces/${namespace}/services/${name}`;
    const { spec } = await this.kube.json<ServiceObject>({ path });
    return `http://${spec.clusterIP}:${spec.ports[0]?.port ?? 80}`;
  }

  /** What a Secret holds under a key. Throws where there is no such Secret. */
  async secretValue(namespace: string, name: string, key: string): Promise<string> {
    const secret = await this.kube.json<SecretObject>({ path: `/api/v1/namespaces/${namespace}/secrets/${name}` });
    return secretValues(secret).get(key) ?? '';
  }

  /** A volume for one claim, in a folder of the run. */
  async makeVolume(storage = '8Gi'): Promise<void> {
    const name = `volume-${randomBytes(5).toString('hex')}`;
    const path = join(this.node.runFolder, 'volumes', name);
    mkdirSync(path, { recursive: true });
    const here = { key: 'kubernetes.io/hostname', operator: 'In', values: [nodeName] };
    await this.kube.json({
      method: 'POST',
      path: '/api/v1/persistentvolumes',
      body: {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name },
        spec: {
          storageClassName: storageClass,
          capacity: { storage },
          accessModes: ['ReadWriteOnce'],
          persistentVolumeReclaimPolicy: 'Retain',
          local: { path },
          nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [here] }] } },
        },
      },
    });
  }

  /** Waits until `pod/name`, or another resource that has the condition, is ready. */
  async waitReady(namespace: string, name: string): Promise<void> {
    await waitByKubectl(this.node, { namespace, name, condition: 'Ready' }, 60);
  }

  /** Waits until all pods of `deployment/name` or `statefulset/name` are the newest and ready. */
  async awaitRollout(namespace: string, name: string): Promise<void> {
    await this.kubectl(['-n', namespace, 'rollout', 'status', name, '--timeout=60s']);
  }

  /** Runs a command in a pod, named `pod/name` or by its workload as `deployment/name`; answers what it printed. */
  async exec(namespace: string, target: string, command: readonly string[]): Promise<string> {
    return await this.kubectl(['-n', namespace, 'exec', target, '--', ...command]);
  }

  /** What the containers of a pod have written so far. */
  async logs(namespace: string, target: string): Promise<string> {
    return await this.kubectl(['-n', namespace, 'logs', target, '--all-containers']);
  }

  async kubectl(args: readonly string[]): Promise<string> {
    return await runKubectl(this.node, args);
  }
}

interface ServiceObject extends KubeObject {
  readonly spec: { readonly clusterIP: string; readonly ports: readonly { readonly port: number }[] };
}
