/** @default The resources of the former release stay valid under the present definitions. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { apply } from '../../tools/devcluster/cluster/apply.ts';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { installCustomResources } from '../../tools/devcluster/cluster/custom-resources.ts';
import { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import type { Resource } from '../../src/controller/frame/resource.ts';
import { definitionsFolder, startOwnCluster } from '../support/cluster/own-cluster.ts';
import { readyOf } from '../support/cluster/resource-site.ts';
import { formerDefinitionsFolder, formerObjects, formerRelease, readDefinitions } from '../support/cluster/released.ts';
import { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { nonEmpty } from '../support/fixtures/non-empty.ts';

/** The resources of the former release, made under its definitions, when the present ones take their place. */

const resources = new AsyncDisposableStack();
const api = '/apis/keyframe.dev/v1alpha1';
const contentType = 'application/merge-patch+json';
let cluster: Cluster;
let admin: KubeHttp;

beforeAll(async () => {
  cluster = await startOwnCluster(resources, { withoutDefinitions: true });
  admin = new KubeHttp(cluster.kubeconfig);
  resources.defer(() => admin.close());
});

afterAll(() => resources.disposeAsync());

const plurals = new Map(
  readDefinitions(definitionsFolder).map(({ spec }) => [spec.names['kind'] as string, spec.names['plural'] as string]),
);

function pathOf({ kind, metadata: { namespace, name } }: Resource & { kind: string }): string {
  const scope = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `${api}${scope}/${plurals.get(kind)}/${name}`;
}

describe(`the resources of release ${formerRelease}`, () => {
  const objects = formerObjects() as unknown as (Resource & { kind: string; spec: object })[];
  const before = new Map<string, Resource>();

  beforeAll(async () => {
    await installCustomResources(admin, formerDefinitionsFolder);
    for (const namespace of new Set(objects.flatMap(({ metadata }) => metadata.namespace ?? []))) {
      await apply(admin, `/api/v1/namespaces/${namespace}`, {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: namespace },
      });
    }
    for (const object of objects) {
      const path = pathOf(object);
      const made = await admin.json<Resource>({ method: 'POST', path: path.replace(/\/[^/]+$/, ''), body: object });
      before.set(path, made);
    }
    await installCustomResources(admin, definitionsFolder);
  });

  afterAll(async () => {
    for (const path of before.keys()) await admin.find({ method: 'DELETE', path });
  });

  test('are read as they were', async () => {
    expect(before.size).toBe(objects.length);
    for (const [path, { metadata, ...made }] of before) {
      const read = await admin.json<Resource>({ path });
      expect(read).toMatchObject(made);
      expect(read.metadata.resourceVersion).toBe(metadata.resourceVersion);
    }
  });

  test('take a change of their metadata, and of their status, and a PUT of what was read', async () => {
    for (const path of before.keys()) {
      await admin.json({ method: 'PATCH', path, contentType, body: { metadata: { labels: { touched: 'yes' } } } });
      const condition = {
        type: 'Ready',
        status: 'False',
        reason: 'Old',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      };
      const status = { observedGeneration: 1, conditions: [condition] };
      await admin.json({ method: 'PATCH', path: `${path}/status`, contentType, body: { status } });
      const read = await admin.json<Resource>({ path });
      const put = await admin.json<Resource>({ method: 'PUT', path, body: read });
      expect(put).toMatchObject({ metadata: { generation: 1, labels: { touched: 'yes' } }, status });
    }
  });

  test('are reconciled by the present controller', async () => {
    const stack = await Stack.start(resources, { namespaces: 1, adminKubeconfig: cluster.kubeconfig });
    const env = {
      DATABASE_URL: stack.databaseUrl,
      ROOT_KEY: `test:${stack.rootKey}`,
      KUBECONFIG_FILE: join(cluster.runFolder, 'controller.kubeconfig'),
      NAMESPACE: 'keyframe',
      ROLLOUTS: 'true',
    };
    await ServerProcess.start(resources, { role: 'controller', env });
    await waitFor(
      'all of them to be judged',
      async () => {
        for (const path of nonEmpty(before.keys())) {
          const resource = await admin.json<Resource>({ path });
          expect([path, readyOf(resource)?.reason]).not.toEqual([path, 'Old']);
          expect(readyOf(resource)).toMatchObject({ observedGeneration: resource.metadata.generation });
        }
        return true;
      },
      { timeoutMs: 90_000, pollMs: 1_000 },
    );
    const reasonOf = async (kind: string, name: string): Promise<string | undefined> => {
      const object = objects.find((one) => one.kind === kind && one.metadata.name === name);
      return object && readyOf(await admin.json<Resource>({ path: pathOf(object) }))?.reason;
    };
    await waitFor(
      'the full ones to work',
      async () => {
        expect(await reasonOf('SecretEnvironment', 'full')).toBe('Available');
        expect(await reasonOf('ServiceToken', 'full')).toBe('Issued');
        expect(await reasonOf('SecretSnapshot', 'full')).toBe('Taken');
        return true;
      },
      { timeoutMs: 40_000 },
    );
  });
});

test('a definition that drops what a resource has would be noticed', async () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/accessgrants.keyframe.dev';
  const rules = [{ organization: 'acme', project: 'web', environments: ['prod'] }];
  const spec = { namespaces: ['old'], rules };
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'AccessGrant', metadata: { name: 'old' }, spec };
  await admin.json({ method: 'POST', path: `${api}/accessgrants`, body });
  const schema = '/spec/versions/0/schema/openAPIV3Schema/properties/spec';
  const edit = [
    { op: 'remove', path: `${schema}/properties/namespaces` },
    { op: 'remove', path: `${schema}/x-kubernetes-validations` },
  ];
  await admin.json({ method: 'PATCH', path, contentType: 'application/json-patch+json', body: edit });
  await waitFor('the definition to hold', async () => {
    const read = await admin.json<{ spec: object }>({ path: `${api}/accessgrants/old` });
    return !('namespaces' in read.spec);
  });
});
