/** @default One `kubectl apply` makes a SecretSync ready without a token that could be read, and costs two writes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import type { SecretSync } from '../../src/controller/generated/secret-sync.ts';
import { AuditLog } from '../support/cluster/audit-log.ts';
import { runKubectl, waitByKubectl } from '../support/cluster/kubectl.ts';
import { etcdKeys } from '../support/fixtures/leak-places-cluster.ts';
import { ObjectHistory } from '../support/cluster/object-history.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { conditionsOf } from '../support/cluster/resource-site.ts';
import { Stack } from '../support/cluster/stack.ts';
import { parentOf } from '../support/cluster/sync-site.ts';
import { alpha, syncsOnly, TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

/** A SecretSync that names no token reads with the keyless token of its namespace. */

const resources = new AsyncDisposableStack();
let cluster: Cluster;
let stack: Stack;

beforeAll(async () => {
  // Of its own: its etcd is searched, and SecretEnvironments are the whole cluster's.
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 5, adminKubeconfig: cluster.kubeconfig });
  await stack.startController();
});

afterAll(() => resources.disposeAsync());

function make(): Promise<TokenSync> {
  return TokenSync.make(stack, syncsOnly);
}

interface ObjectEvent {
  readonly type: string;
  readonly reportingController: string;
  readonly regarding: { readonly name: string };
}

/** The Events of our controller about a name. */
async function eventsOf(name: string): Promise<ObjectEvent[]> {
  const { items } = await stack.kube.json<{ items: ObjectEvent[] }>({ path: '/apis/events.k8s.io/v1/events' });
  return items.filter(
    ({ reportingController, regarding }) => reportingController.startsWith('keyframe.dev/') && regarding.name === name,
  );
}

describe('one kubectl apply of an AccessGrant, a SecretEnvironment and a SecretSync', () => {
  test.each([
    ['in the order of their dependencies', ['grant', 'environment', 'sync']],
    ['in the opposite order', ['sync', 'environment', 'grant']],
  ] as const)('%s becomes ready without a warning', async (_, order) => {
    const { organization } = (await stack.admin.makeEnvironment()).ref;
    const [namespace, name] = [stack.takeNamespace(), order[0]];
    const place = `organization: ${organization}, project: made`;
    const header = (kind: string, more = ''): string =>
      `apiVersion: keyframe.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: first-${name}${more} }\nspec:\n`;
    const objects = {
      grant: `${header('AccessGrant')}  namespaces: [${namespace}]
  rules: [{ ${place}, environments: [here], kinds: [SecretSync] }]\n`,
      environment: `${header('SecretEnvironment')}  environmentRef: { ${place}, name: here }\n`,
      sync: `${header('SecretSync', `, namespace: ${namespace}`)}  environmentRef: { ${place}, name: here }\n`,
    };
    const file = join(cluster.runFolder, `first-${name}.yaml`);
    writeFileSync(file, order.map((one) => objects[one]).join('---\n'));
    const collection = `/apis/keyframe.dev/v1alpha1/namespaces/${namespace}/secretsyncs`;
    const history = new ObjectHistory<SecretSync>(stack.kube, collection);
    const mark = await history.mark();
    await runKubectl(cluster, ['apply', '--filename', file]);
    const waited = { namespace, name: `secretsync/first-${name}`, condition: 'Ready' };
    expect(await waitByKubectl(cluster, waited)).toMatch(/ condition met\n$/);
    await stack.admin.call('PATCH', `/secrets/${organization}/made/here`, { set: { A: 'followed' } });
    await waitFor('the Secret to follow', async () => {
      const path = `/api/v1/namespaces/${namespace}/secrets/first-${name}`;
      const secret = await stack.kube.find<{ data?: Record<string, string> }>({ path });
      return secret?.data?.['A'] === btoa('followed');
    });
    const states = await history.since(mark);
    expect(conditionsOf(states.at(-1) as SecretSync)).toContain('Ready True');
    expect(states.flatMap(conditionsOf)).not.toContain('Stalled True');
    expect((await eventsOf(`first-${name}`)).filter(({ type }) => type !== 'Normal')).toEqual([]);
  });
});

describe('a new SecretSync', () => {
  test('costs the API server a Secret and one status patch, and leaves no Event', async () => {
    const [sync, other] = [await make(), await make()];
    // The controller knows the grants before; otherwise the SecretSync may be looked at twice.
    await other.create();
    await other.waitForValues(alpha);
    const log = new AuditLog({ path: cluster.auditLog ?? '', client: stack.kube });
    const mark = await log.mark();
    await sync.create();
    await sync.waitForValues(alpha);
    await stack.passWitness(other.site.namespace);
    const entries = (await log.since(mark)).filter(({ user }) => user.username === stack.controllerUser);
    const { namespace } = sync.site;
    const about = entries.filter(({ objectRef }) => objectRef?.namespace === namespace);
    expect(
      about.map(({ verb, objectRef: { resource, subresource, name } = {}, responseStatus }) =>
        [verb, resource, subresource, name, responseStatus?.code].join(' '),
      ),
    ).toEqual(['create secrets  app 201', 'patch secretsyncs status app 200']);
  });

  test('leaves no token in etcd, and no Secret but its own', async () => {
    const sync = await TokenSync.makeSynced(stack, syncsOnly);
    const { namespace } = sync.site;
    expect(await tokensInEtcd(namespace)).toEqual([]);
    const { items } = await stack.kube.json<{ items: { metadata: { name: string } }[] }>({
      path: parentOf(sync.site.secretPath()),
    });
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['app']);
    // The search finds one that is there.
    await stack.kube.json({
      method: 'POST',
      path: parentOf(sync.site.secretPath()),
      body: { metadata: { name: 'planted' }, stringData: { token: 'kf_svc_planted' } },
    });
    expect(await tokensInEtcd(namespace)).toEqual([`/registry/secrets/${namespace}/planted`]);
  });
});

/** The keys of etcd with a service token in them, but for Secrets of other namespaces and texts about tokens. */
async function tokensInEtcd(namespace: string): Promise<string[]> {
  const found: string[] = [];
  const place = etcdKeys(join(cluster.runFolder, 'etcd.sock'), { kube: stack.kube, namespace, exempt: () => [] });
  for await (const { name, bytes } of place.contents()) {
    const isOthers =
      (name.startsWith('/registry/secrets/') && !name.startsWith(`/registry/secrets/${namespace}/`)) ||
      name.startsWith('/registry/apiextensions.k8s.io/');
    const text = Buffer.from(bytes).toString('latin1');
    if (!isOthers && (text.includes('kf_svc_') || text.includes(btoa('kf_svc')))) found.push(name);
  }
  return found;
}
