/** The keys that sign a cluster's ServiceAccount tokens reach the server, also a second one. */
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { requestToken } from '../../tools/devcluster/cluster/controller-account.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { query } from '../support/cluster/resource-rows.ts';
import { signWithNewKey } from '../support/cluster/signing-key.ts';
import { Stack } from '../support/cluster/stack.ts';
import { MovedClock } from '../support/faults/moved-clock.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const iss = 'https://kubernetes.default.svc';
let cluster: Cluster;
let stack: Stack;
let clock: MovedClock;
let kube: KubeHttp;

beforeAll(async () => {
  cluster = await startOwnCluster(resources);
  kube = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => kube.close());
  // Then the chart's rights alone allow it.
  const binding = 'clusterrolebindings/system:service-account-issuer-discovery';
  await kube.json({ method: 'DELETE', path: `/apis/rbac.authorization.k8s.io/v1/${binding}` });
  stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: cluster.kubeconfig });
  clock = new MovedClock(resources, 0);
  const kubeconfigFile = join(cluster.runFolder, 'controller.kubeconfig');
  const env = { CLUSTER_NAME: 'home', NAMESPACE: 'keyframe' };
  await stack.startController({ clock, kubeconfigFile, env, isClusterWide: true });
});

afterAll(() => resources.disposeAsync());

/** The keys that the server has, once there are so many. */
async function waitForKeys(count: number): Promise<JSONWebKeySet> {
  return await waitFor(`${count} keys of the cluster`, async () => {
    // The controller then says hello at once.
    clock.move(1);
    const sql = 'SELECT iss, keys FROM trusted_issuer WHERE cluster = $1';
    const [row] = await query<{ iss: string; keys: JSONWebKeySet }>(stack.databaseUrl, sql, ['home']);
    if (row?.keys.keys.length !== count) return undefined;
    expect(row.iss).toBe(iss);
    return row.keys;
  });
}

/** The id of the key that verifies a new token of a ServiceAccount. */
async function verifyNewToken(keys: JSONWebKeySet): Promise<string | undefined> {
  const token = await requestToken(kube, { namespace: 'default', name: 'default', seconds: 600 });
  const { payload } = await jwtVerify(token, createLocalJWKSet(keys), { issuer: iss });
  expect(payload.sub).toBe('system:serviceaccount:default:default');
  return decodeProtectedHeader(token).kid;
}

test('the key of a real API server verifies a token, and a second key does after a restart with it', async () => {
  const first = await verifyNewToken(await waitForKeys(1));
  await signWithNewKey(cluster, { keepsFormer: true });
  const keys = await waitForKeys(2);
  const second = await verifyNewToken(keys);
  expect(second).not.toBe(first);
  expect(keys.keys.map(({ kid }) => kid)).toContain(first);
  const facts = await query(stack.databaseUrl, 'SELECT generation, keys_version FROM trusted_issuer');
  expect(facts).toEqual([{ generation: 1, keys_version: 2 }]);
});
