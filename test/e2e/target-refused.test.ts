import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { adminClient } from '../support/cluster/cluster.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** Which policy refused a Secret is read from the API server's messages, which have no other form. */

const resources = new AsyncDisposableStack();
const policies = '/apis/admissionregistration.k8s.io/v1';
let stack: Stack;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 2 });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

/** Creates a resource of the cluster that goes with the test. */
async function create(
  path: string,
  body: { readonly metadata: { readonly name: string }; readonly [field: string]: unknown },
): Promise<void> {
  await adminClient().json({ method: 'POST', path, body });
  resources.defer(
    async () => void (await adminClient().send({ method: 'DELETE', path: `${path}/${body.metadata.name}` })),
  );
}

test('a ResourceQuota is named', async () => {
  const site = await stack.makeSite({ values: { KEY: 'canary-value' }, withoutSync: true });
  const path = `/api/v1/namespaces/${site.namespace}/resourcequotas`;
  const hard = { 'count/secrets': '1' };
  await create(path, {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'few-secrets' },
    spec: { hard },
  });
  // No controller of quotas runs here.
  await adminClient().json({
    method: 'PATCH',
    path: `${path}/few-secrets/status`,
    contentType: 'application/merge-patch+json',
    body: { status: { hard, used: hard } },
  });
  await site.createSync();
  await site.waitForReason('TargetRefused');
  const { message } = (await site.sync()).status?.conditions?.find(({ type }) => type === 'Ready') ?? { message: '' };
  expect(message).toContain('(403 Forbidden, by ResourceQuota few-secrets)');
});

test('a ValidatingAdmissionPolicy is named, and nothing of its message', async () => {
  const site = await stack.makeSite({ values: { KEY: 'canary-value' }, withoutSync: true });
  const name = `no-secrets-${site.namespace}`;
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['secrets'] };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': site.namespace } };
  const validation = { expression: 'false', messageExpression: 'string(object.data.KEY)' };
  await create(`${policies}/validatingadmissionpolicies`, {
    metadata: { name },
    spec: { matchConstraints: { resourceRules: [rule], namespaceSelector }, validations: [validation] },
  });
  await create(`${policies}/validatingadmissionpolicybindings`, {
    metadata: { name },
    spec: { policyName: name, validationActions: ['Deny'] },
  });
  const attempt = { metadata: { name: 'probe' }, data: { KEY: 'eA==' } };
  const path = `/api/v1/namespaces/${site.namespace}/secrets`;
  await waitFor('the policy', async () => {
    const { status } = await adminClient().send({ method: 'POST', path: `${path}?dryRun=All`, body: attempt });
    return status === 422;
  });
  await site.createSync();
  await site.waitForReason('TargetRefused');
  const { message } = (await site.sync()).status?.conditions?.find(({ type }) => type === 'Ready') ?? { message: '' };
  expect(message).toContain(`, by ValidatingAdmissionPolicy ${name})`);
  expect(message).not.toContain(Buffer.from('canary-value').toString('base64'));
});
