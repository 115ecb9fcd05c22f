import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { adaptersOfRun } from '../support/api/adapters.ts';
import { type BackendProxy, proxyTo, throughProxy } from '../support/cluster/backend-proxy.ts';
import { ApiProxy, type ProxiedRequest } from '../support/faults/api-proxy.ts';
import { runs } from '../support/faults/postgres-proxy.ts';
import { writesOf } from '../support/api/secret-requests.ts';
import { SecretWatch, secretValues } from '../support/cluster/secret-watch.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// Two controllers at work at once, as when a leader is slow to learn that it is one no more: each holds a Lease of its own
// here, so that neither waits for the other. The older one is made slow at the places where that matters.

interface Stopped {
  arrived(): Promise<unknown>;
  release(): void;
}

describe.each(adaptersOfRun)('for controllers %s, an older state does not win', (adapter) => {
  const resources = new AsyncDisposableStack();
  let stack: Stack;
  let older: ServerProcess;
  let newer: ServerProcess;
  let olderApi: ApiProxy;
  let olderBackend: BackendProxy;
  let site: SyncSite;
  let watch: SecretWatch;

  beforeAll(async () => {
    stack = await Stack.start(resources, { namespaces: 6 });
    olderApi = await ApiProxy.start(stack.kubeconfigFile);
    resources.defer(() => olderApi.close());
    olderBackend = await proxyTo(adapter, stack, resources);
    older = await startOlder();
    newer = await stack.startController({ name: 'newer', adapter });
  });

  afterAll(() => resources.disposeAsync());

  beforeEach(async () => {
    site = await stack.makeSite({ values: { COUNT: '0' } });
    await site.waitUntilSynced({ COUNT: '0' });
    await untilOlderIsSettled();
    watch = await SecretWatch.open(stack.kube, { namespace: site.namespace, name: site.name });
  });

  afterEach(() => watch.close());

  /** Either of the two may have made the Secret; the older one may still be about to find that out. */
  async function untilOlderIsSettled(): Promise<void> {
    // It follows its token from the end of its first reconcile on.
    const followsToken = ({ isWatch, path, query }: ProxiedRequest): boolean =>
      isWatch && path.includes(`/${site.namespace}/`) && query.has('fieldSelector');
    await waitFor('the older controller to follow its token', () => olderApi.countOpen(followsToken) === 1);
    await waitFor('the older controller to ask for nothing more', async () => {
      const before = olderApi.passages().length;
      await pause(400);
      return olderApi.passages().length === before;
    });
  }

  function startOlder(): Promise<ServerProcess> {
    const { kubeconfigFile } = olderApi;
    const env = { NAMESPACE: stack.namespaces[1] ?? '' };
    return stack.startController({ name: 'older', kubeconfigFile, ...throughProxy(olderBackend), env });
  }

  /** Stops the older controller when the environment has been read for it: its reading is audited, or is answered. */
  function holdRead(): Stopped {
    if ('database' in olderBackend) return olderBackend.database.hold(runs(/INSERT INTO\s+"?audit_entry/i));
    return olderBackend.server.hold(({ path }) => path.endsWith('/cluster/reads'), { when: 'after' });
  }

  /** The values of COUNT that the Secret has had, in order. */
  function history(): number[] {
    return watch.events
      .filter(({ type }) => type !== 'DELETED')
      .map(({ secret }) => Number(secretValues(secret).get('COUNT')));
  }

  const answersToOlder = (method: 'POST' | 'PUT'): (number | undefined)[] =>
    olderApi.passages(writesOf(site, method)).map(({ status }) => status);

  const isSorted = (numbers: readonly number[]): boolean =>
    numbers.every((each, index) => each >= (numbers[index - 1] ?? 0));

  /** Changes COUNT to 1 while the older controller alone is awake, so that it takes the change on. */
  async function letOlderTakeOn(change: () => Promise<unknown>): Promise<void> {
    newer.suspend();
    await change();
  }

  async function letNewerWrite(count: string): Promise<void> {
    await site.environment.change({ COUNT: count });
    newer.resume();
    await site.waitForValues({ COUNT: count });
  }

  test('when its write is under way while the newer one is written: it is refused', async () => {
    const hold = olderApi.hold(writesOf(site, 'PUT'));
    await letOlderTakeOn(() => site.environment.change({ COUNT: '1' }));
    const { body } = await hold.arrived();
    expect(body.toString()).toContain(Buffer.from('1').toString('base64'));
    await letNewerWrite('2');
    hold.release();
    await waitFor('the older write to be refused', () => answersToOlder('PUT')[0] === 409);
    await site.environment.change({ COUNT: '3' });
    await site.waitUntilSynced({ COUNT: '3' });
    expect(history().filter((count) => count !== 3)).toEqual([0, 2]);
    expect(isSorted(history())).toBe(true);
  });

  test('when it was read before the newer one was written, and is written after it', async () => {
    const hold = holdRead();
    await letOlderTakeOn(() => site.environment.change({ COUNT: '1' }));
    await hold.arrived();
    await letNewerWrite('2');
    hold.release();
    await waitFor('the older write to be refused', () => answersToOlder('PUT')[0] === 409);
    await site.waitUntilSynced({ COUNT: '2' });
    expect(history()).toEqual([0, 2]);
  });

  test('when its write arrives after its sender has been killed', async () => {
    const hold = olderApi.hold(writesOf(site, 'PUT'));
    await letOlderTakeOn(() => site.environment.change({ COUNT: '1' }));
    await hold.arrived();
    await older.kill();
    await letNewerWrite('2');
    hold.release();
    await waitFor('the older write to be refused', () => answersToOlder('PUT')[0] === 409);
    await site.waitUntilSynced({ COUNT: '2' });
    expect(history()).toEqual([0, 2]);
    older = await startOlder();
  });

  test('when it is to be created again while the newer one is', async () => {
    const hold = olderApi.hold(writesOf(site, 'POST'));
    await letOlderTakeOn(() => site.deleteSecret());
    await hold.arrived();
    await letNewerWrite('2');
    hold.release();
    await waitFor('the older write to be refused', () => answersToOlder('POST')[0] === 409);
    await site.waitUntilSynced({ COUNT: '2' });
    expect(history()).toEqual([0, 2]);
  });

  test('when the older controller sees nothing of the cluster any more but still hears of commits', async () => {
    olderApi.freeze(({ isWatch }) => isWatch);
    const hold = olderApi.hold(writesOf(site, 'PUT'));
    await letNewerWrite('1');
    await hold.arrived();
    hold.release();
    await letNewerWrite('2');
    await waitFor('an older write to be refused', () => answersToOlder('PUT').includes(409));
    olderApi.thaw();
    await site.waitUntilSynced({ COUNT: '2' });
    expect(isSorted(history())).toBe(true);
  });

  test('when every write of the older controller is slow and changes come one after the other', async () => {
    olderApi.delay(writesOf(site, 'PUT'), 40, { times: Infinity });
    const last = 40;
    for (let count = 1; count <= last; count += 1) await site.environment.change({ COUNT: String(count) });
    await site.waitUntilSynced({ COUNT: String(last) });
    await waitFor('the watch to have seen it', () => history().at(-1) === last);
    expect(isSorted(history())).toBe(true);
    expect(answersToOlder('PUT')).toContain(409);
  });
});
