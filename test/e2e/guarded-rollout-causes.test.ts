import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GuardedSite, type GuardedOptions } from './guarded-site.ts';
import { SharedSecret } from '../support/cluster/merge-site.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// kube-controller-manager makes the pods and judges the Deployments; the tests play the kubelet.

const resources = new AsyncDisposableStack();
const values = { A: 'one', B: 'two' };
let stack: Stack;
let controller: ServerProcess;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 8 });
  await startController();
});

afterAll(() => resources.disposeAsync());

async function startController(): Promise<void> {
  controller = await stack.startController({ env: { ROLLOUTS: 'true' } });
}

/**
 * Expects that nothing changes what a look sees for longer than changes are let settle. The controller is shown to have
 * processed what came before, and to reconcile still when that time has passed.
 */
async function expectStaysSettled({ sync }: GuardedSite, look: () => Promise<unknown>): Promise<void> {
  await sync.expectStays(look);
  await pause(3_000);
  await sync.expectStays(look);
}

describe('with onFailure: Hold', () => {
  test('a further change restarts the workload that failed, and the other one only when that has converged', async () => {
    const site = await GuardedSite.converged(stack, { values, onFailure: 'Hold', targets: ['api', 'web'] });
    const bad = await site.change({ A: 'bad' });
    const stuck = await site.waitWhileFailing(['api'], 'CrashLoopBackOff', 'RolloutStuck');
    expect(stuck.message).toContain('Deployment api is stuck: 0 of 1 pods are up to date and available');
    expect(stuck.message).toContain('container main: CrashLoopBackOff');
    expect([await site.restartedFor('api'), await site.restartedFor('web')]).toEqual([bad, bad]);

    // From here on it is slow and not stuck: a pod that is not started at all holds no other workload back.
    await site.workloads.patch({ kind: 'Deployment', name: 'api' }, { spec: { progressDeadlineSeconds: 600 } });
    const better = await site.change({ A: 'better' });
    await site.waitUntilRestartedFor('api', better);
    const blocked = await site.sync.condition('Converged');
    expect(blocked).toMatchObject({ status: 'False', reason: 'RolloutBlocked' });
    expect(blocked?.message).toContain(
      `Deployment web is not restarted for revision ${better} yet because Deployment api`,
    );
    await stack.killController(controller);
    await startController();
    await expectStaysSettled(site, async () => expect(await site.restartedFor('web')).toBe(bad));
    await site.waitForConverged('Converged');
    expect(await site.restartedFor('web')).toBe(better);
    expect(await site.sync.condition('Ready')).toMatchObject({ status: 'True', reason: 'Synced' });
  });
});

/** A site that goes back, all of whose pods run with `values`. */
const goingBack = (options: Partial<GuardedOptions> = {}): Promise<GuardedSite> =>
  GuardedSite.converged(stack, { values, onFailure: 'Rollback', ...options });

const bad = { ...values, A: 'bad' };

describe('with onFailure: Rollback, each in a namespace of its own,', () => {
  test.concurrent('the same data is tried once more for each value of the annotation that asks for it', async () => {
    const site = await goingBack();
    await site.change({ A: 'bad' });
    await site.waitForRollback();
    await site.waitForConverged('Converged');
    await site.sync.patchSync({ metadata: { annotations: { 'keyframe.dev/retry-rollout': 'one' } } });
    await site.sync.waitUntilSynced(bad);
    await site.waitForRollback();
    await site.sync.waitForValues(values);
    await site.waitForConverged('Converged');
    await expectStaysSettled(site, () => site.sync.waitForValues(values));
    await site.sync.patchSync({ metadata: { annotations: { 'keyframe.dev/retry-rollout': 'two' } } });
    await site.sync.waitUntilSynced(bad);
    await site.waitForConverged('Converged');
  });

  test.concurrent('an image that cannot be pulled takes nothing back', async () => {
    const site = await goingBack({ targets: ['web', 'api'] });
    await site.change({ A: 'bad' });
    const { message } = await site.waitWhileFailing(['web'], 'ImagePullBackOff', 'RolloutStuck');
    expect(message).toContain('the data does not count as the cause (container main: ImagePullBackOff)');
    await site.sync.waitUntilSynced(bad);
    const revision = await site.change({ A: 'next' });
    // Nor does it hold the other one back.
    await site.waitUntilRestartedFor('api', revision);
    await site.sync.waitUntilSynced({ ...values, A: 'next' });
  });

  test.concurrent('a pod template that was changed at the same time takes nothing back', async () => {
    const site = await goingBack();
    const [target] = site.targets;
    if (target === undefined) throw new Error('a site has a target');
    await site.change({ A: 'bad' });
    const template = { spec: { containers: [{ name: 'main', image: 'other' }] } };
    await site.workloads.patch(target, { spec: { template } });
    const { message } = await site.waitWhileFailing(['web'], 'CrashLoopBackOff', 'RolloutStuck');
    expect(message).toContain('its pod template has changed since it last converged');
    await site.sync.waitUntilSynced(bad);
  });

  test.concurrent('a Secret never goes back to a value that was destroyed, or to a key that was deleted', async () => {
    const site = await goingBack();
    const { organization, project, name } = site.sync.environment.ref;
    await site.change({ A: 'bad' });
    await stack.admin.call('POST', `/versions/${organization}/${project}/${name}/A/1/destroy`);
    const destroyed = await site.waitWhileFailing(['web'], 'CrashLoopBackOff', 'RollbackImpossible');
    expect(destroyed.message).toContain('the Secret cannot be rolled back: its values of A have been destroyed since');
    await site.sync.waitUntilSynced(bad);

    await site.change({ A: 'good' });
    await site.waitForConverged('Converged');
    await site.change({ A: 'bad' }, ['B']);
    await site.change({ B: 'again' });
    const deleted = await site.waitWhileFailing(['web'], 'CrashLoopBackOff', 'RollbackImpossible');
    expect(deleted.message).toContain('the Secret cannot be rolled back: B was deleted since');
    await site.sync.waitUntilSynced({ A: 'bad', B: 'again' });
  });
});

describe('with onFailure: Rollback, also', () => {
  test.concurrent('keys that are merged into a Secret of others go back alone', async () => {
    const namespace = stack.takeNamespace();
    const target = { name: 'shared', creationPolicy: 'Merge' };
    const body = {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'shared', annotations: { 'keyframe.dev/allow-merge': 'app' } },
      stringData: { own: 'theirs' },
    };
    await stack.kube.json({ method: 'POST', path: `/api/v1/namespaces/${namespace}/secrets`, body });
    const site = await goingBack({ namespace, target });
    const shared = new SharedSecret(site.sync);
    await site.change({ A: 'bad', C: 'new' });
    await site.waitForRollback();
    expect(await shared.values()).toEqual({ own: 'theirs', ...values });
    await site.waitForConverged('Converged');
    await shared.delete();
    await shared.create({ own: 'made again' }, 'app');
    await waitFor('the earlier keys to be merged again', async () => {
      expect(await shared.values()).toEqual({ own: 'made again', ...values });
      return true;
    });
    await site.change({ A: 'better' });
    await shared.waitUntilMerged({ own: 'made again', ...values, A: 'better', C: 'new' }, 3);
  });

  test.concurrent('a pin that was moved goes back to what was pinned before', async () => {
    const site = await goingBack({ spec: { revision: 1 } });
    await site.sync.environment.change({ A: 'bad' });
    await site.sync.patchSync({ spec: { revision: 2 } });
    await site.waitForRollback();
    await site.sync.waitForValues(values);
    await site.waitForConverged('Converged');
    expect((await site.sync.sync()).status).toMatchObject({ syncedRevision: 1, wantedRevision: 2 });
    await site.sync.environment.change({ A: 'better' });
    await site.sync.patchSync({ spec: { revision: 3 } });
    await site.sync.waitUntilSynced({ ...values, A: 'better' });
  });

  test.concurrent('all sources go back together, and forward when one of them has other data', async () => {
    const site = await goingBack();
    const shared = await stack.admin.makeEnvironment();
    await shared.change({ S: 'one' });
    const { token } = await shared.createToken();
    const body = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'shared-token' }, stringData: { token } };
    await stack.kube.json({ method: 'POST', path: `/api/v1/namespaces/${site.sync.namespace}/secrets`, body });
    const sources = [
      { name: 'shared', environmentRef: shared.ref, tokenSecretRef: { name: 'shared-token' } },
      { name: 'own', environmentRef: site.sync.environment.ref, tokenSecretRef: { name: site.sync.tokenSecretName } },
    ];
    await site.sync.patchSync({ spec: { sources, environmentRef: null, tokenSecretRef: null } });
    await site.sync.waitUntilSynced({ ...values, S: 'one' });
    await site.waitForConverged('Converged');
    await shared.change({ S: 'bad' });
    const { message } = await site.waitForRollback();
    expect(message).toContain('rolled back to revision 1 of shared and revision 1 of own, with which');
    expect(message).toContain('With revision 2 of shared and revision 1 of own they failed');
    await site.sync.waitForValues({ ...values, S: 'one' });
    await site.waitForConverged('Converged');
    const states = (await site.sync.sync()).status?.sources?.map(({ name, syncedRevision, wantedRevision }) => {
      return [name, syncedRevision, wantedRevision];
    });
    expect(states).toEqual([
      ['shared', 1, 2],
      ['own', 1, 1],
    ]);
    await site.sync.environment.change({ A: 'better' });
    await site.sync.waitUntilSynced({ S: 'bad', ...values, A: 'better' });
  });
});
