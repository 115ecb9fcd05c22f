import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Stack } from '../support/stack.ts';
import { TokenSync } from '../support/token-sync.ts';
import { waitFor } from '../support/wait-for.ts';

const resources = new AsyncDisposableStack();
const maxOverlapMs = 6_000;
let stack: Stack;
let sync: TokenSync;

beforeAll(async () => {
  stack = await Stack.start(resources, { namespaces: 1 });
  await stack.startController();
  sync = await TokenSync.make(stack);
  // A minute is the shortest interval there is.
  await sync.site.create({ rotation: { interval: '1m', overlap: '2s', maxOverlap: `${maxOverlapMs / 1000}s` } });
  await sync.create({ tokenRef: { name: 'ci' } });
  await sync.waitForValues({ A: 'alpha' });
}, 120_000);

afterAll(async () => {
  await sync.site.withdraw();
  await resources.disposeAsync();
});

/** Changes the environment and waits for the Secret, again and again until told to end; answers how often. */
async function keepChanging(isOver: () => Promise<boolean>): Promise<number> {
  let changes = 0;
  while (!(await isOver())) {
    changes += 1;
    const A = `value ${changes}`;
    await sync.site.environment.change({ A });
    await waitFor(`the Secret to hold change ${changes}`, async () => (await sync.values())?.['A'] === A);
  }
  return changes;
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
  const isOver = async (): Promise<boolean> => {
    const { status } = await sync.site.resource();
    return status?.serial === 2 && status.previousSerial === undefined;
  };
  const changes = await keepChanging(isOver);
  expect(changes).toBeGreaterThan(100);
  await waitFor('the token before to be revoked', async () => (await sync.site.answer(first)) === 401, {
    timeoutMs: maxOverlapMs,
  });
  expect(await sync.site.answer(await sync.site.value())).toBe(200);
  await sync.waitForReason('Synced');
  expect(await readySince()).toBe(since);
  expect(await eventReasons()).toEqual(reasons);
}, 150_000);
