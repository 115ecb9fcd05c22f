import { randomBytes } from 'node:crypto';
import type { Cluster } from '../../../tools/devcluster/cluster/cluster.ts';
import { requestToken } from '../../../tools/devcluster/cluster/controller-account.ts';
import { KubeHttp } from '../../../tools/devcluster/cluster/kube-http.ts';

/** What a test file knows of the one cluster of a jest run. */
export interface SharedCluster extends Pick<
  Cluster,
  'how' | 'kubeconfig' | 'url' | 'caFile' | 'auditLog' | 'runFolder' | 'passedOver'
> {
  /** Of the ServiceAccount with the rights that the chart gives the controller. */
  readonly controllerKubeconfig: string;
}

/** Where the tests find it: JSON, set by the global setup in this process and inherited by jest's workers. */
export const clusterVariable = 'KEYFRAME_TEST_CLUSTER';

let admin: KubeHttp | undefined;

/** Throws where the suite's global setup has started no cluster. */
export function sharedCluster(): SharedCluster {
  const text = process.env[clusterVariable];
  if (text === undefined) throw new Error('No cluster was started: the global setup of the end-to-end suite does it.');
  return JSON.parse(text) as SharedCluster;
}

/** Speaks to the shared cluster as its administrator. */
export function adminClient(): KubeHttp {
  admin ??= new KubeHttp(sharedCluster().kubeconfig);
  return admin;
}

/** The kubeconfig file by which the controller under test is to connect. */
export function controllerKubeconfig(): string {
  return sharedCluster().controllerKubeconfig;
}

/** Makes a namespace, unlike any other unless its name is given; answers its name. */
export async function createNamespace(
  client: KubeHttp = adminClient(),
  name: string = `test-${randomBytes(5).toString('hex')}`,
): Promise<string> {
  await client.json({
    method: 'POST',
    path: '/api/v1/namespaces',
    body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
  });
  return name;
}

/** Has the namespace deleted with all that is in it, and does not wait for that. */
export async function deleteNamespace(name: string, client: KubeHttp = adminClient()): Promise<void> {
  await client.find({ method: 'DELETE', path: `/api/v1/namespaces/${name}` });
}

/**
 * Ends a test's use of a namespace. The clusters of a run are removed with everything in them, so only a cluster that was there
 * before has it deleted. Deletions are costly: the namespace controller lists every kind of resource, and does so again every
 * few seconds for as long as a resource keeps the finalizer of a controller that has ended.
 */
export async function discardNamespace(name: string, client: KubeHttp = adminClient()): Promise<void> {
  const text = process.env[clusterVariable];
  if (text !== undefined && (JSON.parse(text) as SharedCluster).how === 'explicit') await deleteNamespace(name, client);
}

/** Makes a ServiceAccount without any rights of its own; answers its token. */
export async function createAccount(
  namespace: string,
  name: string,
  client: KubeHttp = adminClient(),
): Promise<string> {
  await client.json({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
    body: { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } },
  });
  return requestToken(client, { namespace, name, seconds: 3600 });
}
