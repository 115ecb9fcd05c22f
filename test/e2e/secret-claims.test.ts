import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import { ClusterSyncSite } from '../support/cluster/cluster-sync-site.ts';
import { type SecretObject, SecretWatch, secretValues } from '../support/cluster/secret-watch.ts';
import { type SiteOptions, SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** Several resources that name one Secret, each with another environment behind it. */

const resources = new AsyncDisposableStack();
const deletions = 20;
let world: ClusterSyncSite;

beforeAll(async () => {
  world = await ClusterSyncSite.make(resources);
  await world.startController();
});

afterAll(() => resources.disposeAsync());

/** A SecretSync whose target is the Secret `shared`, and whose environment has its name as the value of FROM. */
async function makeClaimant(namespace: string, name: string, options: SiteOptions = {}): Promise<SyncSite> {
  const target = { name: 'shared', ...options.target };
  return await SyncSite.make(world.stack, { values: { FROM: name }, ...options, namespace, name, target });
}

const secretPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets/shared`;

/** Deletes the Secret and waits until another one has this value of FROM. */
async function deleteAndWait(namespace: string, from: string): Promise<void> {
  const path = secretPath(namespace);
  const { uid } = (await world.stack.kube.json<SecretObject>({ path })).metadata;
  await world.stack.kube.json({ method: 'DELETE', path });
  await waitFor(`the Secret to hold the value of ${from} again`, async () => {
    const secret = await world.stack.kube.find<SecretObject>({ path });
    expect(secret?.metadata.uid).toBeDefined();
    expect(secret?.metadata.uid).not.toBe(uid);
    expect(secret === undefined ? undefined : secretValues(secret).get('FROM')).toBe(from);
    return true;
  });
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
