import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ChangeEvent, ChangeSubscriber } from '../../../src/domain/changes.ts';
import type { ClusterPrincipal } from '../../../src/domain/cluster-principal.ts';
import type { DomainError } from '../../../src/domain/errors/domain-error.ts';
import type { FeedSubscriber } from '../../../src/services/changes/change-feed.ts';
import type { ClusterStreamEvent } from '../../../src/services/cluster/cluster-stream.ts';
import { ClusterStreams, type OpenClusterStream } from '../../../src/services/cluster/cluster-streams.ts';
import { FakeClock, settled } from '../controller/fake-clock.ts';

const minuteMs = 60_000;
let clock: FakeClock;
let isListening: boolean;
let random: number;
let streams: ClusterStreams;
let feed: FeedSubscriber;
/** Of the streams, by cluster, in the order in which they were opened. */
let subscribers: { readonly cluster: string; readonly subscriber: ChangeSubscriber }[];

beforeEach(() => {
  clock = new FakeClock();
  isListening = true;
  random = 0.5;
  subscribers = [];
  streams = new ClusterStreams({
    feed: {
      get ready() {
        return isListening;
      },
      subscribe: (subscriber) => {
        feed = subscriber;
        return () => {};
      },
    },
    ports: {
      of: (cluster) => ({
        changes: {
          subscribe: (subscriber) => {
            const entry = { cluster, subscriber };
            subscribers.push(entry);
            return () => void subscribers.splice(subscribers.indexOf(entry), 1);
          },
        },
      }),
    },
    clock,
    random: () => random,
  });
});

function principal(name = 'fra-1', acceptedMs: number | null = null): ClusterPrincipal {
  const acceptedUntil = acceptedMs === null ? null : new Date(clock.now() + acceptedMs);
  return { name, isHome: false, credential: 'jwt', acceptedUntil };
}

/** Reads a stream, as fast as it writes. */
class Reader {
  readonly read: string[] = [];
  isOver = false;
  readonly #abort = new AbortController();

  constructor(open: OpenClusterStream) {
    void this.#read(open(this.#abort.signal));
  }

  leave(): void {
    this.#abort.abort();
  }

  async #read(lists: AsyncIterable<readonly ClusterStreamEvent[]>): Promise<void> {
    for await (const events of lists) {
      this.read.push(...events.map((event) => (event.kind === 'change' ? event.change.kind : event.kind)));
    }
    this.isOver = true;
  }
}

async function start(by = principal(), processId = 'one', network = '192.0.2.1'): Promise<Reader> {
  const reader = new Reader(streams.start(by, { processId, network }));
  subscribers.at(-1)?.subscriber.onReady();
  await settled();
  return reader;
}

function codeOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    return (error as DomainError).code;
  }
  return 'done';
}

const one = { processId: 'one', network: '192.0.2.1' };
const change: ChangeEvent = { kind: 'snapshot', organizationId: 'o', snapshotId: 's' };

describe('a stream', () => {
  test('is ready first, and then has what its cluster may know of', async () => {
    const reader = await start();
    expect([reader.read, subscribers.map(({ cluster }) => cluster)]).toEqual([['ready'], ['fra-1']]);
    subscribers[0]?.subscriber.onEvent(change);
    subscribers[0]?.subscriber.onReady();
    await settled();
    expect(reader.read).toEqual(['ready', 'snapshot', 'ready']);
  });

  test('has a comment after each 10 seconds without an event', async () => {
    const reader = await start();
    await clock.advance(9_999);
    expect(reader.read).toEqual(['ready']);
    await clock.advance(1);
    await clock.advance(10_000);
    expect(reader.read).toEqual(['ready', 'idle', 'idle']);
    await clock.advance(5_000);
    subscribers[0]?.subscriber.onEvent(change);
    await settled();
    await clock.advance(9_999);
    expect(reader.read).toEqual(['ready', 'idle', 'idle', 'snapshot']);
  });

  test.each([
    ['54 minutes', 0, 54],
    ['66 minutes', 1, 66],
  ])('ends after up to %s, and asks for another one a minute before', async (_, drawn, minutes) => {
    random = drawn;
    const reader = await start();
    await clock.advance((minutes - 1) * minuteMs - 1);
    expect(reader.read).not.toContain('renew');
    await clock.advance(1);
    expect(reader.read.at(-1)).toBe('renew');
    await clock.advance(minuteMs - 1);
    expect(reader.isOver).toBe(false);
    await clock.advance(1);
    expect([reader.isOver, streams.open, subscribers, clock.pending]).toEqual([true, 0, [], []]);
  });

  test('ends when its credential is no longer accepted, and asks for another one before', async () => {
    const reader = await start(principal('fra-1', 10 * minuteMs));
    await clock.advance(9 * minuteMs);
    expect([reader.read.at(-1), reader.isOver]).toEqual(['renew', false]);
    await clock.advance(minuteMs);
    expect(reader.isOver).toBe(true);
    const short = await start(principal('fra-1', 1_000));
    await clock.advance(800);
    expect([short.read, short.isOver]).toEqual([['ready', 'renew'], false]);
    await clock.advance(200);
    expect(short.isOver).toBe(true);
  });

  test('whose credential has ended meanwhile has nothing', async () => {
    const opened = streams.start(principal('fra-1', -1), one);
    await clock.advance(0);
    const reader = new Reader(opened);
    await settled();
    expect([reader.read, reader.isOver]).toEqual([[], true]);
  });

  test('ends with the connection of its reader', async () => {
    const reader = await start();
    reader.leave();
    await settled();
    expect([reader.isOver, streams.open, subscribers]).toEqual([true, 0, []]);
  });

  test.each(['disabled', 'forgotten', 'enabled'] as const)(
    'ends after its cluster is %s, which it reports',
    async (state) => {
      const reader = await start();
      subscribers[0]?.subscriber.onEvent({ kind: 'cluster', cluster: 'fra-1', state, isHome: false });
      await settled();
      expect([reader.read, reader.isOver, streams.open]).toEqual([['ready', 'cluster'], true, 0]);
    },
  );
});

describe('a reader that reads nothing', () => {
  test('has 5,000 events waiting, in their order', async () => {
    const lists = streams.start(principal(), one)(new AbortController().signal)[Symbol.asyncIterator]();
    const { subscriber } = subscribers[0] ?? {};
    subscriber?.onReady();
    for (let number = 1; number < 5_000; number += 1) subscriber?.onEvent({ ...change, snapshotId: String(number) });
    const read: ClusterStreamEvent[] = [];
    while (read.length < 5_000) {
      const { value } = await lists.next();
      const list = value as readonly ClusterStreamEvent[];
      expect(list.length).toBeLessThanOrEqual(1_000);
      read.push(...list);
    }
    const numbers = read.flatMap((event) =>
      event.kind === 'change' && 'snapshotId' in event.change ? [Number(event.change.snapshotId)] : [],
    );
    expect(numbers).toEqual(Array.from({ length: 4_999 }, (_, index) => index + 1));
    expect(streams.open).toBe(1);
  });

  test('is cut off beyond that, and nothing waits any more', async () => {
    const lists = streams.start(principal(), one)(new AbortController().signal)[Symbol.asyncIterator]();
    const { subscriber } = subscribers[0] ?? {};
    subscriber?.onReady();
    for (let number = 1; number <= 5_000; number += 1) subscriber?.onEvent(change);
    expect([streams.open, subscribers, clock.pending]).toEqual([0, [], []]);
    expect(await lists.next()).toEqual({ done: true, value: undefined });
  });
});

describe('the server', () => {
  test('ends all streams when it cannot hear commits, and opens none then', async () => {
    const readers = [await start(), await start(principal('ams-1'))];
    isListening = false;
    feed.onLost?.();
    await settled();
    expect([readers.map(({ isOver }) => isOver), streams.open]).toEqual([[true, true], 0]);
    expect(codeOf(() => streams.start(principal(), one))).toBe('store_unavailable');
  });

  test('asks for other streams before it stops, and opens none then', async () => {
    const reader = await start();
    streams.drain();
    await settled();
    expect([reader.read, reader.isOver]).toEqual([['ready', 'renew'], false]);
    expect(codeOf(() => streams.start(principal(), one))).toBe('overloaded');
    streams.close();
    await settled();
    expect(reader.isOver).toBe(true);
  });

  test('ends the first stream of a process that opens a third one', async () => {
    const readers = [await start(), await start(principal(), 'two'), await start(), await start()];
    expect(readers.map(({ isOver }) => isOver)).toEqual([true, false, false, false]);
  });

  test('ends the oldest of 16 streams of a cluster that opens another one, and none of another cluster', async () => {
    const other = await start(principal('ams-1'));
    const readers: Reader[] = [];
    for (let number = 0; number < 17; number += 1) readers.push(await start(principal(), String(number)));
    expect(readers.map(({ isOver }, number) => (isOver ? [number] : [])).flat()).toEqual([0]);
    expect([other.isOver, streams.open]).toEqual([false, 17]);
  });

  test('ends no stream of a controller, however many a thief of its token opens in another network', async () => {
    for (let number = 0; number < 20; number += 1) await start(principal(), `thief-${number}`, '198.51.100.1');
    const controller = await start(principal(), 'controller');
    for (let number = 20; number < 60; number += 1) await start(principal(), `thief-${number}`, '198.51.100.1');
    expect([controller.isOver, streams.open]).toEqual([false, 16]);
  });

  test('opens a stream for a controller at once, however many a thief opens in its network', async () => {
    for (let number = 0; number < 20; number += 1) await start(principal(), `thief-${number}`);
    const controller = await start(principal(), 'controller');
    for (let number = 20; number < 35; number += 1) await start(principal(), `thief-${number}`);
    expect(controller.isOver).toBe(false);
  });

  test('counts the streams of all home clusters together', async () => {
    const home = (name: string): ClusterPrincipal => ({ ...principal(name), isHome: true, credential: 'home_token' });
    for (let number = 0; number < 20; number += 1) await start(home(`home-${number}`), String(number));
    await start(principal('home-1'));
    expect(streams.open).toBe(17);
  });

  test('has at most 1,000 streams', () => {
    for (let number = 0; number < 1_000; number += 1)
      streams.start(principal(`cluster-${number % 500}`), { ...one, processId: `${number}` });
    expect(codeOf(() => streams.start(principal('ams-1'), one))).toBe('overloaded');
  });
});
