import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  first,
  grantSnapshots,
  makePinSite,
  pinTo,
  readsOf,
  second,
  snapshotsOf,
  snapshotsPathOf,
  takeSnapshot,
  third,
} from '../support/cluster/pin-site.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { parentOf } from '../support/cluster/sync-site.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let controller: ServerProcess;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 13 });
  controller = await stack.startController();
});

afterAll(() => resources.disposeAsync());

describe('a SecretSync pinned to a revision', () => {
  test('holds just that while the environment moves on and another one follows it, and follows itself when unpinned', async () => {
    const site = await makePinSite(stack, { spec: { revision: 1 } });
    const held = await site.waitUntilSynced(first);
    expect((await site.condition('Ready'))?.message).toBe(
      'Secret app holds revision 1 with 4 keys, pinned to that revision.',
    );
    expect((await site.sync()).status).toMatchObject({ wantedRevision: 1, syncedRevision: 1, secretCount: 4 });
    const canary = await site.sibling('canary');
    await canary.waitUntilSynced(third);
    const passOn = async (Z: string): Promise<void> => {
      await site.environment.change({ Z });
      await canary.waitUntilSynced({ Z });
    };
    // News of what was committed before it was made may reach it during its first look, and cost a second one.
    await passOn('x');
    const reads = await readsOf(stack, site, 1);
    await passOn('y');
    await passOn('z');
    expect(await site.existingSecret()).toEqual(held);
    expect(await readsOf(stack, site, 1)).toBe(reads);
    await site.patchSync({ spec: { revision: null } });
    await site.waitUntilSynced({ Z: 'z' });
    await site.environment.change({ Z: 'followed' });
    await site.waitUntilSynced({ Z: 'followed' });
  });

  test('moves backwards and forwards, though most keys vanish each time, and losses count again without it', async () => {
    const site = await makePinSite(stack, { spec: { revision: 2, maxDeletedKeys: 0 } });
    await site.waitUntilSynced(second);
    await site.patchSync({ spec: { revision: 1 } });
    await site.waitUntilSynced(first);
    await site.patchSync({ spec: { revision: 3 } });
    await site.waitUntilSynced(third);
    await site.patchSync({ spec: { revision: 1 } });
    const { metadata } = await site.waitUntilSynced(first);
    expect(metadata.annotations?.['keyframe.dev/source']).toMatch(/#revision\/1$/);
    await site.patchSync({ spec: { revision: null } });
    await site.waitUntilSynced(third);
    await site.environment.change({ Y: 'other' }, ['Z']);
    await site.waitForReason('DeletionBlocked');
    await site.patchSync({ spec: { revision: 2 } });
    await site.waitUntilSynced(second);
  });

  test('waits for a revision that is yet to come, and reports the newest', async () => {
    const site = await makePinSite(stack);
    const before = await site.waitUntilSynced(third);
    await site.patchSync({ spec: { revision: 5 } });
    const { message } = await site.waitForReason('RevisionNotFound');
    expect(message).toContain('has no revision 5; its newest is 3.');
    await site.expectStays(async () => expect(await site.existingSecret()).toEqual(before));
    await site.environment.change({ Z: 'four' });
    await site.environment.change({ Z: 'five' });
    await site.waitUntilSynced({ Z: 'five' });
    await site.patchSync({ spec: { revision: 4 } });
    await site.waitUntilSynced({ Z: 'four' });
    await site.patchSync({ spec: { revision: Number.MAX_SAFE_INTEGER } });
    await site.waitForReason('RevisionNotFound');
  });

  test('has its Secret put right after another client edits or deletes it', async () => {
    const site = await makePinSite(stack, { spec: { revision: 1 } });
    await site.waitUntilSynced(first);
    await site.patchSecret({ data: { A: btoa('edited'), B: null, ADDED: btoa('x') } });
    await site.waitUntilSynced(first);
    await site.deleteSecret();
    await site.waitUntilSynced(first);
  });

  test('is not written when the controller restarts', async () => {
    const site = await makePinSite(stack, { withoutSync: true });
    await site.environment.change({ Z: 'four' });
    await grantSnapshots(site, site.environment);
    await takeSnapshot(site, 'good');
    await site.createSync();
    await site.patchSync({ spec: { revision: 2 } });
    await site.waitUntilSynced(second);
    const other = await site.sibling('other');
    await pinTo(other, 'good');
    await other.waitUntilSynced({ Z: 'four' });
    const follower = await site.sibling('follower');
    await follower.waitUntilSynced({ Z: 'four' });
    const seen = async (): Promise<unknown[]> => [
      await site.existingSecret(),
      await site.sync(),
      await other.existingSecret(),
      await other.sync(),
    ];
    const before = await seen();
    expect(await controller.stop()).toEqual({ code: 0, signal: null });
    await site.environment.change({ Z: 'missed' });
    const reads = await readsOf(stack, site, 2);
    controller = await stack.startController();
    await follower.waitUntilSynced({ Z: 'missed' });
    // It has been looked at, and nothing came of it.
    await site.patchSync({ metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } });
    await site.environment.change({ Z: 'later' });
    await follower.waitUntilSynced({ Z: 'later' });
    expect(await readsOf(stack, site, 2)).toBeGreaterThan(reads);
    const annotated = await site.sync();
    const [secret, , otherSecret, otherSync] = before;
    expect(await seen()).toEqual([secret, annotated, otherSecret, otherSync]);
  });

  test('is reported when its environment or its token ends, and its Secret stays', async () => {
    const site = await makePinSite(stack, { spec: { revision: 1 } });
    const held = await site.waitUntilSynced(first);
    await site.environment.revokeToken(site.token.id);
    await site.waitForReason('AuthenticationFailed');
    await site.putToken((await site.environment.createToken()).token);
    await site.waitUntilSynced(first);
    const { organization, project, name } = site.environment.ref;
    const path = `/environments/${organization}/${project}`;
    await stack.admin.call('DELETE', `${path}/${name}`);
    await site.waitForReason('AuthenticationFailed');
    await stack.admin.call('POST', `${path}/${name}/purge`);
    const { id } = await stack.admin.call<{ id: string }>('POST', path, { slug: name });
    await stack.admin.call('PATCH', site.environment.path, { set: { A: 'of another' } });
    const made = await stack.admin.call<{ token: string }>('POST', `/service-tokens/${organization}`, {
      name: 'of the new one',
      scope: 'environment',
      environmentId: id,
      permission: 'read',
    });
    await site.putToken(made.token);
    await site.waitForReason('SourceReplaced');
    await site.expectStays(async () => expect(await site.existingSecret()).toEqual(held));
  });
});

describe('a SecretSync pinned to a SecretSnapshot', () => {
  test('holds what was taken, and moves with the name, backwards too', async () => {
    const site = await makePinSite(stack, { withoutSync: true });
    await grantSnapshots(site, site.environment);
    const older = await takeSnapshot(site, 'older');
    await site.environment.change(first, ['Z']);
    await takeSnapshot(site, 'newer');
    await site.createSync();
    await site.waitUntilSynced(first);
    await pinTo(site, 'older');
    await site.waitUntilSynced(third);
    expect((await site.condition('Ready'))?.message).toBe(
      'Secret app holds revision 3 with 1 key, pinned to the SecretSnapshot older.',
    );
    const { revision, revisionId } = older.status ?? {};
    expect((await site.sync()).status).toMatchObject({ wantedRevision: revision, wantedRevisionId: revisionId });
    await pinTo(site, 'newer');
    const held = await site.waitUntilSynced(first);
    await site.environment.change({ Q: 'q' }, ['A', 'B', 'C', 'D']);
    const canary = await site.sibling('canary');
    await canary.waitUntilSynced({ Q: 'q' });
    await site.environment.change({ Z: 'again' });
    await stack.admin.call('POST', `${snapshotsPathOf(site)}/restore`, {
      snapshotId: older.status?.snapshotId,
      prune: true,
    });
    await canary.waitUntilSynced(third);
    expect(await site.existingSecret()).toEqual(held);
    await site.patchSync({ spec: { snapshotRef: null } });
    await site.waitUntilSynced(third);
  });

  test('waits for a SecretSnapshot to be made, granted and taken, and then takes it up by itself', async () => {
    const site = await makePinSite(stack);
    const before = await site.waitUntilSynced(third);
    await pinTo(site, 'good');
    expect((await site.waitForReason('SnapshotNotFound')).message).toContain(
      'SecretSnapshot good does not exist in this namespace',
    );
    const snapshots = snapshotsOf(site);
    await snapshots.create({ source: { environmentRef: site.environment.ref } }, 'good');
    await snapshots.waitForReason('good', 'AccessDenied');
    expect((await site.waitForReason('SnapshotNotReady')).message).toContain('has no snapshot yet');
    await site.expectStays(async () => expect(await site.existingSecret()).toEqual(before));
    await site.environment.change(first, ['Z']);
    await grantSnapshots(site, site.environment);
    await site.waitUntilSynced(first);
  });

  test('says that the snapshot is gone after it was deleted over the API, and its Secret stays', async () => {
    const site = await makePinSite(stack);
    await grantSnapshots(site, site.environment);
    const { status } = await takeSnapshot(site, 'good');
    await pinTo(site, 'good');
    await site.waitUntilSynced(third);
    await site.environment.change(first, ['Z']);
    const held = await site.existingSecret();
    await stack.admin.call('DELETE', `${snapshotsPathOf(site)}/${status?.snapshotId}`);
    expect((await site.waitForReason('SnapshotGone')).message).toContain('Secret app is unchanged.');
    await site.patchSecret({ metadata: { labels: { touched: 'yes' } } });
    await site.expectStays(async () => expect((await site.existingSecret()).data).toEqual(held.data));
    await site.patchSync({ spec: { snapshotRef: null } });
    await site.waitUntilSynced(first);
  });

  test('says so as well after kubectl deleted the SecretSnapshot, whatever became of the snapshot', async () => {
    const site = await makePinSite(stack);
    await grantSnapshots(site, site.environment);
    for (const deletionPolicy of ['Delete', 'Retain']) {
      const name = deletionPolicy.toLowerCase();
      await takeSnapshot(site, name, { deletionPolicy });
      await pinTo(site, name);
      const held = await site.waitUntilSynced(third);
      await snapshotsOf(site).delete(name);
      await snapshotsOf(site).waitUntilGone(name);
      await site.waitForReason('SnapshotNotFound');
      await site.expectStays(async () => expect(await site.existingSecret()).toEqual(held));
    }
    await takeSnapshot(site, 'retain');
    await site.waitUntilSynced(third);
  });

  test('is refused the snapshot of another environment, and any where its token reaches nothing', async () => {
    const site = await makePinSite(stack);
    const before = await site.waitUntilSynced(third);
    const foreign = await stack.admin.makeEnvironment();
    await foreign.change({ FOREIGN: 'secret' });
    await grantSnapshots(site, foreign);
    await takeSnapshot(site, 'foreign', { environment: foreign });
    await pinTo(site, 'foreign');
    const { organization, project, name } = foreign.ref;
    const mismatch = await site.waitForReason('SnapshotMismatch');
    expect(mismatch.message).toContain(`belongs to environment ${organization}/${project}/${name}, not to`);
    // The token has no right there, so the pin gives none either, and nothing about the snapshot is shown.
    await site.patchSync({ spec: { environmentRef: foreign.ref } });
    const denied = await site.waitForReason('NotFound');
    expect(denied.message).not.toContain('snapshot');
    await site.expectStays(async () => expect(await site.existingSecret()).toEqual(before));
  });

  test('blocks the loss where the name stands for less than before, until just that is allowed', async () => {
    const site = await stack.makeSite({ values: first });
    await grantSnapshots(site, site.environment);
    await takeSnapshot(site, 'good');
    await pinTo(site, 'good');
    const held = await site.waitUntilSynced(first);
    await site.environment.change({ Z: 'last' }, ['A', 'B', 'C', 'D']);
    await snapshotsOf(site).delete('good');
    await site.waitForReason('SnapshotNotFound');
    await takeSnapshot(site, 'good');
    const { message } = await site.waitForReason('DeletionBlocked');
    await site.expectStays(async () => expect(await site.existingSecret()).toEqual(held));
    const digest = /allow-deletion=([0-9a-f]{32})/.exec(message)?.[1];
    await site.patchSync({ metadata: { annotations: { 'keyframe.dev/allow-deletion': digest } } });
    await site.waitUntilSynced(third);
  });
});

test('the API server refuses both pins at once, revision 0 and no name', async () => {
  const site = await stack.makeSite({ withoutSync: true });
  const refusals = [
    [{ snapshotRef: { name: 'good' }, revision: 1 }, 'set spec.snapshotRef or spec.revision, not both'],
    [{ revision: 0 }, 'should be greater than or equal to 1'],
    [{ snapshotRef: { name: 'Not A Name' } }, 'must be the name of a SecretSnapshot'],
  ] as const;
  for (const [pin, message] of refusals) {
    const spec = { environmentRef: site.environment.ref, tokenSecretRef: { name: site.tokenSecretName }, ...pin };
    const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SecretSync', metadata: { name: 'app' }, spec };
    const refused = await stack.kube.send({ method: 'POST', path: parentOf(site.syncPath), body });
    expect(refused).toMatchObject({ status: 422 });
    expect((refused.body as { message: string }).message).toContain(message);
  }
});
