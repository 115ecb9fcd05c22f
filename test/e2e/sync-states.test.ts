import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Target } from '../../src/controller/kinds/rollout/targets.ts';
import { buildCli } from '../../tools/build/cli.ts';
import type { FleetConsumerView } from '../../src/wire/consumers.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { CliRunner } from '../support/cli/cli.ts';
import { secretValues } from '../support/cluster/secret-watch.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { Workloads } from '../support/cluster/workloads.ts';
import { PostgresProxy, runs } from '../support/faults/postgres-proxy.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// The API reports what controllers have reported: the tests look at the API alone, and at the database past all of it.

const resources = new AsyncDisposableStack();
const values = { A: 'one' };
let stack: Stack;
let proxy: PostgresProxy;
let database: pg.Pool;
let controller: ServerProcess;
let site: SyncSite;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 15 });
  proxy = await PostgresProxy.start(stack.databaseUrl);
  resources.defer(() => proxy.close());
  database = new pg.Pool({ connectionString: stack.databaseUrl });
  database.on('error', () => undefined);
  resources.defer(() => database.end());
  controller = await startController();
});
afterAll(() => resources.disposeAsync());

function startController(name = 'controller'): Promise<ServerProcess> {
  const env = { RESYNC_INTERVAL: '2s', CLUSTER_NAME: 'fleet', ROLLOUTS: 'true' };
  return stack.startController({ name, databaseUrl: proxy.url, env });
}

/** The consumers of a site's environment, from the fleet, which has them also while it is deleted. */
async function consumers(of = site): Promise<FleetConsumerView[]> {
  const { organization } = of.environment.ref;
  return (await stack.admin.call<{ consumers: FleetConsumerView[] }>('GET', `/fleet/${organization}`)).consumers;
}

/** Waits until a site has this one consumer. */
async function waitForConsumer(expected: object, of = site): Promise<FleetConsumerView> {
  return await waitFor('the consumer to be reported', async () => {
    const [consumer, ...others] = await consumers(of);
    expect(others).toEqual([]);
    expect(consumer).toMatchObject(expected);
    return consumer;
  });
}

async function waitForNone(of = site): Promise<void> {
  await waitFor('the consumers to be dropped', async () => (await consumers(of)).length === 0);
}

const sweeps = (): number => proxy.count(runs(/^SELECT DISTINCT uid, namespace FROM sync_state/));

/** Two sweeps, each after a comparison and the reports that follow it. */
async function passSweeps(): Promise<void> {
  const before = sweeps();
  await waitFor('two sweeps', () => sweeps() >= before + 2, { timeoutMs: 60_000 });
}

beforeEach(async () => {
  site = await stack.makeSite({ values });
});

describe('a SecretSync', () => {
  test('is reported with its place and with what its Secret holds, at each change', async () => {
    const first = await waitForConsumer({ syncedRevision: 1 });
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
    await waitForConsumer({ wantedRevision: revision, syncedRevision: revision, syncedRevisionId: revisionId });
  });

  test('that fails is reported with the reason, and with what its Secret still holds', async () => {
    await waitForConsumer({ syncedRevision: 1 });
    await stack.admin.call('DELETE', `/service-tokens/${site.environment.ref.organization}/${site.token.id}`);
    const { ready } = await waitForConsumer({ reason: 'AuthenticationFailed', wantedRevision: null });
    expect(ready).toBe(false);
    await waitForConsumer({ health: 'stalled', stalled: true, syncedRevision: 1 });
  });

  test('that is suspended is reported as such', async () => {
    await waitForConsumer({ syncedRevision: 1 });
    await site.patchSync({ spec: { suspend: true } });
    await waitForConsumer({ health: 'suspended', syncedRevision: 1 });
  });

  test('is dropped when it is deleted, and others stay', async () => {
    await waitForConsumer({ syncedRevision: 1 });
    const other = await site.sibling('other');
    await waitFor('both', async () => (await consumers()).length === 2);
    await other.deleteSync();
    await waitForConsumer({ name: site.name });
    await site.deleteSync();
    await waitForNone();
  });

  test('is dropped also if it was deleted while no controller ran, and others stay', async () => {
    const deleted = await stack.makeSite({ namespace: site.namespace, name: 'deleted', values });
    for (const one of [site, deleted]) await waitForConsumer({ syncedRevision: 1 }, one);
    await controller.stop();
    await deleted.deleteSync();
    expect(await consumers(deleted)).toHaveLength(1);
    controller = await startController();
    await waitForNone(deleted);
    await waitForConsumer({ syncedRevision: 1 });
  });

  test('of a namespace that is not watched any more stays as it was', async () => {
    await waitForConsumer({ syncedRevision: 1 });
    await controller.stop();
    const namespaces = stack.namespaces.filter((name) => name !== site.namespace);
    const env = { RESYNC_INTERVAL: '2s', CLUSTER_NAME: 'fleet', WATCH_NAMESPACES: namespaces.join(',') };
    const other = await stack.startController({ name: 'narrow', databaseUrl: proxy.url, env });
    await passSweeps();
    await waitForConsumer({ syncedRevision: 1 });
    await other.stop();
    controller = await startController();
  });

  test('is reported by the next leader', async () => {
    await waitForConsumer({ syncedRevision: 1 });
    const standby = await startController('standby');
    await stack.killController(controller);
    controller = standby;
    await site.environment.change({ A: 'two' });
    await waitForConsumer({ syncedRevision: 2, stale: false });
  });
});

test('the end of the environment is reported, and its return; a purge drops the row', async () => {
  await waitForConsumer({ syncedRevision: 1 });
  const { organization, project, name } = site.environment.ref;
  const path = `/environments/${organization}/${project}/${name}`;
  await stack.admin.call('DELETE', path);
  await waitForConsumer({ environmentDeleted: true, ready: false, syncedRevision: 1 });
  await stack.admin.call('POST', `${path}/undelete`);
  // No token that a person made becomes valid again.
  const { token } = await site.environment.createToken();
  await site.putToken(token);
  await waitForConsumer({ environmentDeleted: false, health: 'healthy', syncedRevision: 1 });
  await stack.admin.call('DELETE', path);
  await stack.admin.call('POST', `${path}/purge`);
  expect(await consumers()).toEqual([]);
});

test('workloads are reported until they have converged', async () => {
  const web: Target = { kind: 'Deployment', name: 'web' };
  const namespace = stack.takeNamespace();
  await stack.allowRollouts(namespace);
  const workloads = new Workloads(stack.kube, namespace);
  site = await stack.makeSite({ namespace, values, spec: { rollout: { targets: [web], timeout: '10m' } } });
  await workloads.create(web, { replicas: 1 });
  const converged = async (revision: number): Promise<FleetConsumerView> =>
    await workloads.runPodsUntil('web', 'the workload to converge', async () => {
      const [consumer] = await consumers();
      const isConverged = consumer?.rollout?.converged === true && consumer.syncedRevision === revision;
      return isConverged && consumer;
    });
  await converged(1);
  await site.environment.change({ A: 'two' });
  const rolling = { converged: false, stalled: false, convergedRevision: 1 };
  await waitForConsumer({
    health: 'progressing',
    ready: true,
    syncedRevision: 2,
    rollout: expect.objectContaining(rolling),
  });
  expect(await converged(2)).toMatchObject({
    health: 'healthy',
    rollout: { convergedRevision: 2, workloads: [{ ...web, revision: 2, replicas: 1, updatedReplicas: 1 }] },
  });
});

test('keyframe wait --converged ends no earlier than the Secrets hold the revision', async () => {
  await waitForConsumer({ syncedRevision: 1 });
  const others = [await site.sibling('second'), await site.sibling('third')];
  await waitFor('all three', async () => (await consumers()).length === 3);
  const cli = new CliRunner(await buildCli(), { url: stack.api.url, token: { reveal: () => stack.adminToken } });
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

test('at rest nothing is written but the time of the cluster', async () => {
  await waitForConsumer({ syncedRevision: 1 });
  await passSweeps();
  const writes = async (): Promise<unknown[]> =>
    (await database.query<object>('SELECT uid, xmin, xmax, ctid FROM sync_state ORDER BY uid, source')).rows;
  const before = await writes();
  expect(before.length).toBeGreaterThan(0);
  await passSweeps();
  expect(await writes()).toEqual(before);
});

test('reports that fail do not disturb syncing, and come once they can be stored', async () => {
  await waitForConsumer({ syncedRevision: 1 });
  await database.query('ALTER TABLE sync_state RENAME TO sync_state_away');
  await site.environment.change({ A: 'two' });
  await site.waitUntilSynced({ A: 'two' });
  await waitFor('a failed report', async () => {
    const found = /^keyframe_sync_state_reports_total\{result="failed"\} (\d+)$/m.exec(await controller.metrics());
    return Number(found?.[1] ?? 0) > 0;
  });
  const warnings = String(controller.captured.output)
    .split('\n')
    .filter((line) => line.includes('could not be reported'));
  expect(warnings.filter((line) => line.includes('"level":"warn"'))).toHaveLength(1);
  await database.query('ALTER TABLE sync_state_away RENAME TO sync_state');
  await waitForConsumer({ syncedRevision: 2 });
});
