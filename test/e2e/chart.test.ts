import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../scripts/checkout.ts';
import type { Cluster } from '../../scripts/cluster/cluster.ts';
import { installCustomResources } from '../../scripts/cluster/custom-resources.ts';
import { KubeHttp, type KubeObject } from '../../scripts/cluster/kube-http.ts';
import { type ServerRole, loadMigrateConfig, loadServerConfig, serverRoles } from '../../src/config.ts';
import { ConfigError } from '../../src/environment-reader.ts';
import { chartFolder, objectsOf, renderChart, runHelm, valuesFiles, valuesPath } from '../support/helm.ts';
import { runKubectl } from '../support/kubectl.ts';
import { startOwnCluster } from '../support/own-cluster.ts';
import { waitFor } from '../support/wait-for.ts';

/** The chart on a real API server: what it renders is accepted there, and gives the controller exactly its rights. */

const namespace = 'keyframe-system';
const resources = new AsyncDisposableStack();
const here = join(checkoutDirectory, 'test', 'e2e');
const rootKey = `main:${Buffer.alloc(32, 7).toString('base64')}`;
const databaseUrl = 'postgresql://keyframe:password@postgres:5432/keyframe';
let cluster: Cluster;
let admin: KubeHttp;

interface Workload extends KubeObject {
  readonly spec: {
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
}

interface ServerContainer {
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

interface ServerPodSpec {
  readonly initContainers?: readonly ServerContainer[];
  readonly containers: readonly ServerContainer[];
}

interface PodTemplate {
  readonly metadata: object;
  readonly spec: { readonly volumes?: readonly object[] };
}

beforeAll(async () => {
  // The chart brings the definitions itself.
  cluster = await startOwnCluster(resources, { withoutDefinitions: true });
  admin = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => admin.close());
  await installCustomResources(admin, join(here, 'chart-definitions'));
  for (const name of ['team-a', 'team-b', 'team-c', 'watching', 'watching-rollouts']) await makeNamespace(name);
  await waitFor('the account of the pods', async () => {
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default`;
    return (await admin.send({ path })).status === 200;
  });
  const restricted = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  await admin.json({
    method: 'PATCH',
    path: `/api/v1/namespaces/${namespace}`,
    contentType: 'application/merge-patch+json',
    body: { metadata: { labels: restricted } },
  });
}, 120_000);

afterAll(() => resources.disposeAsync());

async function makeNamespace(name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await admin.json({ method: 'POST', path: '/api/v1/namespaces', body });
}

/** Applies manifests as the cluster's administrator; unknown and doubled fields are refused. */
async function apply(manifests: string, ...flags: string[]): Promise<string> {
  const file = join(cluster.runFolder, 'manifests.yaml');
  writeFileSync(file, manifests);
  const checks = ['--server-side', '--force-conflicts', '--validate=strict'];
  return await runKubectl(cluster, ['apply', ...checks, ...flags, '--filename', file]);
}

describe.each(valuesFiles)('with the values of %s', (values) => {
  test('the chart passes lint, renders alike twice, and the API server accepts every object', async () => {
    await runHelm(['lint', '--strict', chartFolder, '--values', valuesPath(values)]);
    const manifests = await renderChart({ namespace, values });
    expect(await renderChart({ namespace, values })).toBe(manifests);
    const accepted = await apply(manifests, '--dry-run=server');
    const objects = objectsOf(manifests);
    expect(accepted.trim().split('\n')).toHaveLength(objects.length);
    expect(new Set(objects.map(nameOf)).size).toBe(objects.length);
  });

  test('the server takes the roles and variables that its containers are given', async () => {
    const objects = objectsOf(await renderChart({ namespace, values })) as Workload[];
    const deployments = objects.filter(({ kind }) => kind === 'Deployment');
    expect(deployments.length).toBeGreaterThan(0);
    for (const { spec } of deployments) {
      expect(configurationFaults(spec.template.spec as ServerPodSpec)).toEqual([]);
    }
  });

  test('its pods are admitted where Pod Security enforces «restricted»', async () => {
    const objects = objectsOf(await renderChart({ namespace, values })) as Workload[];
    const workloads = objects.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
    expect(workloads.length).toBeGreaterThan(0);
    for (const { spec } of workloads) expect(await podAnswer(withClaims(spec))).toBe('201');
  });
});

/** What the server's configuration finds wrong with the containers of a Deployment. */
function configurationFaults({ initContainers = [], containers }: ServerPodSpec): string[] {
  return [...initContainers, ...containers].flatMap(({ args: [role = ''], env }) => {
    expect([...serverRoles, 'migrate']).toContain(role);
    const given = env.map(({ name, value }) => [name, value ?? 'from elsewhere']);
    const source = {
      env: { ...(Object.fromEntries(given) as Record<string, string>), KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      readTextFile: (path: string) => (path.startsWith('/etc/keyframe/root-key/') ? rootKey : databaseUrl),
    };
    try {
      if (role === 'migrate') loadMigrateConfig(source);
      else loadServerConfig(role as ServerRole, source);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return [...error.faults];
      throw error;
    }
  });
}

function nameOf({ kind, metadata }: KubeObject): string {
  return [kind, metadata.namespace, metadata.name].join(' ');
}

/** The pod template of a workload, with the volumes that a StatefulSet's controller adds. */
function withClaims({ template, volumeClaimTemplates = [] }: Workload['spec']): PodTemplate {
  const claims = volumeClaimTemplates.map(({ metadata: { name } }) => {
    return { name, persistentVolumeClaim: { claimName: name } };
  });
  return { ...template, spec: { ...template.spec, volumes: [...(template.spec.volumes ?? []), ...claims] } };
}

/** The status, and for a refusal the reason, with which the API server answers a pod, under an account that is there. */
async function podAnswer({ metadata, spec }: PodTemplate): Promise<string> {
  const { status, body } = await admin.send({
    method: 'POST',
    path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
    body: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadata, generateName: 'try-' },
      spec: { ...spec, serviceAccountName: 'default' },
    },
  });
  return status === 201 ? '201' : `${status} ${(body as { message: string }).message}`;
}

test('a pod that is not «restricted» is refused there, so the admission above says something', async () => {
  const refused: object = { containers: [{ name: 'one', image: 'any' }] };
  expect(await podAnswer({ metadata: {}, spec: refused })).toMatch(/^403 .*violates PodSecurity "restricted/);
});

test('a release’s notes tell the next three commands', async () => {
  const install = ['install', 'mine', chartFolder, '--dry-run=client', '--namespace', namespace];
  const [, notes = ''] = (await runHelm(install)).split('\nNOTES:\n');
  const commands = notes.split('\n').filter((line) => line.startsWith('  '));
  expect(commands.map((line) => line.trim())).toEqual([
    `kubectl -n ${namespace} rollout status deployment/mine-keyframe`,
    `kubectl -n ${namespace} port-forward service/mine-keyframe 8700:80`,
    'export KEYFRAME_URL=http://127.0.0.1:8700',
  ]);
  expect(notes).toContain('mine-keyframe-root-key');
  expect(notes).toContain('mine-keyframe-postgres');
});

describe('the rights of the controller', () => {
  const account = 'keyframe-controller';
  const rbacAlone = ['--show-only', 'templates/rbac.yaml', '--show-only', 'templates/service-accounts.yaml'];

  /** What `kubectl auth can-i --list` tells of the account, in an order of its own. */
  async function rights(accountNamespace: string, place: string): Promise<string> {
    const as = `--as=system:serviceaccount:${accountNamespace}:${account}`;
    const table = await runKubectl(cluster, ['auth', 'can-i', '--list', as, '--namespace', place]);
    const lines = table.trimEnd().split('\n').slice(1);
    return `${lines
      .map((line) => line.replace(/\s{2,}/g, ' | ').trim())
      .sort()
      .join('\n')}\n`;
  }

  function committed(name: string): string {
    return readFileSync(join(here, 'chart-rights', `${name}.txt`), 'utf8');
  }

  test('in a list of namespaces, are the committed ones there, and nothing more anywhere else', async () => {
    await apply(await renderChart({ namespace: 'watching', values: 'watch-namespaces.yaml', more: rbacAlone }));
    expect(await rights('watching', 'team-a')).toBe(committed('watched-namespace'));
    expect(await rights('watching', 'team-b')).toBe(committed('watched-namespace'));
    expect(await rights('watching', 'team-c')).toBe(committed('unwatched-namespace'));
    expect(await rights('watching', 'watching')).toBe(committed('own-namespace-unwatched'));
  });

  test('with restarts, include patching workloads, in the watched namespaces alone', async () => {
    const values = 'watch-namespaces-rollouts.yaml';
    await apply(await renderChart({ namespace: 'watching-rollouts', values, more: rbacAlone }));
    expect(await rights('watching-rollouts', 'team-a')).toBe(committed('watched-namespace-rollouts'));
    expect(await rights('watching-rollouts', 'team-b')).toBe(committed('unwatched-namespace'));
  });

  test('cluster-wide, are the committed ones everywhere, and the Lease in its own namespace', async () => {
    const more = [...rbacAlone, '--set', 'serviceAccount.name=keyframe-controller'];
    await apply(await renderChart({ namespace: 'team-c', values: 'defaults.yaml', more }));
    expect(await rights('team-c', 'team-a')).toBe(committed('cluster-wide'));
    expect(await rights('team-c', 'team-c')).toBe(committed('cluster-wide-own-namespace'));
  });
});

test('the built-in roles view and edit come to Keyframe’s resources, edit without values of others', async () => {
  await apply(await renderChart({ namespace, more: ['--show-only', 'templates/aggregated-roles.yaml'] }));
  const verbs = async (role: string): Promise<string[]> => {
    const { rules } = await admin.json<{ rules: { apiGroups?: string[]; resources?: string[]; verbs: string[] }[] }>({
      path: `/apis/rbac.authorization.k8s.io/v1/clusterroles/${role}`,
    });
    const ours = rules.filter(({ apiGroups }) => apiGroups?.includes('keyframe.dev'));
    for (const { resources: kinds } of ours) expect(kinds).toEqual(['secretsyncs', 'secretsnapshots', 'servicetokens']);
    return ours.flatMap((rule) => rule.verbs).sort();
  };
  const reading = ['get', 'list', 'watch'];
  const writing = ['create', 'delete', 'deletecollection', 'patch', 'update'];
  await waitFor('the roles to be put together', async () => (await verbs('edit')).length === 8);
  expect(await verbs('view')).toEqual(reading);
  expect(await verbs('edit')).toEqual([...writing, ...reading].sort());
});

describe('a release', () => {
  const release = ['keyframe', '--namespace', 'installed'];
  const definition = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/secretsyncs.keyframe.dev';
  const server = '/apis/apps/v1/namespaces/installed/deployments/keyframe';

  interface Definition extends KubeObject {
    readonly spec: { readonly names: { readonly shortNames?: readonly string[] } };
  }

  /** Of a definition that stays: one that is being deleted can be read for a while. */
  async function shortNames(): Promise<readonly string[] | undefined> {
    const { metadata, spec } = await admin.json<Definition>({ path: definition });
    expect(metadata).not.toHaveProperty('deletionTimestamp');
    return spec.names.shortNames;
  }

  /** The chart as an earlier release had it: SecretSyncs without their short name. */
  function earlierChart(): string {
    const folder = join(cluster.runFolder, 'earlier-chart');
    cpSync(chartFolder, folder, { recursive: true });
    const file = join(folder, 'files', 'crds', 'keyframe.dev_secretsyncs.yaml');
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^ *shortNames: .*\n/m, ''));
    return folder;
  }

  test('is installed, upgraded with its definitions, and removed without them', async () => {
    await runHelm(['install', ...release, earlierChart(), '--create-namespace'], cluster);
    expect(await shortNames()).toBeUndefined();
    await runHelm(['upgrade', ...release, chartFolder, '--set', 'replicas=2,rollouts=true'], cluster);
    expect(await shortNames()).toEqual(['ksync']);
    expect(await admin.json({ path: server })).toMatchObject({ spec: { replicas: 2 } });
    await runHelm(['uninstall', ...release], cluster);
    expect((await admin.send({ path: server })).status).toBe(404);
    expect(await shortNames()).toEqual(['ksync']);
  });
});

test.each([
  [['replicas=0'], '/replicas'],
  [['replica=2'], 'replica'],
  [['image.tags=1'], 'tags'],
  [['logLevel=verbose'], '/logLevel'],
  [['shutdownDelay=5'], '/shutdownDelay'],
  [['watchNamespaces={Team_A}'], '/watchNamespaces'],
  [['service.type=ExternalName'], '/service/type'],
  [['rateLimits.requests=many'], '/rateLimits/requests'],
  [['resources.limit.cpu=1'], 'limit'],
  [['postgres.enabled=false'], 'database.existingSecret'],
  [['database.existingSecret=mine'], 'postgres.enabled'],
  [['postgres.enabled=false', 'database.url=mysql://host/db'], '/database/url'],
  [['postgres.enabled=false', 'database.url=postgresql://host/db', 'database.existingSecret=mine'], 'database.url'],
  [['database.directKey=direct'], 'database.directKey'],
  [['ingress.enabled=true'], 'ingress.host'],
  [['shutdownDelay=30s'], 'terminationGracePeriodSeconds'],
])('the values %j are refused by a message that names %s', async (settings, field) => {
  const more = settings.flatMap((setting) => ['--set', setting]);
  // Not the error's message: that repeats the settings.
  const said = renderChart({ namespace, more }).then(
    () => 'accepted',
    (error: unknown) => (error as { stderr?: string }).stderr,
  );
  expect(await said).toContain(field);
});
