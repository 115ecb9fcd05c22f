import { join } from 'node:path';
import { expect } from '@jest/globals';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';
import type { KubeObject } from '../../../tools/devcluster/cluster/kube-http.ts';
import type { ClusterSecretSync } from '../../../src/controller/generated/cluster-secret-sync.ts';
import type { SecretSync } from '../../../src/controller/generated/secret-sync.ts';
import type { ApiEnvironment } from '../api/api-client.ts';
import { runKubectl } from './kubectl.ts';
import { startOwnCluster } from './own-cluster.ts';
import { ResourceSite } from './resource-site.ts';
import { type SecretObject, secretValues } from './secret-watch.ts';
import type { ServerProcess } from '../api/server-process.ts';
import { Stack } from './stack.ts';
import { waitFor } from '../fixtures/wait-for.ts';

const controllerNamespace = 'keyframe';
const contentType = 'application/merge-patch+json';

/**
 * A cluster of its own, because ClusterSecretSyncs are the whole cluster's, with a controller that serves all namespaces, an
 * environment, and an AccessGrant by which the namespaces with the label `team` may read it.
 */
export class ClusterSyncSite {
  readonly cluster: Cluster;
  readonly stack: Stack;
  readonly environment: ApiEnvironment;
  readonly syncs: ResourceSite<ClusterSecretSync>;

  private constructor(cluster: Cluster, stack: Stack, environment: ApiEnvironment) {
    this.cluster = cluster;
    this.stack = stack;
    this.environment = environment;
    this.syncs = new ResourceSite({ kube: stack.kube, kind: 'ClusterSecretSync', plural: 'clustersecretsyncs' });
  }

  /** Makes it, to go with `resources`. The controller is started by the tests. */
  static async make(resources: AsyncDisposableStack): Promise<ClusterSyncSite> {
    const cluster = await startOwnCluster(resources);
    const stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: cluster.kubeconfig });
    const environment = await stack.admin.makeEnvironment();
    await environment.change({ A: 'alpha' });
    const { organization, project, name } = environment.ref;
    const rules = [{ organization, project, environments: [name] }];
    const grants = new ResourceSite({ kube: stack.kube, kind: 'AccessGrant', plural: 'accessgrants' });
    await grants.create({ namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'Exists' }] }, rules });
    return new ClusterSyncSite(cluster, stack, environment);
  }

  /** Starts the controller, under the account with the chart's rights in the whole cluster. */
  async startController(
    kubeconfigFile = join(this.cluster.runFolder, 'controller.kubeconfig'),
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServerProcess> {
    const isClusterWide = env['WATCH_NAMESPACES'] === undefined;
    const all = { NAMESPACE: controllerNamespace, ...env };
    return await this.stack.startController({ kubeconfigFile, env: all, isClusterWide });
  }

  /** Kills a controller as a crash does, and takes its Lease away, so that the next one need not wait until it runs out. */
  async kill(controller: ServerProcess): Promise<void> {
    await controller.kill();
    const path = `/apis/coordination.k8s.io/v1/namespaces/${controllerNamespace}/leases/keyframe-controller`;
    await this.stack.kube.find({ method: 'DELETE', path });
  }

  /** A spec that selects the namespaces whose label `team` is the name's; by default with the site's environment. */
  spec(team: string, templateSpec: object = {}): { namespaceSelector: object; template: { spec: object } } {
    const spec = { environmentRef: this.environment.ref, ...templateSpec };
    return { namespaceSelector: { matchLabels: { team } }, template: { spec } };
  }

  /** Makes namespaces `team-0`, `team-1`, … with the label `team`; returns their names. */
  async createNamespaces(team: string, count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, index) => `${team}-${index}`);
    await Promise.all(names.map((name) => this.createNamespace(name, team)));
    return names;
  }

  async createNamespace(name: string, team: string): Promise<void> {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { team } } };
    await this.stack.kube.json({ method: 'POST', path: '/api/v1/namespaces', body });
  }

  /** Sets the label `team` of a namespace; null takes it away. */
  async label(namespace: string, team: string | null): Promise<void> {
    const body = { metadata: { labels: { team } } };
    await this.stack.kube.json({ method: 'PATCH', path: `/api/v1/namespaces/${namespace}`, contentType, body });
  }

  /** Deletes a namespace and waits until it is gone. */
  async endNamespace(namespace: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}`;
    await this.stack.kube.find({ method: 'DELETE', path });
    const isGone = async (): Promise<boolean> => (await this.stack.kube.find({ path })) === undefined;
    await waitFor(`namespace ${namespace} to be gone`, isGone);
  }

  /** Path of the SecretSync of a ClusterSecretSync in a namespace. */
  childPath(namespace: string, name: string): string {
    return `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs/${name}`;
  }

  child(namespace: string, name: string): Promise<SecretSync | undefined> {
    return this.stack.kube.find<SecretSync & KubeObject>({ path: this.childPath(namespace, name) });
  }

  /** The namespaces that have a SecretSync of this name, in the order of their names. */
  async childrenOf(name: string): Promise<string[]> {
    const path = `/apis/keyframe.dev/v1alpha1/secretsyncs?fieldSelector=metadata.name%3D${name}`;
    const { items } = await this.stack.kube.json<{ items: SecretSync[] }>({ path });
    return items.map(({ metadata }) => metadata.namespace ?? '').toSorted();
  }

  /** Waits until these namespaces, and no others, have a SecretSync of this name. */
  async waitForChildren(name: string, namespaces: readonly string[]): Promise<void> {
    await waitFor(`the SecretSyncs ${name} to be there`, async () => {
      expect(await this.childrenOf(name)).toEqual(namespaces.toSorted());
      return true;
    });
  }

  /** Waits until a namespace's Secret holds exactly these values. */
  async waitForValues(namespace: string, name: string, values: Readonly<Record<string, string>>): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`;
    await waitFor(`Secret ${namespace}/${name} to hold the values`, async () => {
      const secret = await this.stack.kube.find<SecretObject>({ path });
      expect(secret === undefined ? undefined : Object.fromEntries(secretValues(secret))).toEqual(values);
      return true;
    });
  }

  /** Waits until the status has these fields and the condition Ready this reason. */
  async waitForStatus(name: string, reason: string, fields: object = {}): Promise<ClusterSecretSync> {
    return await waitFor(`ClusterSecretSync ${name} to be ${reason}`, async () => {
      const resource = await this.syncs.get(name);
      const { generation: observedGeneration } = resource.metadata;
      expect(resource.status).toMatchObject({ ...fields, observedGeneration });
      expect(resource.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ reason });
      return resource;
    });
  }

  /** Runs the kubectl command that the condition Ready of a ClusterSecretSync names. */
  async consent(name: string): Promise<void> {
    const { status } = await this.waitForStatus(name, 'RemovalBlocked');
    const message = status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
    const [, command = ''] = /run `kubectl ([^`]+)`/.exec(message) ?? [];
    await this.kubectl(...command.split(' '));
  }

  kubectl(...args: readonly string[]): Promise<string> {
    return runKubectl(this.cluster, args);
  }
}
