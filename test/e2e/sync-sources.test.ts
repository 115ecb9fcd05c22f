import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SharedSecret } from '../support/cluster/merge-site.ts';
import { SourceSite, united } from './source-site.ts';
import { Stack } from '../support/cluster/stack.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 3 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

describe('a SecretSync of several sources', () => {
  test('reads each with its token, however that is given, and takes a change of each', async () => {
    const site = await SourceSite.make(stack);
    const third = await stack.admin.makeEnvironment();
    await third.change({ C: 'third c', D: 'third d' });
    const thirdToken = await site.putToken(third, 'by-secret');
    await site.sync.site.create({ environmentRef: site.shared.ref, permission: 'Read' });
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
});

describe('the sources of a SecretSync', () => {
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
