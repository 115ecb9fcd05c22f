import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NamespaceShares } from '../../../src/controller/frame/namespace-shares.ts';
import { NamespaceTurns } from '../../../src/controller/frame/namespace-turns.ts';
import { type Next, WorkQueue } from '../../../src/controller/frame/work-queue.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeClock, settled } from './fake-clock.ts';

let clock: FakeClock;
/** Keys in the order in which the work on them began. */
let began: string[];

beforeEach(() => {
  clock = new FakeClock();
  began = [];
});

/** A queue whose work takes `workMs` of the fake clock; undefined for work that never ends. */
function openQueue({ workers, workMs }: { workers?: number; workMs: (key: string) => number | undefined }): WorkQueue {
  const queue = new WorkQueue({
    clock,
    logger: createLogger('silent'),
    ...(workers === undefined ? {} : { workers }),
    process: async (key) => {
      began.push(key);
      const { promise, resolve } = Promise.withResolvers<Next>();
      const delayMs = workMs(key);
      if (delayMs !== undefined) clock.after(delayMs, () => resolve({ kind: 'done' }));
      return await promise;
    },
  });
  queue.start();
  return queue;
}

const keysOf = (namespace: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${namespace}/${index}`);

describe('namespaces', () => {
  test('take turns, and the keys of each keep their order', async () => {
    const queue = openQueue({ workers: 1, workMs: () => 10 });
    queue.pause();
    for (const key of [...keysOf('busy', 4), ...keysOf('calm', 2), 'quiet/0']) queue.add(key);
    queue.start();
    await clock.advance(1000);
    expect(began).toEqual(['busy/0', 'calm/0', 'quiet/0', 'busy/1', 'calm/1', 'busy/2', 'busy/3']);
  });

  test('wait one turn at most behind a namespace that adds its keys without pause', async () => {
    const queue = openQueue({ workers: 1, workMs: () => 10 });
    for (const key of keysOf('busy', 12)) queue.add(key);
    for (let round = 0; round < 50; round += 1) {
      for (const key of keysOf('busy', 12)) queue.add(key);
      queue.add(`calm/${round}`);
      const before = began.length;
      await clock.advance(20);
      expect(began.slice(before)).toContain(`calm/${round}`);
    }
  });

  test('whose work does not end leave workers to the others', async () => {
    const queue = openQueue({ workMs: (key) => (key.startsWith('stuck/') ? undefined : 10) });
    for (const key of keysOf('stuck', 50)) queue.add(key);
    for (const key of keysOf('calm', 20)) queue.add(key);
    await settled();
    expect(began.filter((key) => key.startsWith('stuck/'))).toHaveLength(16);
    await clock.advance(1000);
    expect(began.filter((key) => key.startsWith('calm/'))).toHaveLength(20);
  });
});

test('a key that is added while its namespace has all its workers begins as soon as one is free', async () => {
  const queue = openQueue({ workers: 3, workMs: () => 10 });
  for (const key of keysOf('only', 3)) queue.add(key);
  await settled();
  expect(began).toEqual(['only/0', 'only/1']);
  await clock.advance(10);
  expect(began).toEqual(['only/0', 'only/1', 'only/2']);
});

type Step =
  { readonly kind: 'add' | 'delete'; readonly key: string } | { readonly kind: 'take'; readonly barred: string };

/** Turns beside a plain set of the keys that wait. */
class ModelledTurns {
  readonly #turns = new NamespaceTurns();
  readonly #model = new Set<string>();
  /** The namespaces that had a turn while each namespace waited for its own. */
  readonly #passedBy = new Map<string, Set<string>>();

  /** Does a step; returns what is wrong after it. */
  do(step: Step): string | undefined {
    const fault = step.kind === 'take' ? this.#take(step.barred) : this.#change(step);
    const waiting = new Set([...this.#model].map(namespaceOf));
    for (const namespace of this.#passedBy.keys()) if (!waiting.has(namespace)) this.#passedBy.delete(namespace);
    const isSame = this.#turns.size === this.#model.size && [...this.#model].every((key) => this.#turns.has(key));
    return fault ?? (isSame ? undefined : 'other keys wait than were added');
  }

  #change({ kind, key }: { readonly kind: 'add' | 'delete'; readonly key: string }): undefined {
    this.#turns[kind](key);
    this.#model[kind](key);
  }

  #take(barred: string): string | undefined {
    const allowed = [...this.#model].filter((key) => namespaceOf(key) !== barred);
    const taken = this.#turns.take((namespace) => namespace !== barred);
    if (taken === undefined) return allowed.length === 0 ? undefined : 'nothing was taken though a key waits';
    if (!this.#model.delete(taken)) return 'a key was taken that did not wait';
    const others = new Set(allowed.map(namespaceOf).filter((namespace) => namespace !== namespaceOf(taken)));
    this.#passedBy.delete(namespaceOf(taken));
    const isPassedTwice = [...others].some(
      (namespace) => this.#passedBy.get(namespace)?.has(namespaceOf(taken)) === true,
    );
    for (const namespace of others) {
      this.#passedBy.set(namespace, new Set(this.#passedBy.get(namespace)).add(namespaceOf(taken)));
    }
    return isPassedTwice ? 'a namespace had two turns while another one waited' : undefined;
  }
}

const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'));

test('turns hold each key once, lose none, and let no namespace have two turns while another one waits', () => {
  const key = fc
    .tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(5))
    .map(([namespace, name]) => `${namespace}/${name}`);
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('add' as const), key }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), key }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('take' as const), barred: fc.constantFrom('a', 'b', '') }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const turns = new ModelledTurns();
      expect(steps.map((one) => turns.do(one)).filter((fault) => fault !== undefined)).toEqual([]);
    }),
  );
});

describe('priorities', () => {
  test('start what an event asked for before what a resync asked for', async () => {
    const queue = openQueue({ workers: 1, workMs: () => 10 });
    for (const key of keysOf('resync', 3)) queue.add(key, 'low');
    for (const key of keysOf('event', 2)) queue.add(key);
    await clock.advance(1000);
    expect(began).toEqual(['resync/0', 'event/0', 'event/1', 'resync/1', 'resync/2']);
  });

  test('give every fourth start to low priority, whatever else waits', async () => {
    const queue = openQueue({ workers: 1, workMs: () => 10 });
    for (const key of keysOf('event', 9)) queue.add(key);
    for (const key of keysOf('resync', 2)) queue.add(key, 'low');
    await clock.advance(1000);
    expect(began.map((key) => key.split('/')[0]).join(' ')).toBe(
      'event event event resync event event event resync event event event',
    );
  });

  test('rise with an event and never fall', async () => {
    const queue = openQueue({ workers: 1, workMs: () => 10 });
    queue.add('first/0');
    for (const key of keysOf('a', 3)) queue.add(key, 'low');
    queue.add('a/2');
    queue.add('a/2', 'low');
    await clock.advance(1000);
    expect(began).toEqual(['first/0', 'a/2', 'a/0', 'a/1']);
  });

  test('hold for a key that is added while it is worked on', async () => {
    const queue = openQueue({ workers: 1, workMs: () => 10 });
    queue.add('a/0');
    queue.add('a/0', 'low');
    queue.add('b/0', 'low');
    await clock.advance(10);
    queue.add('b/0');
    queue.add('c/0');
    await clock.advance(1000);
    expect(began).toEqual(['a/0', 'b/0', 'c/0', 'b/0', 'a/0']);
  });

  test('leave three quarters of the workers to events', () => {
    const queue = openQueue({ workers: 4, workMs: () => undefined });
    for (const key of ['a/0', 'b/0', 'c/0']) queue.add(key, 'low');
    expect(began).toEqual(['a/0']);
    for (const key of ['d/0', 'e/0', 'f/0', 'g/0']) queue.add(key);
    expect(began).toEqual(['a/0', 'd/0', 'e/0', 'f/0']);
  });

  test('are low for all that was added before the start', async () => {
    const queue = openQueue({ workers: 1, workMs: () => 10 });
    queue.pause();
    for (const key of keysOf('before', 2)) queue.add(key);
    queue.start();
    queue.add('after/0');
    await clock.advance(1000);
    expect(began).toEqual(['before/0', 'after/0', 'before/1']);
  });
});

describe('a namespace that uses more than its share', () => {
  test('has one worker for events though its only other one works on a resync', async () => {
    let usedMs = 0;
    const shares = new NamespaceShares({ steadyNow: () => clock.now(), usedMs: () => usedMs });
    const queue = new WorkQueue({
      clock,
      logger: createLogger('silent'),
      shares,
      process: async (key) => {
        began.push(key);
        usedMs += 1000;
        await new Promise<void>((resolve) => clock.after(100, resolve));
        return { kind: 'done' };
      },
    });
    queue.start();
    for (const key of ['busy/first', 'other/first']) queue.add(key, 'low');
    await clock.advance(150);
    began.splice(0);
    for (const key of keysOf('busy', 2)) queue.add(key, 'low');
    for (const key of ['busy/event', 'busy/another']) queue.add(key);
    expect(began).toEqual(['busy/0', 'busy/event']);
    await clock.advance(60_000);
    expect(began.toSorted()).toEqual(['busy/0', 'busy/1', 'busy/another', 'busy/event']);
    await queue.stop(0);
  });
});
