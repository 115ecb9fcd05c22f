import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { KubeObject } from '../../../src/kube/client/objects.ts';
import { ReflectorGroup } from '../../../src/kube/informer/reflector-group.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { waitFor } from '../../support/fixtures/wait-for.ts';
import { list, ScriptedApi, status, watch } from './scripted-api.ts';

// Namespaces `here` and `away`; the list of the second is refused with a status.

let api: ScriptedApi;
let gone: Set<string>;
let group: ReflectorGroup<KubeObject>;
let isSynced: boolean;
let failures: number;

beforeEach(async () => {
  api = await ScriptedApi.start();
  gone = new Set();
  [isSynced, failures] = [false, 0];
});

afterEach(async () => {
  await group.stop();
  await api.stop();
});

function start(refusal: number): void {
  api.onList((response, request) => {
    const answer = request.path.includes('/away/') ? status(refusal, 'Refused') : list('7', []);
    answer(response, request);
  });
  api.onWatch(watch());
  group = new ReflectorGroup<KubeObject>({
    client: api.client(),
    clock: systemClock,
    logger: createLogger('silent'),
    namespaces: ['here', 'away'],
    source: (namespace) => ({ path: `/api/v1/namespaces/${namespace}/things` }),
    isGone: (namespace) => gone.has(namespace),
    handler: { onUpsert: () => undefined, onDelete: () => undefined },
    limits: { backoffInitialMs: 4, backoffMaxMs: 20 },
    onFailure: () => (failures += 1),
  });
  void group.synced.then(() => (isSynced = true));
  group.start();
}

async function failMore(): Promise<void> {
  const before = failures;
  await waitFor('more failures', () => failures > before + 2);
}

test('a namespace that is gone hinders nothing by refusing its list, from when it is known to be gone', async () => {
  start(403);
  await failMore();
  expect([isSynced, group.isSynced]).toEqual([false, false]);
  gone.add('away');
  await waitFor('the group to be synced', () => isSynced);
  gone.clear();
  expect(group.isSynced).toBe(true);
});

test('one that is there does, and so does any other fault of one that is gone', async () => {
  gone.add('here');
  start(500);
  gone.add('away');
  await failMore();
  expect([isSynced, group.isSynced]).toEqual([false, false]);
});
