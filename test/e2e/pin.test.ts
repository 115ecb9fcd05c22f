import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  first,
  grantSnapshots,
  makePinSite,
  pinTo,
  readsOf,
  snapshotsPathOf,
  takeSnapshot,
  third,
} from '../support/cluster/pin-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { parentOf } from '../support/cluster/sync-site.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 4 });
  await stack.startController();
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
