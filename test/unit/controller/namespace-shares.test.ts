import { beforeEach, describe, expect, test } from '@jest/globals';
import { NamespaceShares } from '../../../src/controller/frame/namespace-shares.ts';
import { type Next, WorkQueue } from '../../../src/controller/frame/work-queue.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeClock, settled } from './fake-clock.ts';

const hourMs = 3_600_000;

let clock: FakeClock;
/** What the process has used. */
let usedMs: number;
let shares: NamespaceShares;

beforeEach(() => {
  clock = new FakeClock();
  usedMs = 0;
  shares = new NamespaceShares({ steadyNow: () => clock.now(), usedMs: () => usedMs });
});

/** One piece of work that takes its time and uses the processor for a part of it. */
function work(namespace: string, { tookMs, used }: { readonly tookMs: number; readonly used: number }): void {
  shares.begin(namespace);
  clock.jump(tookMs);
  usedMs += used;
  shares.end(namespace);
}

describe('a namespace', () => {
  beforeEach(() => {
    work('quiet', { tookMs: 1, used: 1 });
  });

  test('is not busy with a burst of half a second of processor time', () => {
    work('app', { tookMs: 500, used: 500 });
    expect(shares.isBusy('app')).toBe(false);
  });

  test('is busy when it uses more than its share for longer, also while its work is under way', () => {
    shares.begin('app');
    clock.jump(1_400);
    usedMs += 1_400;
    expect(shares.isBusy('app')).toBe(true);
    expect(shares.isBusy('quiet')).toBe(false);
  });

  test('is not busy when it uses a twentieth of a core, for however long', () => {
    for (let round = 0; round < 1_000; round += 1) work('app', { tookMs: 2_000, used: 100 });
    expect(shares.isBusy('app')).toBe(false);
  });

  test('is not busy while its work only waits', () => {
    work('app', { tookMs: hourMs / 2, used: 500 });
    expect(shares.isBusy('app')).toBe(false);
  });

  test('that was busy for long is not any more ten seconds later', () => {
    for (let round = 0; round < 1_000; round += 1) work('app', { tookMs: 100, used: 100 });
    expect(shares.isBusy('app')).toBe(true);
    clock.jump(10_000);
    expect(shares.isBusy('app')).toBe(false);
  });

  test('shares what the process uses with those that have work at the same time, by how much they have', () => {
    shares.begin('quiet');
    for (let begun = 0; begun < 4; begun += 1) shares.begin('app');
    clock.jump(1_500);
    usedMs += 1_900;
    expect([shares.isBusy('app'), shares.isBusy('quiet')]).toEqual([true, false]);
  });

  test('is not busy if no other namespace had work in the last hour', () => {
    clock.jump(hourMs);
    work('app', { tookMs: 10_000, used: 10_000 });
    expect(shares.isBusy('app')).toBe(false);
    work('quiet', { tookMs: 1, used: 1 });
    expect(shares.isBusy('app')).toBe(true);
  });
});

describe('a queue', () => {
  let began: string[];
  let mostAtOnce: ReadonlyMap<string, number>;

  /** A queue whose work takes `workMs` of the fake clock, and uses the processor all the time if it is of namespace busy. */
  function openQueue(workMs = 100): WorkQueue {
    began = [];
    const active = new Map<string, number>();
    const most = new Map<string, number>();
    mostAtOnce = most;
    const queue = new WorkQueue({
      clock,
      logger: createLogger('silent'),
      shares,
      process: async (key) => {
        const namespace = key.slice(0, key.indexOf('/'));
        began.push(key);
        active.set(namespace, (active.get(namespace) ?? 0) + 1);
        most.set(namespace, Math.max(most.get(namespace) ?? 0, active.get(namespace) ?? 0));
        const { promise, resolve } = Promise.withResolvers<Next>();
        // Such as a call without an answer.
        if (key.endsWith('/stuck')) return await promise;
        clock.after(workMs, () => {
          active.set(namespace, (active.get(namespace) ?? 0) - 1);
          if (namespace === 'busy') usedMs += workMs;
          resolve({ kind: 'done' });
        });
        return await promise;
      },
    });
    queue.start();
    return queue;
  }

  const keysOf = (namespace: string, count: number): string[] =>
    Array.from({ length: count }, (_, index) => `${namespace}/${index}`);

  async function makeBusy(queue: WorkQueue): Promise<void> {
    queue.add('calm/first');
    for (let round = 0; round < 20; round += 1) {
      for (const key of keysOf('busy', 12)) queue.add(key);
      await clock.advance(100);
    }
    expect(shares.isBusy('busy')).toBe(true);
  }

  test('gives all workers of a namespace to a burst', async () => {
    const queue = openQueue();
    queue.add('calm/first');
    for (const key of keysOf('busy', 24)) queue.add(key);
    await clock.advance(1_000);
    expect(mostAtOnce.get('busy')).toBe(16);
  });

  test('gives one worker to a namespace that stays busy, and all to another one', async () => {
    const queue = openQueue();
    await makeBusy(queue);
    await clock.advance(200);
    const before = began.length;
    for (const key of [...keysOf('busy', 24), ...keysOf('calm', 24)]) queue.add(key);
    await settled();
    const namespaces = began.slice(before).map((key) => key.slice(0, key.indexOf('/')));
    expect(namespaces.filter((namespace) => namespace === 'busy').length).toBeLessThanOrEqual(1);
    expect(namespaces.filter((namespace) => namespace === 'calm')).toHaveLength(16);
  });

  test('works on every key of a namespace that stays busy', async () => {
    const queue = openQueue();
    await makeBusy(queue);
    const before = began.length;
    for (let round = 0; round < 20; round += 1) {
      for (const key of keysOf('busy', 12)) queue.add(key);
      await clock.advance(100);
    }
    await clock.advance(10_000);
    expect(new Set(began.slice(before))).toEqual(new Set(keysOf('busy', 12)));
    expect(queue.length).toBe(0);
  });

  test('begins what waits for a worker that is stuck once the namespace is not busy any more', async () => {
    const queue = openQueue();
    await makeBusy(queue);
    await clock.advance(2_000);
    for (const key of ['busy/stuck', 'busy/later']) queue.add(key);
    await settled();
    expect(began.slice(-1)).toEqual(['busy/stuck']);
    await clock.advance(15_000);
    expect(began.slice(-1)).toEqual(['busy/later']);
  });
});
