import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClusterSyncSite } from '../support/cluster/cluster-sync-site.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** ClusterSecretSyncs on a real API server, with its garbage collector and its namespace controller. */

const resources = new AsyncDisposableStack();
let site: ClusterSyncSite;
let controller: ServerProcess;

beforeAll(async () => {
  site = await ClusterSyncSite.make(resources);
  controller = await site.startController();
});

afterAll(() => resources.disposeAsync());

describe('a ClusterSecretSync', () => {
  test('has its template followed, and what is changed in a namespace put right', async () => {
    await site.createNamespaces('api', 2);
    const spec = site.spec('api');
    await site.syncs.create({ ...spec, template: { ...spec.template, labels: { tier: 'api' } } }, 'shared-api');
    await site.waitForStatus('shared-api', 'Synced', { ready: 2 });
    const spoil = '{"metadata":{"labels":{"tier":"other"}},"spec":{"maxDeletedKeys":7,"suspend":true}}';
    await site.kubectl('patch', 'secretsync', 'shared-api', '-n', 'api-0', '--type=merge', '-p', spoil);
    await waitFor('the SecretSync to be put right', async () => {
      const child = await site.child('api-0', 'shared-api');
      expect(child).toMatchObject({ metadata: { labels: { tier: 'api' } } });
      expect(child?.spec).toMatchObject({ maxDeletedKeys: '50%', suspend: false });
      return true;
    });
    await site.syncs.patch('shared-api', { spec: { template: { labels: null, spec: { maxDeletedKeys: 3 } } } });
    await site.waitForStatus('shared-api', 'Synced', { ready: 2 });
    const child = await site.child('api-1', 'shared-api');
    expect(child?.spec.maxDeletedKeys).toBe(3);
    expect(child?.metadata.labels).toEqual({ 'keyframe.dev/cluster-sync': 'shared-api' });
  });

  test('leaves a SecretSync of its name that a namespace has, and reports the conflict there alone', async () => {
    await site.createNamespaces('own', 2);
    const body = {
      apiVersion: 'keyframe.dev/v1alpha1',
      kind: 'SecretSync',
      metadata: { name: 'shared-own' },
      spec: { environmentRef: site.environment.ref, suspend: true },
    };
    await site.stack.kube.json({ method: 'POST', path: site.childPath('own-0', '').slice(0, -1), body });
    await site.syncs.create(site.spec('own'), 'shared-own');
    const failing = [{ namespace: 'own-0', reason: 'Conflict' }];
    await site.waitForStatus('shared-own', 'Conflict', { selected: 2, ready: 1, blocked: 1, failing });
    expect((await site.child('own-0', 'shared-own'))?.spec.suspend).toBe(true);
    await site.kubectl('label', 'secretsync', 'shared-own', '-n', 'own-0', 'keyframe.dev/cluster-sync=shared-own');
    await site.waitForStatus('shared-own', 'Synced', { ready: 2, blocked: 0 });
    expect((await site.child('own-0', 'shared-own'))?.spec.suspend).toBe(false);
  });

  test('whose label a team gives to its namespace brings nothing that no grant allows', async () => {
    await site.createNamespaces('ungranted', 1);
    await site.stack.kube.json({
      method: 'PATCH',
      path: '/api/v1/namespaces/ungranted-0',
      contentType: 'application/merge-patch+json',
      body: { metadata: { labels: { team: null, taken: 'yes' } } },
    });
    const spec = { ...site.spec('x'), namespaceSelector: { matchLabels: { taken: 'yes' } } };
    await site.syncs.create(spec, 'shared-taken');
    await site.waitForStatus('shared-taken', 'NotReady', { selected: 1, ready: 0, blocked: 0 });
    expect(await site.stack.kube.find({ path: '/api/v1/namespaces/ungranted-0/secrets/shared-taken' })).toBeUndefined();
  });
});

describe('the selection', () => {
  test('that flips removes nothing without a consent, and everything comes back', async () => {
    const names = await site.createNamespaces('flip', 4);
    await site.syncs.create(site.spec('flip'), 'shared-flip');
    await site.waitForStatus('shared-flip', 'Synced', { ready: 4 });
    const select = (team: string): Promise<void> =>
      site.syncs.patch('shared-flip', { spec: { namespaceSelector: { matchLabels: { team } } } });
    await select('none');
    const blocked = await site.waitForStatus('shared-flip', 'RemovalBlocked', { selected: 0 });
    expect(blocked.status?.conditions?.[0]?.message).toContain('The selection is empty');
    await select('flip');
    await site.waitForStatus('shared-flip', 'Synced', { selected: 4, ready: 4 });
    expect((await site.child('flip-0', 'shared-flip'))?.metadata.generation).toBe(1);
    await select('none');
    await site.consent('shared-flip');
    await site.waitForChildren('shared-flip', []);
    // With deletionPolicy: Retain, the Secret stays.
    await site.waitForValues('flip-0', 'shared-flip', { A: 'alpha' });
    await select('flip');
    await site.waitForChildren('shared-flip', names);
  });

  test('that loses its labels one after the other is judged as a whole', async () => {
    const names = await site.createNamespaces('drip', 4);
    await site.syncs.create(site.spec('drip'), 'shared-drip');
    await site.waitForStatus('shared-drip', 'Synced', { ready: 4 });
    for (const name of names.slice(0, 3)) await site.label(name, null);
    await site.waitForStatus('shared-drip', 'RemovalBlocked', { selected: 1 });
    for (const name of names.slice(0, 3)) await site.label(name, 'drip');
    await site.waitForStatus('shared-drip', 'Synced', { ready: 4 });
    await site.label('drip-0', null);
    await site.waitForChildren('shared-drip', names.slice(1));
  });
});

describe('a namespace', () => {
  test('that is terminating is left alone', async () => {
    await site.createNamespaces('held', 2);
    const metadata = { name: 'holder', finalizers: ['example.com/hold'] };
    const maps = '/api/v1/namespaces/held-0/configmaps';
    await site.stack.kube.json({ method: 'POST', path: maps, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata } });
    await site.stack.kube.json({ method: 'DELETE', path: '/api/v1/namespaces/held-0' });
    await site.syncs.create(site.spec('held'), 'shared-held');
    await site.waitForStatus('shared-held', 'Synced', { selected: 1, ready: 1, blocked: 0 });
    expect(await site.childrenOf('shared-held')).toEqual(['held-1']);
    const release = '{"metadata":{"finalizers":null}}';
    await site.kubectl('patch', 'configmap', 'holder', '-n', 'held-0', '--type=merge', '-p', release);
    await site.endNamespace('held-0');
  });

  test('that is deleted while the controller is away has nothing removed elsewhere', async () => {
    const names = await site.createNamespaces('away', 5);
    await site.syncs.create(site.spec('away'), 'shared-away');
    await site.waitForStatus('shared-away', 'Synced', { ready: 5 });
    await controller.stop();
    await Promise.all(names.slice(0, 4).map((name) => letGo(name)));
    controller = await site.startController();
    await site.waitForStatus('shared-away', 'Synced', { selected: 1, ready: 1 });
    await site.createNamespace('away-0', 'away');
    await site.waitForChildren('shared-away', ['away-0', 'away-4']);
  });

  /** Ends a namespace although the controller is away, whose finalizers would hold it. */
  async function letGo(namespace: string): Promise<void> {
    const release = '{"metadata":{"finalizers":null}}';
    const tokens = await site.kubectl('get', 'servicetokens', '-n', namespace, '-o', 'name');
    for (const token of tokens.trim().split('\n').filter(Boolean)) {
      await site.kubectl('patch', token, '-n', namespace, '--type=merge', '-p', release);
    }
    await site.endNamespace(namespace);
  }
});
