import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Target } from '../../src/controller/kinds/rollout/targets.ts';
import type { FleetConsumerView } from '../../src/wire/consumers.ts';
import { Stack } from '../support/cluster/stack.ts';
import { SyncConsumers } from '../support/cluster/sync-consumers.ts';
import { Workloads } from '../support/cluster/workloads.ts';

const resources = new AsyncDisposableStack();
const values = { A: 'one' };
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  await stack.startController({ env: { CLUSTER_NAME: 'fleet', ROLLOUTS: 'true' } });
});

afterAll(() => resources.disposeAsync());

test('workloads are reported until they have converged', async () => {
  const web: Target = { kind: 'Deployment', name: 'web' };
  const namespace = stack.takeNamespace();
  await stack.allowRollouts(namespace);
  const workloads = new Workloads(stack.kube, namespace);
  const site = await stack.makeSite({ namespace, values, spec: { rollout: { targets: [web], timeout: '10m' } } });
  const consumers = new SyncConsumers(stack.admin, site);
  await workloads.create(web, { replicas: 1 });
  const converged = async (revision: number): Promise<FleetConsumerView> =>
    await workloads.runPodsUntil('web', 'the workload to converge', async () => {
      const [consumer] = await consumers.list();
      const isConverged = consumer?.rollout?.converged === true && consumer.syncedRevision === revision;
      return isConverged && consumer;
    });
  await converged(1);
  await site.environment.change({ A: 'two' });
  const rolling = { converged: false, stalled: false, convergedRevision: 1 };
  await consumers.waitForOne({
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
