import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { fillNamespace, snapshotsIn } from '../support/cluster/filled-namespace.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { PostgresProxy } from '../support/faults/postgres-proxy.ts';
import { tokensMadeBy } from '../support/cluster/resource-rows.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSite } from '../support/cluster/token-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const both = { kinds: ['ServiceToken', 'SecretSnapshot'] };
let stack: Stack;
let database: PostgresProxy;

beforeAll(async () => {
  const cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 4, adminKubeconfig: cluster.kubeconfig });
  database = await PostgresProxy.start(stack.databaseUrl);
  resources.defer(() => database.close());
  // With rights in all namespaces: those that a Role gives in one go with it.
  const kubeconfigFile = join(cluster.runFolder, 'controller.kubeconfig');
  const env = { NAMESPACE: 'keyframe' };
  await stack.startController({ databaseUrl: database.url, kubeconfigFile, env });
});

afterAll(() => resources.disposeAsync());

describe('two ServiceTokens for one Secret', () => {
  test('are not mixed: one has it, the other one says whose it is, and takes over when that is gone', async () => {
    const site = await TokenSite.make(stack);
    await Promise.all(['one', 'other'].map((name) => site.create({ secretName: 'shared' }, name)));
    const [winner, loser] = await waitFor('one of them to have the Secret', async () => {
      const reasons = [await site.condition('Ready', 'one'), await site.condition('Ready', 'other')].map(
        (ready) => ready?.reason,
      );
      expect(new Set(reasons)).toEqual(new Set(['Issued', 'TargetClaimed']));
      return reasons[0] === 'Issued' ? (['one', 'other'] as const) : (['other', 'one'] as const);
    });
    expect((await site.condition('Ready', loser))?.message).toContain(`belongs to the ServiceToken ${winner}:`);
    const value = await site.value('shared');
    expect(await site.answer(value)).toBe(200);
    // Nothing of the one without a Secret could work.
    const live = async (name: string): Promise<unknown[]> => {
      const tokens = await tokensMadeBy(stack.databaseUrl, (await site.resource(name)).metadata.uid);
      return tokens.flatMap(({ credentials }) =>
        credentials.filter(({ isLive, state }) => isLive && state === 'active'),
      );
    };
    expect(await live(loser)).toEqual([]);
    expect(await live(winner)).toHaveLength(1);
    await site.delete(winner);
    await site.waitForReason('Issued', loser);
    expect(await site.answer(value)).toBe(401);
    expect(await site.answer(await site.value('shared'))).toBe(200);
  });
});

describe('an environment that is purged and recreated under the same slugs', () => {
  test('is another one: the token stays dead until its ServiceToken is recreated, and the snapshot stays gone', async () => {
    const site = await TokenSite.make(stack, both);
    const { organization, project, name } = site.environment.ref;
    const snapshots = snapshotsIn(stack, site);
    await site.create();
    const before = await site.waitForSerial(1);
    await snapshots.create({ source: { environmentRef: site.environment.ref } }, 'old');
    const old = await snapshots.waitForReason('old', 'Taken');
    const path = `/environments/${organization}/${project}`;
    await stack.admin.call('DELETE', `${path}/${name}`);
    await snapshots.waitForReason('old', 'EnvironmentDeleted');
    expect(await site.answer(before)).toBe(401);
    await stack.admin.call('POST', `${path}/${name}/purge`);
    await stack.admin.call('POST', path, { slug: name });
    await snapshots.waitForReason('old', 'SnapshotGone');
    await site.patch({ metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } });
    expect((await site.waitForReason('SourceReplaced')).message).toContain('delete the ServiceToken');
    // Nothing was written: who reads the Secret finds a token that opens nothing, and none for a place of another's.
    expect(await site.value()).toBe(before);
    expect(await site.answer(before)).toBe(401);
    await site.delete();
    await waitFor(
      'the ServiceToken to be gone',
      async () => (await stack.kube.find({ path: site.tokenPath() })) === undefined,
    );
    await site.create();
    await waitFor('a token for the new environment', async () => {
      expect((await site.condition('Ready'))?.reason).toBe('Issued');
      expect(await site.answer(await site.value())).toBe(200);
      return true;
    });
    expect((await snapshots.get('old')).status?.snapshotId).toBe(old.status?.snapshotId);
    await snapshots.create({ source: { environmentRef: site.environment.ref } }, 'new');
    expect((await snapshots.waitForReason('new', 'Taken')).status).toMatchObject({ revision: 0, secretCount: 0 });
  });
});

describe('a namespace that is deleted', () => {
  test('waits while the database is away, says for what, and then goes', async () => {
    const site = await TokenSite.make(stack, both);
    const { answers, snapshots } = await fillNamespace(stack, site);
    database.refuse();
    database.kill();
    const gone = site.deleteNamespace();
    gone.catch(() => undefined);
    const { message } = await site.waitForReason('StoreUnavailable');
    expect(message).toContain('annotate it with keyframe.dev/force-finalize="true"');
    await waitFor('the namespace to say what it waits for', async () => {
      const { status } = (await site.namespaceObject()) ?? {};
      return status?.conditions?.find(({ type }) => type === 'NamespaceFinalizersRemaining')?.status === 'True';
    });
    expect((await site.resource()).metadata.finalizers).toEqual(['keyframe.dev/cleanup']);
    await database.accept();
    await gone;
    expect([await answers(), await snapshots()]).toEqual([[401, 401], 0]);
  });
});

// The last one: it takes the database away for good.
describe('a resource whose database is gone for good', () => {
  test('is held with advice when it is deleted, and let go by force', async () => {
    const site = await TokenSite.make(stack, both);
    const snapshots = snapshotsIn(stack, site);
    await site.create();
    await site.waitForSerial(1);
    await snapshots.create({ source: { environmentRef: site.environment.ref }, deletionPolicy: 'Delete' }, 'taken');
    await snapshots.waitForReason('taken', 'Taken');
    database.refuse();
    database.kill();
    await site.delete();
    await snapshots.delete('taken');
    const { message } = await site.waitForReason('StoreUnavailable');
    expect(message).toContain('annotate it with keyframe.dev/force-finalize="true"');
    await snapshots.waitForReason('taken', 'StoreUnavailable');
    expect((await site.resource()).metadata.finalizers).toEqual(['keyframe.dev/cleanup']);
    const forced = { metadata: { annotations: { 'keyframe.dev/force-finalize': 'true' } } };
    await site.patch(forced);
    await waitFor(
      'the ServiceToken to be gone',
      async () => (await stack.kube.find({ path: site.tokenPath() })) === undefined,
    );
    await waitFor('its Secret to be collected', async () => (await site.secret()) === undefined);
    await snapshots.patch('taken', forced);
    await snapshots.waitUntilGone('taken');
    await site.deleteNamespace();
  });
});
