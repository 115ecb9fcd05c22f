import { afterEach, describe, expect, test } from '@jest/globals';
import { markAnnotation } from '../../../src/controller/kinds/rollout/restart-mark.ts';
import { portAdapters } from '../../support/api/adapters.ts';
import { Harness, prod } from './controller-harness.ts';
import { rolloutOf } from './rollout-harness.ts';

/** A controller that starts while its cluster is disabled. */

const deployments = '/apis/apps/v1/namespaces/ns/deployments';
let harness: Harness;

afterEach(() => harness.controller.stop());

/** The controller of a cluster with a Secret in step starts again after the cluster was disabled. */
async function restartDisabled(): Promise<void> {
  const before = new Harness({ rollouts: true });
  // A controller says hello once it knows the uid of its cluster.
  before.cluster.put('/api/v1/namespaces', 'kube-system', () => {});
  before.cluster.put(deployments, 'web', (object) => {
    object['spec'] = { replicas: 1, selector: { matchLabels: { app: 'web' } }, template: { metadata: {} } };
  });
  await before.synced({ spec: rolloutOf(['web']) });
  await before.clock.advance(10_000);
  before.services.change(prod, { A: 'changed', B: 'beta' });
  await before.clock.advance(10_000);
  before.cluster.put(deployments, 'web', (object) => {
    const observedGeneration = object.metadata.generation;
    object['status'] = { observedGeneration, replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
  });
  await before.clock.advance(10_000);
  expect(markOf(before)).toBeDefined();
  await before.controller.stop();
  const { cluster, services } = before;
  services.setClusterState('disabled');
  harness = new Harness({ cluster, services, rollouts: true });
  harness.clusterState = 'disabled';
  await harness.start();
  await harness.clock.advance(120_000);
}

/** What a restart has written into the workload. */
function markOf({ cluster }: Pick<Harness, 'cluster'>): string | undefined {
  const spec = cluster.get(`${deployments}/web`)?.['spec'] as {
    template: { metadata: { annotations?: Record<string, string> } };
  };
  return spec.template.metadata.annotations?.[markAnnotation('app')];
}

async function setState(state: 'enabled' | 'disabled'): Promise<void> {
  harness.clusterState = state;
  harness.services.setClusterState(state);
  await harness.clock.advance(1_000);
}

describe.each(portAdapters)('a controller that starts while its cluster is disabled (%s)', (adapter) => {
  test('reports it, and neither writes a Secret nor restarts a workload, also when it is enabled', async () => {
    await Harness.reaching(adapter, restartDisabled);
    expect(harness.ready()?.reason).toBe('ClusterDisabled');
    const { resourceVersion } = harness.target()?.metadata ?? {};
    const mark = markOf(harness);
    await setState('enabled');
    expect(harness.ready()).toMatchObject({ reason: 'Synced' });
    await setState('disabled');
    expect(harness.ready()?.reason).toBe('ClusterDisabled');
    await setState('enabled');
    expect(harness.ready()).toMatchObject({ reason: 'Synced' });
    expect(harness.target()?.metadata.resourceVersion).toBe(resourceVersion);
    expect(harness.writes).toEqual([]);
    await harness.clock.advance(120_000);
    expect(markOf(harness)).toBe(mark);
    expect(harness.status().workloads).toMatchObject([{ name: 'web' }]);
  });

  test('works at once after the next hello, if nothing reported that the cluster is enabled', async () => {
    await Harness.reaching(adapter, restartDisabled);
    harness.clusterState = 'enabled';
    harness.services.rules.state = 'enabled';
    await harness.clock.advance(65_000);
    expect(harness.ready()).toMatchObject({ reason: 'Synced' });
  });
});
