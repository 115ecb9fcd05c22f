import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import type { SyncStateReport } from '../../../src/domain/fleet.ts';
import { Harness, prod, syncs } from './controller-harness.ts';

let harness: Harness;

beforeEach(async () => {
  harness = new Harness();
  await harness.synced();
});

async function reports(): Promise<SyncStateReport[]> {
  await harness.clock.advance(1500);
  return [...harness.services.syncStates.rows.values()];
}

const revision = (number: number): object => ({ revision: number, revisionId: `env-r${number}` });

describe('the controller reports', () => {
  test('what a Secret holds', async () => {
    const uid = harness.cluster.get(`${syncs}/app`)?.metadata.uid;
    expect(await reports()).toEqual([
      {
        uid,
        source: '',
        namespace: 'ns',
        name: 'app',
        environmentId: 'env',
        isPinned: false,
        state: 'ready',
        reason: 'Synced',
        wanted: revision(1),
        synced: revision(1),
        syncedAt: expect.any(Date),
        secretName: 'app',
        rollout: null,
      },
    ]);
  });

  test('a change', async () => {
    harness.services.change(prod, { A: 'changed' });
    expect(await reports()).toMatchObject([{ wanted: revision(2), synced: revision(2) }]);
  });

  test('a failure, with the state that was read but is not in the Secret', async () => {
    const keys = Array.from({ length: 10 }, (_, index) => [`K${index}`, 'value']);
    harness.services.change(prod, Object.fromEntries(keys));
    await reports();
    harness.services.change(prod, { K0: 'value' });
    expect(await reports()).toMatchObject([
      { state: 'stalled', reason: 'DeletionBlocked', wanted: revision(3), synced: null, syncedAt: null },
    ]);
  });

  test('a failure before anything was read, which becomes stalled with time', async () => {
    harness.services.tokens.set('kf_svc_good', 'the token is revoked');
    harness.services.change(prod, { A: 'changed' });
    await harness.clock.advance(5000);
    const failed = { reason: 'AuthenticationFailed', environmentId: null, wanted: null, synced: null };
    expect(await reports()).toMatchObject([{ ...failed, state: 'progressing' }]);
    await harness.clock.advance(40_000);
    expect(await reports()).toMatchObject([{ ...failed, state: 'stalled' }]);
  });

  test('a suspension', async () => {
    harness.putSync({ spec: { suspend: true } });
    expect(await reports()).toMatchObject([{ state: 'suspended', reason: 'Suspended', wanted: null }]);
  });

  test('a pin, and each of several sources', async () => {
    const environmentRef = { organization: 'acme', project: 'web', name: 'prod' };
    const tokenSecretRef = { name: 'token', key: 'token' };
    const sources = [
      { name: 'old', environmentRef, tokenSecretRef, revision: 1 },
      { name: 'new', environmentRef, tokenSecretRef },
    ];
    harness.services.change(prod, { A: 'changed', B: 'beta' });
    harness.putSync({ spec: { sources } });
    expect(await reports()).toMatchObject([
      { source: 'old', isPinned: true, synced: revision(1) },
      { source: 'new', isPinned: false, synced: revision(2) },
    ]);
  });

  test('whether or not the status can be written', async () => {
    harness.cluster.before(/^PATCH /, () => {
      throw new ApiError('PATCH', 403, 'Forbidden');
    });
    harness.services.change(prod, { A: 'changed' });
    expect(await reports()).toMatchObject([{ synced: revision(2) }]);
  });

  test('no deleted SecretSync', async () => {
    expect(await reports()).toHaveLength(1);
    harness.cluster.remove(`${syncs}/app`);
    expect(await reports()).toEqual([]);
  });

  test('everything again with each resync, in case a report was lost', async () => {
    harness.cluster.put('/api/v1/namespaces', 'ns', () => {});
    await reports();
    harness.services.syncStates.rows.clear();
    await harness.calls();
    await harness.clock.advance(700_000);
    expect(await reports()).toHaveLength(1);
    expect(await harness.calls()).toEqual([]);
  });
});

describe('the next controller', () => {
  beforeEach(async () => {
    harness.cluster.put('/api/v1/namespaces', 'ns', () => {});
    await reports();
    await harness.controller.stop();
  });

  /** What is reported after another controller has begun. */
  async function reportsOf(watchNamespaces: readonly string[] = []): Promise<SyncStateReport[]> {
    const { cluster, services } = harness;
    harness = new Harness({ cluster, services, watchNamespaces });
    await harness.start();
    return await reports();
  }

  test('reports what changed while none ran', async () => {
    harness.services.change(prod, { A: 'changed' });
    expect(await reportsOf()).toMatchObject([{ synced: revision(2) }]);
  });

  test('reports no SecretSync that was deleted while none ran, and those that stayed', async () => {
    harness.putSync({ name: 'stays' });
    expect(await reportsOf()).toHaveLength(2);
    await harness.controller.stop();
    harness.cluster.remove(`${syncs}/app`);
    expect(await reportsOf()).toMatchObject([{ name: 'stays' }]);
  });

  test('leaves the reports of a namespace that it does not watch', async () => {
    expect(await reportsOf(['other'])).toMatchObject([{ name: 'app', synced: revision(1) }]);
  });
});

test('syncing does not wait for the reports', async () => {
  harness.services.syncStates.gate = new Promise(() => {});
  await harness.clock.advance(1500);
  harness.services.change(prod, { A: 'changed' });
  await harness.calls();
  expect(harness.values()).toEqual({ A: 'changed' });
  expect(harness.status().syncedRevision).toBe(2);
});
