import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SharedSecret } from '../support/cluster/merge-site.ts';
import { snapshotsOf } from '../support/cluster/pin-site.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { SourceSite, ownValues, sharedValues, united } from './source-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let controller: ServerProcess;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 12 });
  controller = await stack.startController();
});

afterAll(() => resources.disposeAsync());

describe('a SecretSync of several sources', () => {
  test('reads each with its token, however that is given, and takes a change of each', async () => {
    const site = await SourceSite.make(stack);
    const third = await stack.admin.makeEnvironment();
    await third.change({ C: 'third c', D: 'third d' });
    const thirdToken = await site.putToken(third, 'by-secret');
    await site.sync.site.create({ ...tokenPlace(site), permission: 'Read' });
    await site.create([
      ...site.sources({ tokenRef: { name: 'ci' } }),
      { name: 'third', environmentRef: third.ref, tokenSecretRef: { name: 'by-secret', key: 'token' } },
    ]);
    await site.sync.waitForValues({ A: 'shared a', B: 'own b', C: 'third c', D: 'third d' });
    expect(await site.tokenNames()).toEqual(['ci']);
    expect(await site.readersOf(site.shared)).toEqual([(await site.sync.find('ci'))?.status?.tokenId]);
    expect(await site.keylessOf(site.shared)).toEqual([]);
    expect(await site.readersOf(site.own)).toEqual(await site.keylessOf(site.own));
    expect(await site.readersOf(third)).toEqual([thirdToken]);
    await site.shared.change({ A: 'next a', D: 'hidden' });
    await site.sync.waitForValues({ A: 'next a', B: 'own b', C: 'third c', D: 'third d' });
    await third.change({}, ['D']);
    await site.own.change({ B: 'next b' });
    await site.sync.waitForValues({ A: 'next a', B: 'next b', C: 'third c', D: 'hidden' });
    expect(await site.sync.waitForReason('Synced')).toBe(
      'Secret app holds 4 keys: shared at revision 2, own at revision 3, third at revision 2.',
    );
  });

  test('reads each with a keyless token that is for its environment alone, and leaves the values in the Secret', async () => {
    const site = await SourceSite.make(stack);
    await site.createInStep();
    expect(await site.tokenNames()).toEqual([]);
    for (const environment of [site.shared, site.own]) {
      const readers = await site.readersOf(environment);
      expect(readers).toHaveLength(1);
      expect(readers).toEqual(await site.keylessOf(environment));
    }
    await site.syncs.delete('app');
    await site.syncs.waitUntilGone('app');
    await site.shared.change({ A: 'unseen' });
    await stack.passWitness(site.sync.site.namespace);
    expect(await site.sync.values()).toEqual(united);
  });

  test('keeps the whole Secret while one of them cannot be read, and says which', async () => {
    const site = await SourceSite.make(stack);
    const tokenId = await site.putToken(site.own, 'mine');
    await site.createInStep(site.sources({}, { tokenSecretRef: { name: 'mine', key: 'token' } }));
    await site.own.revokeToken(tokenId);
    await site.waitForWord('AuthenticationFailed', 'Source own: The token in Secret mine was refused');
    await site.shared.change({ A: 'unseen' });
    await site.sync.expectStays(async () => expect(await site.sync.values()).toEqual(united));
    await site.putToken(site.own, 'mine');
    await site.sync.waitForValues({ ...united, A: 'unseen' });
    await site.grant([site.own]);
    await site.waitForWord('AccessDenied', 'Source shared: SecretSync ');
    await site.own.change({ C: 'meanwhile' });
    await site.sync.expectStays(async () => expect(await site.sync.values()).toEqual({ ...united, A: 'unseen' }));
    await site.grant([site.own, site.shared]);
    await site.sync.waitForValues({ ...united, A: 'unseen', C: 'meanwhile' });
    const { organization, project, name } = site.own.ref;
    await stack.admin.call('DELETE', `/environments/${organization}/${project}/${name}`);
    await waitFor('the end of the environment to be reported', async () => {
      const { status } = await site.syncs.get('app');
      const ready = status?.conditions?.find(({ type }) => type === 'Ready');
      expect([ready?.status, ready?.message.startsWith('Source own: ')]).toEqual(['False', true]);
      return true;
    });
    await site.shared.change({ A: 'for no one' });
    const kept = { ...united, A: 'unseen', C: 'meanwhile' };
    await site.sync.expectStays(async () => expect(await site.sync.values()).toEqual(kept));
  });

  test('may be pinned source by source, and composes values from what all give', async () => {
    const site = await SourceSite.make(stack);
    const snapshots = snapshotsOf({ kube: stack.kube, namespace: site.sync.site.namespace });
    await snapshots.create({ source: { environmentRef: site.shared.ref } }, 'good');
    await snapshots.waitForReason('good', 'Taken');
    await site.shared.change({ A: 'later' });
    const template = { data: { url: '$(A)/$(B)/$(C)' } };
    await site.create(site.sources({ snapshotRef: { name: 'good' } }), { template });
    await site.sync.waitForValues({ ...united, url: 'shared a/own b/own c' });
    await site.own.change({ C: 'next' });
    await site.sync.waitForValues({ ...united, C: 'next', url: 'shared a/own b/next' });
    expect(await site.sync.waitForReason('Synced')).toBe(
      'Secret app holds 4 keys: shared at revision 1 (pinned to the SecretSnapshot good), own at revision 3.',
    );
    await site.sync.patch({ sources: site.sources() });
    await site.sync.waitForValues({ A: 'later', B: 'own b', C: 'next', url: 'later/own b/next' });
  });

  test('is not written by a controller that comes after, which finds what changed meanwhile', async () => {
    const site = await SourceSite.make(stack);
    await site.createInStep();
    const before = await site.versions();
    expect(await controller.stop()).toEqual({ code: 0, signal: null });
    controller = await stack.startController();
    // A SecretSync that is made after the start is in step after all that existed before.
    const other = await SourceSite.make(stack);
    await other.createInStep();
    expect(await site.versions()).toEqual(before);
    await controller.stop();
    await site.shared.change({ A: 'while away' });
    await site.own.change({ B: 'while away' });
    controller = await stack.startController();
    await site.sync.waitForValues({ A: 'while away', B: 'while away', C: 'own c' });
  });
});

describe('the sources of a SecretSync', () => {
  test('take the place of its environment without a gap in the Secret, and give it back', async () => {
    const site = await SourceSite.make(stack);
    await site.sync.create();
    await site.sync.waitForValues(ownValues);
    const [, , uid] = await site.versions();
    const record = await site.annotations();
    await site.sync.patch({ environmentRef: null, sources: site.sources() });
    await site.sync.waitForValues(united);
    expect((await site.versions())[2]).toBe(uid);
    const { status } = await site.syncs.get('app');
    expect(status?.sources?.map(({ name, syncedRevision }) => `${name} ${syncedRevision}`)).toEqual([
      'shared 1',
      'own 2',
    ]);
    expect(status).not.toHaveProperty('syncedRevision');
    await site.sync.patch({ environmentRef: site.own.ref, sources: null });
    await site.sync.waitForValues(ownValues);
    expect(await site.annotations()).toEqual(record);
  });

  test('are added, put in another order, renamed and taken out', async () => {
    const site = await SourceSite.make(stack);
    const [shared, own] = site.sources();
    if (shared === undefined || own === undefined) throw new Error('there are two sources');
    await site.create([shared], { maxDeletedKeys: 0 });
    await site.sync.waitForValues(sharedValues);
    await site.sync.patch({ sources: [shared, own] });
    await site.sync.waitForValues(united);
    await site.sync.patch({ sources: [own, shared] });
    await site.sync.waitForValues({ ...united, B: 'shared b' });
    await site.sync.patch({ sources: [shared, { ...own, name: 'special' }] });
    await site.sync.waitForValues(united);
    await site.sync.patch({ sources: [{ ...own, name: 'special' }] });
    await site.sync.waitForValues(ownValues);
    expect(await site.readersOf(site.own)).toEqual(await site.keylessOf(site.own));
  });

  test('may lose no more keys together than the limit allows, without consent', async () => {
    const site = await SourceSite.make(stack);
    await site.createInStep(site.sources(), { maxDeletedKeys: 1 });
    await site.shared.change({}, ['A']);
    await site.sync.waitForValues({ B: 'own b', C: 'own c' });
    await site.own.change({}, ['B', 'C']);
    const message = await site.waitForWord('DeletionBlocked', '(B of own, C of own)');
    await site.sync.expectStays(async () => expect(await site.sync.values()).toEqual({ B: 'own b', C: 'own c' }));
    const digest = /allow-deletion=([0-9a-f]{32})/.exec(message)?.[1] ?? '';
    await site.syncs.patch('app', { metadata: { annotations: { 'keyframe.dev/allow-deletion': digest } } });
    await site.sync.waitForValues({ B: 'shared b' });
  });

  test('write nothing where the environment of one was purged and recreated, until a user consents', async () => {
    const site = await SourceSite.make(stack);
    await site.putToken(site.own, 'mine');
    await site.createInStep(site.sources({}, { tokenSecretRef: { name: 'mine', key: 'token' } }));
    const again = await site.replaceOwn({ ...ownValues, C: 'of another' });
    await site.putToken(again, 'mine');
    const message = await site.waitForWord('SourceReplaced', 'Source own: Secret app holds data of the environment');
    expect(message).toContain(`\`kubectl annotate secret -n ${site.sync.site.namespace} app keyframe.dev/sources-\``);
    await site.sync.expectStays(async () => expect(await site.sync.values()).toEqual(united));
    await site.sync.site.patchSecret({ metadata: { annotations: { 'keyframe.dev/sources': null } } }, 'app');
    await site.sync.waitForValues({ ...united, C: 'of another' });
  });

  test('are merged together into a Secret that belongs to something else', async () => {
    const site = await SourceSite.make(stack);
    const shared = new SharedSecret({
      kube: stack.kube,
      secretPath: (name) => site.sync.site.secretPath(name),
      sync: () => site.syncs.get('app'),
    });
    await shared.create({ THEIRS: 'x' }, 'app');
    await site.create(site.sources(), { target: { name: 'shared', creationPolicy: 'Merge' } });
    const merged = await shared.waitUntilMerged({ ...united, THEIRS: 'x' }, 3);
    const text = merged.metadata.annotations?.['merge.keyframe.dev/app'] ?? '{}';
    expect(Object.keys(JSON.parse(text) as object)).toEqual(['sources', 'origins']);
    await site.own.change({}, ['C']);
    await site.shared.change({ B: 'hidden' });
    await shared.waitUntilMerged({ A: 'shared a', B: 'own b', THEIRS: 'x' }, 2);
  });
});

/** The place of the shared environment in the spec of a ServiceToken. */
function tokenPlace({ shared: { ref } }: SourceSite): object {
  return { organization: ref.organization, project: ref.project, environment: ref.name };
}
