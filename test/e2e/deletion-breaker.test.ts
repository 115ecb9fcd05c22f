/** @default A loss of too many keys waits for a consent, also after a restart of the controller. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const values = { A: '1', B: '2', C: '3', D: '4', E: '5' };
let stack: Stack;
let controller: ServerProcess;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 6 });
  controller = await stack.startController();
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

  test('leaves it also after a restart of the controller, and writes again when the keys are back', async () => {
    const site = await stack.makeSite({ values });
    const before = await site.waitUntilSynced(values);
    expect(await controller.stop()).toEqual({ code: 0, signal: null });
    await site.environment.change({}, ['A', 'B', 'C']);
    controller = await stack.startController();
    await site.waitForReason('DeletionBlocked');
    await site.expectStays(async () => expect(await site.existingSecret()).toEqual(before));
    await site.environment.change({ ...values, A: 'back' });
    await site.waitUntilSynced({ ...values, A: 'back' });
  });

  test('passes up to the number that the spec gives, not one key further', async () => {
    const site = await stack.makeSite({ values, spec: { maxDeletedKeys: 1 } });
    await site.waitUntilSynced(values);
    await site.environment.change({}, ['A']);
    await site.waitUntilSynced({ B: '2', C: '3', D: '4', E: '5' });
    await site.environment.change({}, ['B', 'C']);
    await site.waitForReason('DeletionBlocked');
    await site.patchSync({ spec: { maxDeletedKeys: '50%' } });
    await site.waitUntilSynced({ D: '4', E: '5' });
  });

  test('is none where the spec takes the keys away or renames them', async () => {
    const site = await stack.makeSite({ values, spec: { maxDeletedKeys: 0 } });
    await site.waitUntilSynced(values);
    await site.patchSync({ spec: { keys: { include: ['A', 'B'], rename: [{ from: 'B', to: 'b' }] } } });
    await site.waitUntilSynced({ A: '1', b: '2' });
    // The renamed key is known by the one it came from.
    await site.environment.change({}, ['B']);
    expect((await site.waitForReason('DeletionBlocked')).message).toContain('(b)');
  });
});

describe('a Secret with the data of another environment of the same slugs', () => {
  test('stays as it is until its annotation is taken off', async () => {
    const site = await stack.makeSite({ values: { A: '1' } });
    const { metadata } = await site.waitUntilSynced({ A: '1' });
    const { organization, project, name } = site.environment.ref;
    const source = `${organization}/${project}/${name}@${site.environment.id}`;
    expect(metadata.annotations).toMatchObject({ 'keyframe.dev/source': source });
    const first = '00000000-0000-4000-8000-000000000000';
    const ofAnother = await site.patchSecret({
      metadata: { annotations: { 'keyframe.dev/source': source.replace(/@.*/, `@${first}`) } },
    });
    const { message } = await site.waitForReason('SourceReplaced');
    expect(message).toContain(first);
    expect(message).toContain(`\`kubectl annotate secret -n ${site.namespace} ${site.name} keyframe.dev/source-\``);
    await site.environment.change({ A: 'other' });
    await site.expectStays(async () => {
      expect(await site.existingSecret()).toEqual(ofAnother);
      expect(await site.condition('Ready')).toMatchObject({ reason: 'SourceReplaced' });
    });
    await site.patchSecret({ metadata: { annotations: { 'keyframe.dev/source': null } } });
    expect((await site.waitUntilSynced({ A: 'other' })).metadata.annotations).toMatchObject({
      'keyframe.dev/source': source,
    });
  });
});

describe('a Secret made by something else', () => {
  test('is adopted when it is offered to the SecretSync, by no other name', async () => {
    const site = await stack.makeSite({ values, withoutSync: true });
    const { metadata } = await site.createForeignSecret({ THEIRS: 'x', A: 'x', MORE: 'x' });
    await site.createSync();
    const { message } = await site.waitForReason('TargetNotOwned');
    expect(message).toContain(
      `\`kubectl annotate --overwrite secret -n ${site.namespace} ${site.name} keyframe.dev/allow-adoption=${site.name}\``,
    );
    const offered = await site.patchSecret({
      metadata: { annotations: { 'keyframe.dev/allow-adoption': 'other' } },
    });
    await site.environment.change({ A: 'later' });
    await site.expectStays(async () => {
      expect(await site.existingSecret()).toEqual(offered);
      expect(await site.condition('Ready')).toMatchObject({ reason: 'TargetNotOwned' });
    });
    await site.patchSecret({ metadata: { annotations: { 'keyframe.dev/allow-adoption': site.name } } });
    const adopted = await site.waitUntilSynced({ ...values, A: 'later' });
    expect(adopted.metadata.uid).toBe(metadata.uid);
    expect(adopted.metadata.annotations).toMatchObject({ 'keyframe.dev/owned-by': site.name });
  });
});
