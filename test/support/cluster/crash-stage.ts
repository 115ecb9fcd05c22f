import { expect } from '@jest/globals';
import type { PortAdapter } from '../api/adapters.ts';
import type { ApiProxy } from '../faults/api-proxy.ts';
import { nonEmpty } from '../fixtures/non-empty.ts';
import { drawNumbers, isFull, seed } from '../fixtures/test-size.ts';
import { CrashLoop, type CrashLoopOptions, type Trial } from './crash-loop.ts';
import type { KillPoint, MessageCounts } from './kill-switch.ts';
import { Stack } from './stack.ts';

// A proxy kills the controller by SIGKILL, at a message to the API server (a request), and to the server (a call) or, from a
// controller with its own connections, to PostgreSQL (a statement, counted where it is to be executed). The next controller
// then has to bring everything to its end. In the full size that happens at every message, both before the other side has it
// and when its answer is lost. By default it happens at some of them, on each day at others.

const both = ['before', 'after'] as const;
type Message = KillPoint['of'];
/** What a controller sends with each adapter, and how often it dies at each kind of message by default. */
const deaths: Readonly<Record<PortAdapter, Readonly<Partial<Record<Message, number>>>>> = {
  'in process': { request: 2, commit: 1, statement: 2 },
  'over HTTPS': { request: 2, call: 3 },
};

/** Requests and COMMITs whose answer is lost, and statements and calls before or after, in turn. */
function drawPoints(counts: MessageCounts, adapter: PortAdapter): KillPoint[] {
  return messagesOf(adapter).flatMap((of) =>
    drawNumbers(counts[of], deaths[adapter][of] ?? 0).map((index, turn) => {
      const isEither = of === 'statement' || of === 'call';
      return { of, nth: index + 1, moment: isEither ? (both[(seed + turn) % both.length] ?? 'before') : 'after' };
    }),
  );
}

function messagesOf(adapter: PortAdapter): readonly Message[] {
  return Object.keys(deaths[adapter]) as Message[];
}

/** How long one test may take: it ends what hangs. */
export const crashLimitMs = isFull ? 1_800_000 : 300_000;

/** A controller that dies and is started again, for one test file. */
export class CrashStage<Site> {
  readonly stack: Stack;
  /** Where the trials take place. */
  readonly site: Site;
  readonly #loop: CrashLoop;
  readonly #adapter: PortAdapter;

  private constructor(stack: Stack, site: Site, { loop, adapter }: { loop: CrashLoop; adapter: PortAdapter }) {
    this.stack = stack;
    this.site = site;
    this.#loop = loop;
    this.#adapter = adapter;
  }

  /** Starts a stack with one namespace, makes the site, and starts the first controller. The clock is the server's too. */
  static async start<Site>(
    resources: AsyncDisposableStack,
    makeSite: (stack: Stack) => Promise<Site>,
    { adapter, clock }: CrashLoopOptions,
  ): Promise<CrashStage<Site>> {
    const stack = await Stack.start(resources, { namespaces: 1, clock });
    const site = await makeSite(stack);
    return new CrashStage(stack, site, { loop: await CrashLoop.start(resources, stack, { adapter, clock }), adapter });
  }

  /** What the controllers send to the API server through. */
  get api(): ApiProxy {
    return this.#loop.api;
  }

  /** Has a controller die at a message, at each of many, each time in a trial of its own. */
  async expectSurvived(makeTrial: () => Promise<Trial>): Promise<void> {
    const messages = nonEmpty(messagesOf(this.#adapter));
    if (!isFull) {
      const counts = await this.#loop.countMessages(makeTrial);
      // A kind of message that never comes shows nothing.
      for (const of of messages) expect(counts[of]).toBeGreaterThanOrEqual(1);
      for (const point of drawPoints(counts, this.#adapter)) await this.#loop.dieAt(point, makeTrial);
      return;
    }
    for (const moment of both) {
      // Each COMMIT is a statement.
      for (const of of messages.filter((message) => message !== 'commit')) {
        expect(await this.#loop.dieEverywhere({ of, moment }, makeTrial)).toBeGreaterThanOrEqual(1);
      }
    }
  }
}
