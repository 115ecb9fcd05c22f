import type {
  ClusterSecretSync,
  ClusterSecretSyncSpec,
} from '../../../src/controller/generated/cluster-secret-sync.ts';
import type { Condition } from '../../../src/controller/generated/condition.ts';
import type { SecretSyncSpec } from '../../../src/controller/generated/secret-sync.ts';
import { secretSync } from './builders.ts';
import { Harness } from './controller-harness.ts';
import type { AnyObject } from './fake-cluster.ts';

export const clusterSyncs = '/apis/keyframe.dev/v1alpha1/clustersecretsyncs';

/** Fields of the spec; the rest is filled in as the API server does. */
export interface ClusterSyncOptions extends Partial<Omit<ClusterSecretSyncSpec, 'template'>> {
  readonly labels?: Record<string, string>;
  readonly templateSpec?: Partial<SecretSyncSpec>;
}

/** Path of the SecretSyncs of a namespace. */
export function syncsIn(namespace: string): string {
  return `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`;
}

/** A controller with the ClusterSecretSync `shared`, whose SecretSyncs the tests bring into the state that they need. */
export class ClusterSyncHarness extends Harness {
  /** Makes the ClusterSecretSync, or changes its spec. */
  putClusterSync({ labels, templateSpec, ...fields }: ClusterSyncOptions = {}): void {
    const { spec } = secretSync();
    const selection = fields.namespaces === undefined ? { namespaceSelector: { matchLabels: { sync: 'yes' } } } : {};
    this.cluster.put(clusterSyncs, 'shared', (object) => {
      object['spec'] = {
        ...selection,
        excludeNamespaces: ['kube-*'],
        maxRemovedNamespaces: '50%',
        suspend: false,
        ...fields,
        template: { ...(labels === undefined ? {} : { labels }), spec: { ...spec, ...templateSpec } },
      };
    });
  }

  /** Makes a namespace, or changes its labels. */
  putNamespace(name: string, labels: Record<string, string> = { sync: 'yes' }): void {
    this.cluster.put('/api/v1/namespaces', name, ({ metadata }) => {
      metadata.labels = labels;
    });
  }

  /** The namespaces `team-00`, `team-01`, … with these labels. */
  putNamespaces(count: number, labels?: Record<string, string>): string[] {
    const names = Array.from({ length: count }, (_, index) => `team-${String(index).padStart(2, '0')}`);
    for (const name of names) this.putNamespace(name, labels);
    return names;
  }

  /** Lets as much time pass as the changes so far take until they are carried out and reported. */
  async settle(): Promise<void> {
    for (let second = 0; second < 10; second += 1) await this.clock.advance(1000);
  }

  /** Starts with all namespaces in step. */
  async generated(options?: ClusterSyncOptions): Promise<void> {
    this.putClusterSync(options);
    await this.start();
    await this.settle();
    this.cluster.takeCalls();
  }

  child(namespace: string): AnyObject | undefined {
    return this.cluster.get(`${syncsIn(namespace)}/shared`);
  }

  /** The namespaces that have a SecretSync of the ClusterSecretSync's name. */
  children(namespaces: readonly string[]): string[] {
    return namespaces.filter((namespace) => this.child(namespace) !== undefined);
  }

  annotate(name: string, value: string): void {
    this.cluster.put(clusterSyncs, 'shared', ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, [name]: value };
    });
  }

  get parent(): ClusterSecretSync {
    return this.cluster.get(`${clusterSyncs}/shared`) as unknown as ClusterSecretSync;
  }

  get clusterReady(): Condition | undefined {
    return this.parent.status?.conditions?.find(({ type }) => type === 'Ready');
  }

  /** The digest that the condition asks for. */
  get askedDigest(): string {
    return /keyframe\.dev\/allow-deletion=([0-9a-f]{32})`/.exec(this.clusterReady?.message ?? '')?.[1] ?? '';
  }

  /** The writes of SecretSyncs since the last time, each as `METHOD namespace`. */
  takeWrites(): string[] {
    return this.cluster.takeCalls().flatMap((call) => {
      const [, method, namespace] =
        /^(POST|PATCH|DELETE) .*\/namespaces\/([^/]+)\/secretsyncs(?:\/[^/]+)?$/.exec(call) ?? [];
      return method === undefined ? [] : [`${method} ${namespace}`];
    });
  }
}
