import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { ClusterSyncHarness, clusterSyncs, syncsIn } from './cluster-sync-harness.ts';
import { prod } from './controller-harness.ts';
import { serviceToken } from './fake-services.ts';

/** What a ClusterSecretSync reports, and what it does about namespaces that take no SecretSync. */

let harness: ClusterSyncHarness;

beforeEach(() => {
  harness = new ClusterSyncHarness();
});

afterEach(() => harness.controller.stop());

describe('the status', () => {
  function putToken(namespace: string): void {
    harness.cluster.put(`/api/v1/namespaces/${namespace}/secrets`, 'token', (secret) => {
      secret['data'] = { token: Buffer.from('kf_svc_good').toString('base64') };
    });
  }

  function report(namespace: string, status: 'True' | 'False', reason: string): void {
    harness.cluster.put(syncsIn(namespace), 'shared', (object) => {
      const { generation: observedGeneration = 1 } = object.metadata;
      const about = { observedGeneration, message: 'secret words', lastTransitionTime: '2026-01-01T00:00:00Z' };
      object['status'] = { observedGeneration, conditions: [{ type: 'Ready', status, reason, ...about }] };
    });
  }

  test('counts what is ready, names what is not by its reason, and repeats no message', async () => {
    harness.putNamespaces(3);
    harness.services.create(prod, 'env', { A: 'alpha' });
    harness.services.tokens.set('kf_svc_good', serviceToken('good'));
    putToken('team-00');
    await harness.generated();
    const failing = ['team-01', 'team-02'].map((namespace) => ({ namespace, reason: 'TokenSecretNotFound' }));
    expect(harness.parent.status).toMatchObject({ selected: 3, ready: 1, blocked: 0, unwatched: 0, failing });
    expect(harness.clusterReady).toMatchObject({ status: 'False', reason: 'NotReady' });
    // The SecretSync's own message names the Secret.
    expect(JSON.stringify(harness.parent.status)).not.toContain('Secret token');
    putToken('team-01');
    putToken('team-02');
    await harness.settle();
    expect(harness.parent.status).toMatchObject({ ready: 3 });
    expect(harness.parent.status).not.toHaveProperty('failing');
    expect(harness.clusterReady).toMatchObject({ status: 'True', reason: 'Synced' });
  });

  test('causes an Event of type Normal for work that advances, and a Warning for a namespace that is not ready', async () => {
    harness.putNamespace('team-00');
    harness.services.create(prod, 'env', { A: 'alpha' });
    harness.services.tokens.set('kf_svc_good', serviceToken('good'));
    putToken('team-00');
    await harness.generated();
    harness.putNamespace('team-01');
    await harness.clock.advance(600_000);
    putToken('team-01');
    await harness.settle();
    const types = new Map(
      harness.cluster.events
        .filter(({ regarding }) => (regarding as { kind: string }).kind === 'ClusterSecretSync')
        .map(({ reason, type }) => [String(reason), String(type)]),
    );
    expect(Object.fromEntries(types)).toEqual({ Syncing: 'Normal', NotReady: 'Warning', Synced: 'Normal' });
  });

  test('names 100 at most', async () => {
    harness.putNamespaces(120);
    await harness.generated({ templateSpec: { suspend: true } });
    expect(harness.parent.status?.failing).toHaveLength(100);
    expect(harness.parent.status).toMatchObject({ selected: 120 });
  });

  test('is patched once a second at most', async () => {
    const names = harness.putNamespaces(30);
    await harness.generated({ templateSpec: { suspend: true } });
    const patches = (): number =>
      harness.cluster.takeCalls().filter((call) => call === `PATCH ${clusterSyncs}/shared/status`).length;
    patches();
    for (const [index, name] of names.entries()) {
      report(name, 'False', `Reason${index}`);
      await harness.clock.advance(100);
    }
    expect(patches()).toBeLessThanOrEqual(4);
    await harness.settle();
    expect(harness.parent.status?.failing?.at(-1)).toMatchObject({ reason: 'Suspended' });
  });

  test('counts namespaces that are selected and not watched', async () => {
    await harness.controller.stop();
    harness = new ClusterSyncHarness({ watchNamespaces: ['team-00'] });
    const names = harness.putNamespaces(3);
    await harness.generated();
    expect(harness.children(names)).toEqual(['team-00']);
    expect(harness.parent.status).toMatchObject({ selected: 3, unwatched: 2 });
  });
});

describe('what the API server does not take', () => {
  test('leaves the namespace alone for a minute, and holds no other up', async () => {
    harness.putNamespaces(2);
    harness.cluster.before(/POST .*team-00\/secretsyncs$/, (call) => {
      throw new ApiError(`POST ${call.path}`, 403, 'Forbidden');
    });
    await harness.generated();
    expect(harness.children(['team-00', 'team-01'])).toEqual(['team-01']);
    expect(harness.parent.status).toMatchObject({ blocked: 1 });
    expect(harness.parent.status?.failing).toContainEqual({ namespace: 'team-00', reason: 'Refused' });
    expect(harness.clusterReady?.reason).toBe('Refused');
    await harness.clock.advance(45_000);
    expect(harness.takeWrites()).toEqual([]);
    await harness.clock.advance(15_000);
    expect(harness.takeWrites()).toEqual(['POST team-00']);
    expect(harness.child('team-00')).toBeDefined();
  });

  test('is tried at once for another spec, and for keyframe.dev/reconcile-at', async () => {
    harness.putNamespace('team');
    const refuse = (): void =>
      harness.cluster.before(/POST .*team\/secretsyncs$/, (call) => {
        throw new ApiError(`POST ${call.path}`, 422, 'Invalid');
      });
    refuse();
    await harness.generated();
    refuse();
    harness.putClusterSync({ labels: { tier: 'web' } });
    await harness.settle();
    expect(harness.takeWrites()).toEqual(['POST team']);
    harness.annotate('keyframe.dev/reconcile-at', 'now');
    await harness.settle();
    expect(harness.takeWrites()).toEqual(['POST team']);
    expect(harness.child('team')).toBeDefined();
  });

  test('is tried at once where the namespace was made again', async () => {
    harness.putNamespaces(2);
    harness.cluster.before(/POST .*team-00\/secretsyncs$/, (call) => {
      throw new ApiError(`POST ${call.path}`, 403, 'Forbidden');
    });
    await harness.generated();
    harness.cluster.remove('/api/v1/namespaces/team-00');
    harness.putNamespace('team-00');
    await harness.settle();
    expect(harness.takeWrites()).toEqual(['POST team-00']);
  });

  test('an API server that is away is tried again with backoff', async () => {
    harness.putNamespace('team');
    harness.cluster.before(/POST .*team\/secretsyncs$/, (call) => {
      throw new ApiError(`POST ${call.path}`, 503, 'ServiceUnavailable');
    });
    await harness.generated();
    expect(harness.child('team')).toBeDefined();
    expect(harness.reconciled).toContain('ClusterUnavailable');
  });
});
