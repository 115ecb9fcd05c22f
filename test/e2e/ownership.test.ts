/** @default The garbage collector removes the Secret of a deleted SecretSync, and a Secret of another owner stays untouched. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiProxy } from '../support/faults/api-proxy.ts';
import { writesOf } from '../support/api/secret-requests.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const values = { KEY: 'value' };
let stack: Stack;
let proxy: ApiProxy;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 13 });
  proxy = await ApiProxy.start(stack.kubeconfigFile);
  resources.defer(() => proxy.close());
  await stack.startController({ kubeconfigFile: proxy.kubeconfigFile });
});

afterAll(() => resources.disposeAsync());

/** How many writes of the site's Secret the controller has sent, refused ones too. */
const countWrites = (site: SyncSite): number =>
  (['POST', 'PUT', 'PATCH', 'DELETE'] as const).reduce(
    (count, method) => count + proxy.count(writesOf(site, method)),
    0,
  );

const answersTo = (site: SyncSite, method: 'POST' | 'PUT'): unknown[] =>
  proxy.passages(writesOf(site, method)).map(({ status }) => status);

/** Expects that a SecretSync leaves a Secret alone that is not its own, of whatever site that is. */
async function expectUntouched(site: SyncSite, foreign: unknown, owner = site): Promise<void> {
  const reason = owner === site ? 'TargetNotOwned' : 'TargetClaimed';
  expect(await site.waitForReason(reason)).toMatchObject({ status: 'False' });
  await site.expectStays(async () => {
    expect(await owner.existingSecret()).toEqual(foreign);
    expect(await site.condition('Ready')).toMatchObject({ reason });
  });
}

describe('deleting a SecretSync', () => {
  test('with deletionPolicy Delete has the garbage collector remove its Secret', async () => {
    const site = await stack.makeSite({ values, target: { deletionPolicy: 'Delete' } });
    await site.waitUntilSynced(values);
    await site.deleteSync();
    await waitFor('the Secret to be gone', async () => (await site.secret()) === undefined);
    const tokenSecret = await site.kube.find({ path: site.secretPath(site.tokenSecretName) });
    expect(tokenSecret).toBeDefined();
  });

  test('with deletionPolicy Retain leaves its Secret as it is, also when the garbage collector has passed', async () => {
    const retained = await stack.makeSite({ values, target: { deletionPolicy: 'Retain' } });
    const removed = await stack.makeSite({
      namespace: retained.namespace,
      name: 'removed',
      values,
      target: { deletionPolicy: 'Delete' },
    });
    const before = await retained.waitUntilSynced(values);
    await removed.waitUntilSynced(values);
    await retained.deleteSync();
    await removed.deleteSync();
    await waitFor('the other Secret to be gone', async () => (await removed.secret()) === undefined, {
      timeoutMs: 40_000,
    });
    expect(await retained.existingSecret()).toEqual(before);
    // No SecretSync follows the environment any more.
    await retained.environment.change({ KEY: 'later' });
    await retained.expectStays(async () => expect(await retained.existingSecret()).toEqual(before));
  });

  test('whose policy has become Retain leaves its Secret, and whose has become Delete takes it along', async () => {
    const retained = await stack.makeSite({ values, target: { deletionPolicy: 'Delete' } });
    const { namespace } = retained;
    const removed = await stack.makeSite({ namespace, name: 'removed', values, target: { deletionPolicy: 'Retain' } });
    for (const site of [retained, removed]) await site.waitUntilSynced(values);
    await retained.patchSync({ spec: { target: { deletionPolicy: 'Retain' } } });
    await removed.patchSync({ spec: { target: { deletionPolicy: 'Delete' } } });
    const owners = async (site: SyncSite): Promise<number> =>
      ((await site.existingSecret()).metadata as { ownerReferences?: unknown[] }).ownerReferences?.length ?? 0;
    await waitFor(
      'the owner references to follow',
      async () => (await owners(retained)) === 0 && (await owners(removed)) === 1,
    );
    for (const site of [retained, removed]) await site.deleteSync();
    await waitFor('the Secret to be gone', async () => (await removed.secret()) === undefined);
    expect(await retained.secret()).toBeDefined();
  });

  test('and making it again takes its retained Secret over', async () => {
    const site = await stack.makeSite({ values });
    const { metadata } = await site.waitUntilSynced(values);
    await site.deleteSync();
    await site.environment.change({ KEY: 'later' });
    await site.createSync();
    expect((await site.waitUntilSynced({ KEY: 'later' })).metadata.uid).toBe(metadata.uid);
  });
});

describe('a Secret of that name which is not ours', () => {
  test('stays untouched, and makes way for ours when it is deleted', async () => {
    const site = await stack.makeSite({ values, withoutSync: true });
    const foreign = await site.createForeignSecret({ THEIRS: 'x' });
    await site.createSync();
    await expectUntouched(site, foreign);
    await site.environment.change({ KEY: 'later' });
    await expectUntouched(site, foreign);
    // The one by which the controller learned of it: nothing else shows it a Secret without our label.
    expect(countWrites(site)).toBe(1);
    await site.deleteSecret();
    await site.waitUntilSynced({ KEY: 'later' });
  });

  test('stays untouched when it appears between the look and the write', async () => {
    const site = await stack.makeSite({ values, withoutSync: true });
    const hold = proxy.hold(writesOf(site, 'POST'));
    await site.createSync();
    await hold.arrived();
    const foreign = await site.createForeignSecret({ THEIRS: 'x' });
    hold.release();
    await expectUntouched(site, foreign);
    expect(answersTo(site, 'POST')).toEqual([409]);
    expect(countWrites(site)).toBe(1);
  });

  test('stays untouched when it replaced Keyframe’s between the look and the write', async () => {
    const site = await stack.makeSite({ values });
    await site.waitUntilSynced(values);
    const hold = proxy.hold(writesOf(site, 'PUT'));
    await site.environment.change({ KEY: 'later' });
    await hold.arrived();
    await site.deleteSecret();
    const foreign = await site.createForeignSecret({ THEIRS: 'x' });
    hold.release();
    await expectUntouched(site, foreign);
    expect(answersTo(site, 'PUT')).toEqual([409]);
  });

  test('stays untouched when it was Keyframe’s until a user removed the mark', async () => {
    const site = await stack.makeSite({ values });
    await site.waitUntilSynced(values);
    const theirs = await site.patchSecret({ metadata: { annotations: { 'keyframe.dev/owned-by': null } } });
    await expectUntouched(site, theirs);
    await site.environment.change({ KEY: 'later' });
    await site.sibling('other').then((other) => other.waitUntilSynced({ KEY: 'later' }));
    await expectUntouched(site, theirs);
  });

  test('stays untouched when it is another SecretSync’s', async () => {
    const site = await stack.makeSite({ values });
    const owned = await site.waitUntilSynced(values);
    const rival = await stack.makeSite({
      namespace: site.namespace,
      name: 'rival',
      values: { KEY: 'other' },
      target: { name: site.name },
    });
    await rival.waitForReason('TargetClaimed');
    await rival.environment.change({ KEY: 'later' });
    await expectUntouched(rival, owned, site);
  });

  test('stays untouched when an edit came between the look and the write: the edit is looked at first', async () => {
    const site = await stack.makeSite({ values });
    await site.waitUntilSynced(values);
    const hold = proxy.hold(writesOf(site, 'PUT'));
    await site.environment.change({ KEY: 'later' });
    await hold.arrived();
    await site.patchSecret({ metadata: { annotations: { theirs: 'kept' } }, stringData: { KEY: 'edited' } });
    hold.release();
    const { metadata } = await site.waitUntilSynced({ KEY: 'later' });
    expect(metadata.annotations).toMatchObject({ theirs: 'kept' });
    expect(answersTo(site, 'PUT')).toEqual([409, 200]);
  });
});
