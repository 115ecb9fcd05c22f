import { randomBytes } from 'node:crypto';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';
import type { SecretEnvironment } from '../../../src/controller/generated/secret-environment.ts';
import type { EnvironmentRef } from '../api/api-client.ts';
import { startOwnCluster } from './own-cluster.ts';
import { ResourceSite } from './resource-site.ts';
import { Stack } from './stack.ts';

interface ApiEnvironmentView {
  readonly id: string;
  readonly displayName: string;
}

/** A cluster of its own, because SecretEnvironments are the whole cluster's, with a controller. */
export class EnvironmentSite {
  readonly stack: Stack;
  readonly cluster: Cluster;
  readonly environments: ResourceSite<SecretEnvironment>;

  private constructor(stack: Stack, cluster: Cluster) {
    this.stack = stack;
    this.cluster = cluster;
    const { kube } = stack;
    this.environments = new ResourceSite({ kube, kind: 'SecretEnvironment', plural: 'secretenvironments' });
  }

  /** Makes it, to go with `resources`. */
  static async make(resources: AsyncDisposableStack): Promise<EnvironmentSite> {
    const cluster = await startOwnCluster(resources);
    const stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: cluster.kubeconfig });
    await stack.startController();
    return new EnvironmentSite(stack, cluster);
  }

  /** Slugs that nothing has yet but the organization, whose owner the admin is: who is no member sees nothing of it. */
  async newRef(): Promise<EnvironmentRef> {
    const ref = unusedRef();
    await this.stack.admin.call('POST', '/organizations', { slug: ref.organization });
    return ref;
  }

  /** The environment over the API; undefined if it does not exist. */
  async found({ organization, project, name }: EnvironmentRef): Promise<ApiEnvironmentView | undefined> {
    const path = `/environments/${organization}/${project}/${name}`;
    const { status, body } = await this.stack.admin.send<ApiEnvironmentView>('GET', path);
    return status === 200 ? body : undefined;
  }
}

/** Slugs that nothing has yet. */
export function unusedRef(): EnvironmentRef {
  const suffix = randomBytes(5).toString('hex');
  return { organization: `org-${suffix}`, project: `project-${suffix}`, name: `env-${suffix}` };
}
