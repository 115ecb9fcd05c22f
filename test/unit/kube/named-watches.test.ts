import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { NamedWatches } from '../../../src/kube/informer/named-watches.ts';
import type { KubeObject } from '../../../src/kube/client/objects.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { type Answer, ScriptedApi, list, object, watch } from './scripted-api.ts';

let api: ScriptedApi;
let watches: NamedWatches;
let heard: [key: string, object: KubeObject | undefined][];
let open: Set<unknown>;

beforeEach(async () => {
  api = await ScriptedApi.start();
  heard = [];
  open = new Set();
  watches = new NamedWatches({
    client: api.client(),
    clock: systemClock,
    logger: createLogger('silent'),
    path: (namespace) => `/namespaces/${namespace}/secrets`,
    onChange: (key, changed) => void heard.push([key, changed]),
  });
});

afterEach(async () => {
  await watches.stop();
  await api.stop();
});

/** A watch that is in `open` as long as it is open. It may close when the next test has begun. */
function counted(answer: Answer): Answer {
  const ofThisTest = open;
  return (response, request) => {
    ofThisTest.add(response);
    response.on('close', () => ofThisTest.delete(response));
    answer(response, request);
  };
}

test('one watch by name serves all who follow the same object, and closes with the last of them', async () => {
  api.onList(list('7', [object('token', '5')]));
  api.onWatch(counted(watch()));
  watches.follow('ns/a', new Set(['ns/token']));
  watches.follow('ns/b', new Set(['ns/token']));
  await waitFor('the watch', () => open.size === 1);
  expect(api.watches).toHaveLength(1);
  expect(api.watches[0]).toMatchObject({ path: '/namespaces/ns/secrets' });
  expect(api.watches[0]?.query.get('fieldSelector')).toBe('metadata.name=token');
  expect(api.watches[0]?.accept).toContain('as=PartialObjectMetadata;');
  expect([...watches.followersOf('ns/token')]).toEqual(['ns/a', 'ns/b']);
  watches.follow('ns/a', new Set());
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(open.size).toBe(1);
  watches.follow('ns/b', new Set());
  await waitFor('the close', () => open.size === 0);
  expect(watches.size).toBe(0);
});

test('following something else lets go of what was followed before', async () => {
  api.onList(list('7', []));
  api.onWatch(counted(watch()));
  watches.follow('ns/a', new Set(['ns/one', 'ns/both']));
  await waitFor('two watches', () => open.size === 2);
  watches.follow('ns/a', new Set(['ns/both', 'ns/two']));
  await waitFor('the third watch', () => api.watches.length === 3);
  await waitFor('one to close', () => open.size === 2);
  expect([...watches.followersOf('ns/one')]).toEqual([]);
  expect([...watches.followersOf('ns/both')]).toEqual(['ns/a']);
});

test('appearing, changing and going are reported with the key', async () => {
  api.onList(list('7', [object('token', '5')]));
  api.onWatch(watch(['MODIFIED', object('token', '8')], ['DELETED', object('token', '9')]));
  watches.follow('ns/a', new Set(['ns/token']));
  await waitFor('three changes', () => heard.length === 3);
  expect(heard.map(([key, changed]) => [key, changed?.metadata.resourceVersion])).toEqual([
    ['ns/token', '5'],
    ['ns/token', '8'],
    ['ns/token', undefined],
  ]);
  expect(watches.get('ns/token')).toBeUndefined();
});

test('a stop closes every watch', async () => {
  api.onList(list('7', []));
  api.onWatch(counted(watch()));
  watches.follow('ns/a', new Set(['ns/one', 'ns/two']));
  await waitFor('two watches', () => open.size === 2);
  await watches.stop();
  await waitFor('the close', () => open.size === 0);
});
