/** @default The init Job makes the Secrets of a release once, and reports the rights that it lacks. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { RootKeys } from '../../src/crypto/root-keys.ts';
import { authorityFault } from '../../src/lib/certificate.ts';
import { parseToken } from '../../src/crypto/token.ts';
import { Canary } from '../support/fixtures/canary.ts';
import { ChartHook } from '../support/cluster/chart-hook.ts';
import { adminClient, createNamespace, discardNamespace, sharedCluster } from '../support/cluster/cluster.ts';
import { type SecretObject, secretValues } from '../support/cluster/secret-watch.ts';

/** The role init, under the account and with the variables that the chart gives it. */

const resources = new AsyncDisposableStack();
const names = [
  'keyframe-root-key',
  'keyframe-postgres',
  'keyframe-postgres-run',
  'keyframe-admin',
  'keyframe-cluster-token',
  'keyframe-cluster-tls',
];
let kube: KubeHttp;
let namespace: string;
let init: ChartHook;

beforeAll(() => {
  kube = adminClient();
});

beforeEach(async () => {
  const made = await createNamespace();
  namespace = made;
  resources.defer(() => discardNamespace(made));
  init = await ChartHook.make(resources, {
    cluster: sharedCluster(),
    kube,
    template: 'init.yaml',
    rendering: { namespace },
  });
});

afterAll(() => resources.disposeAsync());

const path = (name = ''): string => `/api/v1/namespaces/${namespace}/secrets${name === '' ? '' : `/${name}`}`;

function secret(name: string): Promise<SecretObject | undefined> {
  return kube.find<SecretObject>({ path: path(name) });
}

async function valuesOf(name: string): Promise<Record<string, string>> {
  const found = await secret(name);
  return found === undefined ? {} : Object.fromEntries(secretValues(found));
}

async function create(name: string, stringData: Readonly<Record<string, string>>): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
  await kube.json({ method: 'POST', path: path(), body });
}

async function versions(): Promise<(string | undefined)[]> {
  return await Promise.all(names.map(async (name) => (await secret(name))?.metadata.resourceVersion));
}

/** All values that are now in the Secrets. */
async function allValues(): Promise<string[]> {
  return (await Promise.all(names.map(valuesOf))).flatMap((values) => Object.values(values));
}

/** Of no release, so that none takes it along when it goes; and of no application that Argo CD might prune. */
function expectOwn(name: string, metadata: SecretObject['metadata'] | undefined): void {
  expect(metadata).not.toHaveProperty('ownerReferences');
  expect(metadata).not.toHaveProperty('annotations');
  expect(metadata?.labels).toEqual({
    'app.kubernetes.io/name': 'keyframe',
    'app.kubernetes.io/component': name.replace(/^keyframe-|-run$/g, ''),
    'app.kubernetes.io/part-of': 'keyframe',
    'app.kubernetes.io/managed-by': 'keyframe-server',
  });
}

/** Nothing of the Secrets' values is in the output, or in an Event. */
async function expectNoTrace(output: string): Promise<void> {
  const { items } = await kube.json<{ items: unknown[] }>({ path: `/api/v1/namespaces/${namespace}/events` });
  const said = Buffer.from(output + JSON.stringify(items));
  const values = (await allValues()).filter((value) => value !== 'admin@keyframe.test');
  expect(values).toHaveLength(9);
  for (const value of values) {
    const canary = new Canary(value.replace(/=+$/, ''));
    expect(canary.traces(said)).toEqual([]);
    // Positive control: it would be found.
    expect(canary.traces(Buffer.from(`"${value}"`)).length).toBeGreaterThan(0);
  }
}

describe('in a namespace without Secrets', () => {
  test('it makes all, which the server can read, and a second run leaves them as they are', async () => {
    const { code, output } = await init.run({ LOG_LEVEL: 'debug' });
    expect(code).toBe(0);
    const rootKeys = RootKeys.parse((await valuesOf('keyframe-root-key'))['root-key'] ?? '');
    expect(rootKeys.ids).toEqual([expect.stringMatching(/^root-[0-9a-f]{8}$/)]);
    const { password = '', url } = await valuesOf('keyframe-postgres');
    expect(password).toMatch(/^[0-9a-f]{48}$/);
    expect(url).toBe(`postgresql://keyframe:${password}@keyframe-postgres:5432/keyframe`);
    const run = (await valuesOf('keyframe-postgres-run'))['url'] ?? '';
    expect(run).toMatch(/^postgresql:\/\/keyframe_app:[0-9a-f]{48}@keyframe-postgres:5432\/keyframe$/);
    expect(run).not.toContain(password);
    const { token = '', email } = await valuesOf('keyframe-admin');
    expect(parseToken(token)).toMatchObject({ kind: 'personal_token' });
    expect(email).toBe('admin@keyframe.test');
    const home = (await valuesOf('keyframe-cluster-token'))['token'] ?? '';
    expect(parseToken(home)).toMatchObject({ kind: 'cluster' });
    const { 'tls.crt': cert = '', 'tls.key': key = '', 'ca.crt': shown } = await valuesOf('keyframe-cluster-tls');
    expect([authorityFault({ cert, key }, '', Date.now()), shown]).toEqual([undefined, cert]);
    await expectNoTrace(output);
    for (const name of names) expectOwn(name, (await secret(name))?.metadata);
    const before = await versions();
    expect(await init.run()).toMatchObject({ code: 0 });
    expect(await versions()).toEqual(before);
  });

  test('several at once make each Secret once, and none fails', async () => {
    const runs = await Promise.all(Array.from({ length: 3 }, () => init.run()));
    expect(runs.map(({ code }) => code)).toEqual([0, 0, 0]);
    const made = runs.flatMap(({ output }) => output.match(/the Secret was created/g) ?? []);
    expect(made).toHaveLength(names.length);
  });
});

describe('where Secrets are there already', () => {
  test('it keeps them, whatever they hold, and makes the others', async () => {
    await create('keyframe-root-key', { 'root-key': 'what an operator put there' });
    await create('keyframe-postgres', { password: 'p', url: 'u', more: 'm' });
    expect(await init.run()).toMatchObject({ code: 0 });
    expect(await valuesOf('keyframe-root-key')).toEqual({ 'root-key': 'what an operator put there' });
    expect(await valuesOf('keyframe-postgres')).toEqual({ password: 'p', url: 'u', more: 'm' });
    expect(await secret('keyframe-admin')).toBeDefined();
  });

  test('one that lacks its key is an error that says what to do, and stays as it is', async () => {
    for (const [name, content, complaint] of [
      ['keyframe-root-key', { other: 'canary-value' }, 'without the key root-key'],
      ['keyframe-root-key', { 'root-key': '' }, 'without the key root-key'],
      ['keyframe-postgres', { passwort: 'canary-value' }, 'without the keys password, url'],
      ['keyframe-postgres-run', { uri: 'canary-value' }, 'without the key url'],
      ['keyframe-admin', { email: 'canary-value' }, 'without the key token'],
      ['keyframe-cluster-token', { home: 'canary-value' }, 'without the key token'],
      ['keyframe-cluster-tls', { 'ca.crt': 'canary-value' }, 'without the keys tls.crt, tls.key'],
    ] as const) {
      await kube.find({ method: 'DELETE', path: path(name) });
      await create(name, content);
      const { code, output } = await init.run();
      expect(code).toBe(1);
      expect(output).toContain(`keyframe-server: the Secret ${namespace}/${name} exists ${complaint}`);
      expect(output).toMatch(/Put the .*delete the Secret/);
      expect(output).not.toContain('canary-value');
      expect(await valuesOf(name)).toEqual(content);
      await kube.find({ method: 'DELETE', path: path(name) });
    }
  });
});

test('without its rights it makes nothing and says which call was refused', async () => {
  const elsewhere = await createNamespace();
  resources.defer(() => discardNamespace(elsewhere));
  const { code, output } = await init.run({ NAMESPACE: elsewhere });
  expect(code).toBe(1);
  expect(output).toMatch(
    /^keyframe-server: the API server of the cluster refused GET \S+\/secrets\/keyframe-root-key: 403/m,
  );
});

test('with every Secret existing, or init switched off, nothing is rendered for it', async () => {
  for (const settings of [
    ['init.enabled=false', 'controller.separate=false'],
    [
      'rootKey.existingSecret=a',
      'postgres.existingSecret=b',
      'postgres.runSecret=d',
      'bootstrap.existingSecret=c',
      'clusterTls.existingSecret=e',
      'controller.token.existingSecret=f',
    ],
    [
      'rootKey.existingSecret=a',
      'postgres.enabled=false',
      'database.existingSecret=b',
      'bootstrap.adminEmail=',
      'controller.separate=false',
    ],
  ]) {
    const more = settings.flatMap((setting) => ['--set', setting]);
    const rendering = { namespace, more };
    const made = ChartHook.make(resources, { cluster: sharedCluster(), kube, template: 'init.yaml', rendering });
    // Helm's word for a template that renders nothing.
    await expect(made).rejects.toMatchObject({ stderr: expect.stringContaining('could not find template') });
  }
});
