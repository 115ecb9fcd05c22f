import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { ClusterSyncSite } from '../support/cluster/cluster-sync-site.ts';
import { SharedSecret } from '../support/cluster/merge-site.ts';
import { type SecretObject, SecretWatch, secretValues } from '../support/cluster/secret-watch.ts';
import { type SiteOptions, SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { nonEmpty } from '../support/fixtures/non-empty.ts';

/** Several resources that name one Secret, each with another environment behind it. */

const resources = new AsyncDisposableStack();
const deletions = 20;
let world: ClusterSyncSite;
let controller: ServerProcess;

beforeAll(async () => {
  world = await ClusterSyncSite.make(resources);
  controller = await world.startController();
});

afterAll(() => resources.disposeAsync());

/** A SecretSync whose target is the Secret `shared`, and whose environment has its name as the value of FROM. */
async function makeClaimant(namespace: string, name: string, options: SiteOptions = {}): Promise<SyncSite> {
  const target = { name: 'shared', ...options.target };
  return await SyncSite.make(world.stack, { values: { FROM: name }, ...options, namespace, name, target });
}

const secretPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets/shared`;

/** Deletes the Secret and waits until another one has this value of FROM; with `down`, while no controller runs. */
async function deleteAndWait(namespace: string, from: string, down?: () => Promise<void>): Promise<void> {
  const path = secretPath(namespace);
  const { uid } = (await world.stack.kube.json<SecretObject>({ path })).metadata;
  await world.stack.kube.json({ method: 'DELETE', path });
  await down?.();
  await waitFor(`the Secret to hold the value of ${from} again`, async () => {
    const secret = await world.stack.kube.find<SecretObject>({ path });
    expect(secret?.metadata.uid).toBeDefined();
    expect(secret?.metadata.uid).not.toBe(uid);
    expect(secret === undefined ? undefined : secretValues(secret).get('FROM')).toBe(from);
    return true;
  });
}

/** Hands the Secret over to a SecretSync, as the condition of that one says. */
async function handOver(site: SyncSite): Promise<void> {
  const { message } = await site.waitForReason('TargetClaimed');
  const [, command = ''] = /run `kubectl ([^`]+)`/.exec(message) ?? [];
  await world.kubectl(...command.split(' '));
  await site.waitForReason('Synced');
}

async function restart(): Promise<void> {
  await controller.stop();
  controller = await world.startController();
}

/** Every message of the conditions and Events of a namespace. */
async function messagesIn(namespace: string): Promise<string[]> {
  const { kube } = world.stack;
  const { items: syncs } = await kube.json<{ items: SecretSync[] }>({
    path: `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`,
  });
  const { items: events } = await kube.json<{ items: { note?: string }[] }>({
    path: `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
  });
  const conditions = syncs.flatMap(({ status }) => status?.conditions ?? []);
  return [...conditions.map(({ message }) => message), ...events.map(({ note = '' }) => note)];
}

test('a Secret that four resources claim has the values of its owner after each of 20 deletions', async () => {
  const [namespace = ''] = await world.createNamespaces('claims', 1);
  const owner = await makeClaimant(namespace, 'owner');
  await owner.waitForReason('Synced');
  const rival = await makeClaimant(namespace, 'a-rival');
  const merging = await makeClaimant(namespace, 'merging', { target: { creationPolicy: 'Merge' } });
  await world.syncs.create(world.spec('claims', { target: { name: 'shared' } }), 'a-child');
  await rival.waitForReason('TargetClaimed');
  await merging.waitForReason('MergeRefused');
  await world.waitForStatus('a-child', 'NotReady');
  const watch = await SecretWatch.open(world.stack.kube, { namespace, name: 'shared' });
  for (let count = 0; count < deletions; count += 1) await deleteAndWait(namespace, 'owner');
  const child = await world.child(namespace, 'a-child');
  expect(child?.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    reason: 'TargetClaimed',
    message: expect.stringContaining('belongs to the SecretSync owner:'),
  });
  watch.close();
  expect(new Set(watch.events.map(({ secret }) => secretValues(secret).get('FROM')))).toEqual(new Set(['owner']));
  const messages = await messagesIn(namespace);
  expect(messages).toEqual(expect.arrayContaining([expect.stringContaining('belongs to the SecretSync owner')]));
  // A rival may see that the Secret is missing, before the owner writes it again.
  const advice = 'If nothing needs that SecretSync, delete it.';
  for (const message of messages) expect(message.replace(advice, '')).not.toMatch(/delete/i);
});

test('a Secret keeps the values of the SecretSync that took it over, also after a restart and with a new leader', async () => {
  const [namespace = ''] = await world.createNamespaces('restarts', 1);
  const owner = await makeClaimant(namespace, 'owner');
  await owner.waitForReason('Synced');
  const taker = await makeClaimant(namespace, 'taker');
  await handOver(taker);
  await deleteAndWait(namespace, 'taker');
  await controller.stop();
  await deleteAndWait(namespace, 'taker', async () => {
    controller = await world.startController();
  });
  const second = await world.stack.startController({
    name: 'second',
    kubeconfigFile: `${world.cluster.runFolder}/controller.kubeconfig`,
    env: { NAMESPACE: 'keyframe' },
    isClusterWide: true,
  });
  await deleteAndWait(namespace, 'taker', async () => void (await controller.stop()));
  await owner.waitForReason('TargetClaimed');
  await second.stop();
  await restart();
});

test('a SecretSync that waits creates the Secret when its owner and the Secret are deleted together', async () => {
  const [namespace = ''] = await world.createNamespaces('ends', 1);
  const owner = await makeClaimant(namespace, 'owner', { target: { deletionPolicy: 'Delete' } });
  await owner.waitForReason('Synced');
  const next = await makeClaimant(namespace, 'next');
  await next.waitForReason('TargetClaimed');
  await owner.deleteSync();
  await deleteAndWait(namespace, 'next').catch(async () => {
    // The garbage collector was faster.
    await next.waitForReason('Synced');
  });
  await next.waitForReason('Synced');
});

test('a SecretSync whose owner was never granted access waits for it, and names it', async () => {
  const [namespace = ''] = await world.createNamespaces('refused', 1);
  const owner = await makeClaimant(namespace, 'owner', { spec: { tokenSecretRef: { name: 'nothing' } } });
  await owner.waitForReason('TokenSecretNotFound');
  // The order of names decides between two of the same second.
  const next = await makeClaimant(namespace, 'z-next');
  expect((await next.waitForReason('TargetClaimed')).message).toContain('belongs to the SecretSync owner:');
  await next.expectStays(async () =>
    expect(await world.stack.kube.find({ path: secretPath(namespace) })).toBeUndefined(),
  );
  await owner.deleteSync();
  await next.waitForReason('Synced');
});

test('of two SecretSyncs created at once, always the same one has the Secret', async () => {
  const [namespace = ''] = await world.createNamespaces('races', 1);
  const sites = await Promise.all(
    ['left', 'right'].map((name) => makeClaimant(namespace, name, { withoutSync: true })),
  );
  await Promise.all(sites.map((site) => site.createSync()));
  const first = await waitFor('one of them to have the Secret', async () => {
    const secret = await world.stack.kube.find<SecretObject>({ path: secretPath(namespace) });
    return secret === undefined ? undefined : secretValues(secret).get('FROM');
  });
  for (const site of sites) await site.waitForReason(site.name === first ? 'Synced' : 'TargetClaimed');
  for (let count = 0; count < 5; count += 1) await deleteAndWait(namespace, first);
});

test('of two SecretSyncs that merge the same key, the first one has it each time that the Secret is created again', async () => {
  const [namespace = ''] = await world.createNamespaces('merges', 1);
  const first = await makeClaimant(namespace, 'first', { target: { creationPolicy: 'Merge' } });
  const shared = new SharedSecret(first);
  await shared.create({ OWN: 'x' }, 'first,a-second');
  await first.waitForReason('Synced');
  const second = await makeClaimant(namespace, 'a-second', { target: { creationPolicy: 'Merge' } });
  expect((await second.waitForReason('MergeConflict')).message).toContain('FROM (keyframe-merge-first)');
  const watch = await SecretWatch.open(world.stack.kube, { namespace, name: 'shared' });
  for (let count = 0; count < deletions; count += 1) {
    await shared.delete();
    await shared.create({ OWN: 'x' }, 'first,a-second');
    await shared.waitUntilMerged({ OWN: 'x', FROM: 'first' }, 1);
  }
  watch.close();
  const held = watch.events.map(({ secret }) => secretValues(secret).get('FROM')).filter((from) => from !== undefined);
  expect(new Set(held)).toEqual(new Set(['first']));
  for (const message of nonEmpty(await messagesIn(namespace))) expect(message).not.toMatch(/delete|from the Secret/i);
});
