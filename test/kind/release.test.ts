import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { type Cluster, startCluster } from '../../tools/devcluster/cluster/cluster.ts';
import { loadIntoKind } from '../../tools/devcluster/cluster/kind-image.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { makeImage } from '../../tools/devcluster/image/make-image.ts';
import { chartFolder, runHelm } from '../support/cluster/helm.ts';
import { testBase } from '../support/node/built-image.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { type SecretObject, secretValues } from '../support/cluster/secret-watch.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** The built image and the chart on a kind cluster of its own: it needs Docker, kind and a way to PostgreSQL's image. */

const resources = new AsyncDisposableStack();
const namespace = 'keyframe';
const release = ['keyframe', '--namespace', namespace];
const place = [...release, '--wait', '--timeout', '5m'];
const installMinutes = 20;
let cluster: Cluster;
let kube: KubeHttp;
let settings: string[];

beforeAll(async () => {
  cluster = await startCluster({ sources: ['kind'], endOnSignals: false });
  resources.defer(() => cluster.stop());
  kube = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => kube.close());
  const repository = 'localhost/keyframe';
  const output = join(cluster.runFolder, 'keyframe.tar');
  const { file } = await makeImage({ tag: `${repository}:kind`, base: testBase, output });
  loadIntoKind(cluster, file);
  await makeNamespace();
  await makeSecrets();
  const values = join(checkoutDirectory, 'test', 'kind', 'values.yaml');
  settings = ['--values', values, '--set', `image.repository=${repository},image.tag=kind`];
  await runHelm(['install', ...place, chartFolder, ...settings], cluster);
}, installMinutes * 60_000);

afterAll(() => resources.disposeAsync());

async function makeNamespace(): Promise<void> {
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels } };
  await kube.json({ method: 'POST', path: '/api/v1/namespaces', body });
}

async function makeSecrets(): Promise<void> {
  const password = randomBytes(24).toString('hex');
  const url = `postgresql://keyframe:${password}@keyframe-postgres:5432/keyframe`;
  const secrets = {
    'keyframe-root-key': { 'root-key': `main:${randomBytes(32).toString('base64')}` },
    'keyframe-postgres': { password, url },
  };
  for (const [name, stringData] of Object.entries(secrets)) {
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
    await kube.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/secrets`, body });
  }
}

/** What the API answers to the first administrator's write of a secret of the quickstart's environment, from the pod. */
async function write(key: string, value: string): Promise<string> {
  const script = `fetch('http://127.0.0.1:8700/api/v1/secrets/demo/shop/production/${key}', {
    method: 'PUT',
    headers: {
      authorization: 'Bearer ' + fs.readFileSync('/var/run/keyframe/admin-token', 'utf8').trim(),
      'content-type': 'application/json',
    },
    body: JSON.stringify({ value: '${value}' }),
  }).then((answer) => console.log(answer.status))`;
  const exec = ['--namespace', namespace, 'exec', 'deployment/keyframe', '--', 'node', '-e', script];
  return (await runKubectl(cluster, exec)).trim();
}

async function synced(): Promise<Record<string, string>> {
  const secret = await kube.json<SecretObject>({ path: '/api/v1/namespaces/default/secrets/quickstart' });
  return Object.fromEntries(secretValues(secret));
}

test('the quickstart’s Secret is there, and follows a change', async () => {
  await runKubectl(cluster, ['apply', '--filename', join(checkoutDirectory, 'examples', 'quickstart.yaml')]);
  await runKubectl(cluster, ['wait', '--for=condition=Ready', '--timeout=60s', 'secretsync/quickstart']);
  expect(await write('GREETING', 'hello')).toBe('201');
  await waitFor('the Secret to follow', async () => (await synced())['GREETING'] === 'hello');
}, 120_000);

test('an upgrade brings a second replica, one of which leads', async () => {
  await runHelm(['upgrade', ...place, chartFolder, ...settings, '--set', 'replicas=2'], cluster);
  const { status } = await kube.json<{ status: { readyReplicas?: number } }>({
    path: `/apis/apps/v1/namespaces/${namespace}/deployments/keyframe`,
  });
  expect(status.readyReplicas).toBe(2);
  const lease = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/keyframe-controller`;
  const { spec } = await kube.json<{ spec: { holderIdentity: string } }>({ path: lease });
  expect(spec.holderIdentity).toMatch(/^keyframe-/);
}, 400_000);

test('uninstalling leaves the definitions, the database’s volume and the Secret', async () => {
  await runHelm(['uninstall', ...place], cluster);
  expect(await synced()).toEqual({ GREETING: 'hello' });
  const get = ['--namespace', namespace, 'get', '--output=name'];
  expect(await runKubectl(cluster, [...get, 'crd/secretsyncs.keyframe.dev'])).toContain('secretsyncs');
  expect(await runKubectl(cluster, [...get, 'persistentvolumeclaims'])).toContain('postgres');
}, 400_000);
