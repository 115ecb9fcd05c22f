/** @default The API shows each SecretSync with what its Secret holds, and `keyframe wait` ends when all have a revision. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { CliRunner } from '../support/cli/cli.ts';
import { secretValues } from '../support/cluster/secret-watch.ts';
import { Stack } from '../support/cluster/stack.ts';
import { SyncConsumers } from '../support/cluster/sync-consumers.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// The API reports what controllers have reported: the tests look at the API alone.

const resources = new AsyncDisposableStack();
const values = { A: 'one' };
let stack: Stack;
let site: SyncSite;
let consumers: SyncConsumers;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 3 });
  await stack.startController({ env: { CLUSTER_NAME: 'fleet' } });
});

afterAll(() => resources.disposeAsync());

beforeEach(async () => {
  site = await stack.makeSite({ values });
  consumers = new SyncConsumers(stack.admin, site);
});

describe('a SecretSync', () => {
  test('is reported with its place and with what its Secret holds, at each change', async () => {
    const first = await consumers.waitForOne({ syncedRevision: 1 });
    const { metadata, status } = await site.sync();
    expect(first).toMatchObject({
      cluster: 'fleet',
      stale: false,
      uid: metadata.uid,
      namespace: site.namespace,
      name: site.name,
      source: null,
      health: 'healthy',
      reason: 'Synced',
      environment: site.environment.ref.name,
      environmentDeleted: false,
      syncedRevisionId: status?.syncedRevisionId,
      secretName: site.name,
      rollout: null,
    });
    const { revision, revisionId } = await site.environment.change({ A: 'two' });
    await consumers.waitForOne({ wantedRevision: revision, syncedRevision: revision, syncedRevisionId: revisionId });
  });

  test('is dropped when it is deleted, and others stay', async () => {
    await consumers.waitForOne({ syncedRevision: 1 });
    const other = await site.sibling('other');
    await waitFor('both', async () => (await consumers.list()).length === 2);
    await other.deleteSync();
    await consumers.waitForOne({ name: site.name });
    await site.deleteSync();
    await consumers.waitForNone();
  });
});

test('keyframe wait --converged ends no earlier than the Secrets hold the revision', async () => {
  await consumers.waitForOne({ syncedRevision: 1 });
  const others = [await site.sibling('second'), await site.sibling('third')];
  await waitFor('all three', async () => (await consumers.list()).length === 3);
  const cli = await CliRunner.create({ url: stack.api.url, token: { reveal: () => stack.adminToken } });
  resources.defer(() => cli.remove());
  const { organization, project, name } = site.environment.ref;
  const place = ['-o', organization, '-p', project, '-e', name];
  for (let round = 1; round <= 3; round += 1) {
    const changed = { A: `round ${round}` };
    const { revision } = await site.environment.change(changed);
    const ended = await cli.run(['wait', ...place, '--revision', String(revision), '--converged', '--output', 'json']);
    const held = await Promise.all([site, ...others].map((one) => one.existingSecret()));
    expect(held.map((secret) => Object.fromEntries(secretValues(secret)))).toEqual([changed, changed, changed]);
    expect(ended).toMatchObject({ code: 0 });
    expect(JSON.parse(ended.stdout)).toMatchObject({ revision, consumers: { reached: 3, exempt: [] } });
  }
});
