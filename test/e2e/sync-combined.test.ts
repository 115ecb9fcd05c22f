/** @default A pin, a merge and a ServiceToken work together. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { SecretSnapshot } from '../../src/controller/generated/secret-snapshot.ts';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import { consent } from '../support/cluster/merge-site.ts';
import { ResourceSite } from '../support/cluster/resource-site.ts';
import { type SecretObject, secretValues } from '../support/cluster/secret-watch.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const good = { A: 'alpha', B: 'beta', C: 'gamma', D: 'delta' };
const theirs = { THEIRS: 'x' };
let stack: Stack;
let site: TokenSite;
let syncs: ResourceSite<SecretSync>;
let snapshots: ResourceSite<SecretSnapshot>;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 1 });
  await stack.startController();
  site = await TokenSite.make(stack, { kinds: ['ServiceToken', 'SecretSnapshot'] });
  const { kube } = stack;
  const { namespace } = site;
  syncs = new ResourceSite({ kube, kind: 'SecretSync', plural: 'secretsyncs', namespace });
  snapshots = new ResourceSite({ kube, kind: 'SecretSnapshot', plural: 'secretsnapshots', namespace });
});

afterAll(async () => {
  // AccessGrants are the whole cluster's.
  await site.withdraw();
  await resources.disposeAsync();
});

async function takeSnapshot(): Promise<void> {
  await snapshots.create({ source: { environmentRef: site.environment.ref } }, 'good');
  await snapshots.waitForReason('good', 'Taken');
}

async function allow(names: string | null): Promise<void> {
  await site.patchSecret({ metadata: { annotations: { [consent]: names } } }, 'shared');
}

/** Waits until Ready has this reason for the present spec, and the Secret these values beside those of others. */
async function expectState(reason: string, values: Readonly<Record<string, string>>): Promise<string> {
  const { status } = await syncs.waitForReason('app', reason);
  await waitFor(`the Secret to hold ${Object.keys(values).join(', ')}`, async () => {
    const shared = await site.secret('shared');
    expect(Object.fromEntries(secretValues(shared as SecretObject))).toEqual({ ...theirs, ...values });
    return true;
  });
  return status?.conditions?.find(({ type }) => type === 'Ready')?.message ?? '';
}

test('a pin, a merge and a ServiceToken keep their promises together, whatever is withdrawn meanwhile', async () => {
  await site.environment.change(good);
  await takeSnapshot();
  const metadata = { name: 'shared', annotations: { [consent]: 'app' } };
  const path = `/api/v1/namespaces/${site.namespace}/secrets`;
  const body = { apiVersion: 'v1', kind: 'Secret', metadata, stringData: theirs };
  await stack.kube.json({ method: 'POST', path, body });
  const target = { name: 'shared', creationPolicy: 'Merge' };
  const snapshotRef = { name: 'good' };
  const { ref } = site.environment;
  await site.create({ permission: 'Read' }, 'reader');
  const tokenRef = { name: 'reader' };
  await syncs.create({ environmentRef: ref, tokenRef, snapshotRef, target, maxDeletedKeys: 0 }, 'app');
  await expectState('Synced', good);

  // The environment moves on, and the token is replaced: both are no news.
  await site.environment.change({ A: 'later' }, ['B', 'C', 'D']);
  await stack.kube.json({ method: 'DELETE', path: site.secretPath('reader') });
  await site.waitForSerial(2, 'reader');
  await stack.passWitness(site.namespace);
  await expectState('Synced', good);

  // What was taken back during a suspension holds after it.
  await syncs.patch('app', { spec: { suspend: true } });
  await syncs.waitForReason('app', 'Suspended');
  await allow(null);
  await syncs.patch('app', { spec: { suspend: false } });
  await expectState('TargetNotOwned', good);
  await allow('app');
  await expectState('Synced', good);

  // Without the pin on purpose; from there on the environment must not lose a key.
  await syncs.patch('app', { spec: { snapshotRef: null } });
  await expectState('Synced', { A: 'later' });
  await site.environment.change({ Z: 'last' }, ['A']);
  expect(await expectState('DeletionBlocked', { A: 'later' })).toContain('(A)');
  await syncs.patch('app', { spec: { snapshotRef } });
  await expectState('Synced', good);

  // Nothing that vanishes takes a value along.
  await snapshots.delete('good');
  await expectState('SnapshotNotFound', good);
  await site.withdraw();
  expect(await expectState('AccessDenied', good)).toContain('ServiceToken');
  await site.grant();
  await expectState('SnapshotNotFound', good);
  // Another snapshot under the same name is not what the spec asks for.
  await takeSnapshot();
  expect(await expectState('DeletionBlocked', good)).toContain('Secret shared is pinned to lacks 4');
  await syncs.patch('app', { spec: { snapshotRef: null, revision: 2 } });
  await expectState('Synced', good);

  // The keys outlive the SecretSync and its token.
  const value = await site.value('reader');
  await syncs.delete('app');
  await site.delete('reader');
  await waitFor('the token to end', async () => (await site.answer(value)) === 401);
  const left = await site.secret('shared');
  expect(Object.fromEntries(secretValues(left as SecretObject))).toEqual({ ...theirs, ...good });
});
