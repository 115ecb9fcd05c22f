/** @default A restore is carried out as a second user approved it. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { RestoreSite } from '../support/cluster/restore-site.ts';
import { RestoreUsers } from '../support/cluster/restore-users.ts';
import { Stack } from '../support/cluster/stack.ts';

const resources = new AsyncDisposableStack();
let site: RestoreSite;
let users: RestoreUsers;
/** Plans, and may approve nothing. */
let planner: KubeHttp;
/** May approve, and create nothing. */
let approver: KubeHttp;

beforeAll(async () => {
  const stack = await Stack.start(resources, { namespaces: 2 });
  await stack.startController();
  site = await RestoreSite.make(stack);
  resources.defer(() => site.withdraw());
  users = await RestoreUsers.start(resources, site.namespace);
  planner = await users.make('planner', [{ verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'] }]);
  approver = await users.make('approver', [{ verbs: ['get', 'patch', 'approve'] }]);
  await users.requireApprovals(planner);
});

afterAll(() => resources.disposeAsync());

const keysOf = (...keys: string[]): object => ({ count: keys.length, keys });

function approval(planHash: string): object {
  return { spec: { mode: 'Apply', planHash } };
}

test('a restore of some keys, deleted ones too, is done as a second user approved it, and never by an outdated plan', async () => {
  await site.environment.change({ A: 'old', B: 'old', GONE: '1', LOST: '1' });
  const snapshotId = await site.snapshot();
  await site.environment.change({ A: 'new', B: 'new', LATER: '1' }, ['GONE', 'LOST']);
  const spec = { snapshotId, includeDeleted: true, prune: true, keys: { include: ['A', 'GONE'] } };
  expect(await users.create(planner, 'some', spec)).toMatchObject({ status: 201 });
  const before = await site.planned('some');

  expect(await users.patch(planner, 'some', approval(before))).toMatchObject({ status: 403 });
  const values = { A: 'new', B: 'new', LATER: '1' };
  expect(await site.values()).toEqual(values);

  // A change in between, of a key that is not selected. Suspended, the restore does not plan again before the approval.
  expect(await users.patch(planner, 'some', { spec: { suspend: true } })).toMatchObject({ status: 200 });
  await site.restores.waitForReason('some', 'Suspended');
  await site.environment.change({ B: 'newest' });
  const outdated = { spec: { mode: 'Apply', planHash: before, suspend: false } };
  expect(await users.patch(approver, 'some', outdated)).toMatchObject({ status: 200 });
  const { status: refused } = await site.restores.waitForReason('some', 'PlanOutdated');
  expect(await site.values()).toEqual({ ...values, B: 'newest' });
  expect(refused).not.toHaveProperty('result');
  const planHash = refused?.planHash ?? '';
  expect(planHash).not.toBe(before);

  expect(await users.patch(planner, 'some', approval(planHash))).toMatchObject({ status: 403 });
  expect(await users.patch(approver, 'some', approval(planHash))).toMatchObject({ status: 200 });
  const { status } = await site.restores.waitForReason('some', 'Complete');
  expect(status).toMatchObject({
    planHash,
    plan: { restored: keysOf('A'), recreated: keysOf('GONE'), skipped: keysOf(), pruned: keysOf() },
    result: { restored: 1, recreated: 1, skipped: 0, pruned: 0 },
  });
  expect(await site.values()).toEqual({ A: 'old', B: 'newest', GONE: '1', LATER: '1' });
});
