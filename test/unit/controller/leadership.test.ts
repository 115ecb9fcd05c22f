import { beforeEach, describe, expect, test } from '@jest/globals';
import { Leadership } from '../../../src/controller/frame/leadership.ts';
import { ApiError } from '../../../src/kube/client/api-error.ts';
import type { ApiCall } from '../../../src/kube/client/client.ts';
import type { LeaseAttempt } from '../../../src/kube/lease.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { FakeClock, settled } from './fake-clock.ts';

/** What a try for the Lease comes to: ours, renewed or new; another's, free after so many milliseconds; or an error. */
type Answer = 'renewed' | 'new' | { readonly freeInMs: number } | ApiError | 'nothing';

const away = new ApiError('PUT', 0, 'Unreachable');
const retryMs = 2_000;

let clock: FakeClock;
let answer: Answer;
let events: string[];
let attempts: number;
let mayLead: boolean;
let released: number;
let logs: { level: string; msg: string }[];
let leadership: Leadership;

beforeEach(() => {
  clock = new FakeClock();
  answer = 'new';
  events = [];
  attempts = 0;
  mayLead = true;
  released = 0;
  logs = [];
  leadership = new Leadership({
    lease: { attempt, release: async () => void (released += await Promise.resolve(1)) },
    namespace: 'system',
    clock,
    steadyNow: () => clock.now(),
    logger: createLogger('debug', { write: (line: string) => void logs.push(JSON.parse(line)) }),
    mayLead: () => mayLead,
    onLead: () => void events.push('lead'),
    onLose: () => void events.push('lose'),
    random: () => 0.5,
  });
});

async function attempt(): Promise<LeaseAttempt> {
  attempts += 1;
  const sinceMs = clock.now();
  await Promise.resolve();
  if (answer instanceof ApiError) throw answer;
  if (answer === 'nothing') return await new Promise<never>(() => {});
  if (typeof answer === 'object') return { kind: 'taken', holder: 'another', ...answer };
  const isNew = answer === 'new';
  answer = 'renewed';
  return { kind: 'held', sinceMs, isNew };
}

async function start(first: Answer): Promise<void> {
  answer = first;
  leadership.start();
  await settled();
}

const elsewhere = { freeInMs: 10_000 };

describe('of the states', () => {
  // Each step sets what the tries come to from then on, and lets so much time pass.
  const cases: { name: string; first: Answer; steps: [Answer, number][]; seen: string[]; leads: boolean }[] = [
    { name: 'who gets the Lease leads', first: 'new', steps: [], seen: ['lead'], leads: true },
    { name: 'who does not stands by', first: elsewhere, steps: [[elsewhere, 60_000]], seen: [], leads: false },
    { name: 'who renews it leads on', first: 'new', steps: [['renewed', 3_600_000]], seen: ['lead'], leads: true },
    {
      name: 'a stand-by whose turn it is leads',
      first: elsewhere,
      steps: [
        [elsewhere, 8_000],
        ['new', retryMs],
      ],
      seen: ['lead'],
      leads: true,
    },
    { name: 'who cannot renew leads on a while', first: 'new', steps: [[away, 6_999]], seen: ['lead'], leads: true },
    {
      name: 'who cannot renew for seven seconds leads no more',
      first: 'new',
      steps: [[away, 7_000]],
      seen: ['lead', 'lose'],
      leads: false,
    },
    {
      name: 'who can renew again in time leads on',
      first: 'new',
      steps: [
        [away, 5_000],
        ['renewed', 20_000],
      ],
      seen: ['lead'],
      leads: true,
    },
    {
      name: 'who finds the Lease still its own after an outage leads again',
      first: 'new',
      steps: [
        [away, 20_000],
        ['renewed', retryMs],
      ],
      seen: ['lead', 'lose', 'lead'],
      leads: true,
    },
    {
      name: 'who meets another holder leads no more at once',
      first: 'new',
      steps: [[elsewhere, retryMs]],
      seen: ['lead', 'lose'],
      leads: false,
    },
    {
      name: 'a leader that got the Lease back after another may have had it starts again',
      first: 'new',
      steps: [['new', retryMs]],
      seen: ['lead', 'lose', 'lead'],
      leads: true,
    },
    {
      name: 'a hanging API server counts as one that is away',
      first: 'new',
      steps: [['nothing', 9_000]],
      seen: ['lead', 'lose'],
      leads: false,
    },
  ];

  test.each(cases)('$name', async ({ first, steps, seen, leads }) => {
    await start(first);
    for (const [next, passMs] of steps) {
      answer = next;
      await clock.advance(passMs);
    }
    expect(events).toEqual(seen);
    expect(leadership.isLeading).toBe(leads);
  });
});

describe('a process', () => {
  test('that stood still past its deadline knows it before any timer or answer', async () => {
    await start('new');
    const client = leadership.guarded({ request: () => Promise.reject(new Error('was sent')) });
    clock.jump(7_000);
    await expect(client.request({ method: 'PUT', path: '/x' })).rejects.toMatchObject({ reason: 'NotLeading' });
    expect(events).toEqual(['lead', 'lose']);
  });

  test('whose try was answered after its deadline does not lead by it', async () => {
    const late = Promise.withResolvers<void>();
    leadership = new Leadership({
      lease: {
        attempt: async () => {
          const sinceMs = clock.now();
          await late.promise;
          return { kind: 'held', sinceMs, isNew: true };
        },
        release: () => Promise.resolve(),
      },
      namespace: 'system',
      clock,
      steadyNow: () => clock.now(),
      logger: createLogger('silent'),
      mayLead: () => true,
      onLead: () => void events.push('lead'),
      onLose: () => void events.push('lose'),
    });
    leadership.start();
    await clock.advance(7_000);
    late.resolve();
    await settled();
    expect(events).toEqual([]);
  });

  test('that stands by looks again when the Lease may be free, not later', async () => {
    await start({ freeInMs: 300 });
    answer = 'new';
    await clock.advance(300);
    expect(leadership.isLeading).toBe(true);
  });

  test('that may not lead leaves the Lease alone until it may', async () => {
    mayLead = false;
    await start('new');
    await clock.advance(60_000);
    expect({ attempts, released, events }).toEqual({ attempts: 0, released: 0, events: [] });
    mayLead = true;
    await clock.advance(250);
    expect(events).toEqual(['lead']);
  });

  test('that may no longer lead stops, and gives the Lease up once', async () => {
    await start('new');
    mayLead = false;
    await clock.advance(60_000);
    expect({ released, events }).toEqual({ released: 1, events: ['lead', 'lose'] });
  });

  test('that stops leads no more, asks for nothing, and gives the Lease up', async () => {
    await start('new');
    await leadership.stop();
    const before = attempts;
    await clock.advance(60_000);
    expect({ events, released, more: attempts - before }).toEqual({ events: ['lead', 'lose'], released: 1, more: 0 });
    expect(clock.pending).toEqual([]);
  });

  test('that stops does not wait for an API server that answers nothing', async () => {
    await start('new');
    answer = 'nothing';
    await clock.advance(retryMs);
    let hasStopped = false;
    void leadership.stop().then(() => (hasStopped = true));
    await clock.advance(2_999);
    expect({ events, hasStopped }).toEqual({ events: ['lead', 'lose'], hasStopped: false });
    await clock.advance(1);
    expect(hasStopped).toBe(true);
  });

  test('logs an outage once as a warning', async () => {
    await start('new');
    answer = away;
    await clock.advance(60_000);
    expect(logs.filter(({ level }) => level === 'warn')).toHaveLength(1);
  });
});

describe('a guarded client', () => {
  const calls: ApiCall[] = [];
  const client = {
    request: async <T>(call: ApiCall): Promise<T> => {
      calls.push(call);
      return await new Promise<never>((_, reject) => {
        call.signal?.addEventListener('abort', () => reject(new Error('cut')));
      });
    },
  };

  beforeEach(() => void calls.splice(0));

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('sends no %s for a stand-by', async (method) => {
    await start(elsewhere);
    await expect(leadership.guarded(client).request({ method, path: '/x' })).rejects.toThrow('NotLeading');
    expect(calls).toEqual([]);
  });

  test('reads for every process', async () => {
    await start(elsewhere);
    void leadership.guarded(client).request({ method: 'GET', path: '/x' });
    expect(calls).toEqual([{ method: 'GET', path: '/x' }]);
  });

  test("cuts a leader's write under way when it leads no more, and not those of its next term", async () => {
    await start('new');
    const guarded = leadership.guarded(client);
    const first = guarded.request({ method: 'PUT', path: '/x' }).catch((error: unknown) => error);
    answer = away;
    await clock.advance(7_000);
    expect(await first).toMatchObject({ message: 'cut' });
    answer = 'renewed';
    await clock.advance(retryMs);
    void guarded.request({ method: 'PUT', path: '/y' });
    expect(calls.at(-1)?.signal?.aborted).toBe(false);
  });
});

describe('readiness', () => {
  test('waits for the first answer', async () => {
    await start('nothing');
    expect(leadership.error).toBe('the Lease keyframe-controller has not been read from the API server yet');
  });

  test.each([
    { held: 'led', first: 'new' as const },
    { held: 'stood by', first: elsewhere },
  ])('is there for one that $held, and stays while the API server is away', async ({ first }) => {
    await start(first);
    expect(leadership.error).toBeUndefined();
    answer = away;
    await clock.advance(30_000);
    expect(leadership.error).toBeUndefined();
  });

  test('says which rights are missing, also when they go later', async () => {
    await start('new');
    answer = new ApiError('PUT', 403, 'Forbidden');
    await clock.advance(retryMs);
    expect(leadership.error).toBe(
      'the API server does not let the controller hold its Lease keyframe-controller in the namespace system: apply the rules of charts/keyframe/files/lease-rules.yaml to its account, as a Role in that namespace',
    );
  });

  test('says that the namespace is missing', async () => {
    await start(new ApiError('POST', 404, 'NotFound'));
    expect(leadership.error).toContain('there is no namespace system');
  });
});
