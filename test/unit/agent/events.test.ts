import { beforeEach, describe, expect, test } from '@jest/globals';
import { ServerEvents } from '../../../src/agent/events.ts';
import type { ChangeEvent } from '../../../src/domain/changes.ts';
import { DomainError } from '../../../src/domain/errors/domain-error.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeClock, settled } from '../controller/fake-clock.ts';

/** The stream of changes as a controller reads it, with a server and a clock that the test moves. */

/** One stream of the server. */
class ServerStream {
  readonly signal: AbortSignal;
  readonly #parts: string[] = [];
  #wake = (): void => {};
  #end: { readonly fault: Error | undefined } | undefined;

  constructor(signal: AbortSignal) {
    this.signal = signal;
    signal.addEventListener('abort', () => void this.end(signal.reason as Error));
  }

  send(text: string): Promise<void> {
    this.#parts.push(text);
    this.#wake();
    return settled();
  }

  event(name: string, data: object = {}): Promise<void> {
    return this.send(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  end(fault?: Error): Promise<void> {
    this.#end ??= { fault };
    this.#wake();
    return settled();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    for (;;) {
      const part = this.#parts.shift();
      if (part !== undefined) yield part;
      else if (this.#end?.fault !== undefined) throw this.#end.fault;
      else if (this.#end !== undefined) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

const changeOf = (number: number): ChangeEvent => ({
  kind: 'service_token',
  organizationId: '00000000-0000-4000-8000-000000000000',
  serviceTokenId: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
});

let clock: FakeClock;
let events: ServerEvents;
/** Those that were opened, in order. */
let streams: ServerStream[];
/** What `open` throws, if anything. */
let refusal: Error | undefined;
let attempts: number;
let seen: (string | ChangeEvent)[];
let lines: { readonly level: string; readonly msg: string }[];
let unsubscribe: () => void;

beforeEach(async () => {
  clock = new FakeClock();
  streams = [];
  seen = [];
  lines = [];
  refusal = undefined;
  attempts = 0;
  events = new ServerEvents({
    transport: {
      stream: async (_path, signal) => {
        attempts += 1;
        if (refusal !== undefined) throw refusal;
        const opened = new ServerStream(signal);
        streams.push(opened);
        return opened;
      },
    },
    clock,
    random: () => 0.5,
    logger: createLogger('info', { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) }),
  });
  unsubscribe = events.subscribe(noted());
  await settled();
});

const noted = (list = seen) => ({
  onEvent: (event: ChangeEvent) => void list.push(event),
  onReady: () => void list.push('ready'),
});

function stream(index: number): ServerStream {
  const found = streams[index];
  if (found === undefined) throw new Error(`only ${streams.length} streams were opened`);
  return found;
}

/** Makes the first stream work for a minute. */
async function work(): Promise<void> {
  await stream(0).event('ready');
  for (let second = 0; second < 60; second += 10) {
    await clock.advance(10_000);
    await stream(0).send(':\n\n');
  }
  expect(seen.splice(0)).toEqual(['ready']);
}

describe('one stream', () => {
  test('is ready at its first message, and reports what follows in its order', async () => {
    expect([events.isReady, seen]).toEqual([false, []]);
    await stream(0).event('ready');
    await stream(0).event('change', changeOf(1));
    await stream(0).send(`event: change\ndata: ${JSON.stringify(changeOf(2))}\n`);
    await stream(0).send(`\nevent: change\ndata: ${JSON.stringify({ ...changeOf(3), newer: 1 })}\n\n`);
    expect(seen).toEqual(['ready', changeOf(1), changeOf(2), changeOf(3)]);
    expect(events.isReady).toBe(true);
  });

  test('is ready again when the server says so again', async () => {
    await stream(0).event('ready');
    await stream(0).event('ready');
    expect(seen).toEqual(['ready', 'ready']);
  });

  test('serves several subscribers, and one that comes later is ready at once', async () => {
    await stream(0).event('ready');
    const late: (string | ChangeEvent)[] = [];
    const leave = events.subscribe(noted(late));
    await settled();
    await stream(0).event('change', changeOf(1));
    expect([late, streams.length]).toEqual([['ready', changeOf(1)], 1]);
    leave();
    await stream(0).event('change', changeOf(2));
    expect([late.length, seen.at(-1)]).toEqual([2, changeOf(2)]);
  });

  test('ignores what a newer server may add, and ends at what no server sends', async () => {
    await stream(0).event('ready');
    await stream(0).event('other', { kind: 1 });
    await stream(0).event('change', { kind: 'other', id: 'x' });
    expect(seen).toEqual(['ready']);
    await stream(0).event('change', { kind: 'snapshot', snapshotId: 'x' });
    expect(events.isReady).toBe(false);
  });

  test('is closed with the last subscriber', async () => {
    await stream(0).event('ready');
    unsubscribe();
    expect(stream(0).signal.aborted).toBe(true);
    await clock.advance(3_600_000);
    expect([attempts, clock.pending]).toEqual([1, []]);
  });

  test('that is lost for an error of a subscriber stays open', async () => {
    events.subscribe({
      onEvent: () => {
        throw new Error('canary');
      },
      onReady: () => {},
    });
    await stream(0).event('ready');
    await stream(0).event('change', changeOf(1));
    expect(seen).toEqual(['ready', changeOf(1)]);
    expect(JSON.stringify(lines)).not.toContain('canary');
  });
});

describe('a gap', () => {
  test.each([
    ['the server ends the stream', () => stream(0).end()],
    ['the connection breaks', () => stream(0).end(new Error('ECONNRESET'))],
    ['the server sends no text of events', () => stream(0).send('event: change\ndata: {\n\n')],
    ['a message has no end', () => stream(0).send('x'.repeat(20_000))],
  ])(
    'follows when %s: another stream is opened at once, and its first message is a new beginning',
    async (_, cause) => {
      await work();
      await cause();
      await clock.advance(0);
      expect([streams.length, seen]).toEqual([2, []]);
      await stream(1).event('ready');
      expect(seen).toEqual(['ready']);
    },
  );

  test('follows after 25 seconds of silence', async () => {
    await work();
    await clock.advance(24_000);
    await stream(0).send(':\n\n');
    await clock.advance(24_999);
    expect(stream(0).signal.aborted).toBe(false);
    await clock.advance(1);
    expect([stream(0).signal.aborted, streams.length]).toEqual([true, 2]);
  });

  test('also if the server never answers', async () => {
    await clock.advance(25_000);
    expect([stream(0).signal.aborted, streams.length]).toEqual([true, 1]);
    await clock.advance(2_500);
    expect(streams.length).toBe(2);
  });

  test('does not end while the server refuses: the second attempt and later ones wait for up to 5 seconds', async () => {
    await work();
    refusal = new DomainError('store_unavailable', 'commits cannot be heard at the moment');
    await stream(0).end();
    await clock.advance(0);
    expect(attempts).toBe(2);
    await clock.advance(2_499);
    expect(attempts).toBe(2);
    await clock.advance(1);
    expect(attempts).toBe(3);
    await clock.advance(2_500);
    expect(attempts).toBe(4);
    refusal = undefined;
    await clock.advance(2_500);
    await stream(1).event('ready');
    expect(seen).toEqual(['ready']);
    expect(lines.map(({ level }) => level)).toEqual(['info', 'warn', 'warn', 'info']);
  });

  test('is tried soon and without a warning while the name of the cluster is unknown', async () => {
    refusal = new DomainError('cluster_unavailable', 'no namespace is listed yet');
    await streams[0]?.end(refusal);
    attempts = 0;
    await clock.advance(1_000);
    expect([attempts, lines.filter(({ level }) => level === 'warn')]).toEqual([4, []]);
    refusal = undefined;
    await clock.advance(250);
    expect(streams).toHaveLength(2);
  });

  test('waits as long as the server asks', async () => {
    await work();
    refusal = new DomainError('overloaded', 'too many requests', { retryAfterSeconds: 30 });
    await stream(0).end();
    await clock.advance(0);
    await clock.advance(32_499);
    expect(attempts).toBe(2);
    await clock.advance(1);
    expect(attempts).toBe(3);
  });

  test('a stream that ends as soon as it is open is no reason to hurry', async () => {
    await stream(0).event('ready');
    await stream(0).end();
    await clock.advance(2_499);
    expect(streams.length).toBe(1);
    await clock.advance(1);
    expect(streams.length).toBe(2);
  });
});

describe('a renewal', () => {
  test('opens another stream while the former one still reports, and is no gap', async () => {
    await work();
    await stream(0).event('renew');
    await clock.advance(0);
    await stream(0).event('change', changeOf(1));
    await stream(1).event('ready');
    await stream(1).event('change', changeOf(3));
    await stream(0).event('change', changeOf(2));
    expect(seen).toEqual([changeOf(1), changeOf(3), changeOf(2)]);
    await clock.advance(14_999);
    expect(stream(0).signal.aborted).toBe(false);
    await clock.advance(1);
    expect(stream(0).signal.aborted).toBe(true);
    await clock.advance(5_000);
    await stream(1).event('change', changeOf(4));
    expect(seen.slice(3)).toEqual([changeOf(4)]);
    expect([streams.length, events.isReady]).toEqual([2, true]);
  });

  test('does not end the new stream when the former one is ready again', async () => {
    await work();
    await stream(0).event('renew');
    await clock.advance(0);
    await stream(1).event('ready');
    await stream(0).event('ready');
    await clock.advance(20_000);
    expect([stream(0).signal.aborted, stream(1).signal.aborted, seen]).toEqual([true, false, ['ready']]);
  });

  test('is a gap if the former stream ends before it reported everything', async () => {
    await work();
    await stream(0).event('renew');
    await clock.advance(0);
    await stream(1).event('ready');
    await stream(0).end();
    expect(seen).toEqual(['ready']);
    expect(streams.length).toBe(2);
  });

  test('is a gap if the former stream ends before the new one is ready', async () => {
    await work();
    await stream(0).event('renew');
    await clock.advance(0);
    await stream(0).end();
    expect([seen, events.isReady]).toEqual([[], false]);
    await stream(1).event('ready');
    expect([seen, streams.length]).toEqual([['ready'], 2]);
  });

  test('is tried again while the former stream still reports', async () => {
    await work();
    refusal = new DomainError('store_unavailable', 'away');
    await stream(0).event('renew');
    await clock.advance(0);
    expect(attempts).toBe(2);
    refusal = undefined;
    await clock.advance(2_500);
    await stream(1).event('ready');
    await stream(0).event('change', changeOf(1));
    expect(seen).toEqual([changeOf(1)]);
  });

  test('is made again if the new stream ends while the former one is still there', async () => {
    await work();
    await stream(0).event('renew');
    await clock.advance(0);
    await stream(1).event('ready');
    await stream(1).end();
    await clock.advance(2_500);
    await stream(0).event('change', changeOf(1));
    await stream(2).event('ready');
    expect(seen).toEqual([changeOf(1)]);
    await clock.advance(15_000);
    expect([stream(0).signal.aborted, stream(2).signal.aborted]).toEqual([true, false]);
  });

  test('that is asked for at once again waits', async () => {
    await stream(0).event('ready');
    await stream(0).event('renew');
    await clock.advance(2_499);
    expect(streams.length).toBe(1);
    await clock.advance(1);
    expect(streams.length).toBe(2);
    await stream(0).event('renew');
    await clock.advance(5_000);
    expect(streams.length).toBe(2);
  });
});
