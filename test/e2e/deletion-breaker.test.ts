/** @default A loss of too many keys waits for a consent, also after a restart of the controller. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const values = { A: '1', B: '2', C: '3', D: '4', E: '5' };
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** Waits until a deletion other than `before` is blocked; returns the digest that allows it, as the condition shows it. */
async function blockedDigest(site: SyncSite, before?: string): Promise<string> {
  return await waitFor('the digest of what is blocked', async () => {
    const { message } = await site.waitForReason('DeletionBlocked');
    const digest = /`kubectl annotate [^`]*keyframe\.dev\/allow-deletion=([0-9a-f]{32})`/.exec(message)?.[1];
    return digest !== before && digest;
  });
}

async function allow(site: SyncSite, digest: string): Promise<void> {
  await site.patchSync({ metadata: { annotations: { 'keyframe.dev/allow-deletion': digest } } });
}

describe('an environment that loses more keys than it may', () => {
  test('leaves the Secret as it is until just this loss is allowed', async () => {
    const site = await stack.makeSite({ values });
    const before = await site.waitUntilSynced(values);
    const isAsBefore = async (): Promise<void> => expect(await site.existingSecret()).toEqual(before);
    await site.environment.change({ A: 'new' }, ['C', 'D', 'E']);
    const digest = await blockedDigest(site);
    expect((await site.condition('Ready'))?.message).toContain('lost 3 of the 5 keys');
    await site.expectStays(isAsBefore);
    await site.environment.change({}, ['B']);
    await allow(site, digest);
    const other = await blockedDigest(site, digest);
    await site.expectStays(isAsBefore);
    await allow(site, other);
    await site.waitUntilSynced({ A: 'new' });
  });
});
