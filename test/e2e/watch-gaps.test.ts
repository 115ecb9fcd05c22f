/** @default What happens while a watch is closed is seen when it opens again. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiProxy, failureAnswer, type ProxiedRequest } from '../support/faults/api-proxy.ts';
import { writesOf } from '../support/api/secret-requests.ts';
import type { ServerProcess } from '../support/api/server-process.ts';
import { Stack } from '../support/cluster/stack.ts';
import type { SyncSite } from '../support/cluster/sync-site.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

// What comes and goes while no watch is open causes no event.

const resources = new AsyncDisposableStack();
let stack: Stack;
let proxy: ApiProxy;
let controller: ServerProcess;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 6 });
  proxy = await ApiProxy.start(stack.kubeconfigFile);
  resources.defer(() => proxy.close());
  controller = await stack.startController({ kubeconfigFile: proxy.kubeconfigFile });
});

afterAll(() => resources.disposeAsync());

/** The first list of the watch that follows one Secret by its name. */
const isListByName =
  (site: SyncSite, name: string) =>
  ({ method, path, query, isWatch }: ProxiedRequest): boolean =>
    method === 'GET' &&
    !isWatch &&
    path === `/api/v1/namespaces/${site.namespace}/secrets` &&
    query.get('fieldSelector') === `metadata.name=${name}`;

const isTargetWatchOf =
  (site: SyncSite) =>
  ({ path, query, isWatch }: ProxiedRequest): boolean =>
    isWatch && path.includes(`/${site.namespace}/`) && query.get('labelSelector') === 'keyframe.dev/target=true';

describe('a Secret that goes while no watch looks', () => {
  test('is made again, if it was ours and made in the same gap', async () => {
    const site = await stack.makeSite({ values: { COUNT: '0' }, withoutSync: true });
    proxy.freeze(isTargetWatchOf(site));
    await site.createSync();
    const first = await site.waitUntilSynced({ COUNT: '0' });
    await site.deleteSecret();
    const expired = proxy.answer(isTargetWatchOf(site), failureAnswer(410, 'Expired'));
    proxy.kill(isTargetWatchOf(site));
    proxy.thaw();
    await expired.arrived();
    const second = await waitFor('the Secret to be made again', () => site.secret());
    expect(second.metadata.uid).not.toBe(first.metadata.uid);
    await site.waitUntilSynced({ COUNT: '0' });
    expect(proxy.count(writesOf(site, 'POST'))).toBe(2);
  });

  test('gives way, if it was in the way', async () => {
    const site = await stack.makeSite({ values: { COUNT: '0' }, withoutSync: true });
    await site.createForeignSecret({ FOREIGN: 'x' });
    const list = proxy.hold(isListByName(site, site.name));
    await site.createSync();
    await list.arrived();
    await site.deleteSecret();
    list.release();
    await site.waitUntilSynced({ COUNT: '0' });
  });

  test('is missed, if it held the token', async () => {
    const site = await stack.makeSite({ values: { COUNT: '0' }, withoutSync: true });
    const list = proxy.hold(isListByName(site, site.tokenSecretName));
    await site.createSync();
    await list.arrived();
    await site.waitUntilSynced({ COUNT: '0' });
    await site.kube.json({ method: 'DELETE', path: site.secretPath(site.tokenSecretName) });
    list.release();
    const { message } = await site.waitForReason('TokenSecretNotFound');
    expect(message).toContain(site.tokenSecretName);
    expect(await site.secret()).toBeDefined();
  });
});

test('a watch of a quiet namespace that is cut again and again starts again each time as after a first failure', async () => {
  const site = await stack.makeSite({ values: { COUNT: '0' } });
  await site.waitUntilSynced({ COUNT: '0' });
  const isOpen = (): boolean => proxy.countOpen(isTargetWatchOf(site)) === 1;
  for (let round = 0; round < 3; round += 1) {
    await waitFor('the watch to be open', isOpen);
    await pause(2_000);
    proxy.kill(isTargetWatchOf(site));
    await waitFor('the watch to end', () => !isOpen());
    await waitFor('the watch to be open again', isOpen);
  }
  // The pauses grow with the failures in a row, of which the second is logged as a warning.
  const failures = controller.captured.output
    .toString()
    .split('\n')
    .filter((line) => line.includes('a watch fails') && line.includes(`/namespaces/${site.namespace}/`));
  expect(failures.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['debug', 'debug', 'debug']);
});

describe('names that mean something to JavaScript, or nothing at all', () => {
  test('as the key of a token are looked for in the Secret alone', async () => {
    const site = await stack.makeSite({ values: { COUNT: '0' } });
    await site.waitUntilSynced({ COUNT: '0' });
    await site.patchSync({ spec: { tokenSecretRef: { key: 'constructor' } } });
    expect((await site.waitForReason('TokenSecretNotFound')).message).toContain('constructor');
  });

  test('as an owner are not repeated', async () => {
    const site = await stack.makeSite({ values: { COUNT: '0' }, withoutSync: true });
    await site.createForeignSecret({ FOREIGN: 'x' });
    await site.patchSecret({ metadata: { annotations: { 'keyframe.dev/owned-by': 'x'.repeat(40_000) } } });
    await site.createSync();
    expect((await site.waitForReason('TargetNotOwned')).message).toContain('belongs to a SecretSync, which');
  });
});
