/** @default A Deployment whose pods crash with a change gets its earlier data back, if the controller may look at pods. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { GuardedSite } from './guarded-site.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { secretValues } from '../support/cluster/secret-watch.ts';
import { Stack } from '../support/cluster/stack.ts';

// kube-controller-manager makes the pods and judges the Deployments; the tests play the kubelet.

const resources = new AsyncDisposableStack();
const values = { A: 'one', B: 'two' };
let stack: Stack;
let controller: ServerProcess;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  await startController();
});

afterAll(() => resources.disposeAsync());

async function startController(): Promise<void> {
  controller = await stack.startController({ env: { ROLLOUTS: 'true' } });
}

/** A site that goes back, all of whose pods run with `values`. */
const goingBack = (): Promise<GuardedSite> => GuardedSite.converged(stack, { values, onFailure: 'Rollback' });

const bad = { ...values, A: 'bad' };

describe('with onFailure: Rollback', () => {
  test('a Secret whose change crashes the pods goes back, and stays so until there is other data', async () => {
    const site = await goingBack();
    await site.change({ A: 'good' });
    const good = { ...values, A: 'good' };
    await site.sync.waitForValues(good);
    await site.waitForConverged('Converged');
    await site.change({ A: 'bad' });
    await site.sync.waitForValues(bad);
    const { status, message } = await site.waitForRollback();
    expect(status).toBe('False');
    expect(message).toContain('Secret app was rolled back to revision 2, with which all workloads converged');
    expect(message).toContain('With revision 3 they failed (Deployment web, container main: CrashLoopBackOff)');
    // Before a restart for the earlier data can have been made.
    await stack.killController(controller);
    const written = await site.sync.existingSecret();
    expect(Object.fromEntries(secretValues(written))).toEqual(good);
    await startController();
    await site.waitForConverged('Converged');
    expect(await site.restartedFor('web')).toBe(2);
    expect(await site.sync.condition('RolledBack')).toMatchObject({ status: 'True', reason: 'RolledBack' });
    expect(await site.sync.condition('Stalled')).toMatchObject({ status: 'True' });
    expect((await site.sync.sync()).status).toMatchObject({ syncedRevision: 2, wantedRevision: 3 });
    expect((await site.sync.existingSecret()).metadata.resourceVersion).toBe(written.metadata.resourceVersion);

    await site.sync.patchSecret({ data: { A: Buffer.from('edited').toString('base64') } });
    await site.sync.waitForValues(good);
    await site.sync.deleteSecret();
    await site.sync.waitForValues(good);
    // A newer revision with the same data is no other data.
    await site.change({ C: 'for a moment' });
    await site.sync.waitForValues({ ...bad, C: 'for a moment' });
    await site.change({}, ['C']);
    await site.sync.waitForValues(bad);
    await site.waitForRollback();
    await site.sync.waitForValues(good);
    await site.waitForConverged('Converged');
    await site.change({ A: 'better' });
    await site.sync.waitUntilSynced({ ...values, A: 'better' });
    expect(await site.sync.condition('RolledBack')).toBeUndefined();
    expect((await site.sync.existingSecret()).metadata.annotations).not.toHaveProperty('keyframe.dev/rolled-back');
    await site.waitForConverged('Converged');
  });

  test('nothing goes back without the right to look at pods', async () => {
    const site = await goingBack();
    const role = `/apis/rbac.authorization.k8s.io/v1/namespaces/${site.sync.namespace}/roles/keyframe-controller-rollout`;
    const { rules } = await stack.kube.json<{ rules: { resources: string[] }[] }>({ path: role });
    const contentType = 'application/merge-patch+json';
    const fewer = rules.filter(({ resources: granted }) => !granted.includes('pods'));
    await stack.kube.json({ method: 'PATCH', path: role, contentType, body: { rules: fewer } });
    await site.change({ A: 'bad' });
    const { message } = await site.waitWhileFailing(['web'], 'CrashLoopBackOff', 'RollbackImpossible');
    expect(message).toContain('its pods cannot be read because the API server returned 403 Forbidden');
    expect(message).toContain('charts/keyframe/files/rollout-rules.yaml');
    await site.sync.waitUntilSynced(bad);
  });
});
