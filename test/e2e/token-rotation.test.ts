import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ageToken } from '../support/cluster/resource-rows.ts';
import { Stack } from '../support/cluster/stack.ts';
import { TokenSync } from '../support/cluster/token-sync.ts';
import { waitFor } from '../support/fixtures/wait-for.ts';

const resources = new AsyncDisposableStack();
const maxOverlapMs = 20_000;
let stack: Stack;
let sync: TokenSync;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 1 });
  await stack.startController();
  sync = await TokenSync.make(stack);
  // A minute is the shortest interval there is.
  await sync.site.create({ rotation: { interval: '1m', overlap: '10s', maxOverlap: `${maxOverlapMs / 1000}s` } });
  await sync.site.waitForSerial(1);
  await sync.create({ tokenRef: { name: 'ci' } });
  await sync.waitForValues({ A: 'alpha' });
  // The first sync leaves no Event. One that is due would be recorded before that of the suspension.
  await sync.patch({ suspend: true });
  await waitFor('the Event of the suspension', async () => (await eventReasons()).includes('Suspended'));
  await sync.patch({ suspend: false });
  await waitFor('the Event of the sync', async () => (await eventReasons()).includes('Synced'));
});

afterAll(async () => {
  await sync.site.withdraw();
  await resources.disposeAsync();
});

/** Changes the environment and waits for the Secret; returns in which phase of the rotation that ended. */
async function change(A: string): Promise<'before' | 'during' | 'after'> {
  await sync.site.environment.change({ A });
  await waitFor(`the Secret to hold ${A}`, async () => (await sync.values())?.['A'] === A);
  const { serial, previousSerial } = (await sync.site.resource()).status ?? {};
  if (serial === 1) return 'before';
  return previousSerial === undefined ? 'after' : 'during';
}

/** As if the value had been made almost a minute ago: an interval is a minute at least. */
async function age(): Promise<void> {
  await ageToken(stack.databaseUrl, (await sync.site.resource()).metadata.uid, 57);
  await sync.site.patch({ metadata: { annotations: { 'keyframe.dev/reconcile-at': 'now' } } });
}

/** Reasons of the Events about the SecretSync; one is recorded whenever the reason of Ready changes. */
async function eventReasons(): Promise<string[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${sync.site.namespace}/events`;
  const { items } = await stack.kube.json<{ items: { reason: string; regarding: { kind: string } }[] }>({ path });
  return items.filter(({ regarding }) => regarding.kind === 'SecretSync').map(({ reason }) => reason);
}

async function readySince(): Promise<string | undefined> {
  const { status } = await sync.syncs.get('app');
  return status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
}

test('a SecretSync misses no revision while its token is rotated, is ready all the time, and the token before is revoked', async () => {
  const first = await sync.site.value();
  const [reasons, since] = [await eventReasons(), await readySince()];
  const changes = { before: 0, during: 0, after: 0 };
  while (changes.after < 10) {
    changes[await change(JSON.stringify(changes))] += 1;
    if (changes.before === 10 && changes.during + changes.after === 0) await age();
  }
  expect(changes.before).toBeGreaterThanOrEqual(10);
  expect(changes.during).toBeGreaterThanOrEqual(1);
  await waitFor('the token before to be revoked', async () => (await sync.site.answer(first)) === 401);
  expect(await sync.site.answer(await sync.site.value())).toBe(200);
  await sync.waitForReason('Synced');
  expect(await readySince()).toBe(since);
  expect(await eventReasons()).toEqual(reasons);
});
