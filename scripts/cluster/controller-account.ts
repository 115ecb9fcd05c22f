import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { apply } from './apply.ts';
import { KubeHttp } from './kube-http.ts';
import { writeKubeconfigFor } from './kubeconfig.ts';

const controllerNamespace = 'keyframe-system';
const name = 'keyframe-controller';

/** The user name by which the API server knows the controller. */
export const controllerUser = `system:serviceaccount:${controllerNamespace}:${name}`;

export interface ControllerAccountOptions {
  readonly adminKubeconfig: string;
  /** YAML: the list of RBAC rules that the chart ships. */
  readonly rulesFile: string;
  /** Where the account's kubeconfig is written. */
  readonly kubeconfigFile: string;
  /** How long its token is to be valid; some clusters grant less. */
  readonly tokenSeconds: number;
}

/** Makes the ServiceAccount that the controller runs under, with exactly the rights that the chart gives it, and its kubeconfig. */
export async function createControllerAccount(options: ControllerAccountOptions): Promise<void> {
  const client = new KubeHttp(options.adminKubeconfig);
  try {
    await applyAccount(client, parse(readFileSync(options.rulesFile, 'utf8')));
    const token = await requestToken(client, { namespace: controllerNamespace, name, seconds: options.tokenSeconds });
    writeKubeconfigFor(options.kubeconfigFile, options.adminKubeconfig, { name, token });
  } finally {
    client.close();
  }
}

/** A token of a ServiceAccount from the TokenRequest API. */
export async function requestToken(
  client: KubeHttp,
  account: { namespace: string; name: string; seconds: number },
): Promise<string> {
  const { status } = await client.json<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: account.seconds },
    },
  });
  return status.token;
}

async function applyAccount(client: KubeHttp, rules: unknown): Promise<void> {
  const core = { apiVersion: 'v1' };
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name } };
  const subjects = [{ kind: 'ServiceAccount', namespace: controllerNamespace, name }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  const namespacePath = `/api/v1/namespaces/${controllerNamespace}`;
  const rbacPath = '/apis/rbac.authorization.k8s.io/v1';
  await apply(client, namespacePath, { ...core, kind: 'Namespace', metadata: { name: controllerNamespace } });
  const account = { ...core, kind: 'ServiceAccount', metadata: { name, namespace: controllerNamespace } };
  await apply(client, `${namespacePath}/serviceaccounts/${name}`, account);
  await apply(client, `${rbacPath}/clusterroles/${name}`, { ...rbac, kind: 'ClusterRole', rules });
  await apply(client, `${rbacPath}/clusterrolebindings/${name}`, {
    ...rbac,
    kind: 'ClusterRoleBinding',
    roleRef,
    subjects,
  });
}
