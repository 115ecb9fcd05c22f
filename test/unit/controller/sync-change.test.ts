import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Harness, prod, secrets, shortestChange, syncs } from './controller-harness.ts';

let harness: Harness;

beforeEach(() => {
  harness = new Harness();
});

afterEach(() => harness.controller.stop());

describe('a new SecretSync', () => {
  test('makes a Secret with the values, the label, the owner and the status', async () => {
    await harness.synced();
    expect(harness.target()).toMatchObject({
      type: 'Opaque',
      data: { A: 'YWxwaGE=', B: 'YmV0YQ==' },
      metadata: {
        labels: { 'keyframe.dev/target': 'true' },
        annotations: { 'keyframe.dev/owned-by': 'app' },
      },
    });
    expect(harness.target()?.metadata).not.toHaveProperty('ownerReferences');
    const { uid, resourceVersion } = harness.target()?.metadata ?? {};
    expect(harness.status()).toEqual({
      observedGeneration: 1,
      secretName: 'app',
      source: 'acme/web/prod',
      environmentId: 'env',
      wantedRevision: 1,
      wantedRevisionId: 'env-r1',
      syncedRevision: 1,
      syncedRevisionId: 'env-r1',
      secretCount: 2,
      target: { name: 'app', uid, resourceVersion },
      lastSyncTime: '2026-01-01T00:00:00Z',
      conditions: expect.arrayContaining([
        expect.objectContaining({
          type: 'Ready',
          status: 'True',
          reason: 'Synced',
          message: 'Secret app holds revision 1 with 2 keys.',
        }),
      ]),
    });
  });

  test('leaves no Event: the status reports it', async () => {
    await harness.synced();
    await harness.clock.advance(1_000);
    expect(harness.ready()).toMatchObject({ status: 'True', reason: 'Synced' });
    expect(harness.cluster.events).toEqual([]);
  });

  test('reads as the token it names, and in no other name', async () => {
    await harness.synced();
    expect(harness.services.reads).toMatchObject([
      { environmentId: 'env', caller: { principal: { id: 'good' }, sourceAddress: null } },
    ]);
  });

  test('works for a Secret of another name', async () => {
    await harness.synced({ target: { name: 'elsewhere' } });
    expect(harness.values('elsewhere')).toEqual({ A: 'alpha', B: 'beta' });
    expect(harness.target()).toBeUndefined();
  });
});

describe('a change', () => {
  test('takes one token read, one write and one status patch, and no look at the Secret', async () => {
    await harness.synced();
    harness.services.change(prod, { A: 'alpha2', C: 'gamma' });
    expect(await harness.calls()).toEqual(shortestChange);
    expect(harness.values()).toEqual({ A: 'alpha2', C: 'gamma' });
    expect(harness.status()).toMatchObject({ syncedRevision: 2, syncedRevisionId: 'env-r2', secretCount: 2 });
    expect(harness.reconciled).toEqual(['Synced']);
  });

  test('that follows another at once takes as little, though no watch showed the first write yet', async () => {
    await harness.synced();
    harness.cluster.beforeAnswer(/^PUT/, () => harness.services.change(prod, { A: 'third' }));
    harness.services.change(prod, { A: 'second' });
    // The status of the first one is not reported: the second outcome is newer.
    const secretCalls = shortestChange.filter((call) => !call.startsWith('PATCH'));
    expect(await harness.calls()).toEqual([...secretCalls, ...shortestChange]);
    expect(harness.values()).toEqual({ A: 'third' });
  });

  test('that comes while the environment is being read is not lost', async () => {
    await harness.synced();
    harness.services.duringRead = () => harness.services.change(prod, { A: 'newest' });
    harness.services.change(prod, { A: 'newer' });
    await harness.calls();
    expect(harness.values()).toEqual({ A: 'newest' });
    expect(harness.status()).toMatchObject({ syncedRevision: 3 });
  });

  test('that leaves every value as it was writes the status alone', async () => {
    await harness.synced();
    harness.services.change(prod, { A: 'alpha', B: 'beta' });
    expect(await harness.calls()).toEqual([`GET ${secrets}/token`, `PATCH ${syncs}/app/status`]);
    expect(harness.status()).toMatchObject({ syncedRevision: 2 });
  });

  test('to nothing empties the Secret', async () => {
    await harness.synced();
    harness.services.change(prod, {});
    await harness.calls();
    expect(harness.values()).toEqual({});
    expect(harness.ready()?.message).toBe('Secret app holds revision 2 with 0 keys.');
  });

  test('brings no Event, for the reason stays', async () => {
    await harness.synced();
    harness.services.change(prod, { A: 'x' });
    await harness.calls();
    expect(harness.cluster.events).toEqual([]);
  });

  test('of the reason leaves an Event, there and back', async () => {
    await harness.synced();
    harness.cluster.remove(`${secrets}/token`);
    await harness.clock.advance(1_000);
    harness.putToken('kf_svc_good');
    await harness.clock.advance(1_000);
    expect(harness.cluster.events).toMatchObject([
      { type: 'Warning', reason: 'TokenSecretNotFound', regarding: { name: 'app' } },
      { type: 'Normal', reason: 'Synced', regarding: { name: 'app' } },
    ]);
  });
});

describe('a watch that lags', () => {
  test('hinders no change, and its last message causes no reconcile', async () => {
    await harness.synced();
    const release = harness.cluster.holdWatches();
    for (const value of ['second', 'third', 'fourth']) {
      harness.services.change(prod, { A: value });
      expect(await harness.calls()).toEqual(shortestChange);
    }
    release();
    await harness.calls();
    await harness.clock.advance(10_000);
    expect(await harness.calls()).toEqual([]);
    expect(harness.reconciled).toHaveLength(3);
  });

  test('and what is seen by a look of our own is no news either', async () => {
    await harness.synced();
    const annotate = (value: string): void =>
      harness.edit(({ metadata }) => {
        metadata.annotations = { ...metadata.annotations, mine: value };
      });
    harness.cluster.before(/^GET .*app$/, () => annotate('second'));
    annotate('first');
    await harness.calls();
    expect(harness.reconciled).toHaveLength(1);
  });
});

describe('without a change', () => {
  test('the echoes of own writes cause no reconcile', async () => {
    await harness.synced();
    await harness.clock.advance(60_000);
    expect(await harness.calls()).toEqual([]);
    expect(harness.reconciled).toEqual([]);
  });

  test('a reconcile writes nothing', async () => {
    await harness.synced();
    harness.services.notify({ kind: 'service_token', serviceTokenId: 'good' });
    expect(await harness.calls()).toEqual([`GET ${secrets}/token`]);
  });

  test('a commit that has been read already asks for nothing', async () => {
    await harness.synced();
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r1' });
    expect(await harness.calls()).toEqual([]);
  });

  test('a comparison makes no call to the API server, at a reconnection or after the interval', async () => {
    await harness.synced();
    harness.services.ready();
    await harness.calls();
    await harness.clock.advance(3 * 600_000);
    expect(harness.services.comparisons).toBe(5);
    expect(await harness.calls()).toEqual([]);
  });

  test('a second controller that starts looks once and writes nothing', async () => {
    await harness.synced();
    const patched = structuredClone(harness.status());
    await harness.controller.stop();
    const { controller } = new Harness(harness);
    controller.start();
    expect((await harness.calls()).sort()).toEqual([`GET ${secrets}/app`, `GET ${secrets}/token`]);
    expect(harness.status()).toEqual(patched);
    expect(harness.cluster.events).toEqual([]);
    await controller.stop();
  });
});
