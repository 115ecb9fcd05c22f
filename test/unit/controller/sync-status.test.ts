import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import type { SecretSyncStatus } from '../../../src/controller/generated/secret-sync.ts';
import { Harness, prod, secrets, shortestChange, syncs } from './controller-harness.ts';
import { serviceToken } from './fake-services.ts';

let harness: Harness;
const patch = `PATCH ${syncs}/app/status`;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

function editStatus(change: (status: SecretSyncStatus) => void): void {
  harness.cluster.put(syncs, 'app', (object) => change(object['status'] as SecretSyncStatus));
}

describe('a status that was edited by hand', () => {
  test('is put right a moment later', async () => {
    await harness.synced();
    const right = harness.status();
    editStatus((status) => {
      status.syncedRevision = 999;
      status.lastSyncTime = '2030-01-01T00:00:00Z';
      delete status.environmentId;
      status.conditions = [];
    });
    expect(await harness.calls()).toEqual([]);
    await harness.clock.advance(1000);
    expect(await harness.calls()).toEqual([`GET ${secrets}/token`, patch]);
    expect(harness.status()).toEqual(right);
    await harness.clock.advance(10_000);
    expect(await harness.calls()).toEqual([]);
  });

  test('is not read as authority: the Secret is looked at all the same', async () => {
    await harness.synced();
    await harness.controller.stop();
    harness.edit((secret) => {
      secret['data'] = {};
    });
    editStatus((status) => {
      status.target = {
        name: 'app',
        uid: harness.target()?.metadata.uid ?? '',
        resourceVersion: harness.target()?.metadata.resourceVersion ?? '',
      };
    });
    const again = new Harness(harness);
    again.controller.start();
    await again.calls();
    expect(again.values()).toEqual({ A: 'alpha', B: 'beta' });
    await again.controller.stop();
  });

  test('is put right a second later also where the last reconcile failed, and only once', async () => {
    await harness.synced();
    harness.cluster.remove(`${secrets}/token`);
    await harness.calls();
    const failed = harness.status();
    editStatus((status) => {
      status.conditions = [];
    });
    expect(await harness.calls()).toEqual([]);
    await harness.clock.advance(1000);
    await harness.calls();
    expect(harness.status()).toEqual(failed);
    await harness.clock.advance(5000);
    expect(await harness.calls()).toEqual([]);
  });
});

describe('the columns of kubectl', () => {
  test('have the Secret and the source also if nothing was ever synced', async () => {
    await harness.start();
    harness.putSync({ name: 'plain' });
    const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
    const sources = ['one', 'two', 'three'].map((name) => ({ name, environmentRef }));
    harness.putSync({ name: 'united', spec: { sources }, target: { name: 'web' } });
    await harness.calls();
    const statusOf = (name: string): unknown => harness.cluster.get(`${syncs}/${name}`)?.['status'];
    expect(statusOf('plain')).toMatchObject({ secretName: 'plain', source: 'acme/web/prod' });
    expect(statusOf('united')).toMatchObject({ secretName: 'web', source: '3 sources' });
    expect(statusOf('plain')).not.toHaveProperty('target');
  });
});

describe('metadata of the SecretSync', () => {
  test('that changed alone causes no reconcile', async () => {
    await harness.synced();
    harness.cluster.put(syncs, 'app', ({ metadata }) => {
      metadata.labels = { a: 'b' };
    });
    await harness.calls();
    await harness.clock.advance(5000);
    expect(await harness.calls()).toEqual([]);
    harness.services.change(prod, { A: 'x' });
    expect(await harness.calls()).toEqual(shortestChange);
  });
});

describe('a status patch', () => {
  test('that lost a race is made again on what exists then', async () => {
    await harness.synced();
    harness.cluster.before(/^PATCH/, () => harness.putSync({ target: { labels: { team: 'x' } } }));
    harness.services.change(prod, { A: 'x' });
    await harness.calls();
    expect(harness.status()).toMatchObject({ observedGeneration: 2, syncedRevision: 2 });
    expect(harness.target()?.metadata.labels).toMatchObject({ team: 'x' });
  });

  test('that fails is tried again, without another read or another write of the Secret', async () => {
    await harness.synced();
    harness.cluster.before(/^PATCH/, () => {
      throw new ApiError('PATCH', 500, 'InternalError');
    });
    harness.services.change(prod, { A: 'x' });
    expect(await harness.calls()).toEqual(shortestChange);
    await harness.clock.advance(1000);
    expect(await harness.calls()).toEqual([patch]);
    expect(harness.status()).toMatchObject({ syncedRevision: 2 });
  });

  test('of a SecretSync that was deleted meanwhile is let go', async () => {
    await harness.synced();
    harness.cluster.before(/^PATCH/, () => harness.cluster.remove(`${syncs}/app`));
    harness.services.change(prod, { A: 'x' });
    await harness.calls();
    await harness.clock.advance(10_000);
    expect(await harness.calls()).toEqual([]);
    expect(harness.logs.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
  });
});

describe('times', () => {
  test('of the syncing moves with the revision, though no value changed', async () => {
    await harness.synced();
    await harness.clock.advance(60_000);
    harness.services.change(prod, { A: 'alpha', B: 'beta' });
    await harness.calls();
    expect(harness.status().lastSyncTime).toBe('2026-01-01T00:01:00Z');
  });

  test('stay where nothing changed, and move with what they are about', async () => {
    await harness.synced();
    await harness.clock.advance(60_000);
    harness.services.change(prod, { A: 'x' });
    await harness.calls();
    const { lastSyncTime, conditions } = harness.status();
    expect(lastSyncTime).toBe('2026-01-01T00:01:00Z');
    expect(conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(
      Array(3).fill('2026-01-01T00:00:00Z'),
    );
    harness.cluster.remove(`${secrets}/token`);
    await harness.clock.advance(60_000);
    await harness.calls();
    expect(harness.status().lastSyncTime).toBe('2026-01-01T00:01:00Z');
  });
});

describe('suspension', () => {
  test('reads nothing and writes nothing but the status, and lets go of every watch by name', async () => {
    await harness.synced();
    harness.putSync({ spec: { suspend: true } });
    expect(await harness.calls()).toEqual([patch, 'POST /apis/events.k8s.io/v1/namespaces/ns/events']);
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'Suspended' });
    expect(harness.cluster.openWatches.filter((watch) => watch.includes('metadata.name'))).toEqual([]);
    harness.services.reads.splice(0);
    harness.services.change(prod, { A: 'x' });
    harness.edit((secret) => {
      secret['data'] = {};
    });
    await harness.calls();
    harness.services.ready();
    await harness.calls();
    expect(harness.services.reads).toEqual([]);
    expect(harness.values()).toEqual({});
  });

  test('ends with the spec, and what was missed is made up for', async () => {
    await harness.synced({ spec: { suspend: true } });
    expect(harness.target()).toBeUndefined();
    harness.putSync();
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
    harness.services.change(prod, { A: 'x' });
    expect(await harness.calls()).toEqual(shortestChange);
  });
});

describe('a deleted SecretSync', () => {
  test('is forgotten, and its Secret left to the garbage collector or to stay', async () => {
    await harness.synced();
    harness.cluster.remove(`${syncs}/app`);
    await harness.calls();
    harness.services.change(prod, { A: 'x' });
    harness.services.ready();
    expect(await harness.calls()).toEqual([]);
    expect(harness.values()).toEqual({ A: 'alpha', B: 'beta' });
  });

  test('leaves no timer behind', async () => {
    harness.services.tokens.set('kf_svc_brief', serviceToken('brief', new Date(harness.clock.now() + 777_000)));
    await harness.synced();
    harness.putToken('kf_svc_brief');
    await harness.calls();
    expect(harness.clock.pending).toContain(778_000);
    harness.cluster.remove(`${syncs}/app`);
    await harness.calls();
    expect(harness.clock.pending).not.toContain(778_000);
  });

  test('that finalizers of others still hold is not synced any more', async () => {
    await harness.synced();
    harness.cluster.put(syncs, 'app', ({ metadata }) => {
      metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    });
    await harness.calls();
    harness.services.change(prod, { A: 'x' });
    expect(await harness.calls()).toEqual([]);
  });

  test('and made again is another one, which takes its Secret over', async () => {
    await harness.synced({ target: { deletionPolicy: 'Delete' } });
    harness.cluster.remove(`${syncs}/app`);
    harness.putSync({ target: { deletionPolicy: 'Delete' } });
    await harness.calls();
    const uid = harness.cluster.get(`${syncs}/app`)?.metadata.uid;
    expect(harness.target()?.metadata.ownerReferences).toEqual([
      { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', name: 'app', uid },
    ]);
    expect(harness.ready()?.reason).toBe('Synced');
  });
});
