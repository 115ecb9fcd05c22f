import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CliRunner } from '../support/cli/cli.ts';
import { newRootKey } from '../support/api/services.ts';
import { makeAuthority } from '../support/fixtures/certificate.ts';
import { fencedBlocks, readPage, scriptsOf } from '../support/fixtures/documentation.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { NodeSite } from '../support/node/node-site.ts';
import { Release } from '../support/node/release.ts';
import { runAsReader } from './chart-notes.ts';
import { Consumer } from './consumer.ts';
import { PrivatePostgres } from './private-postgres.ts';

/** The production installation of docs/install.md: a PostgreSQL of a private authority, two roles, TLS in the pods, two teams. */

const patience = { timeoutMs: 120_000, pollMs: 500 };
const resources = new AsyncDisposableStack();
const site = new NodeSite(resources);
const authority = makeAuthority();
const ofServer = makeAuthority();
let postgres: PrivatePostgres;
let release: Release;
let names: readonly string[];
/** In rolloutNamespaces, and not in it. */
let inside: string;
let outside: string;

beforeAll(async () => {
  postgres = await PrivatePostgres.start(site, authority);
  await postgres.query("CREATE ROLE keyframe_app LOGIN PASSWORD 'of-servers'");
  const priority = {
    apiVersion: 'scheduling.k8s.io/v1',
    kind: 'PriorityClass',
    metadata: { name: 'urgent' },
    value: 9,
  };
  await site.kube.json({ method: 'POST', path: '/apis/scheduling.k8s.io/v1/priorityclasses', body: priority });
  resources.defer(async () => void (await site.kubectl(['delete', 'priorityclass', 'urgent'])));
  resources.defer(
    async () => void (await site.kubectl(['delete', 'namespace', 'payments', 'search', '--ignore-not-found'])),
  );
  [inside, outside] = [await site.makeNamespace('restricted'), await site.makeNamespace('restricted')];
  release = await Release.install(site, resources, settings, { isPrivate: true, prepare });
});

afterAll(() => resources.disposeAsync());

// The definitions of monitoring are not there.
const settings = {
  'ingress.enabled': 'false',
  'serviceMonitor.enabled': 'false',
  'prometheusRule.enabled': 'false',
  'database.existingSecret': 'keyframe-db-run',
  'database.migration.existingSecret': 'keyframe-db-app',
  'database.migration.key': 'uri',
  'tls.existingSecret': 'keyframe-tls',
  'service.port': '443',
};

interface JobStatus {
  readonly failed?: number;
  readonly conditions?: readonly object[];
}

async function secret(namespace: string, name: string, stringData: Readonly<Record<string, string>>): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData };
  await site.kube.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/secrets`, body });
}

/** What the page has the reader create, and its values with those of the chart that concern pods. */
async function prepare(namespace: string): Promise<readonly string[]> {
  names = [`keyframe.${namespace}`, `keyframe.${namespace}.svc`];
  const { certificate, key } = ofServer.issue({ names, addresses: [] });
  await secret(namespace, 'keyframe-root-key', { 'root-key': newRootKey() });
  await secret(namespace, 'keyframe-db-app', { uri: postgres.urlOf('keyframe', 'of-owner') });
  await secret(namespace, 'keyframe-db-run', { uri: postgres.urlOf('keyframe_app', 'of-servers') });
  await secret(namespace, 'keyframe-db-ca', { 'ca.crt': authority.certificate });
  await secret(namespace, 'keyframe-tls', { 'tls.crt': certificate, 'tls.key': key, 'ca.crt': ofServer.certificate });
  await secret(namespace, 'more', { MORE: 'from a Secret' });
  const [text = ''] = fencedBlocks(readPage('docs/install.md'), 'yaml')
    .map((block) => block.text)
    .filter((block) => block.startsWith('# production.yaml: values of the chart'));
  const production = join(site.node.runFolder, 'production.yaml');
  writeFileSync(production, text.replaceAll('you@example.com', 'admin@keyframe.test'));
  const extras = join(site.node.runFolder, 'extras.json');
  writeFileSync(extras, JSON.stringify(podValues()));
  return ['--values', production, '--values', extras];
}

const restricted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

function sidecar(name: string): object {
  // The first process of a container ignores SIGTERM otherwise: each pod would end 30 seconds later, and so would each Job.
  const command = ['node', '-e', "process.on('SIGTERM', () => process.exit(0)); setInterval(() => {}, 1e9)"];
  return { name, image: site.images.app, imagePullPolicy: 'Never', command, securityContext: restricted };
}

/** Every value of the chart that changes how pods run. */
function podValues(): object {
  return {
    replicas: 1,
    controller: { replicas: 1, priorityClassName: 'urgent', resources: { limits: { memory: '400Mi' } } },
    commonLabels: { 'example.com/team': 'platform' },
    deploymentAnnotations: { 'example.com/note': 'read' },
    extraEnvFrom: [{ secretRef: { name: 'more' } }],
    extraVolumes: [{ name: 'ca', secret: { secretName: 'keyframe-tls', items: [{ key: 'ca.crt', path: 'ca.crt' }] } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/own', readOnly: true }],
    extraContainers: [sidecar('agent')],
    extraInitContainers: [{ ...sidecar('proxy'), restartPolicy: 'Always' }],
    podSecurityContext: { fsGroup: 3_000, runAsUser: 4_000 },
    containerSecurityContext: { runAsUser: 5_000 },
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey: 'kubernetes.io/hostname',
        whenUnsatisfiable: 'DoNotSchedule',
        labelSelector: { matchLabels: { 'app.kubernetes.io/component': 'server' } },
      },
    ],
    rollouts: true,
    rolloutNamespaces: [inside],
  };
}

/** A command in a pod of the API. */
async function inServer(...command: readonly string[]): Promise<string> {
  return await inNamespace(release.namespace, 'exec', 'deployment/keyframe', '-c', 'keyframe', '--', ...command);
}

/** `keyframe` with a token, which trusts the authority of the server. */
async function keyframeAs(token: string, ...args: readonly string[]): Promise<string> {
  const env = [`KEYFRAME_URL=https://${names[0]}`, `KEYFRAME_TOKEN=${token}`];
  return await inServer('env', ...env, 'NODE_EXTRA_CA_CERTS=/etc/own/ca.crt', 'keyframe', ...args);
}

/** `keyframe` as its administrator. */
async function keyframe(...args: readonly string[]): Promise<string> {
  return await keyframeAs(await release.adminToken(), ...args);
}

const recoveryPage = 'docs/backup-and-recovery.md';

/** The token that the Job of the recovery has made, read by the commands of the page. */
async function readRecoveryToken(): Promise<string> {
  const [commands = ''] = scriptsOf(recoveryPage).filter((script) => script.includes('> recovery-token'));
  const cli = await CliRunner.create();
  resources.defer(() => cli.remove());
  const script = `${commands.replaceAll('-n keyframe', `-n ${release.namespace}`)}\ncat recovery-token`;
  const { code, stdout, stderr } = await runAsReader(`cd ${cli.folder}\n${script}`, { cli, cluster: site.node });
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.anything() });
  expect(stdout).toContain('the credentials of the restored database are revoked');
  return stdout.trim().split('\n').at(-1) ?? '';
}

/** What the API returns about the owner of a token. */
async function whoami(token: string): Promise<unknown> {
  return JSON.parse(await keyframeAs(token, 'whoami', '--output', 'json'));
}

/** The certificate that the Service shows, and the status of its answer. */
async function look(): Promise<{ serial: string; status: number | undefined }> {
  const { hostname } = new URL(await release.url());
  const sent = request({
    host: hostname,
    port: 443,
    path: '/api/v1/me',
    servername: names[0],
    ca: ofServer.certificate,
    agent: false,
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const { serialNumber } = (response.socket as TLSSocket).getPeerCertificate();
  response.resume();
  return { serial: serialNumber, status: response.statusCode };
}

async function podNames(): Promise<string> {
  const labels = ['-l', 'app.kubernetes.io/part-of=keyframe'];
  return await inNamespace(release.namespace, 'get', 'pods', '-o', 'name', ...labels);
}

async function inNamespace(namespace: string, ...args: readonly string[]): Promise<string> {
  return await site.kubectl(['-n', namespace, ...args]);
}

const restarts = { organization: 'restarts', project: 'shop' };
const keyframeApi = '/apis/keyframe.dev/v1alpha1';

/** Lets both namespaces read the environment of the applications. */
async function grantRestarts(): Promise<void> {
  const rules = [{ ...restarts, environments: ['production'], kinds: ['SecretSync'] }];
  const body = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'AccessGrant',
    metadata: { name: 'restarts' },
    spec: { namespaces: [inside, outside], rules },
  };
  await site.kube.json({ method: 'POST', path: `${keyframeApi}/accessgrants`, body });
}

/** An application whose SecretSync restarts it with each change of its Secret, if the controller may do that. */
async function consumerIn(namespace: string): Promise<Consumer> {
  const body = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'SecretSync',
    metadata: { name: 'app' },
    spec: {
      environmentRef: { ...restarts, name: 'production' },
      rollout: { targets: [{ kind: 'Deployment', name: 'web' }] },
    },
  };
  await site.kube.json({ method: 'POST', path: `${keyframeApi}/namespaces/${namespace}/secretsyncs`, body });
  await inNamespace(namespace, 'wait', '--for=condition=Ready', '--timeout=60s', 'secretsync/app');
  return await Consumer.deploy(site, namespace, { name: 'web', secret: 'app' });
}

describe('an installation as docs/install.md describes it for production', () => {
  test('connects to PostgreSQL over TLS alone, as a role that owns nothing', async () => {
    const sessions = await postgres.query(
      `SELECT DISTINCT a.usename, s.ssl FROM pg_stat_activity a JOIN pg_stat_ssl s USING (pid) WHERE a.datname = 'keyframe'`,
    );
    expect(sessions).toEqual([{ usename: 'keyframe_app', ssl: true }]);
  });

  test('answers over https alone, and its test succeeds there', async () => {
    expect((await look()).status).toBe(401);
    const { hostname } = new URL(await release.url());
    await expect(fetch(`http://${hostname}:443/api/v1/me`)).rejects.toThrow();
    expect(await release.test()).toMatch(/Phase: +Succeeded/);
  });

  test('runs with the additional volumes, variables, containers and users', async () => {
    const script = `const fs = require('node:fs');
      console.log(JSON.stringify([process.env.MORE, fs.readFileSync('/etc/own/ca.crt', 'utf8').length > 0, process.getuid(), process.getgroups().includes(3000)]))`;
    expect(JSON.parse(await inServer('node', '-e', script))).toEqual(['from a Secret', true, 5_000, true]);
    for (const container of ['agent', 'proxy']) {
      const place = ['-n', release.namespace, 'exec', 'deployment/keyframe-controller', '-c', container];
      expect(await site.kubectl([...place, '--', 'node', '-p', '1 + 1'])).toBe('2\n');
    }
    const template = '{.metadata.annotations.example\\.com/note} {.spec.template.spec.priorityClassName}';
    const deployment = ['-n', release.namespace, 'get', 'deployment', 'keyframe-controller'];
    expect(await site.kubectl([...deployment, '-o', `jsonpath=${template}`])).toBe('read urgent');
    const labelled = ['-n', release.namespace, 'get', 'pods,deployments,services', '-l', 'example.com/team=platform'];
    expect((await site.kubectl([...labelled, '-o', 'name'])).trim().split('\n')).toHaveLength(7);
  });

  test('has the memory limit of each Deployment in its pods', async () => {
    const limits = [];
    for (const deployment of ['keyframe', 'keyframe-controller']) {
      const place = ['-n', release.namespace, 'exec', `deployment/${deployment}`, '-c', 'keyframe', '--'];
      limits.push(Number(await site.kubectl([...place, 'node', '-p', 'process.constrainedMemory()'])));
    }
    expect(limits).toEqual([512 * 2 ** 20, 400 * 2 ** 20]);
  });

  test('gives an instance admin a token in a pod of the API, as docs/people.md says', async () => {
    const servers = ['-n', release.namespace, 'get', 'pods', '-o', 'name', '-l', 'app.kubernetes.io/component=server'];
    const [pod = ''] = (await site.kubectl(servers)).trim().split('\n');
    const inPod = (...command: readonly string[]): Promise<string> =>
      site.kubectl(['-n', release.namespace, 'exec', pod, '-c', 'keyframe', '--', ...command]);
    const file = '/dev/shm/admin-token';
    const output = await inPod('keyframe-server', 'admin-token', '--token-file', file);
    const token = (await inPod('node', '-p', `fs.readFileSync('${file}', 'utf8').trim()`)).trim();
    await inPod('node', '-e', `fs.rmSync('${file}')`);
    expect(output).not.toContain(token);
    expect(await whoami(token)).toMatchObject({ type: 'user', instanceAdmin: true, expiresAt: expect.any(String) });
  });

  test('uses a renewed certificate without a restart', async () => {
    const [before, pods] = [await look(), await podNames()];
    const { certificate, key } = ofServer.issue({ names, addresses: [] });
    await site.kube.json({
      method: 'PATCH',
      path: `/api/v1/namespaces/${release.namespace}/secrets/keyframe-tls`,
      contentType: 'application/merge-patch+json',
      body: { stringData: { 'tls.crt': certificate, 'tls.key': key } },
    });
    await waitFor('the new certificate', async () => (await look()).serial !== before.serial, patience);
    expect(await podNames()).toBe(pods);
  });

  test('fails an upgrade at once whose migration only a correction can let through, and serves on', async () => {
    const before = await podNames();
    // The authority of the API has not signed the certificate of PostgreSQL.
    const upgraded = release.upgrade({ 'database.ca.existingSecret': 'keyframe-tls' });
    await expect(upgraded).rejects.toThrow(/keyframe-migrate/);
    const { status } = await site.kube.json<{ status: JobStatus }>({
      path: `/apis/batch/v1/namespaces/${release.namespace}/jobs/keyframe-migrate`,
    });
    expect(status.failed).toBe(1);
    expect(status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Failed', status: 'True', reason: 'PodFailurePolicy' }),
    );
    expect(await inNamespace(release.namespace, 'logs', 'job/keyframe-migrate')).toMatch(
      /^keyframe-server: an authority that is not trusted has signed the certificate of PostgreSQL/m,
    );
    expect(await podNames()).toBe(before);
    await release.upgrade({ 'database.ca.existingSecret': 'keyframe-db-ca' });
  });

  test('serves two teams as the example has them, each with its own environments alone', async () => {
    await keyframe('org', 'create', 'acme');
    const apply = async (...files: readonly string[]): Promise<void> => {
      const named = files.flatMap((file) => ['-f', `examples/multi-tenant/${file}.yaml`]);
      await site.kubectl(['apply', ...named]);
    };
    await apply('platform');
    const environments = ['payments-production', 'search-production', 'shared-production', 'payments-staging'];
    await site.kubectl([
      'wait',
      '--for=condition=Ready',
      '--timeout=60s',
      ...environments.map((e) => `secretenvironment/${e}`),
    ]);
    await keyframe('set', '-o', 'acme', '-p', 'payments', '-e', 'production', 'STRIPE_KEY=sk-payments');
    await keyframe('set', '-o', 'acme', '-p', 'search', '-e', 'production', 'INDEX_KEY=ix-search');
    await keyframe('set', '-o', 'acme', '-p', 'shared', '-e', 'production', 'CA_URL=https://ca.example');
    await apply('payments', 'search');
    for (const [namespace, key, value] of [
      ['payments', 'STRIPE_KEY', 'sk-payments'],
      ['search', 'INDEX_KEY', 'ix-search'],
    ] as const) {
      await site.kubectl([
        '-n',
        namespace,
        'wait',
        '--for=condition=Ready',
        '--timeout=60s',
        'secretsync/app',
        'secretsync/shared',
      ]);
      expect(await site.secretValue(namespace, 'app', key)).toBe(value);
      expect(await site.secretValue(namespace, 'shared', 'CA_URL')).toBe('https://ca.example');
    }
    await apply('refused');
    await site.kubectl(['-n', 'search', 'wait', '--for=condition=Ready=false', '--timeout=60s', 'secretsync/peek']);
    await expect(site.secretValue('search', 'peek', 'STRIPE_KEY')).rejects.toThrow();
  });

  test('restarts workloads in the namespaces of rolloutNamespaces, and in no other', async () => {
    await keyframe('org', 'create', 'restarts');
    await keyframe('project', 'create', 'shop', '-o', 'restarts');
    await keyframe('env', 'create', 'production', '-o', 'restarts', '-p', 'shop');
    const set = async (pair: string): Promise<string> =>
      await keyframe('set', '-o', 'restarts', '-p', 'shop', '-e', 'production', pair);
    await set('MODE=one');
    await grantRestarts();
    const [restarted, kept] = [await consumerIn(inside), await consumerIn(outside)];
    const before = await kept.look();
    await set('MODE=two');
    const newest = async (): Promise<string> => await site.secretValue(outside, 'app', 'MODE');
    await waitFor('the Secret to change outside', async () => (await newest()) === 'two', patience);
    await waitFor('a new pod inside', async () => (await restarted.look()).variables['MODE'] === 'two', patience);
    expect(await kept.look()).toMatchObject({ pod: before.pod, variables: { MODE: 'one' } });
    expect(await inNamespace(outside, 'get', 'deployment', 'web', '-o', 'jsonpath={.metadata.generation}')).toBe('1');
    const reason = 'jsonpath={.status.conditions[?(@.type=="Converged")].reason}';
    expect(await inNamespace(outside, 'get', 'secretsync', 'app', '-o', reason)).toBe('RolloutsDisabled');
  });

  // The last ones: they revoke the token that the tests above use.
  test('revokes every token and gives a new one by the values of the recovery', async () => {
    const before = await release.adminToken();
    await release.upgrade({ 'recovery.enabled': 'true' });
    const token = await readRecoveryToken();
    await release.upgrade({ 'recovery.enabled': 'false' });
    await expect(whoami(before)).rejects.toThrow('the token was revoked');
    expect(await whoami(token)).toMatchObject({ type: 'user', instanceAdmin: true });
    expect(await inNamespace(release.namespace, 'get', 'jobs', '-o', 'name')).toBe('');
  });

  test('revokes every token and gives a new one by the Job of the page, which runs in its namespace', async () => {
    const [job] = fencedBlocks(readPage(recoveryPage), 'yaml').filter(({ text }) => text.includes('kind: Job'));
    const image = /registry\.example\.com\/keyframe:\S+/g;
    const file = join(site.node.runFolder, 'recovery-job.yaml');
    writeFileSync(file, String(job?.text).replace(', namespace: keyframe', '').replaceAll(image, site.images.keyframe));
    await inNamespace(release.namespace, 'apply', '-f', file);
    expect(await whoami(await readRecoveryToken())).toMatchObject({ type: 'user', instanceAdmin: true });
  });
});
