import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiProxy, type ProxiedRequest } from '../support/faults/api-proxy.ts';
import { ClusterSyncSite } from '../support/cluster/cluster-sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** ClusterSecretSyncs where processes end, rights are missing, or a backup was restored. */

const resources = new AsyncDisposableStack();
// More than one pass writes.
const many = 130;
// What a SecretSync reads is no matter here.
const unread = { suspend: true };
let site: ClusterSyncSite;

beforeAll(async () => {
  site = await ClusterSyncSite.make(resources);
});

afterAll(() => resources.disposeAsync());

function isWrite(method: string): (request: ProxiedRequest) => boolean {
  return (request) => request.method === method && /\/namespaces\/[^/]+\/secretsyncs(\/[^/]+)?$/.test(request.path);
}

/** Runs a controller until it has sent so many writes of SecretSyncs, and kills it at that moment. */
async function killAt(nth: number, method: string, begin: () => Promise<void>): Promise<void> {
  await using proxies = new AsyncDisposableStack();
  const proxy = await ApiProxy.start(join(site.cluster.runFolder, 'controller.kubeconfig'));
  proxies.defer(() => proxy.close());
  const controller = await site.startController(proxy.kubeconfigFile);
  const hold = proxy.hold(isWrite(method), { nth });
  await begin();
  await hold.arrived(60_000);
  await site.kill(controller);
  hold.cut();
}

test('a controller that ends in the middle is taken over: no SecretSync is missing, and none is removed without a consent', async () => {
  const names = await site.createNamespaces('crowd', many);
  await site.createNamespace('crowd-kept', 'crowd');
  await killAt(40, 'POST', async () => void (await site.syncs.create(site.spec('crowd', unread), 'crowd')));
  expect((await site.childrenOf('crowd')).length).toBeLessThan(names.length);
  const second = await site.startController();
  await site.waitForChildren('crowd', [...names, 'crowd-kept']);
  await site.waitForStatus('crowd', 'NotReady', { selected: many + 1, blocked: 0 });
  await site.syncs.patch('crowd', {
    spec: { excludeNamespaces: ['crowd-1*', 'crowd-2*', 'crowd-3*', 'crowd-4*', 'crowd-5*', 'crowd-6*'] },
  });
  const kept = [...names.filter((name) => !/^crowd-[1-6]/.test(name)), 'crowd-kept'];
  await site.waitForStatus('crowd', 'RemovalBlocked', { selected: kept.length });
  await site.kill(second);

  await killAt(30, 'DELETE', async () => await site.consent('crowd'));
  const left = await site.childrenOf('crowd');
  expect(left.length).toBeGreaterThan(kept.length);
  expect(left.length).toBeLessThan(many + 1);
  // The consent was to all of them; the next process asks for no other.
  const third = await site.startController();
  await site.waitForChildren('crowd', kept);
  await site.waitForStatus('crowd', 'NotReady', { selected: kept.length });
  expect((await site.syncs.get('crowd')).status).not.toHaveProperty('removal');
  await site.kill(third);
});

test('a restored backup with new uids keeps or gets back every SecretSync', async () => {
  const names = await site.createNamespaces('backup', 3);
  const controller = await site.startController();
  await site.syncs.create(site.spec('backup', unread), 'backup');
  await site.waitForStatus('backup', 'NotReady', { selected: 3 });
  await site.kill(controller);
  const { uid } = (await site.syncs.get('backup')).metadata;
  await site.kubectl('delete', 'kcsync', 'backup', '--cascade=orphan');
  // As a backup has them: with the uid of the ClusterSecretSync that was.
  const owner = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'ClusterSecretSync',
    name: 'backup',
    uid,
    controller: true,
  };
  const patch = JSON.stringify({ metadata: { ownerReferences: [owner] } });
  await site.syncs.create(site.spec('backup', unread), 'backup');
  for (const name of names) {
    // The garbage collector may be quicker than the next one.
    await site.kubectl('patch', 'secretsync', 'backup', '-n', name, '--type=merge', '-p', patch).catch(() => undefined);
  }
  const next = await site.startController();
  const { uid: present } = (await site.syncs.get('backup')).metadata;
  await waitFor('every SecretSync to belong to the new one', async () => {
    for (const name of names) {
      expect((await site.child(name, 'backup'))?.metadata.ownerReferences).toMatchObject([
        { uid: present, controller: true },
      ]);
    }
    return true;
  });
  await site.waitForStatus('backup', 'NotReady', { selected: 3, blocked: 0 });
  await site.kill(next);
});

test('a controller that watches some namespaces serves these, and counts the others', async () => {
  await site.createNamespaces('part', 3);
  await site.syncs.create(site.spec('part', unread), 'part');
  const controller = await site.startController(undefined, { WATCH_NAMESPACES: 'part-1' });
  const { status } = await site.waitForStatus('part', 'NotReady', { selected: 3, unwatched: 2 });
  expect(status?.conditions?.[0]?.message).toContain('2 namespaces more are selected');
  await site.waitForChildren('part', ['part-1']);
  await site.kill(controller);
});

test('a controller that may not list ClusterSecretSyncs serves SecretSyncs all the same, and reports it', async () => {
  const [name = ''] = await site.createNamespaces('denied', 1);
  const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/keyframe-controller-cluster';
  interface Role {
    readonly rules: readonly { readonly resources: readonly string[] }[];
  }
  const role = await site.stack.kube.json<Role>({ path });
  const rules = role.rules.filter(({ resources: granted }) => !granted.includes('clustersecretsyncs'));
  await site.stack.kube.json({ method: 'PUT', path, body: { ...role, rules } });
  const controller = await site.startController();
  const body = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'SecretSync',
    metadata: { name: 'alone' },
    spec: { environmentRef: site.environment.ref },
  };
  await site.stack.kube.json({ method: 'POST', path: site.childPath(name, '').slice(0, -1), body });
  await site.waitForValues(name, 'alone', { A: 'alpha' });
  const metric = 'keyframe_controller_denied_watches{watch="ClusterSecretSyncs"} 1';
  expect(await controller.metrics()).toContain(metric);
  const present = await site.stack.kube.json<Role>({ path });
  await site.stack.kube.json({ method: 'PUT', path, body: { ...present, rules: role.rules } });
  await waitFor('the kind to be on', async () => !(await controller.metrics()).includes(metric));
  await site.syncs.create(site.spec('denied'), 'allowed');
  await site.waitForStatus('allowed', 'Synced', { ready: 1 });
});
