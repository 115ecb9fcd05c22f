import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { requireApprovals } from '../../../tools/devcluster/cluster/approvals.ts';
import { type KubeAnswer, KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';
import { writeKubeconfigFor } from '../../../tools/devcluster/cluster/kubeconfig.ts';
import { waitFor } from '../fixtures/wait-for.ts';
import { adminClient, createAccount, sharedCluster } from './cluster.ts';

const rbac = 'rbac.authorization.k8s.io';

/** Accounts of one namespace with rights to SnapshotRestores, where the policy for approvals is in force. */
export class RestoreUsers {
  readonly namespace: string;
  readonly #resources: AsyncDisposableStack;
  readonly #folder: string;

  private constructor(namespace: string, resources: AsyncDisposableStack, folder: string) {
    this.namespace = namespace;
    this.#resources = resources;
    this.#folder = folder;
  }

  static async start(resources: AsyncDisposableStack, namespace: string): Promise<RestoreUsers> {
    const folder = await mkdtemp(join(tmpdir(), 'keyframe-approval-'));
    resources.defer(() => rm(folder, { recursive: true, force: true }));
    return new RestoreUsers(namespace, resources, folder);
  }

  /** An account with a role that has these rules for SnapshotRestores. */
  async make(name: string, rules: readonly object[]): Promise<KubeHttp> {
    const { namespace } = this;
    const token = await createAccount(namespace, name);
    const path = `/apis/${rbac}/v1/namespaces/${namespace}`;
    const common = { apiVersion: `${rbac}/v1`, metadata: { name } };
    const forRestores = rules.map((rule) => ({
      apiGroups: ['keyframe.dev'],
      resources: ['snapshotrestores'],
      ...rule,
    }));
    await adminClient().json({
      method: 'POST',
      path: `${path}/roles`,
      body: { ...common, kind: 'Role', rules: forRestores },
    });
    const roleRef = { apiGroup: rbac, kind: 'Role', name };
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    const binding = { ...common, kind: 'RoleBinding', roleRef, subjects };
    await adminClient().json({ method: 'POST', path: `${path}/rolebindings`, body: binding });
    const kubeconfig = join(this.#folder, name);
    writeKubeconfigFor(kubeconfig, sharedCluster().kubeconfig, { name, token });
    const user = new KubeHttp(kubeconfig);
    this.#resources.defer(() => user.close());
    const mayRead = async (): Promise<boolean> => (await user.send({ path: this.path('none') })).status === 404;
    await waitFor('the rights to be in force', mayRead);
    return user;
  }

  /** Puts the policy in force; `planner` is an account that may create SnapshotRestores and approve none. */
  async requireApprovals(planner: KubeHttp): Promise<void> {
    const { namespace } = this;
    const paths = await requireApprovals(adminClient(), { name: `approvals-${namespace}`, namespaces: [namespace] });
    this.#resources.defer(async () => {
      for (const path of paths) await adminClient().find({ method: 'DELETE', path });
    });
    const probe = { snapshotId: '0198a6f0-1234-7abc-8def-0123456789ab', mode: 'Apply', planHash: 'x'.repeat(43) };
    await waitFor(
      'the policy to be in force',
      async () => (await this.create(planner, 'probe', probe, '?dryRun=All')).status === 403,
    );
  }

  create(user: KubeHttp, name: string, spec: object, query = ''): Promise<KubeAnswer> {
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SnapshotRestore', metadata: { name }, spec };
    return user.send({ method: 'POST', path: `${this.path()}${query}`, body });
  }

  patch(user: KubeHttp, name: string, body: object): Promise<KubeAnswer> {
    return user.send({ method: 'PATCH', path: this.path(name), contentType: 'application/merge-patch+json', body });
  }

  /** The SnapshotRestores of the namespace, or one of them. */
  path(name?: string): string {
    const all = `/apis/keyframe.dev/v1alpha1/namespaces/${this.namespace}/snapshotrestores`;
    return name === undefined ? all : `${all}/${name}`;
  }
}
