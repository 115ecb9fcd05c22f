import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { ClusterSyncHarness, clusterSyncs, syncsIn } from './cluster-sync-harness.ts';

/** The SecretSyncs that a ClusterSecretSync makes, and what becomes of them. */

let harness: ClusterSyncHarness;

beforeEach(() => {
  harness = new ClusterSyncHarness();
});

afterEach(() => harness.controller.stop());

/** The notes of the Events DriftRepaired. */
function repairs(): string[] {
  return harness.cluster.events.flatMap(({ reason, note }) => (reason === 'DriftRepaired' ? [String(note)] : []));
}

describe('a selected namespace', () => {
  test('gets a SecretSync with the template, the label, and the ClusterSecretSync as its controller', async () => {
    harness.putNamespace('team');
    await harness.generated({ labels: { tier: 'web' } });
    expect(harness.child('team')).toMatchObject({
      metadata: {
        labels: { tier: 'web', 'keyframe.dev/cluster-sync': 'shared' },
        ownerReferences: [
          {
            apiVersion: 'keyframe.dev/v1alpha1',
            kind: 'ClusterSecretSync',
            name: 'shared',
            uid: harness.parent.metadata.uid,
            controller: true,
          },
        ],
      },
      spec: harness.parent.spec.template.spec,
    });
  });

  test('is looked at when its label comes, and when it is made', async () => {
    harness.putNamespace('late', {});
    await harness.generated();
    expect(harness.children(['late', 'new'])).toEqual([]);
    harness.putNamespace('late');
    harness.putNamespace('new');
    await harness.settle();
    expect(harness.children(['late', 'new'])).toEqual(['late', 'new']);
    expect(harness.parent.status).toMatchObject({ selected: 2 });
  });

  test('is none that is excluded, or whose name begins like an excluded one', async () => {
    for (const name of ['kube-system', 'kubeless', 'team', 'team-b']) harness.putNamespace(name);
    await harness.generated({ namespaces: ['*'], excludeNamespaces: ['kube-*', 'team'] });
    expect(harness.children(['kube-system', 'kubeless', 'team', 'team-b'])).toEqual(['kubeless', 'team-b']);
  });

  test('is none whose labels are called like properties of objects', async () => {
    harness.putNamespace('team', { constructor: 'yes' });
    harness.putNamespace('plain', {});
    const matchExpressions = [{ key: 'toString', operator: 'Exists' as const }];
    await harness.generated({ namespaceSelector: { matchLabels: {}, matchExpressions } });
    expect(harness.children(['team', 'plain'])).toEqual([]);
    expect(harness.clusterReady).toMatchObject({ status: 'False', reason: 'NoNamespaces' });
  });
});

describe('a SecretSync that was made', () => {
  beforeEach(async () => {
    harness.putNamespace('team');
    await harness.generated({ labels: { tier: 'web', zone: 'a' } });
  });

  test('is written again only if it differs', async () => {
    harness.cluster.put(syncsIn('team'), 'shared', ({ metadata }) => {
      metadata.annotations = { ...metadata.annotations, 'keyframe.dev/reconcile-at': 'now' };
      metadata.labels = { ...metadata.labels, own: 'label' };
    });
    await harness.settle();
    expect(harness.takeWrites()).toEqual([]);
  });

  test('follows the template, and loses what it has no more', async () => {
    harness.cluster.put(syncsIn('team'), 'shared', ({ metadata }) => {
      metadata.labels = { ...metadata.labels, own: 'label' };
    });
    const keys = { include: ['DB_*'] } as never;
    harness.putClusterSync({ labels: { tier: 'api' }, templateSpec: { keys } });
    await harness.settle();
    const labels = { tier: 'api', own: 'label', 'keyframe.dev/cluster-sync': 'shared' };
    expect(harness.child('team')).toMatchObject({ metadata: { labels }, spec: { keys } });
    expect(harness.child('team')?.metadata.labels).not.toHaveProperty('zone');
    harness.putClusterSync();
    await harness.settle();
    expect(harness.child('team')?.['spec']).toEqual(harness.parent.spec.template.spec);
    expect(harness.child('team')?.metadata).not.toHaveProperty('annotations');
    expect(harness.takeWrites()).toEqual(['PATCH team', 'PATCH team']);
  });

  test('is put right where its spec or its label was changed, and made again where it was deleted', async () => {
    const { spec } = harness.parent.spec.template;
    harness.cluster.put(syncsIn('team'), 'shared', (object) => {
      object.metadata.labels = {};
      object['spec'] = { ...spec, suspend: true };
    });
    await harness.settle();
    expect(harness.child('team')).toMatchObject({
      metadata: { labels: { 'keyframe.dev/cluster-sync': 'shared', tier: 'web' } },
      spec,
    });
    harness.cluster.remove(`${syncsIn('team')}/shared`);
    await harness.settle();
    expect(harness.child('team')?.['spec']).toEqual(spec);
    expect(harness.takeWrites()).toEqual(['PATCH team', 'POST team']);
    // At most one in ten minutes.
    const note =
      'Another client changed or deleted the SecretSync in 1 namespace (team). The controller repaired it. ' +
      'Change spec.template of the ClusterSecretSync instead, or add the namespace to spec.excludeNamespaces.';
    expect(repairs()).toEqual([note]);
    harness.cluster.remove(`${syncsIn('team')}/shared`);
    await harness.clock.advance(600_000);
    await harness.settle();
    expect(repairs()).toEqual([note]);
    harness.cluster.remove(`${syncsIn('team')}/shared`);
    await harness.settle();
    expect(repairs()).toEqual([note, note]);
  });

  test('causes no Event DriftRepaired where the template, the selection or a conflict is the cause of the write', async () => {
    harness.putNamespace('taken');
    harness.cluster.put(syncsIn('taken'), 'shared', () => {});
    harness.putClusterSync({ labels: { tier: 'api' } });
    harness.putNamespace('new');
    await harness.settle();
    harness.cluster.remove(`${syncsIn('taken')}/shared`);
    harness.putNamespace('new', {});
    await harness.settle();
    harness.putNamespace('new');
    await harness.settle();
    expect(harness.takeWrites().length).toBeGreaterThan(3);
    expect(repairs()).toEqual([]);
  });

  test('stays as it is while spec.suspend is true', async () => {
    harness.putClusterSync({ suspend: true, labels: { tier: 'api' } });
    harness.putNamespace('new');
    harness.putNamespace('team', {});
    await harness.settle();
    expect(harness.takeWrites()).toEqual([]);
    expect(harness.clusterReady).toMatchObject({ status: 'False', reason: 'Suspended' });
    expect(harness.parent.status).toMatchObject({ selected: 1 });
  });

  test('is no longer counted where its namespace ends, and is made again where that comes back', async () => {
    expect(harness.parent.status).toMatchObject({ selected: 1 });
    harness.cluster.put('/api/v1/namespaces', 'team', ({ metadata }) => {
      metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    });
    await harness.settle();
    expect(harness.parent.status).toMatchObject({ selected: 0 });
    harness.cluster.remove(`${syncsIn('team')}/shared`);
    await harness.settle();
    expect(harness.child('team')).toBeUndefined();
    harness.cluster.remove('/api/v1/namespaces/team');
    await harness.settle();
    expect(harness.takeWrites()).toEqual([]);
    expect(harness.clusterReady?.reason).toBe('NoNamespaces');
    harness.putNamespace('team');
    await harness.settle();
    expect(harness.takeWrites()).toEqual(['POST team']);
    expect(harness.parent.status).toMatchObject({ selected: 1 });
  });

  test('that changes while it is put right is put right all the same, without delay', async () => {
    harness.cluster.before(/PATCH .*\/secretsyncs\/shared$/, () => {
      harness.cluster.put(syncsIn('team'), 'shared', ({ metadata }) => {
        metadata.labels = { ...metadata.labels, own: 'label' };
      });
    });
    harness.putClusterSync({ labels: { tier: 'api' } });
    await harness.settle();
    expect(harness.child('team')?.metadata.labels).toMatchObject({ tier: 'api', own: 'label' });
  });

  test('that is being deleted is waited for, and deleted once only', async () => {
    harness.cluster.put(syncsIn('team'), 'shared', ({ metadata }) => {
      metadata.finalizers = ['example.com/hold'];
    });
    harness.putNamespace('other');
    await harness.settle();
    harness.cluster.takeCalls();
    harness.putNamespace('team', {});
    await harness.settle();
    harness.putNamespace('third');
    await harness.settle();
    expect(harness.takeWrites()).toEqual(['DELETE team', 'POST third']);
    harness.putNamespace('team');
    await harness.settle();
    expect(harness.parent.status).toMatchObject({ selected: 3, blocked: 0 });
    harness.cluster.remove(`${syncsIn('team')}/shared`);
    await harness.settle();
    expect(harness.takeWrites()).toEqual(['POST team']);
  });
});

describe('a SecretSync of that name that was there before', () => {
  function putForeign(change: (metadata: { labels?: object; ownerReferences?: unknown }) => void = () => {}): void {
    harness.putNamespace('team');
    harness.putNamespace('other');
    harness.cluster.put(syncsIn('team'), 'shared', (object) => {
      change(object.metadata);
      object['spec'] = { maxDeletedKeys: 3, target: {} };
    });
  }

  const owner = {
    apiVersion: 'keyframe.dev/v1alpha1',
    kind: 'ClusterSecretSync',
    name: 'shared',
    uid: 'gone',
    controller: true,
  };

  test.each([
    ['has no label', {}],
    [
      'has the label and another controller',
      { labels: { 'keyframe.dev/cluster-sync': 'shared' }, ownerReferences: [{ ...owner, kind: 'Application' }] },
    ],
    ['has the label of another ClusterSecretSync', { labels: { 'keyframe.dev/cluster-sync': 'another' } }],
    ['belongs to another ClusterSecretSync', { ownerReferences: [{ ...owner, name: 'another' }] }],
    [
      'belongs to a kind of this name in another group',
      { ownerReferences: [{ ...owner, apiVersion: 'example.com/v1' }] },
    ],
  ])('stays as it is if it %s: a conflict in that namespace alone', async (_, more) => {
    putForeign((metadata) => Object.assign(metadata, more));
    await harness.generated();
    expect(harness.child('team')?.['spec']).toEqual({ maxDeletedKeys: 3, target: {} });
    expect(harness.child('other')).toBeDefined();
    expect(harness.parent.status).toMatchObject({
      selected: 2,
      blocked: 1,
      failing: expect.arrayContaining([{ namespace: 'team', reason: 'Conflict' }]),
    });
    expect(harness.clusterReady).toMatchObject({
      reason: 'Conflict',
      message: expect.stringMatching(/1 of 2 namespaces .*\(team\)/),
    });
    harness.cluster.remove(`${syncsIn('team')}/shared`);
    await harness.settle();
    expect(harness.child('team')?.['spec']).toEqual(harness.parent.spec.template.spec);
    expect(harness.parent.status).toMatchObject({ blocked: 0 });
  });

  test.each([
    ['has the label and no controller', { labels: { 'keyframe.dev/cluster-sync': 'shared' } }],
    [
      'was made before a backup was restored, which gave the ClusterSecretSync another uid',
      { ownerReferences: [{ ...owner, uid: 'former' }] },
    ],
  ])('is taken over if it %s', async (_, more) => {
    putForeign((metadata) => Object.assign(metadata, more));
    await harness.generated();
    const { uid } = harness.parent.metadata;
    expect(harness.child('team')).toMatchObject({
      metadata: { ownerReferences: [{ ...owner, uid }] },
      spec: harness.parent.spec.template.spec,
    });
    expect(harness.child('team')?.metadata.ownerReferences).toHaveLength(1);
    expect(harness.parent.status).toMatchObject({ blocked: 0 });
  });

  test.each([
    ['has the label', { labels: { 'keyframe.dev/cluster-sync': 'shared' } }],
    ['belonged to a former ClusterSecretSync', { ownerReferences: [{ ...owner, uid: 'former' }] }],
  ])('stays in a namespace that is not selected if it %s', async (_, more) => {
    putForeign((metadata) => Object.assign(metadata, more));
    harness.putNamespace('team', {});
    await harness.generated();
    expect(harness.child('team')?.['spec']).toEqual({ maxDeletedKeys: 3, target: {} });
  });
});

describe('nothing is done', () => {
  // A list that is denied does not keep a process from leading, as one that is slow does.
  test.each([
    ['namespaces', /GET \/api\/v1\/namespaces$/],
    ['SecretSyncs', /GET \/apis\/keyframe\.dev\/v1alpha1\/secretsyncs$/],
  ])('before all %s were seen', async (_, list) => {
    harness.putNamespaces(3);
    for (let count = 0; count < 8; count += 1) {
      harness.cluster.before(list, (call) => {
        throw new ApiError(`GET ${call.path}`, 403, 'Forbidden');
      });
    }
    harness.putClusterSync();
    await harness.start();
    await harness.settle();
    expect(harness.lease.isHeld).toBe(true);
    expect(harness.takeWrites()).toEqual([]);
    expect(harness.clusterReady).toMatchObject({ reason: 'ClusterUnavailable' });
    harness.cluster.mend();
    await harness.clock.advance(120_000);
    expect(harness.takeWrites()).toHaveLength(3);
  });

  test('for a ClusterSecretSync that is being deleted', async () => {
    harness.putNamespace('team');
    await harness.generated();
    harness.cluster.put(clusterSyncs, 'shared', ({ metadata }) => {
      metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
      metadata.finalizers = ['orphan'];
    });
    harness.cluster.remove(`${syncsIn('team')}/shared`);
    harness.putNamespace('new');
    await harness.settle();
    expect(harness.takeWrites()).toEqual([]);
  });
});

const many = process.env['KEYFRAME_TEST_SCALE'] === 'full' ? 5000 : 1000;

describe('many namespaces', () => {
  test('get their SecretSyncs in passes of 100 writes', async () => {
    const names = harness.putNamespaces(many);
    harness.putClusterSync({ templateSpec: { suspend: true } });
    let statusPatches = 0;
    harness.cluster.onStep = (step) => {
      if (step === `before PATCH ${clusterSyncs}/shared/status`) statusPatches += 1;
    };
    const held = harness.cluster.holdWatches();
    await harness.start();
    // The watch shows none of the writes: what a pass has made counts all the same.
    const passes = [harness.takeWrites().length];
    while (passes.at(-1) !== 0) {
      await harness.clock.advance(10);
      passes.push(harness.takeWrites().length);
    }
    const first = passes[0] ?? 0;
    expect(first % 100).toBe(0);
    expect(passes).toEqual([first, ...Array.from({ length: (many - first) / 100 }, () => 100), 0]);
    expect(statusPatches).toBe(1);
    held();
    await harness.settle();
    expect(harness.children(names)).toHaveLength(many);
    expect(harness.takeWrites()).toEqual([]);
    expect(harness.parent.status).toMatchObject({ selected: many, blocked: 0 });
  });

  test('go on where a process ended in the middle', async () => {
    const names = harness.putNamespaces(300);
    harness.putClusterSync({ templateSpec: { suspend: true } });
    await harness.start();
    await harness.controller.stop();
    const made = harness.children(names).length;
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(300);
    const before = harness.cluster;
    harness = new ClusterSyncHarness({ cluster: before });
    before.takeCalls();
    await harness.start();
    await harness.settle();
    expect(harness.takeWrites().filter((write) => write.startsWith('POST'))).toHaveLength(300 - made);
    expect(harness.children(names)).toHaveLength(300);
  });
});
