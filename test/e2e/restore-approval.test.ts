/** @default The admission policy lets only a user with the right to approve have a restore carried out. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { KubeAnswer, KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { createNamespace, discardNamespace } from '../support/cluster/cluster.ts';
import { RestoreUsers } from '../support/cluster/restore-users.ts';

// The policy alone, by what the API server answers: no controller is needed to refuse.

const resources = new AsyncDisposableStack();
const snapshotId = '0198a6f0-1234-7abc-8def-0123456789ab';
const environmentRef = { organization: 'acme', project: 'orders', name: 'production' };
const planHash = 'x'.repeat(43);
let namespace: string;
let users: RestoreUsers;
/** Plans, and does all else that the role admin may. */
let planner: KubeHttp;
let approver: KubeHttp;

beforeAll(async () => {
  namespace = await createNamespace();
  resources.defer(() => discardNamespace(namespace));
  users = await RestoreUsers.start(resources, namespace);
  const writing = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  planner = await users.make('planner', [{ verbs: writing }]);
  approver = await users.make('approver', [
    { verbs: ['get', 'patch', 'create'] },
    { verbs: ['approve'], resourceNames: ['approvable', 'made-approved'] },
  ]);
  await users.requireApprovals(planner);
});

afterAll(() => resources.disposeAsync());

const applied = { snapshotId, mode: 'Apply', planHash };

function expectDenied({ status, body }: KubeAnswer): void {
  expect({ status, body }).toMatchObject({ status: 403 });
  const { message } = body as { message: string };
  expect(message).toContain(
    `user "system:serviceaccount:${namespace}:planner" may plan restores here, but not approve one: spec.mode Apply needs the verb ` +
      `approve on snapshotrestores.keyframe.dev in namespace ${namespace}. A user with that right must set it: ` +
      'the ClusterRole of the chart whose name ends in -approver has the right.',
  );
}

test('users who may write SnapshotRestores may plan, and only one who may approve it has it carried out', async () => {
  expect(await users.create(planner, 'approvable', { snapshotId })).toMatchObject({ status: 201 });
  const approval = { spec: { mode: 'Apply', planHash } };
  expectDenied(await users.patch(planner, 'approvable', approval));
  expect(await users.patch(approver, 'approvable', approval)).toMatchObject({ status: 200 });
});

test('what was approved can be annotated, suspended and approved as it is, but not for another plan, nor let go on', async () => {
  expect(await users.create(approver, 'made-approved', applied)).toMatchObject({ status: 201 });
  const annotations = { 'keyframe.dev/reconcile-at': 'now' };
  expect(await users.patch(planner, 'made-approved', { metadata: { annotations } })).toMatchObject({ status: 200 });
  expect(await users.patch(planner, 'made-approved', { spec: { ...applied, suspend: true } })).toMatchObject({
    status: 200,
  });
  expectDenied(await users.patch(planner, 'made-approved', { spec: { suspend: false } }));
  expectDenied(await users.patch(planner, 'made-approved', { spec: { planHash: 'y'.repeat(43) } }));
  expect(await users.patch(approver, 'made-approved', { spec: { suspend: false } })).toMatchObject({ status: 200 });
});

test('a user who may not approve makes no approved one, with a plan or without, under a given or a generated name', async () => {
  expectDenied(await users.create(planner, 'at-once', applied));
  expectDenied(
    await users.create(planner, 'at-once', { snapshotId, environmentRef, mode: 'Apply', allowUnplanned: true }),
  );
  expectDenied(await users.create(planner, 'at-once', { ...applied, suspend: true }));
  const metadata = { generateName: 'generated-' };
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SnapshotRestore', metadata, spec: applied };
  expectDenied(await planner.send({ method: 'POST', path: users.path(), body }));
});

test('the right to approve one by its name is none to approve another', async () => {
  expect(await users.create(planner, 'other', { snapshotId })).toMatchObject({ status: 201 });
  const refused = await users.patch(approver, 'other', { spec: { mode: 'Apply', planHash } });
  expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('approver') } });
});
