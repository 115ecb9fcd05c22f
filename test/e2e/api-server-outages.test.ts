import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Cluster } from '../../tools/devcluster/cluster/cluster.ts';
import { ApiProxy, failureAnswer, type ProxiedRequest } from '../support/faults/api-proxy.ts';
import { startOwnCluster } from '../support/cluster/own-cluster.ts';
import { statusPatchesOf, writesOf } from '../support/api/secret-requests.ts';
import { Stack } from '../support/cluster/stack.ts';
import { type SyncSite, parentOf } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
let cluster: Cluster;
let stack: Stack;
let proxy: ApiProxy;
let site: SyncSite;

beforeAll(async () => {
  cluster = await startOwnCluster(resources);
  stack = await Stack.start(resources, { namespaces: 14, adminKubeconfig: cluster.kubeconfig });
  proxy = await ApiProxy.start(stack.kubeconfigFile);
  resources.defer(() => proxy.close());
  await stack.startController({ kubeconfigFile: proxy.kubeconfigFile });
});

afterAll(() => resources.disposeAsync());

beforeEach(async () => {
  site = await stack.makeSite({ values: { COUNT: '0' } });
  await site.waitUntilSynced({ COUNT: '0' });
  // After an outage they are restarted one by one, with pauses that grow.
  const watches = (): number => proxy.countOpen(isWatchOf('secrets')) + proxy.countOpen(isWatchOf('secretsyncs'));
  await waitFor('the watches of SecretSyncs, targets, token Secrets and the token', () => watches() === 4);
});

const answersTo = (method: 'POST' | 'PUT'): (number | undefined)[] =>
  proxy.passages(writesOf(site, method)).map(({ status }) => status);

const isWatchOf =
  (resource: 'secrets' | 'secretsyncs') =>
  ({ isWatch, path }: ProxiedRequest): boolean =>
    isWatch && path === parentOf(resource === 'secrets' ? site.secretPath() : site.syncPath);

describe('a write', () => {
  test('of the Secret whose answer is lost has happened once, and is not repeated', async () => {
    const cut = proxy.cut(writesOf(site, 'PUT'), { when: 'after' });
    await site.environment.change({ COUNT: '1' });
    await cut.arrived();
    const written = await site.existingSecret();
    const { metadata } = await site.waitUntilSynced({ COUNT: '1' });
    expect(metadata.resourceVersion).toBe(written.metadata.resourceVersion);
    expect(answersTo('PUT').filter((status) => status === 200)).toHaveLength(1);
  });

  test('that creates the Secret and whose answer is lost leaves a Secret that is known as ours', async () => {
    const cut = proxy.cut(writesOf(site, 'POST'), { when: 'after' });
    await site.deleteSecret();
    await cut.arrived();
    const { uid } = (await site.existingSecret()).metadata;
    await site.environment.change({ COUNT: '1' });
    expect((await site.waitUntilSynced({ COUNT: '1' })).metadata.uid).toBe(uid);
  });

  test('of the status whose answer is lost leaves a status that is true', async () => {
    const cut = proxy.cut(statusPatchesOf(site), { when: 'after' });
    await site.environment.change({ COUNT: '1' });
    await cut.arrived();
    await site.environment.change({ COUNT: '2' });
    await site.waitUntilSynced({ COUNT: '2' });
  });

  test.each([
    { status: 500, reason: 'InternalError' },
    { status: 429, reason: 'TooManyRequests' },
    { status: 504, reason: 'Timeout' },
  ])('that is answered $status several times is tried until it succeeds', async ({ status, reason }) => {
    proxy.answer(writesOf(site, 'PUT'), failureAnswer(status, reason), { times: 2 });
    proxy.answer(statusPatchesOf(site), failureAnswer(status, reason), { times: 2 });
    await site.environment.change({ COUNT: '1' });
    await site.waitUntilSynced({ COUNT: '1' });
  });

  test('that is answered 429 is not repeated before the time that the answer asks for', async () => {
    const tooMany = failureAnswer(429, 'TooManyRequests', { 'retry-after': '3' });
    const answered = proxy.answer(writesOf(site, 'PUT'), tooMany);
    await site.environment.change({ COUNT: '1' });
    await answered.arrived();
    const beganMs = performance.now();
    await site.waitForValues({ COUNT: '1' });
    expect(performance.now() - beganMs).toBeGreaterThan(2_000);
  });
});

describe('a watch', () => {
  test('of Secrets that gets «gone» when it restarts begins with a list, which shows what was missed', async () => {
    const gone = { type: 'ERROR', object: { kind: 'Status', status: 'Failure', reason: 'Expired', code: 410 } };
    const ofTargets = ({ method, path, query }: ProxiedRequest): boolean =>
      method === 'GET' &&
      path === parentOf(site.secretPath()) &&
      query.get('labelSelector') === 'keyframe.dev/target=true';
    const isWatch = (request: ProxiedRequest): boolean => request.isWatch && ofTargets(request);
    const lists = (): number => proxy.count((request) => !request.isWatch && ofTargets(request));
    const before = lists();
    const answered = proxy.answer(isWatch, { status: 200, body: `${JSON.stringify(gone)}\n` });
    proxy.freeze(isWatch);
    await site.patchSecret({ data: null });
    proxy.kill(isWatch);
    proxy.thaw();
    await answered.arrived();
    await site.waitUntilSynced({ COUNT: '0' });
    expect(lists()).toBe(before + 1);
  });

  test.each([410, 429, 500])(
    'of SecretSyncs that is answered %i is begun again, and misses nothing',
    async (status) => {
      const answered = proxy.answer(isWatchOf('secretsyncs'), failureAnswer(status, 'Refused'), { times: 2 });
      proxy.kill(isWatchOf('secretsyncs'));
      await answered.arrived();
      const late = await stack.makeSite({ namespace: site.namespace, name: 'late', values: { KEY: 'x' } });
      await late.waitUntilSynced({ KEY: 'x' });
    },
  );
});

describe('the API server', () => {
  test('is killed with a write under way: this change and those made meanwhile arrive when it is back', async () => {
    const other = await stack.makeSite({ namespace: site.namespace, name: 'other', values: { KEY: 'x' } });
    await other.waitUntilSynced({ KEY: 'x' });
    const hold = proxy.hold(writesOf(site, 'PUT'));
    await site.environment.change({ COUNT: '1' });
    await hold.arrived();
    await killApiServer();
    hold.release();
    await other.environment.change({ KEY: 'y' });
    await site.environment.change({ COUNT: '2', LATER: 'z' });
    await startApiServer();
    await site.waitUntilSynced({ COUNT: '2', LATER: 'z' });
    await other.waitUntilSynced({ KEY: 'y' });
  });

  test('is killed, and what happens to SecretSyncs and Secrets right after its return is seen', async () => {
    await killApiServer();
    await startApiServer();
    await site.patchSecret({ data: null });
    const late = await stack.makeSite({ namespace: site.namespace, name: 'late', values: { KEY: 'x' } });
    await late.waitUntilSynced({ KEY: 'x' });
    await site.waitUntilSynced({ COUNT: '0' });
  });

  test('is unreachable for the controller: drift and changes of that time are put right afterwards', async () => {
    proxy.refuse();
    proxy.kill();
    await site.deleteSecret();
    await site.environment.change({ COUNT: '1' });
    const late = await stack.makeSite({ namespace: site.namespace, name: 'late', values: { KEY: 'x' } });
    await expect(site.waitForValues({ COUNT: '1' }, { timeoutMs: 700 })).rejects.toThrow('in vain');
    await proxy.accept();
    await site.waitUntilSynced({ COUNT: '1' });
    await late.waitUntilSynced({ KEY: 'x' });
  });

  async function killApiServer(): Promise<void> {
    await cluster.apiServer?.kill();
    await expect(site.secret()).rejects.toThrow();
  }

  async function startApiServer(): Promise<void> {
    await cluster.apiServer?.start();
    await waitFor('the API server to serve', async () => (await site.secret()) !== undefined);
  }
});
