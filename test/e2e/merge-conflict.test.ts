/** @default Server-side apply decides whose keys of a shared Secret are whose. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiProxy, type RequestMatch } from '../support/faults/api-proxy.ts';
import { Canary } from '../support/fixtures/canary.ts';
import { processOutput } from '../support/fixtures/leak-places.ts';
import { events, secretMetadata, secretSyncs } from '../support/fixtures/leak-places-cluster.ts';
import { findLeaks } from '../support/fixtures/leak-search.ts';
import { SharedSecret, encoded, makeMergeSite } from '../support/cluster/merge-site.ts';
import { SecretWatch, secretValues } from '../support/cluster/secret-watch.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const theirs = { THEIRS: 'x' };
let stack: Stack;
let controller: ServerProcess;
let proxy: ApiProxy;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 11 });
  proxy = await ApiProxy.start(stack.kubeconfigFile);
  resources.defer(() => proxy.close());
  controller = await stack.startController({ kubeconfigFile: proxy.kubeconfigFile });
});

afterAll(() => resources.disposeAsync());

/** A SecretSync with these values merged into a Secret that has a key of its own. */
async function makeMerged(values: Record<string, string>): Promise<{ site: SyncSite; shared: SharedSecret }> {
  const site = await makeMergeSite(stack, { values, withoutSync: true });
  const shared = new SharedSecret(site);
  await shared.create(theirs, 'app');
  await site.createSync();
  await shared.waitUntilMerged({ ...theirs, ...values }, Object.keys(values).length);
  return { site, shared };
}

const patchesOf =
  ({ path: wanted }: SharedSecret): RequestMatch =>
  ({ method, path }) =>
    method === 'PATCH' && path === wanted;

describe('a key of Keyframe that another client', () => {
  test('edits is theirs: nothing is written until they take it out', async () => {
    const { site, shared } = await makeMerged({ A: '1', B: '2' });
    await shared.patch({ data: encoded({ A: 'edited' }) });
    const { message } = await site.waitForReason('MergeConflict');
    expect(message).toMatch(/ A \([^)]+\)/);
    expect(message).not.toMatch(/ B \(/);
    await site.environment.change({ B: 'later' });
    await waitFor(
      'the change to be refused too',
      () => proxy.passages(patchesOf(shared)).filter(({ status }) => status === 409).length > 1,
    );
    expect(await shared.values()).toEqual({ ...theirs, A: 'edited', B: '2' });
    await shared.patch({ data: { A: null } });
    await shared.waitUntilMerged({ ...theirs, A: '1', B: 'later' }, 2);
  });

  test('edits and gives back its value is shared, and stays with them when we let it go', async () => {
    const { site, shared } = await makeMerged({ A: '1', B: '2' });
    await shared.patch({ data: encoded({ A: 'edited' }) });
    await site.waitForReason('MergeConflict');
    await shared.patch({ data: encoded({ A: '1' }) });
    await shared.waitUntilMerged({ ...theirs, A: '1', B: '2' }, 2);
    await site.environment.change({}, ['A']);
    await shared.waitUntilMerged({ ...theirs, A: '1', B: '2' }, 1);
  });

  test('wants by server-side apply is refused to them, and kept', async () => {
    const { site, shared } = await makeMerged({ A: '1' });
    const answer = await shared.apply({ manager: 'kubectl', values: { A: 'wanted' } });
    expect(answer).toMatchObject({ status: 409, body: { details: { causes: [{ field: '.data.A' }] } } });
    await site.environment.change({ A: 'later' });
    await shared.waitUntilMerged({ ...theirs, A: 'later' }, 1);
  });
});

describe('a conflict', () => {
  test('about the record of our keys names the annotation', async () => {
    const { site, shared } = await makeMerged({ A: '1' });
    await shared.patch({ metadata: { annotations: { 'merge.keyframe.dev/app': 'spoilt' } } });
    const { message } = await site.waitForReason('MergeConflict');
    expect(message).toContain(' merge.keyframe.dev/app (');
    await shared.patch({ metadata: { annotations: { 'merge.keyframe.dev/app': null } } });
    await shared.waitUntilMerged({ ...theirs, A: '1' }, 1);
  });

  test('about very many keys is reported in few words', async () => {
    const keys = Array.from({ length: 400 }, (_, n) => `${'KEY_'.repeat(30)}${n}`);
    const all = (value: string): Record<string, string> => Object.fromEntries(keys.map((key) => [key, value]));
    const site = await makeMergeSite(stack, { values: all('ours'), withoutSync: true });
    const shared = new SharedSecret(site);
    await shared.create(all('theirs'), 'app');
    await site.createSync();
    const { message } = await site.waitForReason('MergeConflict');
    const named = keys.filter((key) => message.includes(` ${key} (`));
    expect(named.length).toBeGreaterThan(0);
    expect(named.length).toBeLessThan(11);
    expect(message).toContain(` ${keys.length - named.length} more`);
    expect(message.length).toBeLessThan(1024);
    await site.expectStays(async () => expect(await shared.values()).toEqual(all('theirs')));
  });

  test('quotes no value: not in the condition, in Events, in logs, in metadata, nor in what the API server says', async () => {
    const [ours, foreign] = [new Canary(), new Canary()];
    const site = await makeMergeSite(stack, { values: { A: ours.value }, withoutSync: true });
    const shared = new SharedSecret(site);
    await shared.create({ A: foreign.value }, 'app');
    await site.createSync();
    await site.waitForReason('MergeConflict');
    const { kube, namespace, syncPath } = site;
    const places = [
      processOutput(() => stack.processes),
      events(kube, namespace),
      secretSyncs(kube, () => syncPath),
      secretMetadata(kube, namespace),
    ];
    await waitFor('the Event of the conflict', async () => {
      const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
      return JSON.stringify(await kube.json({ path })).includes('MergeConflict');
    });
    const answer = await shared.apply({ manager: 'third', values: { A: ours.value } });
    expect(answer.status).toBe(409);
    for (const canary of [ours, foreign]) {
      expect(await findLeaks(canary, places)).toEqual([]);
      expect(canary.traces(Buffer.from(JSON.stringify(answer.body)))).toEqual([]);
    }
    expect(foreign.traces(Buffer.from(JSON.stringify(await shared.get())))).not.toEqual([]);
    expect(await shared.values()).toEqual({ A: foreign.value });
  });
});

describe('which keys are ours', () => {
  test('is known by the Secret alone, so that a new controller takes away what was lost meanwhile', async () => {
    const { site, shared } = await makeMerged({ A: '1', B: '2', C: '3', D: '4' });
    // Keys of others would be lost too, if they were taken for ours.
    await site.patchSync({ spec: { maxDeletedKeys: 1 } });
    await site.waitForReason('Synced');
    expect(await controller.stop()).toEqual({ code: 0, signal: null });
    await site.environment.change({ B: 'later' }, ['A']);
    await shared.patch({ data: encoded({ FOREIGN: 'f' }) });
    controller = await stack.startController({ kubeconfigFile: proxy.kubeconfigFile });
    await shared.waitUntilMerged({ ...theirs, FOREIGN: 'f', B: 'later', C: '3', D: '4' }, 3);
  });

  test('costs no write in the steady state, and one for each change', async () => {
    const { site, shared } = await makeMerged({ A: '1' });
    const count = (): number => proxy.count(patchesOf(shared));
    const before = count();
    await shared.patch({ data: encoded({ FOREIGN: 'f' }) });
    await shared.waitUntilMerged({ ...theirs, FOREIGN: 'f', A: '1' }, 1);
    await site.expectStays(() => expect(count()).toBe(before));
    await site.environment.change({ A: '2' });
    await shared.waitUntilMerged({ ...theirs, FOREIGN: 'f', A: '2' }, 1);
    expect(count()).toBe(before + 1);
  });
});

describe('a write that comes late', () => {
  test('from a controller that lags behind does not take the place of a newer state', async () => {
    const { site, shared } = await makeMerged({ COUNT: '0' });
    const newer = await stack.startController({ name: 'newer', env: { NAMESPACE: stack.namespaces[1] ?? '' } });
    await waitFor('the newer controller to follow the Secret', async () => {
      const { metadata } = await shared.get();
      return (await site.sync()).status?.target?.resourceVersion === metadata.resourceVersion;
    });
    const watch = await SecretWatch.open(stack.kube, { namespace: site.namespace, name: 'shared' });
    const hold = proxy.hold(patchesOf(shared));
    await site.environment.change({ COUNT: '1' });
    await hold.arrived();
    await watch.next('hold 1', ({ secret }) => secretValues(secret).get('COUNT') === '1');
    await site.environment.change({ COUNT: '2' });
    await shared.waitUntilMerged({ ...theirs, COUNT: '2' }, 1);
    hold.release();
    await waitFor('the late write to be refused', () => proxy.passages(patchesOf(shared)).at(-1)?.status === 409);
    await site.expectStays(() => shared.waitUntilMerged({ ...theirs, COUNT: '2' }, 1));
    watch.close();
    expect(watch.events.map(({ secret }) => secretValues(secret).get('COUNT'))).toEqual(['0', '1', '2']);
    expect(await newer.stop()).toEqual({ code: 0, signal: null });
  });

  test('to a Secret that was deleted meanwhile makes none', async () => {
    const { site, shared } = await makeMerged({ A: '1' });
    const hold = proxy.hold(patchesOf(shared));
    await site.environment.change({ A: '2' });
    await hold.arrived();
    await shared.delete();
    hold.release();
    await site.waitForReason('TargetNotFound');
    await site.expectStays(async () => expect(await site.kube.find({ path: shared.path })).toBeUndefined());
  });

  test('to a Secret that was made again meanwhile is not for that one', async () => {
    const { site, shared } = await makeMerged({ A: '1' });
    const hold = proxy.hold(patchesOf(shared));
    await site.environment.change({ A: '2' });
    await hold.arrived();
    await shared.delete();
    const recreated = await shared.create(theirs);
    hold.release();
    await site.waitForReason('TargetNotOwned');
    await site.expectStays(async () => expect(await shared.get()).toEqual(recreated));
  });
});
