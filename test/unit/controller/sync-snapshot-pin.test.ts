import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import { prod } from './controller-harness.ts';
import { claimedSnapshot } from './fake-snapshots.ts';
import { PinHarness, first, second, snapshotsPath, third } from './pin-harness.ts';

let harness: PinHarness;

beforeEach(() => {
  harness = new PinHarness();
});

afterEach(() => harness.controller.stop());

describe('a SecretSync pinned to a SecretSnapshot', () => {
  const good = { snapshotRef: { name: 'good' } };

  test('holds what it stands for and says so, whatever the environment does', async () => {
    harness.putSnapshot('good', claimedSnapshot(1));
    await harness.syncedWith(good);
    expect(harness.values()).toEqual(first);
    expect(harness.ready()?.message).toBe(
      'Secret app holds revision 1 with 2 keys, pinned to the SecretSnapshot good.',
    );
    expect(harness.source).toBe('acme/web/prod@env#snapshot/good');
    harness.services.change(prod, { A: 'new' });
    expect(await harness.calls()).toEqual([]);
    harness.services.ready();
    await harness.calls();
    expect(harness.reconciled.filter((reason) => reason !== 'Taken')).toEqual(['Synced', 'Synced']);
  });

  test('holds it again after its environment was deleted and undeleted, without a write', async () => {
    harness.putSnapshot('good', claimedSnapshot(1));
    await harness.syncedWith(good);
    const before = harness.target();
    const environment = harness.services.environments.get(prod);
    harness.services.environments.delete(prod);
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r3', ended: true });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('NotFound');
    if (environment !== undefined) harness.services.environments.set(prod, environment);
    harness.services.notify({ kind: 'environment', environmentId: 'env', revisionId: 'env-r3', appeared: true });
    await harness.calls();
    expect(harness.ready()?.reason).toBe('Synced');
    expect(harness.target()).toEqual(before);
  });

  test('goes by what the database knows, not by what the status says', async () => {
    harness.putSnapshot('good', claimedSnapshot(1), { suspend: true });
    harness.cluster.put(snapshotsPath, 'good', (object) => {
      object['status'] = { snapshotId: 'snapshot-3', revision: 3, revisionId: 'env-r3' };
    });
    await harness.syncedWith(good);
    expect(harness.values()).toEqual(first);
  });

  test('waits for one that is not there, has nothing yet, or failed, and takes it up by itself', async () => {
    await harness.syncedWith(good);
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'SnapshotNotFound' });
    const uid = harness.putSnapshot('good');
    await harness.calls();
    expect(harness.ready()).toMatchObject({ reason: 'SnapshotNotReady' });
    expect(harness.ready()?.message).toContain('has no snapshot yet (AccessDenied)');
    expect(harness.values()).toEqual(second);
    harness.services.ready();
    harness.services.change(prod, { A: 'new' });
    await harness.calls();
    expect(harness.reconciled.at(-1)).toBe('AccessDenied');
    harness.snapshots.claims.set(uid, claimedSnapshot(1));
    harness.services.ready();
    await harness.calls();
    expect(harness.values()).toEqual(first);
  });

  test('keeps its Secret when the snapshot is deleted, until the name stands for another one', async () => {
    const uid = harness.putSnapshot('good', claimedSnapshot(2));
    await harness.syncedWith(good);
    harness.deleteSnapshot(uid, 'snapshot-2');
    await harness.calls();
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'SnapshotGone' });
    expect(harness.values()).toEqual(second);
    harness.cluster.remove(`${snapshotsPath}/good`);
    await harness.calls();
    expect(harness.ready()?.reason).toBe('SnapshotNotFound');
    expect(harness.values()).toEqual(second);
    harness.putSnapshot('good', claimedSnapshot(1));
    await harness.calls();
    expect(harness.values()).toEqual(first);
  });

  test('finds out that the snapshot was deleted while no listener was connected', async () => {
    const uid = harness.putSnapshot('good', claimedSnapshot(2), { suspend: true });
    await harness.syncedWith(good);
    expect(harness.ready()?.reason).toBe('Synced');
    harness.deleteSnapshot(uid, 'snapshot-2', { missed: true });
    harness.services.ready();
    await harness.calls();
    expect(harness.ready()?.reason).toBe('SnapshotGone');
  });

  test('hears that the snapshot was deleted from the database itself, whatever its SecretSnapshot reports', async () => {
    const uid = harness.putSnapshot('good', claimedSnapshot(2), { suspend: true });
    await harness.syncedWith(good);
    harness.deleteSnapshot(uid, 'snapshot-2');
    await harness.calls();
    expect(harness.ready()?.reason).toBe('SnapshotGone');
  });

  test('hears of a deletion that comes while the snapshot is being looked up', async () => {
    const uid = harness.putSnapshot('good', claimedSnapshot(2), { suspend: true });
    await harness.atSecond();
    harness.snapshots.duringFind = () => harness.deleteSnapshot(uid, 'snapshot-2');
    await harness.pin(good);
    expect(harness.ready()?.reason).toBe('SnapshotGone');
  });

  test('blocks the loss where another SecretSnapshot of the same name holds less: the pin was not moved', async () => {
    harness.putSnapshot('good', claimedSnapshot(2));
    await harness.syncedWith(good);
    harness.cluster.remove(`${snapshotsPath}/good`);
    harness.putSnapshot('good', claimedSnapshot(3));
    await harness.calls();
    expect(harness.ready()?.reason).toBe('DeletionBlocked');
    expect(harness.values()).toEqual(second);
    harness.putSnapshot('better', claimedSnapshot(3));
    await harness.pin({ snapshotRef: { name: 'better' } });
    expect(harness.values()).toEqual(third);
  });

  test('refuses one of another environment, and names it', async () => {
    harness.putSnapshot('good', claimedSnapshot(1, { environmentId: 'other', environment: 'staging' }));
    await harness.syncedWith(good);
    expect(harness.ready()).toMatchObject({ reason: 'SnapshotMismatch' });
    expect(harness.ready()?.message).toContain('belongs to environment acme/web/staging, not to acme/web/prod');
    expect(harness.values()).toEqual(second);
    harness.putSnapshot('older', claimedSnapshot(1, { environmentId: 'purged' }));
    await harness.pin({ snapshotRef: { name: 'older' } });
    expect(harness.ready()?.message).toContain('an earlier environment acme/web/prod');
  });

  test('says nothing of a snapshot where the token does not reach the environment', async () => {
    harness.putSnapshot('good', claimedSnapshot(1, { environmentId: 'other', environment: 'staging' }));
    await harness.syncedWith({ ...good, environmentRef: { organization: 'acme', project: 'web', name: 'hidden' } });
    expect(harness.ready()?.reason).toBe('NotFound');
    expect(harness.ready()?.message).not.toContain('staging');
  });

  test('takes the empty state of an environment from before its first change', async () => {
    harness.putSnapshot('good', claimedSnapshot(0, { revisionId: null }));
    await harness.syncedWith(good);
    expect(harness.values()).toEqual({});
    expect(harness.status()).toMatchObject({ wantedRevision: 0, wantedRevisionId: 'snapshot-0', secretCount: 0 });
  });

  test('is left alone by a controller that restarts, and by changes of its SecretSnapshot that do not matter', async () => {
    harness.putSnapshot('good', claimedSnapshot(1));
    await harness.syncedWith(good);
    harness.cluster.takeCalls();
    harness.cluster.put(snapshotsPath, 'good', ({ metadata }) => {
      metadata.labels = { app: 'web' };
    });
    expect(await harness.calls()).toEqual([]);
    await harness.controller.stop();
    const again = new PinHarness(harness);
    await again.start();
    expect((await again.calls()).filter((call) => !call.startsWith('GET'))).toEqual([]);
    await again.controller.stop();
  });

  test('is reported if the cluster knows no SecretSnapshots, and not before they are listed that there is none', async () => {
    const unknown = (): never => {
      throw new ApiError('any', 404, 'NotFound');
    };
    for (let call = 0; call < 100; call += 1) harness.cluster.before(/secretsnapshots$/, unknown);
    await harness.syncedWith(good);
    expect(harness.ready()).toMatchObject({ status: 'False', reason: 'ClusterUnavailable' });
    expect(harness.ready()?.message).toContain(
      'The cluster does not know SecretSnapshot (keyframe.dev/v1alpha1): apply',
    );
    expect(harness.values()).toEqual(second);
    harness.cluster.mend();
    await harness.clock.advance(120_000);
    expect(harness.ready()?.reason).toBe('SnapshotNotFound');
    harness.putSnapshot('good', claimedSnapshot(1));
    await harness.calls();
    expect(harness.values()).toEqual(first);
  });

  test('is tried again where the database does not answer', async () => {
    harness.putSnapshot('good', claimedSnapshot(1));
    await harness.atSecond();
    harness.snapshots.fault = new DomainError('store_unavailable', 'the database cannot be reached');
    await harness.pin(good);
    expect(harness.ready()?.reason).toBe('StoreUnavailable');
    expect(harness.values()).toEqual(second);
    harness.snapshots.fault = undefined;
    await harness.clock.advance(1000);
    expect(harness.values()).toEqual(first);
  });
});
