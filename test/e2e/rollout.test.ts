import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Target } from '../../src/controller/kinds/rollout/targets.ts';
import { sharedAuditLog } from '../support/cluster/audit-log.ts';
import { sharedCluster } from '../support/cluster/cluster.ts';
import { waitByKubectl } from '../support/cluster/kubectl.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { Condition, SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';
import { Workloads, makeNode } from '../support/cluster/workloads.ts';

// kube-controller-manager makes the pods and judges the workloads; the tests play the kubelet.

const resources = new AsyncDisposableStack();
const values = { A: 'one', B: 'two' };
const web: Target = { kind: 'Deployment', name: 'web' };
let stack: Stack;
let controller: ServerProcess;
let site: SyncSite;
let workloads: Workloads;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 14 });
});

afterAll(() => resources.disposeAsync());

async function startController(): Promise<void> {
  controller = await stack.startController({ env: { ROLLOUTS: 'true' } });
}

function rollout(targets: readonly Target[], timeout = '10m'): object {
  return { rollout: { targets, timeout } };
}

/** A SecretSync with workloads, in a namespace in which the controller may restart them. */
async function makeSite(targets: readonly Target[], spec: object = {}): Promise<void> {
  const namespace = stack.takeNamespace();
  await stack.allowRollouts(namespace);
  workloads = new Workloads(stack.kube, namespace);
  site = await stack.makeSite({ namespace, values, spec: { ...rollout(targets), ...spec } });
}

/** The same with one Deployment, all of whose pods run with the Secret's data. */
async function convergedSite(replicas = 2, spec: object = {}): Promise<void> {
  await makeSite([web], spec);
  await workloads.create(web, { replicas });
  await converged();
}

function converged(name = 'web', of = site): Promise<Condition> {
  return workloads.runPodsUntil(name, `SecretSync ${of.name} to converge`, async () => {
    const condition = await of.condition('Converged');
    return condition?.status === 'True' && condition;
  });
}

/** How often a workload was restarted or otherwise changed. */
async function generation(target: Target = web): Promise<number> {
  return (await workloads.get(target)).metadata.generation;
}

const rows = async (of = site): Promise<unknown> => (await of.sync()).status?.workloads;

/** Changes the environment and waits until the status shows that the Secret holds that; answers the revision. */
async function change(changes: Readonly<Record<string, string>>): Promise<number> {
  const { revision } = await site.environment.change(changes);
  await waitFor(`revision ${revision} to be synced`, async () => {
    expect((await site.sync()).status?.syncedRevision).toBe(revision);
    return true;
  });
  return revision;
}

describe('an installation that does not allow restarts', () => {
  test('syncs the Secret as without it and says what is to be done', async () => {
    controller = await stack.startController();
    await makeSite([web]);
    await workloads.create(web);
    await site.waitUntilSynced(values);
    const { status, message } = await site.waitForConverged('RolloutsDisabled');
    expect(status).toBe('Unknown');
    expect(message).toContain('KEYFRAME_ROLLOUTS=true');
    expect(await generation()).toBe(1);
    await site.patchSync({ spec: { rollout: null } });
    await waitFor('Converged to be gone', async () => (await site.condition('Converged')) === undefined);
    await controller.stop();
  });
});

describe('a Deployment', () => {
  beforeAll(startController);

  test('is restarted once for a change, and has converged when its pods are ready', async () => {
    await convergedSite();
    const before = await generation();
    const [mark] = Object.entries(await workloads.marks(web));
    expect(mark).toEqual(['rollout.keyframe.dev/app', expect.stringMatching(/^1\/[0-9a-f]{32}\/20.*Z$/)]);
    const revision = await change({ A: 'changed' });
    expect(await site.condition('Converged')).toMatchObject({ status: 'False', reason: 'RolloutPending' });
    await site.waitForConverged('RollingOut');
    await waitForMessage('Deployment web is rolling out: 0 of 2 pods are up to date and available.');
    expect(await site.condition('Ready')).toMatchObject({ status: 'True' });
    expect((await converged()).message).toBe(`All pods of Deployment web run with the data of revision ${revision}.`);
    expect(await rows()).toEqual([{ ...web, revision, replicas: 2, updatedReplicas: 2 }]);
    expect(await generation()).toBe(before + 1);
  });

  test('is not restarted for a key that the Secret does not get, but shows the new revision', async () => {
    await convergedSite(1, { keys: { exclude: ['OTHER'] } });
    const before = await generation();
    await site.environment.change({ OTHER: 'x' });
    await waitFor('the new revision', async () => {
      expect(await rows()).toEqual([{ ...web, revision: 2, replicas: 1, updatedReplicas: 1 }]);
      return true;
    });
    expect(await site.condition('Converged')).toMatchObject({ status: 'True' });
    // Longer than the settle time, by which a restart would have come.
    await expectNoRestart(before);
  });

  test('is restarted once or twice for thirty changes in a row', async () => {
    await convergedSite(1);
    const before = await generation();
    for (let count = 1; count <= 30; count += 1) await site.environment.change({ A: `value ${count}` });
    await site.waitForValues({ ...values, A: 'value 30' });
    await site.waitForConverged('RollingOut');
    await converged();
    expect((await generation()) - before).toBeLessThanOrEqual(2);
    expect(await rows()).toEqual([{ ...web, revision: 31, replicas: 1, updatedReplicas: 1 }]);
  });

  test('waits with the next restart until the one under way is done', async () => {
    await convergedSite(1);
    const before = await generation();
    await change({ A: 'first' });
    await site.waitForConverged('RollingOut');
    await change({ A: 'second' });
    await change({ A: 'third' });
    expect(await site.condition('Converged')).toMatchObject({ status: 'False', reason: 'RolloutPending' });
    const pending =
      'Deployment web will be restarted for revision 4 once its current rollout has finished or has taken 10m';
    await waitForMessage(`${pending}: 0 of 1 pods are up to date and available.`);
    expect(await generation()).toBe(before + 1);
    await converged();
    expect(await generation()).toBe(before + 2);
  });

  test('that does not exist yet is seen when it does', async () => {
    await makeSite([web]);
    const { message } = await site.waitForConverged('WorkloadNotFound');
    expect(message).toContain('Deployment web does not exist in this namespace');
    await workloads.create(web, { replicas: 0 });
    await converged();
  });

  test('whose pods do not become ready is stuck after the timeout, and is restarted for the next change', async () => {
    await convergedSite(1, rollout([web], '10s'));
    await change({ A: 'changed' });
    await site.waitForConverged('RollingOut');
    const { message } = await site.waitForConverged('RolloutStuck');
    expect(message).toContain('Deployment web is stuck after 10s: 0 of 1 pods');
    const before = await generation();
    await change({ A: 'better' });
    await waitFor('the next restart', async () => (await generation()) === before + 1);
    await converged();
  });

  test('is restarted for each of two SecretSyncs that name it', async () => {
    await convergedSite(1);
    const other = await site.sibling('other', rollout([web]) as Record<string, unknown>);
    await converged('web', other);
    expect(Object.keys(await workloads.marks(web)).sort()).toEqual([
      'rollout.keyframe.dev/app',
      'rollout.keyframe.dev/other',
    ]);
    await change({ A: 'changed' });
    await waitFor('both to wait', async () => (await other.condition('Converged'))?.status === 'False');
    await converged();
    await converged('web', other);
    expect(await rows()).toEqual(await rows(other));
  });

  test('is let alone by a suspended SecretSync, and when the spec names it no more', async () => {
    await convergedSite(1);
    const before = await generation();
    await site.patchSync({ spec: { suspend: true } });
    await site.waitForConverged('Suspended');
    await site.environment.change({ A: 'changed' });
    await expectNoRestart(before);
    await site.patchSync({ spec: { suspend: false, rollout: null } });
    await site.waitUntilSynced({ ...values, A: 'changed' });
    await waitFor('Converged to be gone', async () => (await site.condition('Converged')) === undefined);
    expect(await rows()).toBeUndefined();
    await expectNoRestart(before);
    expect(Object.keys(await workloads.marks(web))).toEqual(['rollout.keyframe.dev/app']);
  });

  test('goes on with its rollout under another controller', async () => {
    await convergedSite(1);
    const before = await generation();
    await change({ A: 'changed' });
    await site.waitForConverged('RollingOut');
    await stack.killController(controller);
    await workloads.runPods('web');
    await startController();
    await converged();
    expect(await generation()).toBe(before + 1);
  });

  test('that has converged costs another controller no write', async () => {
    await convergedSite(1);
    const before = await generation();
    const { metadata } = await site.sync();
    await controller.stop();
    const mark = await sharedAuditLog().mark();
    await startController();
    await waitFor('the workload to be watched', async () => {
      const entries = await sharedAuditLog().since(mark);
      const ours = entries.filter(({ objectRef }) => objectRef?.namespace === site.namespace);
      return ours.some(({ verb, objectRef }) => verb === 'watch' && objectRef?.resource === 'deployments');
    });
    await stack.passWitness(site.namespace);
    expect((await site.sync()).metadata.resourceVersion).toBe(metadata.resourceVersion);
    await expectNoRestart(before);
  });

  test('can be waited for with kubectl', async () => {
    await convergedSite(1);
    await change({ A: 'changed' });
    const { namespace, name } = site;
    const wait = waitByKubectl(sharedCluster(), { namespace, name: `secretsync/${name}`, condition: 'Converged' });
    await converged();
    expect(await wait).toBe('secretsync.keyframe.dev/app condition met\n');
  });
});

describe('other workloads', () => {
  test('a StatefulSet and a DaemonSet converge with their pods', async () => {
    await makeNode(resources, stack.kube, `node-${stack.namespaces[0]}`);
    const set: Target = { kind: 'StatefulSet', name: 'db' };
    const daemon: Target = { kind: 'DaemonSet', name: 'agent' };
    await makeSite([set, daemon]);
    await workloads.create(set, { replicas: 2, serviceName: 'db' });
    await workloads.create(daemon, { updateStrategy: { type: 'OnDelete' } });
    await workloads.runPodsUntil('db', 'the StatefulSet to be up to date', async () => {
      await workloads.runPods('agent');
      return (await site.condition('Converged'))?.reason === 'RolloutHeld';
    });
    expect((await site.condition('Converged'))?.message).toContain('DaemonSet agent is waiting: 0 of 1 pods');
    for (const { metadata } of await workloads.pods('agent')) await workloads.deletePod(metadata.name);
    await workloads.runPodsUntil('db', 'both to be up to date', async () => {
      await workloads.runPods('agent');
      return (await site.condition('Converged'))?.status === 'True';
    });
    expect(await rows()).toEqual([
      { ...set, revision: 1, replicas: 2, updatedReplicas: 2 },
      { ...daemon, revision: 1, replicas: 1, updatedReplicas: 1 },
    ]);
  });
});

describe('without the rights on workloads', () => {
  test('the Secret is synced and the condition says which rules are missing; with them it goes on by itself', async () => {
    const namespace = stack.takeNamespace();
    workloads = new Workloads(stack.kube, namespace);
    site = await stack.makeSite({ namespace, values, spec: { ...rollout([web]) } });
    await workloads.create(web, { replicas: 0 });
    await site.waitUntilSynced(values);
    const { status, message } = await site.waitForConverged('RolloutsForbidden');
    expect(status).toBe('Unknown');
    expect(message).toContain('charts/keyframe/files/rollout-rules.yaml');
    await stack.allowRollouts(namespace);
    await site.waitForConverged('Converged');
  });
});

async function waitForMessage(message: string): Promise<void> {
  await waitFor(`Converged to say: ${message}`, async () => {
    expect((await site.condition('Converged'))?.message).toBe(message);
    return true;
  });
}

/**
 * Expects that nothing restarts the Deployment for longer than changes are let settle. The controller is shown to have
 * processed what came before, and to reconcile still when that time has passed.
 */
async function expectNoRestart(before: number): Promise<void> {
  const look = async (): Promise<void> => expect(await generation()).toBe(before);
  await site.expectStays(look);
  await pause(2_500);
  await site.expectStays(look);
}
