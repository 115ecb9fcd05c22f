import { beforeEach, describe, expect, test } from '@jest/globals';
import { WorkQueue } from '../../../src/controller/frame/work-queue.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeClock, settled } from './fake-clock.ts';

/** Keys in the order in which the work on them began. */
let began: string[];
/** Ends the work under way on a key. */
let finish: Map<string, () => void>;

beforeEach(() => {
  began = [];
  finish = new Map();
});

/** A queue of one worker, the work of which lasts until the test ends it. */
function openQueue(urgent: ReadonlySet<string>): WorkQueue {
  const queue = new WorkQueue({
    clock: new FakeClock(),
    logger: createLogger('silent'),
    workers: 1,
    isUrgent: (key) => urgent.has(key),
    process: async (key) => {
      began.push(key);
      await new Promise<void>((resolve) => void finish.set(key, resolve));
      return { kind: 'done' };
    },
  });
  queue.start();
  return queue;
}

async function end(key: string): Promise<void> {
  finish.get(key)?.();
  finish.delete(key);
  await settled();
}

describe('a key that is urgent', () => {
  test('goes before those that wait, and in the order of its like', async () => {
    const queue = openQueue(new Set(['b', 'c']));
    queue.pause();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    expect(queue.length).toBe(3);
    queue.start();
    for (const key of ['b', 'c', 'a']) await end(key);
    expect(began).toEqual(['b', 'c', 'a']);
  });

  test('does not wait for a worker, but for one of four times as many', async () => {
    const urgent = ['one/b', 'two/c', 'two/d', 'two/e'];
    const queue = openQueue(new Set(urgent));
    for (const key of ['a', ...urgent]) queue.add(key);
    expect(began).toEqual(['a', 'one/b', 'two/c', 'two/d']);
    await end('a');
    expect(began).toEqual(['a', ...urgent]);
  });

  test('waits once, where it became urgent while it waited or was worked on, and where it is so no more', async () => {
    const urgent = new Set<string>();
    const queue = openQueue(urgent);
    queue.add('active');
    queue.pause();
    for (const key of ['a', 'b']) queue.add(key);
    for (const key of ['active', 'b']) urgent.add(key);
    for (const key of ['active', 'b']) queue.add(key);
    urgent.delete('b');
    queue.add('b');
    expect(queue.length).toBe(2);
    await end('active');
    queue.start();
    expect(began).toEqual(['active', 'b', 'active']);
    for (const key of ['b', 'active', 'a']) await end(key);
    expect(began).toEqual(['active', 'b', 'active', 'a']);
  });

  test('can be forgotten, and is dropped by a stop', async () => {
    const queue = openQueue(new Set(['b', 'c']));
    queue.add('a');
    queue.pause();
    for (const key of ['b', 'c']) queue.add(key);
    queue.forget('b');
    expect(queue.length).toBe(1);
    const stopped = queue.stop(5000);
    await end('a');
    await stopped;
    expect(began).toEqual(['a']);
    expect(queue.length).toBe(0);
  });
});
