/** @default Without the right to list a kind, the controller serves all other kinds. */
import { afterAll, expect, test } from '@jest/globals';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const denied = 'snapshotschedules';
const controllerRole = 'keyframe-controller';

afterAll(() => resources.disposeAsync());

interface Rule {
  readonly resources?: readonly string[];
}

/** Binds the controller's account in a namespace to another role, and waits until the API server knows. */
async function bind(stack: Stack, namespace: string, role: { kind: string; name: string }): Promise<void> {
  const path = `${rbac}/namespaces/${namespace}/rolebindings`;
  const { subjects } = await stack.kube.json<{ subjects: unknown }>({ path: `${path}/controller` });
  await stack.kube.json({ method: 'DELETE', path: `${path}/controller` });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', ...role };
  const body = { kind: 'RoleBinding', metadata: { name: 'controller' }, roleRef, subjects };
  await stack.kube.json({ method: 'POST', path, body: { apiVersion: 'rbac.authorization.k8s.io/v1', ...body } });
  const isAllowed = role.name === controllerRole;
  await waitFor('the rights to hold', async () => (await mayList(stack, namespace)) === isAllowed);
}

async function mayList(stack: Stack, namespace: string): Promise<boolean> {
  const resourceAttributes = { namespace, verb: 'list', group: 'keyframe.dev', resource: denied };
  const review = await stack.kube.json<{ status: { allowed: boolean } }>({
    method: 'POST',
    path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    body: {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: stack.controllerUser, resourceAttributes },
    },
  });
  return review.status.allowed;
}

test('a kind that the account may not list is off and reported, and all others work', async () => {
  const stack = await Stack.start(resources, { namespaces: 1 });
  const namespace = stack.takeNamespace();
  const { rules } = await stack.kube.json<{ rules: readonly Rule[] }>({
    path: `${rbac}/clusterroles/${controllerRole}`,
  });
  const lesser = rules.map((rule) => ({
    ...rule,
    resources: rule.resources?.filter((resource) => !resource.startsWith(denied)),
  }));
  const role = { kind: 'Role', metadata: { name: 'lesser' }, rules: lesser.filter((rule) => rule.resources?.length) };
  const body = { apiVersion: 'rbac.authorization.k8s.io/v1', ...role };
  await stack.kube.json({ method: 'POST', path: `${rbac}/namespaces/${namespace}/roles`, body });
  await bind(stack, namespace, { kind: 'Role', name: 'lesser' });

  const controller = await stack.startController();
  const site = await stack.makeSite({ namespace, values: { COUNT: '0' } });
  await site.waitUntilSynced({ COUNT: '0' });
  await site.environment.change({ COUNT: '1' });
  await site.waitUntilSynced({ COUNT: '1' });
  const metric = 'keyframe_controller_denied_watches{watch="SnapshotSchedules"} 1';
  expect(await controller.metrics()).toContain(metric);
  expect(await controller.metrics()).toMatch(/^keyframe_controller_leader 1$/m);
  const readiness = await fetch(`${controller.metricsUrl}/readyz`);
  expect(readiness.status).toBe(200);
  const sentence = 'the API server does not let the controller list SnapshotSchedules: apply the rules of';
  expect(await readiness.text()).toContain(sentence);
  expect(controller.captured.output.toString().split(sentence)).toHaveLength(2);

  await bind(stack, namespace, { kind: 'ClusterRole', name: controllerRole });
  await waitFor('the kind to be on', async () => !(await controller.metrics()).includes(metric));
});
