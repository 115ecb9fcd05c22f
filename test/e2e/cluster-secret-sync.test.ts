/** @default A ClusterSecretSync brings its Secret to each selected namespace, and garbage collection takes it away. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClusterSyncSite } from '../support/cluster/cluster-sync-site.ts';

const resources = new AsyncDisposableStack();
let site: ClusterSyncSite;

beforeAll(async () => {
  site = await ClusterSyncSite.make(resources);
  await site.startController();
});

afterAll(() => resources.disposeAsync());

describe('a ClusterSecretSync', () => {
  test('brings the values of an environment to every selected namespace, and each commit', async () => {
    const names = await site.createNamespaces('web', 3);
    await site.syncs.create(site.spec('web'), 'shared-web');
    await site.waitForStatus('shared-web', 'Synced', { selected: 3, ready: 3, blocked: 0, unwatched: 0 });
    for (const name of names) await site.waitForValues(name, 'shared-web', { A: 'alpha' });
    await site.environment.change({ A: 'beta' });
    for (const name of names) await site.waitForValues(name, 'shared-web', { A: 'beta' });
    await site.createNamespace('web-late', 'web');
    await site.waitForValues('web-late', 'shared-web', { A: 'beta' });
    await site.waitForStatus('shared-web', 'Synced', { selected: 4, ready: 4 });
    // Once is enough: what the API server fills in differs in neither.
    const child = await site.child('web-0', 'shared-web');
    expect(child?.metadata).toMatchObject({ generation: 1, labels: { 'keyframe.dev/cluster-sync': 'shared-web' } });
    await site.environment.change({ A: 'alpha' });
  });

  test('shows in columns how its namespaces stand', async () => {
    const table = await site.kubectl('get', 'kcsync', 'shared-web');
    const [titles = '', row = ''] = table.trim().split('\n');
    expect(titles.split(/\s{2,}/)).toEqual(['NAME', 'READY', 'REASON', 'SELECTED', 'SYNCED', 'BLOCKED', 'AGE']);
    expect(row.split(/\s+/).slice(0, 6)).toEqual(['shared-web', 'True', 'Synced', '4', '4', '0']);
    expect(await site.kubectl('get', 'secretsync', '-A', '-l', 'keyframe.dev/cluster-sync=shared-web')).toContain(
      'web-2',
    );
  });
});

describe('a namespace', () => {
  test('that ends takes its SecretSync along and counts no more, and gets another one if it comes back', async () => {
    await site.createNamespaces('end', 2);
    await site.syncs.create(site.spec('end'), 'shared-end');
    await site.waitForStatus('shared-end', 'Synced', { ready: 2 });
    const before = (await site.child('end-0', 'shared-end'))?.metadata.uid;
    await site.endNamespace('end-0');
    await site.waitForStatus('shared-end', 'Synced', { selected: 1, ready: 1 });
    await site.createNamespace('end-0', 'end');
    await site.waitForStatus('shared-end', 'Synced', { selected: 2, ready: 2 });
    expect((await site.child('end-0', 'shared-end'))?.metadata.uid).not.toBe(before);
  });
});

describe('a ClusterSecretSync that is deleted', () => {
  test('takes its SecretSyncs along, and with --cascade=orphan leaves them to the next one of its name', async () => {
    const names = await site.createNamespaces('gone', 2);
    await site.syncs.create(site.spec('gone'), 'shared-gone');
    await site.waitForStatus('shared-gone', 'Synced', { ready: 2 });
    const { uid } = (await site.child('gone-0', 'shared-gone'))?.metadata ?? {};
    await site.kubectl('delete', 'kcsync', 'shared-gone', '--cascade=orphan');
    expect((await site.child('gone-0', 'shared-gone'))?.metadata.ownerReferences ?? []).toEqual([]);
    await site.syncs.create(site.spec('gone'), 'shared-gone');
    await site.waitForStatus('shared-gone', 'Synced', { ready: 2, blocked: 0 });
    const adopted = await site.child('gone-0', 'shared-gone');
    expect(adopted?.metadata).toMatchObject({ uid, ownerReferences: [{ controller: true, name: 'shared-gone' }] });
    await site.waitForChildren('shared-gone', names);
    await site.kubectl('delete', 'kcsync', 'shared-gone');
    await site.waitForChildren('shared-gone', []);
  });
});
