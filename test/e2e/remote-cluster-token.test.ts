/** A real API server signs the token that proves a remote cluster, until it signs with another key. */
import { randomUUID } from 'node:crypto';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ClusterView } from '../../src/wire/clusters.ts';
import { ensureBinaries } from '../../tools/devcluster/cluster/build.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { requestToken } from '../../tools/devcluster/cluster/controller-account.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { HttpClient } from '../support/api/http.ts';
import { CliRunner } from '../support/cli/cli.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { signWithNewKey } from '../support/cluster/signing-key.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const account = { namespace: 'default', name: 'default' };
let cluster: Cluster;
let stack: Stack;
let kube: KubeHttp;
let cli: CliRunner;
let env: Record<string, string>;

beforeAll(async () => {
  cluster = await startOwnCluster(resources);
  kube = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => kube.close());
  stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: cluster.kubeconfig });
  const { adminToken } = stack;
  cli = await CliRunner.create({ url: stack.admin.url, token: { reveal: () => adminToken } });
  resources.defer(() => cli.remove());
  const { kubectl } = await ensureBinaries(['kubectl'], { env: process.env, output: process.stderr });
  const path = [dirname(kubectl), dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter);
  env = { PATH: path, KUBECONFIG: cluster.kubeconfig, KUBECACHEDIR: join(cluster.runFolder, 'kubectl-cache') };
});

afterAll(() => resources.disposeAsync());

async function register(verb: 'create' | 'update', ...options: readonly string[]): Promise<ClusterView> {
  const words = ['cluster', verb, 'fra-1', '--kube-context', 'keyframe', '--yes', ...options];
  return await cli.json<ClusterView>(words, { env });
}

/** The status of a hello with a new token of the account. */
async function helloStatus(audience: string, uid: string): Promise<number> {
  const token = await requestToken(kube, { ...account, seconds: 3_600, audience });
  const hello = { uid, isLeading: true, kinds: [], release: '1.0.0', protocol: { min: 1, max: 1 } };
  const headers = { 'keyframe-cluster': 'fra-1', 'keyframe-process': randomUUID() };
  return (await new HttpClient(stack.admin.url, token).send('POST', '/cluster/hello', hello, headers)).status;
}

/** The API server signs with another key, and lists no other one. */
async function replaceKey(): Promise<void> {
  await signWithNewKey(cluster, { keepsFormer: false });
  const path = '/apis/keyframe.dev/v1alpha1/accessgrants';
  await waitFor('our resources', async () => (await kube.send({ method: 'GET', path })).status === 200);
}

test('a ServiceAccount of the registered cluster is let in, and after a new key only once that is registered', async () => {
  const { registration } = await register('create', '--namespace', 'default', '--service-account', 'default');
  const { audience = '', uid } = registration ?? {};
  expect(registration).toMatchObject({ subject: 'system:serviceaccount:default:default', jwksUrl: null });
  expect(await helloStatus(audience, uid ?? '')).toBe(200);
  expect(await helloStatus('https://kubernetes.default.svc', uid ?? '')).toBe(401);
  await replaceKey();
  expect(await helloStatus(audience, uid ?? '')).toBe(401);
  const updated = await register('update');
  expect(updated.registration).toMatchObject({ uid, generation: 2 });
  expect(await helloStatus(audience, uid ?? '')).toBe(200);
});
