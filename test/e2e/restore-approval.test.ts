import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { requireApprovals } from '../../tools/devcluster/cluster/approvals.ts';
import { type KubeAnswer, KubeHttp } from '../../tools/devcluster/cluster/kube-http.ts';
import { writeKubeconfigFor } from '../../tools/devcluster/cluster/kubeconfig.ts';
import {
  createAccount,
  createNamespace,
  discardNamespace,
  adminClient,
  sharedCluster,
} from '../support/cluster/cluster.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// The policy alone, by what the API server answers: no controller is needed to refuse.

const resources = new AsyncDisposableStack();
const rbac = 'rbac.authorization.k8s.io';
const snapshotId = '0198a6f0-1234-7abc-8def-0123456789ab';
const environmentRef = { organization: 'acme', project: 'orders', name: 'production' };
const planHash = 'x'.repeat(43);
let namespace: string;
let folder: string;
/** Plans, and does all else that the role admin may. */
let planner: KubeHttp;
let approver: KubeHttp;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'keyframe-approval-'));
  resources.defer(() => rm(folder, { recursive: true, force: true }));
  namespace = await createNamespace();
  resources.defer(() => discardNamespace(namespace));
  const writing = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  planner = await makeUser('planner', [{ verbs: writing }]);
  approver = await makeUser('approver', [
    { verbs: ['get', 'patch', 'create'] },
    { verbs: ['approve'], resourceNames: ['approvable', 'made-approved'] },
  ]);
  const paths = await requireApprovals(adminClient(), { name: `approvals-${namespace}`, namespaces: [namespace] });
  resources.defer(async () => {
    for (const path of paths) await adminClient().find({ method: 'DELETE', path });
  });
  await waitFor(
    'the policy to be in force',
    async () => (await create(planner, 'probe', applied, '?dryRun=All')).status === 403,
  );
});

afterAll(() => resources.disposeAsync());

/** An account with a role that has these rules for SnapshotRestores. */
async function makeUser(name: string, rules: readonly object[]): Promise<KubeHttp> {
  const token = await createAccount(namespace, name);
  const path = `/apis/${rbac}/v1/namespaces/${namespace}`;
  const common = { apiVersion: `${rbac}/v1`, metadata: { name } };
  const forRestores = rules.map((rule) => ({ apiGroups: ['keyframe.dev'], resources: ['snapshotrestores'], ...rule }));
  await adminClient().json({
    method: 'POST',
    path: `${path}/roles`,
    body: { ...common, kind: 'Role', rules: forRestores },
  });
  const roleRef = { apiGroup: rbac, kind: 'Role', name };
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const binding = { ...common, kind: 'RoleBinding', roleRef, subjects };
  await adminClient().json({ method: 'POST', path: `${path}/rolebindings`, body: binding });
  const kubeconfig = join(folder, name);
  writeKubeconfigFor(kubeconfig, sharedCluster().kubeconfig, { name, token });
  const user = new KubeHttp(kubeconfig);
  resources.defer(() => user.close());
  await waitFor('the rights to be in force', async () => (await user.send({ path: pathOf('none') })).status === 404);
  return user;
}

const pathOf = (name?: string): string =>
  `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/snapshotrestores${name === undefined ? '' : `/${name}`}`;

const applied = { snapshotId, mode: 'Apply', planHash };

function create(user: KubeHttp, name: string, spec: object, query = ''): Promise<KubeAnswer> {
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SnapshotRestore', metadata: { name }, spec };
  return user.send({ method: 'POST', path: `${pathOf()}${query}`, body });
}

function patch(user: KubeHttp, name: string, body: object): Promise<KubeAnswer> {
  return user.send({ method: 'PATCH', path: pathOf(name), contentType: 'application/merge-patch+json', body });
}

function expectDenied({ status, body }: KubeAnswer): void {
  expect({ status, body }).toMatchObject({ status: 403 });
  const { message } = body as { message: string };
  expect(message).toContain(
    `user "system:serviceaccount:${namespace}:planner" may plan restores here, but not approve one: spec.mode Apply needs the verb ` +
      `approve on snapshotrestores.keyframe.dev in namespace ${namespace}. A user with that right must set it.`,
  );
}

test('users who may write SnapshotRestores may plan, and only one who may approve it has it carried out', async () => {
  expect(await create(planner, 'approvable', { snapshotId })).toMatchObject({ status: 201 });
  const approval = { spec: { mode: 'Apply', planHash } };
  expectDenied(await patch(planner, 'approvable', approval));
  expect(await patch(approver, 'approvable', approval)).toMatchObject({ status: 200 });
});

test('what was approved can be annotated, suspended and approved as it is, but not for another plan, nor let go on', async () => {
  expect(await create(approver, 'made-approved', applied)).toMatchObject({ status: 201 });
  const annotations = { 'keyframe.dev/reconcile-at': 'now' };
  expect(await patch(planner, 'made-approved', { metadata: { annotations } })).toMatchObject({ status: 200 });
  expect(await patch(planner, 'made-approved', { spec: { ...applied, suspend: true } })).toMatchObject({ status: 200 });
  expectDenied(await patch(planner, 'made-approved', { spec: { suspend: false } }));
  expectDenied(await patch(planner, 'made-approved', { spec: { planHash: 'y'.repeat(43) } }));
  expect(await patch(approver, 'made-approved', { spec: { suspend: false } })).toMatchObject({ status: 200 });
});

test('a user who may not approve makes no approved one, with a plan or without, under a given or a generated name', async () => {
  expectDenied(await create(planner, 'at-once', applied));
  expectDenied(await create(planner, 'at-once', { snapshotId, environmentRef, mode: 'Apply', allowUnplanned: true }));
  expectDenied(await create(planner, 'at-once', { ...applied, suspend: true }));
  const metadata = { generateName: 'generated-' };
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'SnapshotRestore', metadata, spec: applied };
  expectDenied(await planner.send({ method: 'POST', path: pathOf(), body }));
});

test('the right to approve one by its name is none to approve another', async () => {
  expect(await create(planner, 'other', { snapshotId })).toMatchObject({ status: 201 });
  const refused = await patch(approver, 'other', { spec: { mode: 'Apply', planHash } });
  expect(refused).toMatchObject({ status: 403, body: { message: expect.stringContaining('approver') } });
});
