/** @default The chart of a release installs on a node, and its SecretSync gives a pod variables and files that follow a change. */
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { apply } from '../../tools/devcluster/cluster/apply.ts';
import { freePort } from '../../tools/free-port.ts';
import { applyQuickstart, awaitSecret } from '../../tools/start/quickstart.ts';
import { makeSample, sample } from '../../tools/start/sample.ts';
import { commandsIn, followNotes } from './chart-notes.ts';
import { CliRunner } from '../support/cli/cli.ts';
import { Consumer } from './consumer.ts';
import { heldByContainer } from './container-holdings.ts';
import { followPodSection } from './documented-pod.ts';
import { NodeSite } from '../support/node/node-site.ts';
import { Release } from '../support/node/release.ts';
import { Canary } from '../support/fixtures/canary.ts';
import { testInFull } from '../support/fixtures/test-size.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// One story: each test goes on where the one before has ended.

const patience = { timeoutMs: 90_000, pollMs: 200 };
const { organization, project, environment } = sample;
const secretsPath = `/secrets/${organization}/${project}/${environment}`;
const definitionFiles = readdirSync(join(checkoutDirectory, 'crds')).filter((name) => name.endsWith('.yaml'));
const apiVersion = 'keyframe.dev/v1alpha1';
const group = `/apis/${apiVersion}`;

const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);
let release: Release;
let application: string;
let consumer: Consumer;

beforeAll(async () => {
  release = await Release.install(site, resources);
  application = await site.makeNamespace('restricted');
});

afterAll(() => resources.disposeAsync());

async function change(key: string, value: string): Promise<void> {
  const { client } = await release.admin();
  await client.call('PUT', `${secretsPath}/${key}`, { value });
}

async function values(): Promise<Record<string, string>> {
  const { client } = await release.admin();
  const { secrets } = await client.call<{ secrets: readonly { key: string; value: string }[] }>('GET', secretsPath);
  return Object.fromEntries(secrets.map(({ key, value }) => [key, value]));
}

/** All that hold up a deletion, as `kind name: finalizers`. */
async function finalizersIn(namespace: string): Promise<string[]> {
  const line = '{.kind} {.metadata.name}: {.metadata.finalizers[*]}';
  const all = ['-n', namespace, 'get', 'secretsyncs,servicetokens,secretsnapshots'];
  const printed = await site.kubectl([...all, '-o', `jsonpath={range .items[*]}${line}{"\\n"}{end}`]);
  return (printed.match(/^.*: .+$/gm) ?? []).sort();
}

describe('The chart, installed on a node with its defaults', () => {
  test('makes its Secrets, and runs in pods that are ready, under «restricted»', async () => {
    const { items } = await site.kube.json<{ items: readonly PodObject[] }>({
      path: `/api/v1/namespaces/${release.namespace}/pods`,
    });
    const reported = items.map(({ metadata, status }) => ({
      component: metadata.labels?.['app.kubernetes.io/component'],
      ready: status.conditions.find(({ type }) => type === 'Ready')?.status,
      restarts: status.containerStatuses.map(({ restartCount }) => restartCount),
    }));
    expect(reported.toSorted((a, b) => String(a.component).localeCompare(String(b.component)))).toEqual([
      { component: 'controller', ready: 'True', restarts: [0] },
      { component: 'controller', ready: 'True', restarts: [0] },
      { component: 'postgres', ready: 'True', restarts: [0] },
      { component: 'server', ready: 'True', restarts: [0] },
    ]);
    const made = ['get', 'secrets', '--field-selector', 'type=Opaque', '-o', 'name'];
    expect((await site.kubectl(['-n', release.namespace, ...made])).trim().split('\n')).toEqual([
      'secret/keyframe-admin',
      'secret/keyframe-cluster-tls',
      'secret/keyframe-cluster-token',
      'secret/keyframe-postgres',
      'secret/keyframe-postgres-run',
      'secret/keyframe-root-key',
    ]);
  });

  test('gives the container of the controller nothing with which it could decrypt or open the database', async () => {
    const { namespace } = release;
    const api = await heldByContainer(site, { namespace, deployment: 'keyframe' });
    const controller = await heldByContainer(site, { namespace, deployment: 'keyframe-controller' });
    const secrets = { 'keyframe-root-key': 'root-key', 'keyframe-postgres-run': 'url' };
    for (const [name, key] of Object.entries(secrets)) {
      const canary = new Canary((await site.secretValue(namespace, name, key)).trim());
      expect([name, canary.traces(controller)]).toEqual([name, []]);
      // Positive control: the API has it.
      expect([name, canary.traces(api).length > 0]).toEqual([name, true]);
    }
    expect(controller.toString()).not.toMatch(/KEYFRAME_(?:DATABASE|ROOT_KEY)|postgresql:|root-key|\/database/);
    const token = await site.secretValue(namespace, 'keyframe-cluster-token', 'token');
    expect(controller.includes(token)).toBe(true);
  });

  test('answers through its Service, as the first administrator whose token it has put into a Secret', async () => {
    const { client } = await release.admin();
    expect(await client.call('GET', '/me')).toMatchObject({ type: 'user', instanceAdmin: true });
    expect((await client.as('nonsense').send('GET', '/me')).status).toBe(401);
  });

  test('comes from the files of a release alone, whose checksums hold and whose command works with it', async () => {
    const files = site.node.release;
    const { version } = JSON.parse(readFileSync(join(checkoutDirectory, 'package.json'), 'utf8')) as {
      version: string;
    };
    const names = ['image.tar', 'notes.md'].map((name) => `keyframe-${version}-${name}`);
    const others = [`keyframe-${version}.cdx.json`, `keyframe-${version}.tgz`];
    expect(readdirSync(files).toSorted()).toEqual(['SHA256SUMS', 'keyframe', ...names, ...others]);
    execFileSync('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: files });
    const { token } = await release.admin();
    const url = await release.url();
    const cli = new CliRunner(join(files, 'keyframe'), { url, token: { reveal: () => token } });
    resources.defer(() => cli.remove());
    expect(await cli.output(['--version'])).toBe(`${version}\n`);
    expect(await cli.output(['whoami', '--insecure-http'])).toContain('admin@keyframe.test');
  });

  test('prints commands that work as they are, helm’s test of the release among them', async () => {
    expect(commandsIn(release.notes)).toHaveLength(5);
    const cli = await CliRunner.create();
    resources.defer(() => cli.remove());
    const end = await followNotes(release.notes, { cli, cluster: site.node, port: await freePort() });
    expect(end).toMatchObject({ code: 0 });
    expect(end.stdout).toMatch(
      /successfully rolled out[^]*Forwarding from[^]*admin@keyframe\.test[^]*Phase: +Succeeded/,
    );
  });

  test('takes the token of a ServiceAccount from the pod of docs/ci.md, which runs as it is printed', async () => {
    const { client } = await release.admin();
    await client.call('POST', '/organizations', { slug: 'acme' });
    await client.call('POST', '/projects/acme', { slug: 'shop' });
    await client.call('POST', '/environments/acme/shop', { slug: 'production' });
    const value = 'postgres://report@db.example:5432/shop';
    await client.call('PUT', '/secrets/acme/shop/production/DATABASE_URL', { value });
    expect(await followPodSection(site, release, application)).toBe('db.example:5432\n');
  });

  test('gives an application what the quickstart syncs, as variables and as files', async () => {
    await makeSample((await release.admin()).api);
    await applyQuickstart(site.kube, { namespace: application });
    const keys = await awaitSecret(site.kube, application);
    consumer = await Consumer.deploy(site, application, { name: 'app', secret: 'quickstart' });
    const { variables, files } = await consumer.look();
    const expected = await values();
    expect(keys).toEqual(Object.keys(expected).sort());
    expect(files).toEqual(expected);
    expect(variables).toMatchObject(expected);
  });

  test('brings a change to the files of a pod that runs on', async () => {
    const before = await consumer.look();
    await change('LOG_LEVEL', 'of the file');
    const after = await waitFor('the file to change', async () => await lookFor('files', 'of the file'), patience);
    expect(after.pod).toBe(before.pod);
    expect(after.variables['LOG_LEVEL']).toBe('info');
  });

  testInFull(
    'brings a change to the variables by a restart, where the chart allows those and spec.rollout names the workload',
    async () => {
      const before = await consumer.look();
      await release.upgrade({ rollouts: 'true' });
      const spec = { rollout: { targets: [{ kind: 'Deployment', name: 'app' }] } };
      await patchSync({ spec });
      await change('LOG_LEVEL', 'of the variable');
      const after = await waitFor('a new pod', async () => await lookFor('variables', 'of the variable'), patience);
      expect(after.pod).not.toBe(before.pod);
      await site.kubectl([
        '-n',
        application,
        'wait',
        '--for=condition=Converged',
        'secretsync/quickstart',
        '--timeout=60s',
      ]);
    },
  );

  testInFull(
    'leaves data, definitions and Secrets when it is uninstalled, and no namespace hangs that is deleted then',
    async () => {
      await makeToken(application, 'reader');
      const doomed = await makeResourcesWithFinalizers();
      expect(await finalizersIn(doomed)).toEqual([
        'SecretSnapshot doomed: keyframe.dev/cleanup',
        'ServiceToken doomed-token: keyframe.dev/cleanup',
      ]);
      await release.uninstall();
      expect(await finalizersIn(doomed)).toEqual([]);
      expect(await site.secretValue(application, 'quickstart', 'LOG_LEVEL')).toBe('of the variable');
      const definitions = await site.kubectl(['get', 'customresourcedefinitions', '-o', 'name']);
      expect(definitions.match(/\.keyframe\.dev$/gm)).toHaveLength(definitionFiles.length);
      const running = ['-n', release.namespace, 'get', 'pods,jobs', '-o', 'name'];
      await waitFor('the pods to be gone', async () => (await site.kubectl(running)) === '', patience);
      await site.kubectl(['delete', 'namespace', doomed, '--timeout=60s']);
    },
  );

  testInFull('goes on with the same root key, values and tokens when it is installed again', async () => {
    const left = await secretsLeft();
    const token = await site.secretValue(application, 'reader', 'token');
    await release.installAgain();
    expect(await secretsLeft()).toEqual(left);
    expect(await values()).toMatchObject({ LOG_LEVEL: 'of the variable' });
    const { client } = await release.admin();
    expect(await client.as(token).call('GET', secretsPath)).toMatchObject({ secrets: expect.any(Array) });
    await change('LOG_LEVEL', 'after all');
    await waitFor(
      'the Secret',
      async () => (await site.secretValue(application, 'quickstart', 'LOG_LEVEL')) === 'after all',
      patience,
    );
    expect(await site.secretValue(application, 'reader', 'token')).toBe(token);
  });
});

async function lookFor(where: 'files' | 'variables', value: string): Promise<ReturnType<Consumer['look']> | false> {
  const seen = await consumer.look();
  return seen[where]['LOG_LEVEL'] === value && seen;
}

async function patchSync(patch: object): Promise<void> {
  await site.kube.json({
    method: 'PATCH',
    path: `${group}/namespaces/${application}/secretsyncs/quickstart`,
    contentType: 'application/merge-patch+json',
    body: patch,
  });
}

/** A namespace with one resource of each kind that can hold up its deletion, all of them ready. */
async function makeResourcesWithFinalizers(): Promise<string> {
  const namespace = await site.makeNamespace('restricted');
  await makeToken(namespace, 'doomed-token');
  const environmentRef = { organization, project, name: environment };
  await make(namespace, 'doomed', 'SecretSync', { environmentRef, target: { deletionPolicy: 'Delete' } });
  await make(namespace, 'doomed', 'SecretSnapshot', { source: { environmentRef }, deletionPolicy: 'Delete' });
  return namespace;
}

/** An AccessGrant for a namespace and a ServiceToken in it that is ready, both of this name. */
async function makeToken(namespace: string, name: string): Promise<void> {
  const rule = { organization, project, environments: [environment] };
  const environmentRef = { organization, project, name: environment };
  const rules = [{ ...rule, permission: 'ReadWrite', kinds: ['ServiceToken', 'SecretSnapshot'] }];
  const grant = { apiVersion, kind: 'AccessGrant', metadata: { name }, spec: { namespaces: [namespace], rules } };
  await apply(site.kube, `${group}/accessgrants/${name}`, grant);
  await make(namespace, name, 'ServiceToken', { scope: 'Environment', environmentRef });
}

/** Makes a resource and waits until it is ready. */
async function make(namespace: string, name: string, kind: string, spec: object): Promise<void> {
  const plural = `${kind.toLowerCase()}s`;
  const path = `${group}/namespaces/${namespace}/${plural}/${name}`;
  await apply(site.kube, path, { apiVersion, kind, metadata: { name }, spec });
  await site.waitReady(namespace, `${plural}/${name}`);
}

/** What the first installation has made, as it is. */
async function secretsLeft(): Promise<string[]> {
  const names = [
    ['keyframe-root-key', 'root-key'],
    ['keyframe-postgres', 'password'],
    ['keyframe-postgres-run', 'url'],
    ['keyframe-admin', 'token'],
    ['keyframe-cluster-tls', 'tls.key'],
  ] as const;
  return await Promise.all(names.map(([name, key]) => site.secretValue(release.namespace, name, key)));
}

interface PodObject {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
  readonly status: {
    readonly conditions: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses: readonly { readonly restartCount: number }[];
  };
}
