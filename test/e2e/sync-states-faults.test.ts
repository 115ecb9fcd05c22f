import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Target } from '../../src/controller/kinds/rollout/targets.ts';
import type { FleetConsumerView } from '../../src/wire/consumers.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { SyncConsumers } from '../support/cluster/sync-consumers.ts';
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
  stack = await Stack.start(resources, { namespaces: 12 });
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

const consumersOf = (of = site): SyncConsumers => new SyncConsumers(stack.admin, of);

const waitForConsumer = (expected: object, of = site): Promise<FleetConsumerView> =>
  consumersOf(of).waitForOne(expected);

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

  test('is dropped also if it was deleted while no controller ran, and others stay', async () => {
    const deleted = await stack.makeSite({ namespace: site.namespace, name: 'deleted', values });
    for (const one of [site, deleted]) await waitForConsumer({ syncedRevision: 1 }, one);
    await controller.stop();
    await deleted.deleteSync();
    expect(await consumersOf(deleted).list()).toHaveLength(1);
    controller = await startController();
    await consumersOf(deleted).waitForNone();
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
  expect(await consumersOf().list()).toEqual([]);
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
      const [consumer] = await consumersOf().list();
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
