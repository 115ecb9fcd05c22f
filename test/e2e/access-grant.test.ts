import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AccessGrant } from '../../src/controller/generated/access-grant.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { Stack } from '../support/cluster/stack.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const collection = '/apis/keyframe.dev/v1alpha1/accessgrants';
const rules = [{ organization: 'acme', project: 'web', environments: ['prod'] }];
const contentType = 'application/merge-patch+json';
let stack: Stack;
let made = 0;

beforeAll(async () => {
  // Of its own, because AccessGrants are the whole cluster's. The controller watches one of three namespaces.
  const { kubeconfig } = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 3, adminKubeconfig: kubeconfig });
  await stack.startController({ env: { WATCH_NAMESPACES: stack.namespaces[0] ?? '' } });
});

afterAll(() => resources.disposeAsync());

async function createGrant(spec: object): Promise<string> {
  const name = `grant-${++made}`;
  const body = { apiVersion: 'keyframe.dev/v1alpha1', kind: 'AccessGrant', metadata: { name }, spec };
  await stack.kube.json({ method: 'POST', path: collection, body });
  return name;
}

async function waitForGrant(name: string, reason: string, namespaceCount: number): Promise<AccessGrant> {
  return await waitFor(`AccessGrant ${name} to be ${reason} for ${namespaceCount}`, async () => {
    const grant = await stack.kube.json<AccessGrant>({ path: `${collection}/${name}` });
    expect(grant.status).toMatchObject({ namespaceCount, observedGeneration: grant.metadata.generation });
    expect(grant.status?.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({ reason });
    return grant;
  });
}

async function label(namespace: string, team: string | null): Promise<void> {
  const body = { metadata: { labels: { team } } };
  await stack.kube.json({ method: 'PATCH', path: `/api/v1/namespaces/${namespace}`, contentType, body });
}

describe('an AccessGrant', () => {
  test('for namespaces by name counts those that exist', async () => {
    const [first, second] = stack.namespaces;
    const name = await createGrant({ namespaces: [first, second, 'not-there'], rules });
    const { metadata, status } = await waitForGrant(name, 'Granted', 2);
    expect(status?.conditions?.map(({ type, status: holds }) => `${type} ${holds}`)).toEqual([
      'Ready True',
      'Reconciling False',
      'Stalled False',
    ]);
    expect(metadata.finalizers).toBeUndefined();
  });

  test('for all namespaces counts one that is made later', async () => {
    const name = await createGrant({ namespaces: ['*'], rules });
    const { items } = await stack.kube.json<{ items: unknown[] }>({ path: '/api/v1/namespaces' });
    await waitForGrant(name, 'Granted', items.length);
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'made-later' } };
    await stack.kube.json({ method: 'POST', path: '/api/v1/namespaces', body });
    await waitForGrant(name, 'Granted', items.length + 1);
  });

  test('by labels follows a label that is given and taken away', async () => {
    const [, second = '', third = ''] = stack.namespaces;
    const name = await createGrant({ namespaceSelector: { matchLabels: { team: 'a' } }, rules });
    const { status } = await waitForGrant(name, 'NoNamespaces', 0);
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    expect(ready).toMatchObject({ status: 'False' });
    expect(ready?.message).toContain('Label a namespace or change the selector');
    await label(second, 'a');
    await label(third, 'a');
    await waitForGrant(name, 'Granted', 2);
    await label(second, 'b');
    await waitForGrant(name, 'Granted', 1);
    await label(third, null);
    await waitForGrant(name, 'NoNamespaces', 0);
  });

  test('whose spec changes reports the new one', async () => {
    const [first] = stack.namespaces;
    const name = await createGrant({ namespaces: ['not-there'], rules });
    await waitForGrant(name, 'NoNamespaces', 0);
    const body = { spec: { namespaces: [first] } };
    await stack.kube.json({ method: 'PATCH', path: `${collection}/${name}`, contentType, body });
    await waitForGrant(name, 'Granted', 1);
  });

  test('whose status was edited by hand is put right', async () => {
    const [first] = stack.namespaces;
    const name = await createGrant({ namespaces: [first], rules });
    await waitForGrant(name, 'Granted', 1);
    const body = { status: { namespaceCount: 99, conditions: [] } };
    await stack.kube.json({ method: 'PATCH', path: `${collection}/${name}/status`, contentType, body });
    await waitForGrant(name, 'Granted', 1);
  });
});

describe('Events about what belongs to no namespace', () => {
  test('are recorded in the namespace «default», with the rights that the chart gives', async () => {
    const name = await createGrant({ namespaces: [stack.namespaces[0]], rules });
    const regarding = `fieldSelector=regarding.kind%3DAccessGrant%2Cregarding.name%3D${name}`;
    const path = `/apis/events.k8s.io/v1/namespaces/default/events?${regarding}`;
    const [event] = await waitFor('an Event', async () => {
      const { items } = await stack.kube.json<{ items: { reason: string; reportingController: string }[] }>({ path });
      return items.length > 0 && items;
    });
    expect(event).toMatchObject({ reportingController: 'keyframe.dev/accessgrant' });
  });
});
