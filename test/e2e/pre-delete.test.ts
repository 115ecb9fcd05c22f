import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import type { KubeObject } from '../../tools/devcluster/cluster/kube-http.ts';
import type { SecretEnvironment } from '../../src/controller/generated/secret-environment.ts';
import type { SecretSnapshot } from '../../src/controller/generated/secret-snapshot.ts';
import type { LeaseObject } from '../../src/kube/lease.ts';
import { ChartHook } from '../support/cluster/chart-hook.ts';
import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { ResourceSite } from '../support/cluster/resource-site.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { finalizer } from '../../src/controller/annotations.ts';

/** The role pre-delete beside a controller that works, under the account that the chart gives it. */

const resources = new AsyncDisposableStack();
const group = '/apis/keyframe.dev/v1alpha1';
let cluster: Cluster;
let stack: Stack;
let controller: ServerProcess;
let site: TokenSite;
let environments: ResourceSite<SecretEnvironment>;
let hook: ChartHook;

beforeAll(async () => {
  // Of its own, because SecretEnvironments are the whole cluster's.
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 3, adminKubeconfig: cluster.kubeconfig });
  controller = await stack.startController();
  site = await TokenSite.make(stack, { kinds: ['ServiceToken', 'SecretSnapshot'] });
  const { kube } = stack;
  environments = new ResourceSite<SecretEnvironment>({ kube, kind: 'SecretEnvironment', plural: 'secretenvironments' });
  const [namespace = ''] = stack.namespaces;
  const more = ['--set', `watchNamespaces={${stack.namespaces.join(',')}}`, '--set', 'shutdownDelay=2s'];
  hook = await ChartHook.make(resources, {
    cluster,
    kube,
    template: 'pre-delete.yaml',
    rendering: { namespace, more },
  });
});

afterAll(() => resources.disposeAsync());

interface Held extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly finalizers?: readonly string[] };
}

const heldAtFirst = ['secretenvironments made', 'secretsnapshots before', 'servicetokens ci'];

/** `kind name` of all resources that our finalizer holds. */
async function held(): Promise<string[]> {
  const kinds = ['servicetokens', 'secretsnapshots', 'secretsyncs', 'secretenvironments'];
  const lists = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await stack.kube.json<{ items: Held[] }>({ path: `${group}/${kind}` });
      const ours = items.filter(({ metadata }) => metadata.finalizers?.includes(finalizer));
      return ours.map(({ metadata }) => `${kind} ${metadata.name}`);
    }),
  );
  return lists.flat().sort();
}

function snapshotSite(): ResourceSite<SecretSnapshot> {
  const { kube } = stack;
  return new ResourceSite<SecretSnapshot>({
    kube,
    kind: 'SecretSnapshot',
    plural: 'secretsnapshots',
    namespace: site.namespace,
  });
}

async function lease(): Promise<LeaseObject> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${stack.namespaces[0]}/leases/keyframe-controller`;
  return await stack.kube.json<LeaseObject>({ path });
}

test('it takes all finalizers off while a controller works, and leaves everything else as it is', async () => {
  await site.create();
  const token = await site.waitForSerial(1);
  const snapshots = snapshotSite();
  await snapshots.create({ source: { environmentRef: site.environment.ref }, deletionPolicy: 'Delete' }, 'before');
  await snapshots.waitForReason('before', 'Taken');
  const made = { organization: site.environment.ref.organization, project: 'made', name: 'here' };
  await environments.create({ environmentRef: made, deletionPolicy: 'Delete' }, 'made');
  await environments.waitForReason('made', 'Available');
  const synced = await stack.makeSite({ values: { B: 'beta' }, target: { deletionPolicy: 'Delete' } });
  await synced.waitUntilSynced({ B: 'beta' });
  expect(await held()).toEqual(heldAtFirst);

  const { code, output } = await hook.run();
  expect(code).toBe(0);
  expect(output).toContain('"freed":3');
  expect(output).not.toContain(token);
  expect(await held()).toEqual([]);
  // The token is not revoked, the snapshot and the environment are not deleted, no Secret is gone, and no resource.
  expect(await site.answer(token)).toBe(200);
  expect(await site.value()).toBe(token);
  expect((await snapshots.get('before')).metadata).not.toHaveProperty('deletionTimestamp');
  expect((await environments.get('made')).metadata).not.toHaveProperty('deletionTimestamp');
  const { organization, project, name } = made;
  await stack.admin.call('GET', `/environments/${organization}/${project}/${name}`);
  const { ref } = site.environment;
  const kept = await stack.admin.call<{ snapshots: unknown[] }>(
    'GET',
    `/snapshots/${ref.organization}/${ref.project}/${ref.name}`,
  );
  expect(kept.snapshots).toHaveLength(1);
  await synced.waitForValues({ B: 'beta' });
});

test('what was being deleted goes, and the log names it; other finalizers and other namespaces are let be', async () => {
  const elsewhere = await createNamespace(stack.kube);
  resources.defer(() => discardNamespace(elsewhere, stack.kube));
  const finalizers = [finalizer, 'example.com/mine'];
  const [watched, unwatched] = await Promise.all(
    [stack.takeNamespace(), elsewhere].map(async (namespace) => {
      const path = `${group}/namespaces/${namespace}/servicetokens`;
      for (const [name, ends] of [
        ['left', [finalizer]],
        ['two', finalizers],
      ] as const) {
        const spec = { scope: 'Organization', organization: 'any', permission: 'Read' };
        const body = {
          apiVersion: 'keyframe.dev/v1alpha1',
          kind: 'ServiceToken',
          metadata: { name, finalizers: ends },
          spec,
        };
        await stack.kube.json({ method: 'POST', path, body });
      }
      await stack.kube.json({ method: 'DELETE', path: `${path}/left` });
      return path;
    }),
  );
  const { code, output } = await hook.run();
  expect(code).toBe(0);
  const reported =
    /"namespace":"(\S+)","name":"left","msg":"the resource was being deleted and is gone now, and its token was not revoked"/g;
  expect([...output.matchAll(reported)].map(([, namespace]) => namespace)).toEqual([watched?.split('/').at(-2)]);
  expect(await finalizersOf(`${watched}/left`)).toBe('gone');
  expect(await finalizersOf(`${watched}/two`)).toEqual(['example.com/mine']);
  expect(await finalizersOf(`${unwatched}/left`)).toEqual([finalizer]);
  expect(await finalizersOf(`${unwatched}/two`)).toEqual(finalizers);
  const release = { metadata: { finalizers: null } };
  for (const path of [`${watched}/two`, `${unwatched}/left`, `${unwatched}/two`]) {
    await stack.kube.json({ method: 'PATCH', path, contentType: 'application/merge-patch+json', body: release });
  }
});

async function finalizersOf(path: string): Promise<readonly string[] | 'gone' | undefined> {
  const found = await stack.kube.find<Held>({ path });
  return found === undefined ? 'gone' : found.metadata.finalizers;
}

test('the controller stands by until the Lease runs out, and puts them back then, because the release is still there', async () => {
  expect(await held()).toEqual([]);
  const { spec } = await lease();
  expect(spec).toMatchObject({ leaseDurationSeconds: 32 });
  expect(controller.captured.output.toString()).toContain('this controller stands by');
  await site.patch({ metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } });
  await environments.patch('made', { spec: { displayName: 'Asked for again' } });
  expect(await controller.metrics()).toMatch(/^keyframe_controller_leader 0$/m);
  // In this order: what is held while the Lease is still the hook's, no leader has put back.
  const early: string[] = [];
  const areBack = async (): Promise<boolean> => {
    const back = await held();
    if ((await lease()).spec?.holderIdentity === spec?.holderIdentity) early.push(...back);
    return heldAtFirst.every((one) => back.includes(one));
  };
  await waitFor('the finalizers to be back', areBack, { timeoutMs: 60_000 });
  expect(early).toEqual([]);
  expect(await controller.metrics()).toMatch(/^keyframe_controller_leader 1$/m);
});

test('with the controller gone, the namespaces and the resources of the cluster go when they are deleted', async () => {
  expect((await hook.run()).code).toBe(0);
  await controller.stop();
  await environments.delete('made');
  await environments.waitUntilGone('made');
  await stack.kube.json({ method: 'DELETE', path: `/api/v1/namespaces/${site.namespace}` });
  const isGone = async (): Promise<boolean> =>
    (await stack.kube.find({ path: `/api/v1/namespaces/${site.namespace}` })) === undefined;
  await waitFor('the namespace to be gone', isGone);
  await stack.admin.call('GET', site.environment.path);
});
