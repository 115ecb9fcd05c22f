import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Next, WorkQueue } from '../../../src/controller/frame/work-queue.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeClock, settled } from './fake-clock.ts';

const done: Next = { kind: 'done' };
let clock: FakeClock;
/** Keys in the order in which the work on them began. */
let began: string[];
/** Ends the work under way on a key. */
let finish: Map<string, (next: Next) => void>;
let mostAtOnce: number;

beforeEach(() => {
  clock = new FakeClock();
  began = [];
  finish = new Map();
  mostAtOnce = 0;
});

/** A queue whose work lasts until the test ends it. */
function openQueue({ workers = 2 } = {}): WorkQueue {
  const queue = new WorkQueue({
    clock,
    logger: createLogger('silent'),
    workers,
    backoff: { initialMs: 100, maxMs: 1000, random: () => 0.5 },
    process: async (key) => {
      if (finish.has(key)) throw new Error('two at the same time');
      began.push(key);
      const { promise, resolve } = Promise.withResolvers<Next>();
      finish.set(key, resolve);
      mostAtOnce = Math.max(mostAtOnce, finish.size);
      return await promise;
    },
  });
  queue.start();
  return queue;
}

async function end(key: string, next: Next = done): Promise<void> {
  const resolve = finish.get(key);
  finish.delete(key);
  resolve?.(next);
  await settled();
}

describe('a key', () => {
  test('waits once however often it is added', async () => {
    const queue = openQueue({ workers: 1 });
    queue.add('first');
    for (let count = 0; count < 3; count += 1) queue.add('second');
    expect(queue.length).toBe(1);
    await end('first');
    await end('second');
    expect(began).toEqual(['first', 'second']);
  });

  test('is never worked on twice at the same time, and once more where it was added meanwhile', async () => {
    const queue = openQueue();
    queue.add('a');
    queue.add('a');
    queue.add('a');
    await settled();
    expect(began).toEqual(['a']);
    await end('a');
    expect(began).toEqual(['a', 'a']);
    await end('a');
    expect(began).toHaveLength(2);
  });

  test('is active from its first moment to its last', async () => {
    const queue = openQueue();
    expect(queue.isActive('a')).toBe(false);
    queue.add('a');
    expect(queue.isActive('a')).toBe(true);
    await end('a');
    expect(queue.isActive('a')).toBe(false);
  });
});

test('a key that is added again while it is worked on keeps the higher priority', async () => {
  const queue = openQueue({ workers: 1 });
  queue.add('first');
  queue.add('waiting', 'low');
  queue.add('first', 'high');
  queue.add('first', 'low');
  await end('first');
  expect(began).toEqual(['first', 'first']);
});

test('the end of the work is reported in the moment in which the key ceases to be active, and may add it again', async () => {
  const reported: [key: string, isActive: boolean][] = [];
  const queue = new WorkQueue({
    clock,
    logger: createLogger('silent'),
    process: async (key) => {
      began.push(key);
      return await Promise.resolve<Next>({ kind: 'after', delayMs: 500 });
    },
    onInactive: (key) => {
      reported.push([key, queue.isActive(key)]);
      if (reported.length === 1) queue.add(key);
    },
  });
  queue.start();
  queue.add('a');
  await settled();
  expect(reported).toEqual([
    ['a', false],
    ['a', false],
  ]);
  expect(began).toEqual(['a', 'a']);
  expect(clock.pending).toEqual([500]);
});

describe('workers', () => {
  test('are as many as the queue was given, and take keys in their order', async () => {
    const queue = openQueue({ workers: 2 });
    for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
    expect(began).toEqual(['a', 'b']);
    expect(queue.length).toBe(2);
    await end('b');
    await end('a');
    await end('c');
    await end('d');
    expect(began).toEqual(['a', 'b', 'c', 'd']);
    expect(mostAtOnce).toBe(2);
  });

  test('do not begin before the queue is started', async () => {
    const queue = new WorkQueue({
      clock,
      logger: createLogger('silent'),
      process: async (key) => {
        began.push(key);
        return await Promise.resolve(done);
      },
    });
    queue.add('a');
    await settled();
    expect(began).toEqual([]);
    queue.start();
    await settled();
    expect(began).toEqual(['a']);
  });
});

describe('a retry', () => {
  test('comes after a backoff that doubles up to its limit, and is forgotten with success', async () => {
    const queue = openQueue();
    queue.add('a');
    const waits: (number | undefined)[] = [];
    for (let failure = 0; failure < 6; failure += 1) {
      await end('a', { kind: 'retry' });
      waits.push(clock.pending[0]);
      await clock.advance(1000);
    }
    // Half of the ceiling and half of the other half.
    expect(waits).toEqual([75, 150, 300, 600, 750, 750]);
    await end('a');
    queue.add('a');
    await end('a', { kind: 'retry' });
    expect(clock.pending).toEqual([75]);
  });

  test('does not come before the delay that was asked for', async () => {
    openQueue().add('a');
    await end('a', { kind: 'retry', minDelayMs: 5000 });
    expect(clock.pending).toEqual([5000]);
  });

  test('is made too where the work threw, and the fault is logged without its message', async () => {
    const lines: string[] = [];
    const queue = new WorkQueue({
      clock,
      logger: createLogger('info', { write: (line: string) => void lines.push(line) }),
      process: async () => await Promise.reject(new Error('a value')),
    });
    queue.start();
    queue.add('a');
    await settled();
    expect(clock.pending).toHaveLength(1);
    expect(lines.join('')).toContain('work on a key failed');
    expect(lines.join('')).not.toContain('a value');
  });

  test('is not waited for where an event asks sooner', async () => {
    const queue = openQueue();
    queue.add('a');
    await end('a', { kind: 'retry' });
    queue.add('a');
    expect(began).toEqual(['a', 'a']);
    expect(clock.pending).toEqual([]);
  });
});

describe('a delay', () => {
  test('adds the key when it is over', async () => {
    const queue = openQueue();
    queue.addAfter('a', 500);
    await clock.advance(499);
    expect(began).toEqual([]);
    await clock.advance(1);
    expect(began).toEqual(['a']);
  });

  test('that is set again takes the place of the one before', async () => {
    const queue = openQueue();
    queue.addAfter('a', 500);
    queue.addAfter('a', 900);
    expect(clock.pending).toEqual([900]);
    await clock.advance(900);
    expect(began).toEqual(['a']);
  });

  test('is asked for by the work itself', async () => {
    openQueue().add('a');
    await end('a', { kind: 'after', delayMs: 700 });
    await clock.advance(700);
    expect(began).toEqual(['a', 'a']);
  });

  test('ends when the key is worked on for another reason: the work decides again', async () => {
    const queue = openQueue();
    queue.addAfter('a', 500);
    queue.add('a');
    await end('a');
    await clock.advance(1000);
    expect(began).toEqual(['a']);
  });
});

describe('a wait', () => {
  let ready: () => void;
  let cancelled: number;
  const wait: Next = {
    kind: 'when',
    wait: (callback) => {
      ready = callback;
      return () => void (cancelled += 1);
    },
  };

  beforeEach(() => {
    cancelled = 0;
  });

  test('takes no worker, and puts the key behind all others when it ends', async () => {
    const queue = openQueue({ workers: 1 });
    for (const key of ['first', 'second', 'third']) queue.add(key);
    await end('first', wait);
    expect(began).toEqual(['first', 'second']);
    ready();
    await end('second');
    await end('third');
    expect(began).toEqual(['first', 'second', 'third', 'first']);
  });

  test('keeps the priority of the key', async () => {
    const queue = openQueue({ workers: 1 });
    queue.add('slow', 'low');
    await end('slow', wait);
    queue.add('busy');
    ready();
    queue.add('quick');
    await end('busy');
    expect(began).toEqual(['slow', 'busy', 'quick']);
  });

  test('is no failure, and ends none', async () => {
    const queue = openQueue({ workers: 1 });
    queue.add('key');
    await end('key', { kind: 'retry' });
    await clock.advance(100);
    await end('key', wait);
    ready();
    await settled();
    await end('key', { kind: 'retry' });
    // The second delay of the backoff.
    await clock.advance(100);
    expect(began).toHaveLength(3);
    await clock.advance(100);
    expect(began).toHaveLength(4);
  });

  test('ends when the key is worked on for another reason, is forgotten, or the queue stops', async () => {
    const queue = openQueue({ workers: 1 });
    queue.add('key');
    await end('key', wait);
    queue.add('key');
    expect(cancelled).toBe(1);
    await end('key', wait);
    queue.forget('key');
    expect(cancelled).toBe(2);
    queue.add('key');
    await end('key', wait);
    await queue.stop(0);
    expect(cancelled).toBe(3);
  });
});

test('a forgotten key has no place, no timer and no failures any more', async () => {
  const queue = openQueue({ workers: 1 });
  queue.add('a');
  queue.add('waiting');
  queue.forget('waiting');
  await end('a', { kind: 'retry' });
  queue.forget('a');
  await clock.advance(10_000);
  expect(began).toEqual(['a']);
  queue.add('a');
  queue.add('a');
  queue.forget('a');
  await end('a', { kind: 'retry' });
  expect(clock.pending).toEqual([75]);
});

describe('a stop', () => {
  test('lets the work under way end and begins no other', async () => {
    const queue = openQueue({ workers: 1 });
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 10);
    let isStopped = false;
    const stopped = queue.stop(5000).then(() => {
      isStopped = true;
      return undefined;
    });
    queue.add('d');
    await settled();
    expect(isStopped).toBe(false);
    await end('a', { kind: 'retry' });
    await stopped;
    await clock.advance(10_000);
    expect(began).toEqual(['a']);
    expect(clock.pending).toEqual([]);
  });

  test('waits no longer than its limit', async () => {
    const queue = openQueue();
    queue.add('a');
    const stopped = queue.stop(5000);
    await clock.advance(5000);
    await stopped;
    expect(finish.has('a')).toBe(true);
  });
});

test('a pause begins nothing, keeps what is added and what timers add, and lets work under way end', async () => {
  const queue = openQueue();
  queue.add('active');
  queue.pause();
  queue.add('added');
  queue.addAfter('timed', 50);
  await clock.advance(50);
  await end('active', { kind: 'retry' });
  await clock.advance(1000);
  expect(began).toEqual(['active']);
  expect(queue.length).toBe(3);
  queue.start();
  // One worker of two is left to events.
  expect(began).toEqual(['active', 'added']);
  await end('added', { kind: 'done' });
  expect(began).toEqual(['active', 'added', 'timed']);
});
