import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { checkoutDirectory } from '../../checkout.ts';
import { apply } from './apply.ts';
import { KubeHttp } from './kube-http.ts';
import { writeKubeconfigFor } from './kubeconfig.ts';

const controllerNamespace = 'keyframe';
const name = 'keyframe-controller';

/** The ServiceAccount that the controller runs under. */
export const controllerAccount = { namespace: controllerNamespace, name } as const;

/** The user name by which the API server knows the controller. */
export const controllerUser = `system:serviceaccount:${controllerNamespace}:${name}`;

export interface ControllerAccountOptions {
  readonly adminKubeconfig: string;
  /** Where the account's kubeconfig is written. */
  readonly kubeconfigFile: string;
  /** How long its token is to be valid; some clusters grant less. */
  readonly tokenSeconds: number;
}

/** Makes the ServiceAccount that the controller runs under, with exactly the rights that the chart gives it, and its kubeconfig. */
export async function createControllerAccount(options: ControllerAccountOptions): Promise<void> {
  const client = new KubeHttp(options.adminKubeconfig);
  try {
    await applyAccount(client);
    const token = await requestToken(client, { ...controllerAccount, seconds: options.tokenSeconds });
    writeKubeconfigFor(options.kubeconfigFile, options.adminKubeconfig, { name, token });
  } finally {
    client.close();
  }
}

/** A token of the controller's ServiceAccount for another audience than the API server. */
export async function requestControllerToken(
  client: KubeHttp,
  { audience, seconds }: { audience: string; seconds: number },
): Promise<string> {
  return await requestToken(client, { ...controllerAccount, audience, seconds });
}

/** A token of a ServiceAccount from the TokenRequest API, for the API server itself without an audience. */
export async function requestToken(
  client: KubeHttp,
  account: { namespace: string; name: string; seconds: number; audience?: string },
): Promise<string> {
  const { status } = await client.json<{ status: { token: string } }>({
    method: 'POST',
    path: `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`,
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: {
        expirationSeconds: account.seconds,
        ...(account.audience === undefined ? {} : { audiences: [account.audience] }),
      },
    },
  });
  return status.token;
}

/** A list of RBAC rules that the chart ships. */
function chartRules(
  file:
    | 'controller-rules.yaml'
    | 'controller-cluster-rules.yaml'
    | 'event-rules.yaml'
    | 'lease-rules.yaml'
    | 'rollout-rules.yaml',
): unknown {
  return parse(readFileSync(join(checkoutDirectory, 'charts', 'keyframe', 'files', file), 'utf8'));
}

/** Lets a ServiceAccount hold the controllers' Lease of a namespace. */
export async function allowLease(
  client: KubeHttp,
  namespace: string,
  account: { namespace: string; name: string },
): Promise<void> {
  await bindRole(client, namespace, {
    role: 'keyframe-controller-lease',
    rules: chartRules('lease-rules.yaml'),
    account,
  });
}

/** Lets a ServiceAccount record Events about what belongs to no namespace; answers the paths of what gives it that. */
export async function allowClusterEvents(
  client: KubeHttp,
  account: { namespace: string; name: string },
): Promise<string[]> {
  const role = `keyframe-controller-events-${account.namespace}`;
  return await bindRole(client, 'default', { role, rules: chartRules('event-rules.yaml'), account });
}

/** Lets a ServiceAccount restart the workloads of a namespace. */
export async function allowRollouts(
  client: KubeHttp,
  namespace: string,
  account: { namespace: string; name: string },
): Promise<void> {
  await bindRole(client, namespace, {
    role: 'keyframe-controller-rollout',
    rules: chartRules('rollout-rules.yaml'),
    account,
  });
}

async function bindRole(
  client: KubeHttp,
  namespace: string,
  { role, rules, account }: { role: string; rules: unknown; account: { namespace: string; name: string } },
): Promise<string[]> {
  const group = 'rbac.authorization.k8s.io';
  const path = `/apis/${group}/v1/namespaces/${namespace}`;
  const common = { apiVersion: `${group}/v1`, metadata: { name: role } };
  const subjects = [{ kind: 'ServiceAccount', ...account }];
  const roleRef = { apiGroup: group, kind: 'Role', name: role };
  const [rolePath, bindingPath] = [`${path}/roles/${role}`, `${path}/rolebindings/${role}`];
  await apply(client, rolePath, { ...common, kind: 'Role', rules });
  await apply(client, bindingPath, { ...common, kind: 'RoleBinding', roleRef, subjects });
  return [bindingPath, rolePath];
}

async function applyAccount(client: KubeHttp): Promise<void> {
  const core = { apiVersion: 'v1' };
  const account = { namespace: controllerNamespace, name };
  const namespacePath = `/api/v1/namespaces/${controllerNamespace}`;
  await apply(client, namespacePath, { ...core, kind: 'Namespace', metadata: { name: controllerNamespace } });
  const accountPath = `${namespacePath}/serviceaccounts/${name}`;
  await apply(client, accountPath, { ...core, kind: 'ServiceAccount', metadata: account });
  const rules = { apiVersion: rbacGroup, kind: 'ClusterRole', rules: chartRules('controller-rules.yaml') };
  await apply(client, `/apis/${rbacGroup}/clusterroles/${name}`, { ...rules, metadata: { name } });
  await bindClusterRole(client, { role: name, binding: name, account });
  await allowClusterReads(client, account, name);
  await allowLease(client, controllerNamespace, account);
}

const rbacGroup = 'rbac.authorization.k8s.io/v1';
const clusterRole = 'keyframe-controller-cluster';

/** Gives a ServiceAccount the controller's rights on what belongs to no namespace, by a ClusterRoleBinding that it answers the path of. */
export async function allowClusterReads(
  client: KubeHttp,
  account: { namespace: string; name: string },
  owner: string,
): Promise<string> {
  const rules = { apiVersion: rbacGroup, kind: 'ClusterRole', rules: chartRules('controller-cluster-rules.yaml') };
  await apply(client, `/apis/${rbacGroup}/clusterroles/${clusterRole}`, { ...rules, metadata: { name: clusterRole } });
  return await bindClusterRole(client, { role: clusterRole, binding: `${clusterRole}-${owner}`, account });
}

async function bindClusterRole(
  client: KubeHttp,
  { role, binding, account }: { role: string; binding: string; account: { namespace: string; name: string } },
): Promise<string> {
  const path = `/apis/${rbacGroup}/clusterrolebindings/${binding}`;
  await apply(client, path, {
    apiVersion: rbacGroup,
    kind: 'ClusterRoleBinding',
    metadata: { name: binding },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  return path;
}
