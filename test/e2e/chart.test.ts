/** @default An API server accepts every object that the chart renders, and admits its pods under Pod Security «restricted». */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkoutDirectory } from '../../tools/checkout.ts';
import { installCustomResources } from '../../tools/devcluster/cluster/custom-resources.ts';
import { KubeHttp, type KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import { DryRun } from '../support/cluster/dry-run.ts';
import { objectsOf, renderChart, valuesFiles } from '../support/cluster/helm.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const namespace = 'keyframe';
const resources = new AsyncDisposableStack();
let admin: KubeHttp;
let dryRun: DryRun;

interface Workload extends KubeObject {
  readonly spec: {
    readonly template: PodTemplate;
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
  };
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
  const cluster = await startOwnCluster(resources, { withoutDefinitions: true });
  admin = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => admin.close());
  dryRun = new DryRun(admin, namespace);
  await installCustomResources(admin, join(checkoutDirectory, 'test', 'e2e', 'chart-definitions'));
  for (const name of ['team-a', 'team-b']) {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await admin.json({ method: 'POST', path: '/api/v1/namespaces', body });
  }
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

/** What admits a pod asks for its account; an account that is to be made in the same breath is not there in a dry run. */
async function makeAccount(name: string): Promise<void> {
  const body = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name } };
  await admin.send({ method: 'POST', path: `/api/v1/namespaces/${namespace}/serviceaccounts`, body });
}

describe.each(valuesFiles)('with the values of %s', (values) => {
  let objects: KubeObject[];

  beforeAll(async () => {
    objects = objectsOf(await renderChart({ namespace, values }));
  });

  test('the API server accepts every object', async () => {
    for (const pod of objects.filter(({ kind }) => kind === 'Pod') as Pod[])
      await makeAccount(pod.spec.serviceAccountName);
    for (const object of objects) {
      const refusal = await dryRun.refusal(object);
      expect({ object: nameOf(object), refusal }).toEqual({ object: nameOf(object), refusal: undefined });
    }
    expect(new Set(objects.map(nameOf)).size).toBe(objects.length);
  });

  test('its pods are admitted where Pod Security enforces «restricted»', async () => {
    const kinds = ['Deployment', 'StatefulSet', 'Job', 'CronJob', 'Pod'];
    const pods = objects.filter(({ kind = '' }) => kinds.includes(kind)).map(podOf);
    expect(pods.length).toBeGreaterThan(1);
    for (const pod of pods) expect(await podAnswer(pod)).toBe('201');
  });
});

test('a pod that is not «restricted» is refused there, so the admission above says something', async () => {
  const refused: object = { containers: [{ name: 'one', image: 'any' }] };
  expect(await podAnswer({ metadata: {}, spec: refused })).toMatch(/^403 .*violates PodSecurity "restricted/);
});

test('an object with a field that does not exist is refused, so the acceptance above says something', async () => {
  const faulty: unknown = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'faulty' }, spec: { port: 80 } };
  expect(await dryRun.refusal(faulty as KubeObject)).toMatch(/\.spec\.port: field not declared in schema/);
});

function nameOf({ kind, metadata }: KubeObject): string {
  return [kind, metadata.namespace, metadata.name].join(' ');
}

/** The pod that an object makes. */
function podOf(object: KubeObject): PodTemplate {
  if (object.kind === 'Pod') return object as Pod;
  const { spec } = object as Workload & { readonly spec: { readonly jobTemplate?: Workload } };
  return withClaims(spec.jobTemplate?.spec ?? spec);
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
