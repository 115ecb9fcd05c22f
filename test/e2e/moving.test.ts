import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import type { CliRunner } from '../support/cli/cli.ts';
import { buildPatienceMs } from '../support/cluster/cluster-cache.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { PageReader } from './page-reader.ts';
import { type SecretObject, secretValues } from '../support/cluster/secret-watch.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import type { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { startWholeInstallation } from '../support/cluster/whole-installation.ts';

const resources = new AsyncDisposableStack();
const values = { API_KEY: 'of the operator', GREETING: 'grüß Gott\n' };
let stack: Stack;
let cluster: Cluster;
let cli: CliRunner;
let controller: ServerProcess;

beforeAll(async () => {
  cluster = await startOwnCluster(resources);
  // First, because the garbage collector looks for new kinds every half minute.
  await makeForeignSecret();
  ({ stack, controller, cli } = await startWholeInstallation(resources, cluster));
  await cli.output(['login', '--url', stack.api.url, '--token', '-'], { input: stack.adminToken });
}, 60_000 + buildPatienceMs);

afterAll(() => resources.disposeAsync());

const foreign = { group: 'external-secrets.io', version: 'v1' } as const;

/** What another operator has left: a kind of its own, a resource of it, and the Secret that belongs to that. */
async function makeForeignSecret(): Promise<void> {
  const kube = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => kube.close());
  await makeForeignKind(kube, 'ExternalSecret', 'Namespaced');
  await makeForeignKind(kube, 'ClusterExternalSecret', 'Cluster');
  await makeForeignTarget(kube, 'shop', []);
  const uid = await makeForeignResource(kube, 'ClusterExternalSecret');
  const owner = { apiVersion: `${foreign.group}/${foreign.version}`, kind: 'ClusterExternalSecret', name: 'web', uid };
  await makeForeignTarget(kube, 'store', [{ ...owner, controller: true }]);
}

async function makeForeignKind(kube: KubeHttp, kind: string, scope: 'Namespaced' | 'Cluster'): Promise<void> {
  const { group, version: name } = foreign;
  const singular = kind.toLowerCase();
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const versions = [{ name, served: true, storage: true, schema: { openAPIV3Schema } }];
  await kube.json({
    method: 'POST',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    body: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${singular}s.${group}` },
      spec: { group, scope, names: { kind, plural: `${singular}s`, singular }, versions },
    },
  });
}

/** Makes the resource `web` of a foreign kind, and returns its uid. */
async function makeForeignResource(
  kube: KubeHttp,
  kind: string,
  { namespace, ...metadata }: { readonly namespace?: string; readonly ownerReferences?: readonly object[] } = {},
): Promise<string> {
  const { group, version } = foreign;
  const place = namespace === undefined ? '' : `namespaces/${namespace}/`;
  const path = `/apis/${group}/${version}/${place}${kind.toLowerCase()}s`;
  const body = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'web', ...metadata } };
  return await waitFor('the kind to be served', async () => {
    const made = await kube.send({ method: 'POST', path, body });
    return made.status === 201 ? (made.body as SecretObject).metadata.uid : undefined;
  });
}

/** A namespace with an ExternalSecret and the Secret that belongs to it. */
async function makeForeignTarget(kube: KubeHttp, namespace: string, ownerReferences: readonly object[]): Promise<void> {
  await kube.json({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } });
  const uid = await makeForeignResource(kube, 'ExternalSecret', { namespace, ownerReferences });
  const owner = { apiVersion: `${foreign.group}/${foreign.version}`, kind: 'ExternalSecret', name: 'web', uid };
  await kube.json({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/secrets`,
    body: {
      metadata: {
        name: 'web-secrets',
        labels: { 'reconcile.external-secrets.io/managed': 'true' },
        annotations: { 'reconcile.external-secrets.io/data-hash': 'x', 'example.com/team': 'web' },
        ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
      },
      stringData: values,
    },
  });
}

async function find(name: string, namespace = 'shop'): Promise<SecretObject | undefined> {
  return await stack.kube.find<SecretObject>({ path: `/api/v1/namespaces/${namespace}/secrets/${name}` });
}

async function held(name: string): Promise<Record<string, string>> {
  const secret = await find(name);
  return secret === undefined ? {} : Object.fromEntries(secretValues(secret));
}

function exported(path: string): unknown {
  return JSON.parse(readFileSync(join(cli.folder, 'export', path), 'utf8'));
}

describe('docs/coming-from.md', () => {
  test('a Secret of another operator is taken over as the page says, and is the same Secret all the time', async () => {
    const reader = await PageReader.open('docs/coming-from.md', { cli, cluster });
    const before = await find('web-secrets');
    writeFileSync(join(cli.folder, '.env'), 'API_KEY=old\n');
    await reader.step('Coming from another tool');
    await reader.step('From a `.env` file');
    await reader.step('From a native Secret');
    expect(await reader.step('Compare')).toMatch(/^the same$/m);
    await reader.step('1. Create the SecretSync');
    expect(await held('web-secrets')).toEqual(values);
    expect(await reader.step('2. Stop the current owner')).toMatch(/deleted from shop namespace\n$|" deleted\n$/);
    await reader.step('3. Allow the adoption', 1);
    await reader.step('3. Allow the adoption', 2);
    expect(await held('web-secrets')).toEqual(values);
    await reader.run('keyframe set -o acme -p web -e production GREETING=hello');
    await waitFor('the Secret to follow', async () => (await held('web-secrets'))['GREETING'] === 'hello');
    const { metadata } = (await find('web-secrets')) ?? {};
    expect(metadata).toMatchObject({ uid: before?.metadata.uid, annotations: { 'example.com/team': 'web' } });
    expect(JSON.stringify(metadata)).not.toMatch(/external-secrets\.io\/|allow-adoption|ownerReferences/);
    // The last two are the next test's.
    const otherStores = ['From Doppler, 1', 'From Infisical, 1']
      .concat([1, 2, 3].map((step) => `From AWS Secrets Manager, ${step}`))
      .concat(['From Google Secret Manager, 1', 'From Azure Key Vault, 1', 'From Vault, 1', 'From Vault, 2']);
    expect(reader.untried).toEqual([...otherStores, ...clusterSteps]);
  });

  test('the Secrets of another operator in many namespaces are taken over as the page says', async () => {
    const reader = await PageReader.open('docs/coming-from.md', { cli, cluster });
    const before = await find('web-secrets', 'store');
    writeFileSync(join(cli.folder, 'many.yaml'), manyNamespaces);
    await reader.run('kubectl apply -f many.yaml');
    await reader.run(
      `kubectl wait --for=jsonpath='{.status.conditions[?(@.type=="Ready")].reason}'=TargetNotOwned -n store secretsyncs.keyframe.dev/web --timeout=60s`,
    );
    expect(await find('web-secrets', 'store')).toEqual(before);
    await reader.step('From a ClusterExternalSecret', 1);
    await reader.step('From a ClusterExternalSecret', 2);
    const secret = await find('web-secrets', 'store');
    expect(secret?.metadata).toMatchObject({ uid: before?.metadata.uid, annotations: { 'example.com/team': 'web' } });
    expect(JSON.stringify(secret?.metadata)).not.toMatch(
      /"reconcile\.external-secrets\.io\/|allow-adoption"|ownerReferences/,
    );
    expect(secret === undefined ? {} : Object.fromEntries(secretValues(secret))).toEqual(await held('web-secrets'));
  });
});

const clusterSteps = ['From a ClusterExternalSecret, 1', 'From a ClusterExternalSecret, 2'];

const manyNamespaces = `apiVersion: keyframe.dev/v1alpha1
kind: AccessGrant
metadata: { name: store }
spec:
  namespaces: [store]
  rules:
    - { organization: acme, project: web, environments: [production], kinds: [SecretSync] }
---
apiVersion: keyframe.dev/v1alpha1
kind: ClusterSecretSync
metadata: { name: web }
spec:
  namespaces: [store]
  template:
    spec:
      environmentRef: { organization: acme, project: web, name: production }
      target: { name: web-secrets }
`;

const others = `apiVersion: keyframe.dev/v1alpha1
kind: SecretEnvironment
metadata: { name: staging }
spec: { environmentRef: { organization: acme, project: web, name: staging }, deletionPolicy: Delete }
---
apiVersion: keyframe.dev/v1alpha1
kind: AccessGrant
metadata: { name: leaving }
spec:
  namespaces: [shop]
  rules:
    - { organization: acme, project: web, environments: [production] }
    - organization: acme
      project: web
      environments: [production]
      permission: ReadWrite
      kinds: [SecretSnapshot, SnapshotSchedule, SnapshotRestore]
---
apiVersion: keyframe.dev/v1alpha1
kind: ServiceToken
metadata: { name: ci, namespace: shop }
spec: { scope: Environment, environmentRef: { organization: acme, project: web, name: production } }
---
apiVersion: keyframe.dev/v1alpha1
kind: SecretSnapshot
metadata: { name: kept, namespace: shop }
spec: { source: { environmentRef: { organization: acme, project: web, name: production } }, deletionPolicy: Delete }
---
apiVersion: keyframe.dev/v1alpha1
kind: SecretSync
metadata: { name: owned, namespace: shop }
spec:
  environmentRef: { organization: acme, project: web, name: production }
  target: { deletionPolicy: Delete }
---
apiVersion: keyframe.dev/v1alpha1
kind: SnapshotSchedule
metadata: { name: yearly, namespace: shop }
spec:
  schedule: '@yearly'
  template: { spec: { source: { environmentRef: { organization: acme, project: web, name: production } } } }
---
apiVersion: keyframe.dev/v1alpha1
kind: SnapshotRestore
metadata: { name: back, namespace: shop }
spec: { snapshotRef: { name: kept } }
`;

describe('docs/leaving.md', () => {
  let reader: PageReader;
  let token: string;
  const now = { API_KEY: values.API_KEY, GREETING: 'hello' };

  beforeAll(async () => {
    reader = await PageReader.open('docs/leaving.md', { cli, cluster });
    await reader.run(`kubectl apply -f - <<'YAML'\n${others}YAML`);
    await reader.run(
      'kubectl wait --for=condition=Ready -n shop servicetokens.keyframe.dev/ci secretsnapshots.keyframe.dev/kept secretsyncs.keyframe.dev/owned',
    );
    await reader.run('kubectl wait --for=condition=Ready secretenvironments.keyframe.dev/staging');
    await reader.run(
      'kubectl wait --for=condition=Ready -n shop snapshotschedules.keyframe.dev/yearly snapshotrestores.keyframe.dev/back',
    );
    token = (await held('ci'))['token'] ?? '';
  });

  async function definitionsLeft(): Promise<string[]> {
    const names = (await reader.run('kubectl get crd -o name')).split('\n');
    return names.filter((name) => name.endsWith('.keyframe.dev'));
  }

  test('its first steps write every value, every revision and the whole audit into files', async () => {
    await reader.step('1. Export the values');
    expect(exported('acme/web/production.json')).toEqual(now);
    expect(exported('acme/web/staging.json')).toEqual({});
    // A destroyed value must not end the loop before later revisions.
    await reader.run('keyframe destroy API_KEY --version 1 -o acme -p web -e production --yes');
    await reader.step('2. Export the history and the audit', 1);
    expect(['1', '2', '3'].map((revision) => exported(`history/${revision}.json`))).toEqual([{}, values, now]);
    await reader.step('2. Export the history and the audit', 2);
    const lines = readFileSync(join(cli.folder, 'export', 'audit.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const actions = lines.map((line) => (JSON.parse(line) as { action: string }).action);
    expect(actions.at(-1)).toBe('organization.create');
    expect(actions).toContain('secret.list');
  });

  test('without our resources the Secrets stay as they are, and the tokens are dead', async () => {
    const before = await Promise.all(['web-secrets', 'owned'].map((name) => find(name)));
    expect(await stack.admin.as(token).send('GET', '/secrets/acme/web/production')).toMatchObject({ status: 200 });
    await reader.step('3. Remove the resources', 1);
    await reader.step('3. Remove the resources', 2);
    expect(await reader.step('3. Remove the resources', 3)).toBe('');
    await waitFor('the token Secrets to go', async () => (await find('ci')) === undefined);
    expect(await stack.admin.as(token).send('GET', '/secrets/acme/web/production')).toMatchObject({ status: 401 });
    for (const secret of before) {
      const { metadata } = (await find(secret?.metadata.name ?? '')) ?? {};
      expect(metadata?.uid).toBe(secret?.metadata.uid);
      expect(metadata).not.toHaveProperty('ownerReferences');
      expect(await held(secret?.metadata.name ?? '')).toEqual(now);
    }
  });

  test('without the controller a resource that its finalizer holds is released, and nothing of Keyframe is left', async () => {
    await controller.stop();
    const metadata = '{ name: ci, namespace: shop, finalizers: [keyframe.dev/cleanup] }';
    const stranded = others.split('---\n')[2]?.replace('{ name: ci, namespace: shop }', metadata) ?? '';
    await reader.run(`kubectl apply -f - <<'YAML'\n${stranded}YAML`);
    await reader.run('kubectl delete servicetokens.keyframe.dev ci -n shop --wait=false');
    await reader.step('If Keyframe is gone already');
    expect(await reader.run('kubectl get servicetokens.keyframe.dev -A -o name')).toBe('');
    expect(await definitionsLeft()).toHaveLength(
      readdirSync(join(checkoutDirectory, 'crds')).filter((name) => name.endsWith('.yaml')).length,
    );
    await reader.step('4. Remove Keyframe', 2);
    expect(await definitionsLeft()).toEqual([]);
    await reader.step('5. Remove the labels and annotations');
    expect(await reader.run('kubectl get secret -A -o yaml')).not.toContain('keyframe.dev/');
    expect(await held('owned')).toEqual(now);
    // test/e2e/chart.test.ts covers helm's part.
    expect(reader.untried).toEqual(['4. Remove Keyframe, 1']);
  });
});
