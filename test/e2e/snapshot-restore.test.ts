import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SnapshotRestore } from '../../src/controller/generated/snapshot-restore.ts';
import { fillWriteBudget, forgetRestore } from '../support/cluster/resource-rows.ts';
import { conditionsOf, readyOf } from '../support/cluster/resource-site.ts';
import { RestoreSite, drifted } from '../support/cluster/restore-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let stack: Stack;
let controller: Awaited<ReturnType<Stack['startController']>>;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 12 });
  controller = await stack.startController();
});

afterAll(() => resources.disposeAsync());

async function makeSite(): Promise<RestoreSite> {
  const site = await RestoreSite.make(stack);
  resources.defer(() => site.withdraw());
  return site;
}

const keysOf = (...keys: string[]): object => ({ count: keys.length, keys });
const again = { metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } };

/** All conditions of a restore, by what they say: Ready, Reconciling and Stalled first. */
const done = ['Ready True', 'Reconciling False', 'Stalled False', 'Planned True', 'Complete True', 'Failed False'];

/** The patch by which a message says how the plan is approved. */
function approvalIn(restore: SnapshotRestore): object {
  const [, patch = ''] = /kubectl patch snapshotrestores\.keyframe\.dev \S+ -n \S+ --type merge -p '([^']+)'/.exec(
    readyOf(restore)?.message ?? '',
  ) ?? ['', '{}'];
  return JSON.parse(patch) as object;
}

describe('a SnapshotRestore', () => {
  test('plans, waits for the approval of just that plan, and does it once, with a backup', async () => {
    const site = await makeSite();
    const id = await site.drift();
    const name = await site.restores.create({ snapshotId: id, prune: true, skipUnchanged: true });
    const planned = await site.restores.waitForReason(name, 'Planned');
    const { organization, project, name: slug } = site.environment.ref;
    const place = `${organization}/${project}/${slug}`;
    const plan = {
      revision: 3,
      revisionId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      restored: keysOf('A'),
      unchanged: keysOf('SAME'),
      skipped: keysOf('GONE'),
      destroyed: keysOf(),
      pruned: keysOf('LATER'),
    };
    expect(planned.status).toMatchObject({
      snapshotId: id,
      environmentId: site.environment.id,
      environment: place,
      plan,
    });
    expect(planned.status).not.toHaveProperty('result');
    expect(conditionsOf(planned)).toEqual([
      'Ready True',
      'Reconciling False',
      'Stalled False',
      'Planned True',
      'Complete False',
      'Failed False',
    ]);
    expect(planned.metadata.finalizers).toBeUndefined();
    expect(await site.values()).toEqual(drifted);
    const keys = { restored: plan.restored, pruned: plan.pruned, unchanged: plan.unchanged, skipped: plan.skipped };
    expect(await site.waiting()).toMatchObject([
      {
        name,
        namespace: site.namespace,
        project,
        environment: slug,
        snapshotId: id,
        planHash: planned.status?.planHash,
        revision: 3,
        plan: { ...keys, recreated: keysOf(), destroyed: keysOf() },
      },
    ]);
    await site.restores.patch(name, approvalIn(planned));
    const { status, ...restored } = await site.restores.waitForReason(name, 'Complete');
    expect(conditionsOf({ ...restored, ...(status && { status }) })).toEqual(done);
    expect(status).toMatchObject({
      plan,
      planHash: planned.status?.planHash,
      result: { restored: 1, unchanged: 1, skipped: 1, pruned: 1, revision: 4 },
    });
    expect(Date.parse(status?.completionTime ?? '')).toBeGreaterThanOrEqual(Date.parse(status?.startTime ?? ''));
    expect(await site.values()).toEqual({ A: 'old', SAME: '1' });
    expect(await site.waiting()).toEqual([]);
    expect(await site.listed()).toMatchObject([
      {
        id: status?.backupSnapshotId,
        name: 'before restore of good',
        createdByType: 'resource',
        createdByName: `SnapshotRestore ${site.namespace}/${name}`,
        revision: 3,
      },
      { id },
    ]);
  });

  test('is listed as waiting over the API while it can be approved, and follows the environment', async () => {
    const site = await makeSite();
    const id = await site.drift();
    const name = await site.restores.create({ snapshotId: id });
    await site.planned(name);
    const waits = async (expected: readonly object[]): Promise<void> => {
      await waitFor('what waits', async () => {
        const waiting = await site.waiting();
        return (
          waiting.length === expected.length &&
          isDeepStrictEqual(
            waiting.map(({ revision }) => ({ revision })),
            expected,
          )
        );
      });
    };
    await waits([{ revision: 3 }]);
    await site.environment.change({ A: 'newer' });
    await waits([{ revision: 4 }]);
    await site.restores.patch(name, { spec: { suspend: true } });
    await waits([]);
    await site.restores.patch(name, { spec: { suspend: false } });
    await waits([{ revision: 4 }]);
    await site.withdraw();
    await waits([]);
    await site.grant();
    await waits([{ revision: 4 }]);
    await site.restores.delete(name);
    await waits([]);
  });

  test('that was deleted while no controller ran waits no more', async () => {
    const site = await makeSite();
    const name = await site.restores.create({ snapshotId: await site.drift() });
    await site.planned(name);
    await waitFor('the plan', async () => (await site.waiting()).length === 1);
    await controller.stop();
    await site.restores.delete(name);
    expect(await site.waiting()).toHaveLength(1);
    controller = await stack.startController();
    await waitFor('the sweep', async () => (await site.waiting()).length === 0);
  });

  test('restores only its keys, with those that were deleted, if its spec says so', async () => {
    const site = await makeSite();
    const id = await site.drift();
    const keys = { include: ['GONE', 'L*'], exclude: ['X'] };
    const name = await site.restores.create({ snapshotId: id, prune: true, includeDeleted: true, keys });
    const planHash = await site.planned(name);
    const { status: planned } = await site.restores.get(name);
    const lists = { restored: keysOf(), recreated: keysOf('GONE'), skipped: keysOf(), pruned: keysOf('LATER') };
    expect(planned?.plan).toMatchObject(lists);
    await site.approve(name, planHash);
    const { status } = await site.restores.waitForReason(name, 'Complete');
    expect(status).toMatchObject({
      plan: lists,
      result: { restored: 0, recreated: 1, skipped: 0, pruned: 1, revision: 4 },
    });
    expect(await site.values()).toEqual({ A: 'new', GONE: '1', SAME: '1' });
  });

  test('waits while the write budget of its environment is full, says so, and goes on by itself', async () => {
    const site = await makeSite();
    const id = await site.drift();
    const name = await site.restores.create({ snapshotId: id, skipUnchanged: true });
    const planHash = await site.planned(name);
    await fillWriteBudget(stack.databaseUrl, site.environment.id, 10);
    await site.approve(name, planHash);
    const refused = await site.restores.waitForReason(name, 'RateLimited');
    expect(conditionsOf(refused).slice(0, 3)).toEqual(['Ready False', 'Reconciling True', 'Stalled False']);
    expect(conditionsOf(refused)).toContain('Failed False');
    expect(readyOf(refused)?.message).toMatch(
      /^This environment has written 512 MiB in a day, which is its limit; try again in \d+ seconds, and write only /,
    );
    expect(await site.values()).toEqual(drifted);
    expect(await site.listed()).toMatchObject([{ id }]);
    const { status } = await site.restores.waitForReason(name, 'Complete', { timeoutMs: 40_000 });
    expect(await site.values()).toMatchObject({ A: 'old' });
    expect(await site.listed()).toMatchObject([{ id: status?.backupSnapshotId }, { id }]);
  });

  test('does nothing more once it is complete, whatever changes', async () => {
    const site = await makeSite();
    const id = await site.drift();
    const name = await site.restores.create({ snapshotId: id });
    await site.approve(name, await site.planned(name));
    const { status } = await site.restores.waitForReason(name, 'Complete');
    await site.environment.change({ A: 'newest' });
    await site.restores.patch(name, again);
    await site.restores.patch(name, { spec: { planHash: 'x'.repeat(43) } });
    const after = await site.restores.waitForReason(name, 'Complete');
    expect(after.status?.result).toEqual(status?.result);
    await site.withdraw();
    await site.restores.delete(name);
    await site.restores.waitUntilGone(name);
    expect(await site.values()).toMatchObject({ A: 'newest' });
    expect(await site.listed()).toHaveLength(2);
  });

  test('plans again with each commit, without being asked', async () => {
    const site = await makeSite();
    const name = await site.restores.create({ snapshotId: await site.drift(), prune: true });
    const hashes = [await site.planned(name)];
    for (const key of ['X', 'Y']) {
      await site.environment.change({ [key]: '1' });
      const planned = await waitFor(`the plan to prune ${key}`, async () => {
        const restore = await site.restores.get(name);
        return restore.status?.plan?.pruned.keys.includes(key) === true && restore;
      });
      expect(planned.status?.plan?.revision).toBe(await site.revision());
      hashes.push(planned.status?.planHash ?? '');
    }
    expect(new Set(hashes).size).toBe(3);
    expect(approvalIn(await site.restores.get(name))).toEqual({ spec: { mode: 'Apply', planHash: hashes[2] } });
  });

  test('whose plan was overtaken restores nothing, and says so with a new plan', async () => {
    const site = await makeSite();
    const name = await site.restores.create({ snapshotId: await site.drift() });
    const planHash = await site.planned(name);
    await site.restores.patch(name, { spec: { suspend: true } });
    await site.environment.change({ MOVED: '1' });
    await site.restores.patch(name, { spec: { mode: 'Apply', planHash, suspend: false } });
    const outdated = await site.restores.waitForReason(name, 'PlanOutdated');
    expect(conditionsOf(outdated)).toEqual([
      'Ready False',
      'Reconciling False',
      'Stalled True',
      'Planned True',
      'Complete False',
      'Failed False',
    ]);
    expect(readyOf(outdated)?.message).toContain('Nothing was restored. The current plan: ');
    expect(outdated.status?.planHash).not.toBe(planHash);
    expect(outdated.status?.plan?.revision).toBe(4);
    expect(await site.values()).toEqual({ ...drifted, MOVED: '1' });
    expect(await site.listed()).toHaveLength(1);
    // The new plan follows the environment as the first one did.
    await site.environment.change({ MOVED: '2' });
    const fresh = await waitFor('a plan of that', async () => {
      const restore = await site.restores.get(name);
      return restore.status?.plan?.revision === 5 && restore;
    });
    await site.restores.patch(name, approvalIn(fresh));
    await site.restores.waitForReason(name, 'Complete');
    expect(await site.values()).toMatchObject({ A: 'old', MOVED: '2' });
  });

  test('recreated from the same YAML restores nothing, for its hash was another one’s', async () => {
    const site = await makeSite();
    const snapshotId = await site.drift();
    const name = await site.restores.create({ snapshotId });
    const planHash = await site.planned(name);
    await site.restores.delete(name);
    await site.restores.waitUntilGone(name);
    // As in a rebuilt cluster over a database that was recovered to just before the restore.
    await site.restores.create({ snapshotId, mode: 'Apply', planHash }, name);
    await site.restores.waitForReason(name, 'PlanOutdated');
    expect(await site.values()).toEqual(drifted);
  });

  test('that is complete is not carried out again where the database has forgotten it', async () => {
    const site = await makeSite();
    const name = await site.restores.create(site.unplanned(await site.drift()));
    const { metadata, status } = await site.restores.waitForReason(name, 'Complete');
    await forgetRestore(stack.databaseUrl, metadata.uid);
    await site.environment.change(drifted);
    await site.restores.patch(name, again);
    const forgotten = await site.restores.waitForReason(name, 'RestoreForgotten');
    expect(conditionsOf(forgotten)).toContain('Failed True');
    expect(forgotten.status?.result).toEqual(status?.result);
    expect(await site.values()).toEqual(drifted);
  });

  test('may skip its plan expressly, but not twice under one name', async () => {
    const site = await makeSite();
    const spec = { ...site.unplanned(await site.drift()), prune: true };
    await site.restores.create(spec, 'emergency');
    const { status } = await site.restores.waitForReason('emergency', 'Complete');
    expect(status?.result).toEqual({
      restored: 1,
      recreated: 0,
      unchanged: 1,
      skipped: 1,
      destroyed: 0,
      pruned: 1,
      revision: 4,
      revisionId: expect.anything(),
    });
    expect(status?.plan).toMatchObject({ revision: 3, pruned: keysOf('LATER') });
    expect(status).not.toHaveProperty('planHash');
    expect((await site.listed()).map(({ id }) => id)).toEqual([status?.backupSnapshotId, spec.snapshotId]);
    await site.environment.change(drifted);
    await site.restores.delete('emergency');
    await site.restores.waitUntilGone('emergency');
    await site.restores.create(spec, 'emergency');
    const refused = await site.restores.waitForReason('emergency', 'AlreadyRestored');
    expect(conditionsOf(refused)).toContain('Failed True');
    expect(await site.values()).toEqual(drifted);
  });

  test('plans and restores nothing while it is suspended', async () => {
    const site = await makeSite();
    const snapshotId = await site.drift();
    const name = await site.restores.create({ ...site.unplanned(snapshotId), suspend: true });
    await site.restores.waitForReason(name, 'Suspended');
    await site.restores.requestReconcile(name);
    // One that is planned after the request shows that the first one has been reconciled.
    await site.planned(await site.restores.create({ snapshotId }));
    expect((await site.restores.get(name)).status).not.toHaveProperty('plan');
    expect(await site.values()).toEqual(drifted);
    await site.restores.patch(name, { spec: { suspend: false } });
    await site.restores.waitForReason(name, 'Complete');
  });
});
