import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { installCustomResources } from '../../tools/devcluster/cluster/custom-resources.ts';
import { KubeHttp, type KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { ConfigError } from '../../src/config/source.ts';
import { roles } from '../../src/roles/table.ts';
import { makeAuthority } from '../support/fixtures/certificate.ts';
import {
  chartFolder,
  neededValues,
  objectsOf,
  renderChart,
  runHelm,
  valuesFiles,
  valuesPath,
} from '../support/cluster/helm.ts';
import { JobRunner } from './job-runner.ts';
import { runKubectl } from '../support/cluster/kubectl.ts';
import { areKept, makeOwned } from './owned-secret.ts';
import { definitionsFolder, startOwnCluster } from '../support/cluster/own-cluster.ts';
import {
  readDefinitions,
  releasedChart,
  releasedDefinitionsFolder,
  releasedVersions,
} from '../support/cluster/released.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** The chart on a real API server: what it renders is accepted there, and gives the controller exactly its rights. */

const namespace = 'keyframe';
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
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string }[];
}

interface ServerPodSpec {
  readonly initContainers?: readonly ServerContainer[];
  readonly containers: readonly ServerContainer[];
}

interface Pod extends KubeObject {
  readonly spec: PodTemplate['spec'] & { readonly serviceAccountName: string };
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
  for (const name of ['team-a', 'team-b']) await makeNamespace(name);
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
});

afterAll(() => resources.disposeAsync());

async function makeNamespace(name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
  await admin.json({ method: 'POST', path: '/api/v1/namespaces', body });
}

/** What admits a pod asks for its account; an account that is to be made in the same breath is not there in a dry run. */
async function makeAccount(name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
  await admin.send({ method: 'POST', path: `/api/v1/namespaces/${namespace}/serviceaccounts`, body });
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
    await runHelm(['lint', '--strict', chartFolder, ...neededValues, '--values', valuesPath(values)]);
    const manifests = await renderChart({ namespace, values });
    expect(await renderChart({ namespace, values })).toBe(manifests);
    const objects = objectsOf(manifests);
    for (const pod of objects.filter(({ kind }) => kind === 'Pod') as Pod[])
      await makeAccount(pod.spec.serviceAccountName);
    const accepted = await apply(manifests, '--dry-run=server');
    expect(accepted.trim().split('\n')).toHaveLength(objects.length);
    expect(new Set(objects.map(nameOf)).size).toBe(objects.length);
  });

  test('the program takes the roles and variables that its containers are given', async () => {
    const pods = await podsOf(values, ['Deployment', 'Job', 'Pod']);
    expect(pods.length).toBeGreaterThan(1);
    for (const { spec } of pods) expect(configurationFaults(spec as ServerPodSpec)).toEqual([]);
  });

  test('its pods are admitted where Pod Security enforces «restricted»', async () => {
    const pods = await podsOf(values, ['Deployment', 'StatefulSet', 'Job', 'Pod']);
    expect(pods.length).toBeGreaterThan(1);
    for (const pod of pods) expect(await podAnswer(pod)).toBe('201');
  });

  test('what runs beside the release is a hook with all that belongs to it, and goes when it has succeeded', async () => {
    const objects = objectsOf(await renderChart({ namespace, values }));
    const hooks = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] !== undefined);
    const policies = hooks.map(({ metadata }) => metadata.annotations?.['helm.sh/hook-delete-policy']);
    expect(new Set(policies)).toEqual(new Set(['before-hook-creation,hook-succeeded']));
    const weights = hooks.map(({ kind, metadata }) => [kind, metadata.annotations?.['helm.sh/hook-weight']].join(' '));
    const isRunning = (kind: string): boolean => kind === 'Job' || kind === 'Pod';
    expect(
      weights.filter(
        (weight) => !/^(?:(?:Job|Pod) 0|(?:ServiceAccount|(?:Cluster)?Role(?:Binding)?) -10)$/.test(weight),
      ),
    ).toEqual([]);
    // Of the release itself nothing runs once and ends.
    expect(objects.filter((object) => isRunning(object.kind ?? '') && !hooks.includes(object))).toEqual([]);
  });
});

/** The pods that the objects of these kinds make. */
async function podsOf(values: string, kinds: readonly string[]): Promise<PodTemplate[]> {
  const objects = objectsOf(await renderChart({ namespace, values })).filter(({ kind = '' }) => kinds.includes(kind));
  return objects.map((object) => (object.kind === 'Pod' ? (object as Pod) : withClaims((object as Workload).spec)));
}

/** What the program's configuration finds wrong with the containers of a pod. */
function configurationFaults({ initContainers = [], containers }: ServerPodSpec): string[] {
  const own = [...initContainers, ...containers].filter(({ image }) => image.includes('/keyframe'));
  return own.flatMap(({ args: [name = '', ...args], env }) => {
    const role = roles.find((known) => known.name === name);
    const given = env.map((variable) => [variable.name, variable.value ?? 'from elsewhere']);
    const source = {
      env: { ...(Object.fromEntries(given) as Record<string, string>), KUBERNETES_SERVICE_HOST: '10.0.0.1' },
      readTextFile: mountedFile,
    };
    try {
      if (role === undefined) return [`${name} is no role`];
      role.load(args, source);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return [...error.faults];
      throw error;
    }
  });
}

const authority = makeAuthority();
const ofServer = authority.issue({ names: ['keyframe'], addresses: [] });

function mountedFile(path: string): string {
  if (path.startsWith('/etc/keyframe/database-ca/')) return authority.certificate;
  if (path.startsWith('/etc/keyframe/oidc-ca/')) return authority.certificate;
  if (path.startsWith('/etc/keyframe/database-owner/')) return databaseUrl.replace('keyframe:', 'owner:');
  if (path === '/etc/keyframe/tls/tls.key') return ofServer.key;
  if (path === '/etc/keyframe/tls/tls.crt') return ofServer.certificate;
  return path.startsWith('/etc/keyframe/root-key/') ? rootKey : databaseUrl;
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

describe('a release', () => {
  const release = ['keyframe', '--namespace', 'installed'];
  const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const server = '/apis/apps/v1/namespaces/installed/deployments/keyframe';

  /** The definitions that stay: one that is being deleted can be read for a while. */
  async function definitions(): Promise<string[]> {
    const { items } = await admin.json<{ items: KubeObject[] }>({ path: definitionsPath });
    const staying = items.filter(({ metadata }) => !Object.hasOwn(metadata, 'deletionTimestamp'));
    return staying.map(({ metadata }) => metadata.name).filter((name) => name.endsWith('.keyframe.dev'));
  }

  /** The names of all definitions of a folder. */
  function definitionsOf(folder: string): string[] {
    return readDefinitions(folder).map(({ metadata }) => metadata.name);
  }

  async function accounts(): Promise<string[]> {
    const path = '/api/v1/namespaces/installed/serviceaccounts';
    const { items } = await admin.json<{ items: KubeObject[] }>({ path });
    return items.map(({ metadata }) => metadata.name);
  }

  async function rolesOf(): Promise<string[]> {
    const path = '/apis/apps/v1/namespaces/installed/deployments';
    const { items } = await admin.json<{ items: (KubeObject & { spec: { template: { spec: ServerPodSpec } } })[] }>({
      path,
    });
    return items.flatMap(({ spec }) => spec.template.spec.containers.flatMap(({ args }) => args)).sort();
  }

  test.each(releasedVersions())(
    'of %s is upgraded with its definitions, rolled back, and removed without them; its hooks run and go',
    async (version) => {
      const jobs = new JobRunner(admin, 'installed');
      resources.defer(() => jobs.stop());
      const values = [...neededValues, '--set', 'replicas=2,resources.limits.memory=1Gi'];
      await runHelm(['install', ...release, releasedChart(version), '--create-namespace', ...values], cluster);
      expect(jobs.ran).toEqual(['keyframe-init']);
      const before = await rolesOf();
      expect((await definitions()).sort()).toEqual(definitionsOf(releasedDefinitionsFolder(version)).sort());
      // Helm then gives the new chart the defaults of the installed one, and not its own.
      const reused = runHelm(['upgrade', ...release, chartFolder, '--reuse-values'], cluster);
      await expect(reused).rejects.toMatchObject({ stderr: expect.stringContaining('use --reset-then-reuse-values') });
      // As docs/upgrade.md says: the values that were given stay, and the defaults are those of the new chart.
      const upgrade = ['upgrade', ...release, chartFolder, '--reset-then-reuse-values'];
      await runHelm([...upgrade, '--set', 'rollouts=true'], cluster);
      const newest = definitionsOf(definitionsFolder).sort();
      expect((await definitions()).sort()).toEqual(newest);
      expect(await admin.json({ path: server })).toMatchObject({ spec: { replicas: 2 } });
      expect(await admin.json({ path: `${server}-controller` })).toMatchObject({
        spec: { template: { spec: { containers: [{ resources: { limits: { memory: '1Gi' } } }] } } },
      });
      expect([before, await rolesOf()]).toEqual([['all'], ['api', 'controller']]);
      expect(jobs.ran).toEqual(['keyframe-init', 'keyframe-init']);
      await runHelm(['rollback', ...release], cluster);
      expect(await rolesOf()).toEqual(before);
      await runHelm(upgrade, cluster);
      const owned = await makeOwned(admin, 'team-a');
      await runHelm(['uninstall', ...release], cluster);
      expect(jobs.ran).toEqual(['keyframe-init', 'keyframe-init', 'keyframe-init', 'keyframe-pre-delete']);
      expect(await accounts()).toEqual(['default']);
      expect([await areKept(admin, owned), (await admin.send({ path: server })).status]).toEqual([true, 404]);
      expect((await definitions()).sort()).toEqual(newest);
    },
  );
});
